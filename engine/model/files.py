"""Files that replace what was there only when they are whole."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER, FILE = 0o750, 0o640
"""The rights of what is written, unless the umask takes more of them: names of clients and hosts are not for all."""


@contextmanager
def replacing(target: Path, mode: int = 0o666) -> Iterator[Path]:
    """
    A file to write, beside *target*, which it replaces once it is whole and on the disk.

    What goes wrong (a full disk) leaves the former and no other file. A file that is there keeps its rights; what is no
    plain file (a pipe, `/dev/null`) is written as it is.

    Args:
        target: The file; where it is a link, what it points at.
        mode: The rights of a file that is new, less the umask.

    Raises:
        OSError: It cannot be written.
    """
    target = Path(os.path.realpath(target))
    if target.exists() and not target.is_file():
        yield target
        return
    partial = target.with_name(f".{secrets.token_hex(4)}.partial{target.suffix}")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        with suppress(FileNotFoundError):
            partial.chmod(target.stat().st_mode & 0o7777)
        yield partial
        sync(partial)
        partial.replace(target)
        sync(target.parent)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def sync(path: str | Path) -> None:
    """Return when a file, or what a folder lists, survives a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folders(path: str | Path) -> None:
    """Make a folder, and those that it lies in, with the rights of `FOLDER`."""
    missing = Path(path)
    if not missing.is_dir():
        make_folders(missing.parent)
        missing.mkdir(mode=FOLDER, exist_ok=True)
