"""What is written replaces the former only when it is whole, and is not for everybody."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenkeel.engine.model.files import FILE, make_folders, replacing


@pytest.fixture(params=[0o022, 0o077], ids=["usual", "strict"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """What the process lets nobody have."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def rights(path: Path) -> int:
    """Who may do what with a file."""
    return path.stat().st_mode & 0o777


def test_a_file_is_replaced_when_it_is_whole(tmp_path: Path) -> None:
    """Who reads meanwhile finds the old one; nothing else is left."""
    target = tmp_path / "file.txt"
    for text in ("first", "second"):
        with replacing(target) as partial:
            partial.write_text(text)
            assert partial.suffix == target.suffix
            assert not target.exists() or target.read_text() == "first"
        assert target.read_text() == text
    assert list(tmp_path.iterdir()) == [target]


def test_a_full_disk_leaves_the_good_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk may say only at the end that it is full."""

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    target = tmp_path / "file.txt"
    target.write_text("good")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"), replacing(target) as partial:
        partial.write_text("half")
    assert target.read_text() == "good"
    assert list(tmp_path.iterdir()) == [target]


def test_rights_are_those_that_are_asked_for_less_the_umask(tmp_path: Path, umask: int) -> None:
    """A file that is there keeps its own."""
    target = tmp_path / "plan.json"
    with replacing(target, FILE) as partial:
        partial.write_text("{}")
    assert rights(target) == FILE & ~umask
    target.chmod(0o604)
    with replacing(target, FILE) as partial:
        partial.write_text("{}")
    assert rights(target) == 0o604
    make_folders(tmp_path / "a" / "b")
    assert rights(tmp_path / "a") == rights(tmp_path / "a" / "b") == 0o750 & ~umask


def test_a_link_stays_and_a_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    """`--out /dev/stdout` is no file that could be replaced."""
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    link.symlink_to(real)
    with replacing(link) as partial:
        partial.write_text("text")
    assert link.is_symlink()
    assert real.read_text() == "text"
    with replacing(Path(os.devnull)) as partial:
        assert partial == Path(os.devnull)


def test_a_name_may_be_as_long_as_a_disk_takes_it(tmp_path: Path) -> None:
    """What is written meanwhile has a short one."""
    target = tmp_path / f"{'x' * 251}.txt"
    with replacing(target) as partial:
        partial.write_text("text")
    assert target.read_text() == "text"
