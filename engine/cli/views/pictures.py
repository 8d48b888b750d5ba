"""What all pictures of the command line have in common: their kinds, and where they go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...model.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".png", ".svg", ".pdf")


def check_kind(file: Path, option: str) -> None:
    """
    Raises:
        InputError: The file's suffix is of no kind of picture.
    """
    if file.suffix.lower() not in KINDS:
        raise InputError(
            f"{option} {file} is no picture.", fix=f"Let it end in {', '.join(KINDS)}."
        )


def save(figure: Figure, file: Path, option: str) -> Path:
    """
    Write a picture, and say where.

    Raises:
        InputError: The file cannot be written.
    """
    try:
        figure.savefig(file)
    except OSError as problem:
        raise InputError(
            f"the picture {file} cannot be written: {problem.strerror or problem}.",
            fix=f"Name another place with {option}.",
        ) from problem
    return file
