"""Files that commands write, on a disk that is full: the good one stays, and one line says why."""

from __future__ import annotations

import builtins
import errno
import io
import os
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import RECORDED, Run

pytestmark = pytest.mark.slow


class _Full(io.RawIOBase):
    """A file on a full disk."""

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be written below the folder of the test, from now on."""
    whole = io.open

    def open_full(file: Any, mode: str = "r", *args: Any, **more: Any) -> Any:
        writes = isinstance(file, str | os.PathLike) and set(mode) & set("wxa+")
        if not writes or not Path(file).absolute().is_relative_to(tmp_path):
            return whole(file, mode, *args, **more)
        whole(file, mode, *args, **more).close()
        return _Full() if "b" in mode else io.TextIOWrapper(_Full(), write_through=True)

    monkeypatch.setattr(io, "open", open_full)
    monkeypatch.setattr(builtins, "open", open_full)


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize(
    ("file", "command"),
    [
        (
            "plan.json",
            [
                "plan",
                "--group",
                "skewed-load",
                "--from",
                RECORDED,
                "--strategy",
                "balanced",
                "--out",
            ],
        ),
        ("kept", ["snapshot", "record", "--lake", RECORDED, "--out"]),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_the_good_file_stays_on_a_full_disk(
    run: Run, tmp_path: Path, file: str, command: list[str]
) -> None:
    """A plan, as all texts and pictures are written, and a recording."""
    os.write(good := os.open(tmp_path / file, os.O_CREAT | os.O_WRONLY), b"good")
    os.close(good)
    result = run(*command, file)
    assert result.exit_code == 2, result.output
    assert "cannot be written: No space left on device" in result.stderr
    assert os.listdir(tmp_path) == [file]
    assert (tmp_path / file).stat().st_size == len("good")
