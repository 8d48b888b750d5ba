"""Files that commands write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..model.errors import InputError


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """
    A file to write, beside *target*, which it replaces once it is whole: who reads meanwhile finds the old one.

    Raises:
        InputError: It cannot be written.
    """
    partial = target.with_name(f".{target.name}.partial")
    try:
        yield partial
        partial.replace(target)
    except OSError as problem:
        why = problem.strerror or problem
        raise InputError(f"{target} cannot be written: {why}.", fix="Name another file.") from None
    finally:
        partial.unlink(missing_ok=True)
