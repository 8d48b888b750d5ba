"""Files that commands write."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..model import files
from ..model.errors import InputError


def check_folder(target: Path, *, what: str = "", fix: str = "Name another file.") -> None:
    """
    Refuse a file whose folder is missing before the work is done that it is to hold.

    Args:
        target, what, fix: As for `replacing`.

    Raises:
        InputError: The folder is missing.
    """
    if not target.resolve().parent.is_dir():
        raise InputError(f"{what}{target} cannot be written: {os.strerror(errno.ENOENT)}.", fix=fix)


@contextmanager
def replacing(
    target: Path, mode: int = 0o666, *, what: str = "", fix: str = "Name another file."
) -> Iterator[Path]:
    """
    A file to write, which replaces *target* once it is whole: who reads meanwhile finds the old one.

    Args:
        target, mode: As for `model.files.replacing`.
        what: What it is, with a blank behind it, for the error.
        fix: What to do about it.

    Raises:
        InputError: It cannot be written.
    """
    try:
        with files.replacing(target, mode) as partial:
            yield partial
    except OSError as problem:
        why = problem.strerror or problem
        raise InputError(f"{what}{target} cannot be written: {why}.", fix=fix) from None
