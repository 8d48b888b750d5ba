"""The wheel: one name for the world, and all that runs is in it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("dags", "engine", "expectations", "spark_tasks", "sql")


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Every file in the wheel that this checkout builds."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_the_wheel_installs_one_name(names: list[str]) -> None:
    """Nothing but `evenkeel` and its metadata lands beside a user's own packages."""
    assert {name.split("/")[0].split("-")[0] for name in names} == {"evenkeel"}
    assert "evenkeel/__init__.py" in names


def test_the_wheel_holds_whole_rooms(names: list[str]) -> None:
    """Every module, every SQL file and every part of a page is in the wheel, under the one name."""
    kept = {".py", ".sql", ".html", ".css", ".js", ".LICENSE", ".java", ".txt"}
    for room in ROOMS:
        files = {f.relative_to(ROOT) for f in (ROOT / room).rglob("*") if f.suffix in kept}
        assert files, room
        assert {f"evenkeel/{f.as_posix()}" for f in files} <= set(names)


def test_the_wheel_holds_the_pages_about_diagnoses(names: list[str]) -> None:
    """Airflow serves them from there."""
    files = {f.name for f in (ROOT / "docs" / "diagnoses").glob("*.md")}
    assert "index.md" in files
    assert {f"evenkeel/diagnoses/{name}" for name in files} <= set(names)


def test_the_wheel_holds_no_images_and_charts(names: list[str]) -> None:
    """They build on a checkout; of the documents only the pages about diagnoses are inside."""
    files = {f.name for f in (ROOT / "docs" / "deploy").rglob("*") if f.is_file()}
    assert "Chart.yaml" in files
    assert not files & {Path(name).name for name in names}
