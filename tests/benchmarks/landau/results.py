"""Members and R-score of whoever assigns, over all measurements; as a table and as a picture."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

from evenkeel.engine.model.arrays import NONE, Ints
from tests.benchmarks.landau.heuristics import Heuristic
from tests.benchmarks.landau.priced import PRICES, priced
from tests.benchmarks.landau.sequences import CAPACITY, MEASUREMENTS, PARTITIONS

HERE = Path(__file__).parent
RESULTS, PICTURE = HERE / "results.json", HERE.with_suffix(".png")

HARD_TO_BEAT = ("MWF", "MBF", "BFD")
"""The heuristics of which none is worse than another one in both figures, at most deltas."""


class Point(NamedTuple):
    """Mean number of members, and mean R-score."""

    members: float
    r_score: float

    def beats(self, other: Point) -> bool:
        """Whether it takes no more members, nor moves more."""
        return self.members <= other.members and self.r_score <= other.r_score

    def __str__(self) -> str:
        return f"{self.members:.1f} / {self.r_score:.1f}"


Points = Mapping[int, Mapping[str, Point]]
"""By delta, then by who assigns."""


def of_heuristic(heuristic: Heuristic, rates: Ints) -> Point:
    """What a heuristic comes to on (T, P) rates."""
    random = np.random.default_rng(0)
    owner, found = np.full(rates.shape[1], NONE), list[tuple[int, float]]()
    for rate in rates:
        then = heuristic(rate, owner, random)
        moved = rate[(owner != NONE) & (then != owner)].sum() / CAPACITY
        found.append((len(np.unique(then)), float(moved)))
        owner = then
    return _mean(found)


def of_balanced(price: float, rates: Ints) -> Point:
    """What ours comes to on (T, P) rates, at some price of a member."""
    owner, found = np.full(rates.shape[1], NONE), list[tuple[int, float]]()
    for rate in rates:
        choice = priced(price, rate, owner)
        owner = choice.owner
        found.append((len(np.unique(owner)), choice.r_score))
    return _mean(found)


def _mean(found: Iterable[tuple[int, float]]) -> Point:
    return Point(*map(fmean, zip(*found, strict=True)))


def published(path: Path) -> Points:
    """What one of the tables in `Reassign Algorithm` of landaudiogo/thesis_data says, over its iterations."""
    found = defaultdict[tuple[int, str], list[tuple[int, float]]](list)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            key = int(row["file"].removeprefix("measurements_")), row["algorithm"].upper()
            figures = int(row["Number of Consumers"]), float(row["Rscore_Algorithm_Capacity"])
            found[key].append(figures)
    points: dict[int, dict[str, Point]] = {}
    for delta, name in sorted(found):
        points.setdefault(delta, {})[name] = _mean(found[delta, name])
    return points


def save(points: Points, path: Path = RESULTS) -> None:
    """Keep them, for the documentation and the picture."""
    rounded = {
        delta: {name: [round(n, 3) for n in point] for name, point in own.items()}
        for delta, own in sorted(points.items())
    }
    path.write_text(json.dumps(rounded, indent=1) + "\n")


def load(path: Path = RESULTS) -> Points:
    """What `save` kept, by delta; nothing where it kept nothing."""
    if not path.exists():
        return {}
    return {
        int(delta): {name: Point(*figures) for name, figures in own.items()}
        for delta, own in json.loads(path.read_text()).items()
    }


def ours(price: float) -> str:
    """How `balanced` at a price is called."""
    return f"balanced, {price:g}"


def section() -> str:
    """What the documentation has of the figures that were kept."""
    lines = [
        "`landau` plays the random walks of [arXiv 2402.06085](https://arxiv.org/abs/2402.06085) "
        f"({PARTITIONS} partitions, {MEASUREMENTS} measurements) and draws `tests/benchmarks/landau.png`.",
        "The table has mean members / mean R-score (moved rate / capacity). "
        "With `balanced, 3` a member leaves if that adds at most 3 to the R-score.",
        "",
        *table(load()),
    ]
    return "\n".join(lines) + "\n"


def table(points: Points) -> Iterator[str]:
    """The lines of a Markdown table: members / R-score by delta."""
    names = [*HARD_TO_BEAT, *map(ours, PRICES)]
    yield f"| delta | {' | '.join(names)} |"
    yield f"| ---: |{' ---: |' * len(names)}"
    for delta, own in points.items():
        yield f"| {delta} | {' | '.join(str(own[name]) for name in names)} |"


def unbeaten(points: Points) -> list[str]:
    """Every heuristic, by delta, that beats ours at all prices in one figure or the other."""
    mine = [ours(price) for price in PRICES]
    return [
        f"{name} at delta {delta}"
        for delta, own in points.items()
        for name, point in own.items()
        if name not in mine and not any(own[one].beats(point) for one in mine)
    ]


def picture(points: Points, path: Path = PICTURE) -> None:
    """R-score over members, one plot per delta above 0; further left and down is better."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    mine = [ours(price) for price in PRICES]
    moving = [delta for delta in points if delta]
    figure, rows = plt.subplots(
        2, 3, figsize=(11, 6), layout="constrained", sharex=True, sharey=True
    )
    for axes in rows.flat[len(moving) :]:
        axes.axis("off")
    for axes, delta in zip(rows.flat, moving, strict=False):
        own = points[delta]
        theirs = [point for name, point in own.items() if name not in mine]
        axes.plot(*zip(*theirs, strict=True), "o", color="tab:grey", markersize=4)
        axes.plot(*zip(*(own[name] for name in mine), strict=True), "ko-", markersize=5)
        named = [(name, own[name], (4, 4)) for name in HARD_TO_BEAT]
        priced_so = zip(PRICES, mine, strict=True)
        named += [(f"{price:g}", own[name], (-16, -9)) for price, name in priced_so]
        for name, point, offset in named:
            axes.annotate(name, point, offset, textcoords="offset points", fontsize="small")
        axes.set(
            title=f"delta {delta}", xlabel="members", ylabel="R-score", ylim=(0, 35), xlim=(98, 135)
        )
        axes.tick_params(labelbottom=True, labelleft=True)
        axes.grid(visible=True, alpha=0.2)
    figure.legend(
        handles=[*rows.flat[0].lines],
        labels=["published heuristics", "balanced, by the price of a member"],
        fontsize="small",
        loc="lower right",
    )
    # the date of the file is all that would differ between two pictures of the same points
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
