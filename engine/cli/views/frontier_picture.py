"""The picture of `evenkeel frontier`: moves to the right, what crosses racks upwards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenkeel.engine.cli.views.pictures import save
from evenkeel.engine.text import printable

if TYPE_CHECKING:
    from evenkeel.engine.advice.frontier import Frontier, Point


def draw(group: str, now: Point, swept: Sequence[Frontier], file: Path) -> Path:
    """
    Write the picture, and say where.

    Args:
        group: The group's id.
        now: The group as it is.
        swept: Its frontiers.
        file: Where it goes; its suffix is one of `pictures.KINDS`.

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
    return save(figure, file, "--picture")
