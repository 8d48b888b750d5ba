"""A release: what refuses it, each in one line, and what its notes say; `make release` builds one."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.supply import release
from tests.supply.pins import ROOT
from tests.supply.release import NOTES, SUMS, Refused, Source
from tests.tiers import NOT_CHECKED

AT = datetime(2027, 1, 15, tzinfo=UTC)
CHANGES = "### Alerts\n\n* Get [views](docs/index.md) and [Kafka](https://kafka.apache.org)."
CHANGELOG = (
    f"# Changelog\n\n## 0.1.0 (unreleased)\n\n{CHANGES}\n\n## 0.0.9 - 2026-12-01\n\n## 0.0.8\n"
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """One of a project, committed."""
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.1.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    who = ("-c", "user.name=a", "-c", "user.email=a@example")
    for words in (("init",), ("add", "."), (*who, "commit", "-m", "Begin")):
        subprocess.run(("git", *words), cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_what_is_committed_is_released(checkout: Path) -> None:
    """Version, time and section; the tree is as it was committed."""
    found = release.source(checkout)
    assert (found.version, found.heading, found.changes) == ("0.1.0", "unreleased", CHANGES)
    assert found.at.tzinfo is UTC


def test_a_changed_tree_is_refused(checkout: Path) -> None:
    """New files, too: a build takes them along."""
    (checkout / "pyproject.toml").write_text("")
    (checkout / "new.py").touch()
    with pytest.raises(
        Refused, match=r"^not committed: pyproject.toml and 1 more; commit or remove"
    ):
        release.source(checkout)


@pytest.mark.parametrize("version", ["0.2.0", "0.0.9", "0.0.8", "0.1", "0.1.0.1"])
def test_a_version_without_changes_is_refused(version: str) -> None:
    """No section, nothing in it, or that of another version."""
    with pytest.raises(Refused, match=rf"^CHANGELOG.md says nothing below '## {version}': add"):
        release.section(CHANGELOG, version)


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


def test_a_program_that_fails_is_one_line(tmp_path: Path) -> None:
    """The last that it says."""
    with pytest.raises(Refused, match=r"^git log fails: fatal: not a git repository"):
        release._said(("git", "log"), tmp_path, {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    with pytest.raises(Refused, match=r" -c raise SystemExit\(3\) fails: exit code 3$"):
        release._said((sys.executable, "-c", "raise SystemExit(3)"), tmp_path)


SOURCE = Source("0.1.0", "abc1234", AT, "unreleased", CHANGES)


def test_the_notes_say_how_to_install_and_what_is_new(tmp_path: Path) -> None:
    """With size and sum of each file; links into the repository are text, as nobody has it beside them."""
    wheel = tmp_path / "evenkeel-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"wheel\n" * 300)
    text = release.notes(SOURCE, [wheel])
    assert text.startswith("# evenkeel 0.1.0\n\nCommit abc1234 of 2027-01-15, unreleased.\n")
    assert f"\n    pip install -c constraints.txt ./{wheel.name} " in text
    assert f"'./{wheel.name}[pipeline]'" in text
    assert f"\n| `{wheel.name}` | 1,800 | `{release._sum(wheel)}` |\n" in text
    assert text.endswith("* Get views and [Kafka](https://kafka.apache.org).\n")


def test_the_notes_say_what_was_not_checked(tmp_path: Path) -> None:
    """Where there was no package index, say."""
    assert release.notes(SOURCE, [], ["The wheel."]).endswith("## Not checked\n\n* The wheel.\n")


def test_the_sums_are_checked_by_sha256sum(tmp_path: Path) -> None:
    """In the folder of the files, as the notes say."""
    (tmp_path / "a.whl").write_bytes(b"wheel")
    (tmp_path / SUMS).write_text(release.sums([tmp_path / "a.whl"]))
    command = ("sha256sum", "--check", "--ignore-missing", SUMS)
    assert release._said(command, tmp_path) == "a.whl: OK\n"


@pytest.mark.parametrize(("unchecked", "code"), [([], 0), (["The wheel."], NOT_CHECKED)])
def test_a_release_takes_the_place_of_the_one_before(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    unchecked: list[str],
    code: int,
) -> None:
    """Other files stay; what was not checked is no success."""
    for name in ("evenkeel-0.0.9.tar.gz", "other.txt"):
        (tmp_path / name).touch()

    def make(source: Source, folder: Path, offline: bool) -> list[str]:
        (folder / NOTES).touch()
        return unchecked

    for name, instead in {"source": lambda: SOURCE, "make": make, "DIST": tmp_path}.items():
        monkeypatch.setattr(release, name, instead)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    assert release.main(["--offline"]) == code
    assert sorted(file.name for file in tmp_path.iterdir()) == [NOTES, "other.txt"]
    assert capsys.readouterr().err == "".join(f"NOT CHECKED: {each}\n" for each in unchecked)


def test_what_is_refused_leaves_the_release_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says why."""
    (tmp_path / "evenkeel-0.0.9.tar.gz").touch()

    def source() -> Source:
        raise Refused("not committed: a.py")

    monkeypatch.setattr(release, "source", source)
    monkeypatch.setattr(release, "DIST", tmp_path)
    assert release.main([]) == 1
    assert capsys.readouterr().err == "no release: not committed: a.py\n"
    assert (tmp_path / "evenkeel-0.0.9.tar.gz").exists()


@pytest.mark.slow
@pytest.mark.nightly
def test_a_release_is_whole_and_the_same_each_time(tmp_path: Path) -> None:
    """Each file is named in the sums; the jar's classes answer; what needs a package index is asked elsewhere."""
    made = []
    for name in "ab":
        folder = tmp_path / name
        folder.mkdir()
        assert release.make(SOURCE, folder, offline=True)
        made.append({file.name: file.read_bytes() for file in folder.iterdir()})
    first, second = made
    assert first == second
    sums = first.pop(SUMS).decode()
    assert {line.split("  ")[1] for line in sums.splitlines()} == set(first)
    assert len(first) == 6
