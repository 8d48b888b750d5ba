"""A release: it has changes, holds nothing that is not for users, and is the same each time."""

from __future__ import annotations

import tarfile
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.supply import release
from tests.supply.pins import ROOT
from tests.supply.release import SUMS, Refused, Source

AT = datetime(2027, 1, 15, tzinfo=UTC)


def test_the_version_of_the_project_has_changes() -> None:
    """With what is untried in them."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    _, changes = release.section((ROOT / "CHANGELOG.md").read_text("utf-8"), version)
    assert "\n### Untried\n" in changes


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("evenkeel/tests/a.py", b"", "a holds evenkeel/tests/a.py: leave tests out"),
        (".evenkeel/lake", b"", "a holds .evenkeel/lake: leave .evenkeel out"),
        ("a.py", b"x = '/home/a/b'", "a names /home/a of this machine in a.py: remove it"),
    ],
)
@pytest.mark.parametrize("packed", ["wheel", "sdist"])
def test_what_it_must_not_hold_is_refused(
    tmp_path: Path, name: str, content: bytes, said: str, packed: str
) -> None:
    """Tests, state, and folders of the machine that builds."""
    file, archive = tmp_path / "content", tmp_path / "a"
    file.write_bytes(content)
    if packed == "wheel":
        with zipfile.ZipFile(archive, "w") as made:
            made.write(file, name)
    else:
        with tarfile.open(archive, "w:gz") as made_too:
            made_too.add(file, name)
    with pytest.raises(Refused, match=f"^{said}"):
        release.check_content(archive, [Path("/home/a")])
    release.check_content(file, [Path("/home/b"), Path("/")])


@pytest.mark.slow
@pytest.mark.nightly
def test_a_release_is_whole_and_the_same_each_time(tmp_path: Path) -> None:
    """Each file is named in the sums; the jar's classes answer; what needs a package index is asked elsewhere."""
    made, source = [], Source("0.1.0", "abc1234", AT, "unreleased", "* Alerts.")
    for name in "ab":
        folder = tmp_path / name
        folder.mkdir()
        assert release.make(source, folder, offline=True)
        made.append({file.name: file.read_bytes() for file in folder.iterdir()})
    first, second = made
    assert first == second
    sums = first.pop(SUMS).decode()
    assert {line.split("  ")[1] for line in sums.splitlines()} == set(first)
    assert len(first) == 6
