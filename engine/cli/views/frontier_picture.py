"""The picture of `evenkeel frontier`: moves to the right, what crosses racks upwards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenkeel.engine.cli.running import printable
from evenkeel.engine.errors import InputError

if TYPE_CHECKING:
    from evenkeel.engine.advice.frontier import Frontier, Point

KINDS = (".png", ".svg", ".pdf")


def check_kind(file: Path) -> None:
    """
    Raises:
        InputError: The file's suffix is of no kind of picture.
    """
    if file.suffix.lower() not in KINDS:
        raise InputError(
            f"--picture {file} is no picture.", fix=f"Let it end in {', '.join(KINDS)}."
        )


def draw(group: str, now: Point, swept: Sequence[Frontier], file: Path) -> Path:
    """
    Write the picture, and say where.

    Args:
        group: The group's id.
        now: The group as it is.
        swept: Its frontiers.
        file: Where it goes; its suffix is one of `KINDS`.

    Raises:
        InputError: The file cannot be written.
    """
    from matplotlib.figure import Figure  # half a second that the table alone need not pay

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for one, style in zip(swept, ("o-", "s--"), strict=False):
        moves = [corner.moves for corner in one.corners]
        axes.plot(moves, [corner.crossing for corner in one.corners], style, label=one.strategy)
    axes.plot([now.moves], [now.crossing], "kx", markersize=9, label="live: as it is")
    axes.set_xlabel("moves (partitions that change owner)")
    axes.set_ylabel("cross-rack partitions")
    axes.set_title(f"Cross-rack traffic against moves: {printable(group)}", parse_math=False)
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=min(0, *axes.get_xlim()))
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    try:
        figure.savefig(file)
    except OSError as problem:
        raise InputError(
            f"the picture {file} cannot be written: {problem.strerror or problem}.",
            fix="Name another place with --picture.",
        ) from problem
    return file
