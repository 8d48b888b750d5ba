"""Files that commands write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..model import files
from ..model.errors import InputError


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
