"""The wheel and the sdist: one name for the world, and all that runs is in it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.supply import release

ROOT = Path(__file__).parents[2]
ROOMS = ("dags", "engine", "expectations", "spark_tasks", "sql")
AT = datetime(2027, 1, 15, tzinfo=UTC)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheel and the sdist that this checkout builds."""
    return release.build(ROOT, tmp_path_factory.mktemp("wheel"), AT)


@pytest.fixture(scope="module")
def names(built: list[Path]) -> list[str]:
    """Every file in the wheel."""
    return [name for name, _ in release.held(built[0])]


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


def test_the_sdist_makes_the_same_wheel(built: list[Path]) -> None:
    """Whoever builds from it gets what everybody installs, byte for byte."""
    wheel, sdist = built
    release.check_sdist(sdist, wheel, AT)


def test_they_hold_nothing_of_the_workshop(built: list[Path]) -> None:
    """No tests, no state, and no folder of the machine that builds."""
    for each in built:
        release.check_content(each, (ROOT, Path.home()))


def test_the_same_commit_makes_the_same_files(built: list[Path], tmp_path: Path) -> None:
    """Whenever they are built."""
    again = release.build(ROOT, tmp_path, AT)
    assert [each.read_bytes() for each in again] == [each.read_bytes() for each in built]
