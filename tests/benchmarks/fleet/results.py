"""What was measured: as values, as JSON, as cells of tables and as a picture; and the arithmetic of it."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

AIM_SECONDS, AIM_MB = 120, 4_000
"""What is asked of the largest fleet, on two cores."""

AGAIN = ", again"
"""Behind the name of the code: what it takes once more on the same snapshot."""

HEADINGS = ("groups", "partitions", "code", "s", "processor s", "peak MB", "growth", "failed")
STEP_HEADINGS = ("groups", "step", "s", "processor s", "peak MB", "rows")
WORDS = ("code", "failed", "step")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTaken:
    """
    What one step took; all of it None where it did not run.

    Attributes:
        step: Its name.
        wall_seconds: From its start to the end of its last process.
        processor_seconds: Of all its processes.
        peak_mb: Most memory of all its processes together.
        rows: It was about, None where it failed.
        failed: Why it has no result; None when it has.
    """

    step: str
    wall_seconds: float | None = None
    processor_seconds: float | None = None
    peak_mb: float | None = None
    rows: int | None = None
    failed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """
    One run over one fleet.

    Attributes:
        groups, partitions, members: Of the fleet; partitions of the cluster.
        giant: Whether one of them is the giant.
        seed: Of the fleet.
        checkout: Which code was measured, as `git describe` names it.
        steps: In order.
    """

    groups: int
    partitions: int
    members: int
    giant: bool
    seed: int
    checkout: str
    steps: tuple[StepTaken, ...]

    @property
    def wall_seconds(self) -> float:
        """Of all steps that ran."""
        return sum(step.wall_seconds or 0 for step in self.steps)

    @property
    def processor_seconds(self) -> float:
        """Of all steps that ran."""
        return sum(step.processor_seconds or 0 for step in self.steps)

    @property
    def peak_mb(self) -> float:
        """The most any step took; one runs at a time."""
        return max((step.peak_mb or 0 for step in self.steps), default=0)

    @property
    def failed(self) -> str | None:
        """The step that failed, and why."""
        return next((f"{s.step}: {s.failed}" for s in self.steps if s.failed), None)

    def to_json(self) -> dict[str, object]:
        """With its sums."""
        sums = {
            "wall_seconds": round(self.wall_seconds, 2),
            "processor_seconds": round(self.processor_seconds, 2),
            "peak_mb": round(self.peak_mb),
            "failed": self.failed,
        }
        told = asdict(self)
        steps = [_rounded(step) for step in told.pop("steps")]
        return {**told, **sums, "steps": steps}


def _rounded(step: dict[str, object]) -> dict[str, object]:
    return {k: round(v, 2) if isinstance(v, float) else v for k, v in step.items()}


def save(runs: Sequence[Run], path: Path) -> None:
    """As a JSON list."""
    path.write_text(json.dumps([run.to_json() for run in runs], indent=1) + "\n")


def load(path: Path) -> list[Run]:
    """What `save` wrote."""
    names = ("groups", "partitions", "members", "giant", "seed", "checkout")
    return [
        Run(**{n: one[n] for n in names}, steps=tuple(StepTaken(**s) for s in one["steps"]))
        for one in json.loads(path.read_text())
    ]


def exponent(points: Iterable[tuple[float, float]]) -> float | None:
    """
    How fast something grows: the slope of its logarithm over the logarithm of the size. None for fewer than two sizes.

    Twice the size costs `2 ** exponent` times as much; 1.07 is 2.1 times.

    >>> exponent([(10, 5), (100, 50), (1000, 500)]), exponent([(1, 3), (2, 12)]), exponent([(1, 1)])
    (1.0, 2.0, None)
    """
    logs = [(math.log(size), math.log(cost)) for size, cost in points if size > 0 and cost > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    mean_x, mean_y = (sum(axis) / len(logs) for axis in zip(*logs, strict=True))
    above = sum((x - mean_x) * (y - mean_y) for x, y in logs)
    return round(above / sum((x - mean_x) ** 2 for x, _ in logs), 3)


def growth(runs: Sequence[Run]) -> list[float | None]:
    """
    Per run the exponent of its processor seconds over partitions, from the run before it; None for the first, and
    where one of the two failed.
    """
    pairs = [
        None
        if a.failed or b.failed
        else exponent([(one.partitions, one.processor_seconds) for one in (a, b)])
        for a, b in itertools.pairwise(runs)
    ]
    return [None, *pairs][: len(runs)]


def cells(runs: Sequence[Run]) -> Iterator[list[str]]:
    """A row per run; *growth* is the exponent of processor seconds from the run before it."""
    for run, grown in zip(runs, growth(runs), strict=True):
        yield [
            f"{run.groups:,}{' with giant' if run.giant else ''}",
            f"{run.partitions:,}",
            run.checkout,
            f"{run.wall_seconds:,.0f}",
            f"{run.processor_seconds:,.0f}",
            f"{run.peak_mb:,.0f}",
            "-" if grown is None else f"{grown:.2f}",
            run.failed or "-",
        ]


def step_cells(runs: Sequence[Run]) -> Iterator[list[str]]:
    """A row per run and step."""
    for run in runs:
        for step in run.steps:
            told = [step.wall_seconds, step.processor_seconds, step.peak_mb]
            formats = ("{:,.1f}", "{:,.1f}", "{:,.0f}")
            numbers = [
                "-" if n is None else f.format(n) for n, f in zip(told, formats, strict=True)
            ]
            rows = f"{step.rows:,}" if step.rows is not None else step.failed or "-"
            yield [f"{run.groups:,}", step.step, *numbers, rows]


def picture(runs: Sequence[Run], before: Sequence[Run], path: Path) -> None:
    """
    Processor seconds by step, and memory, over the size of the fleet; *before* is other code on the same fleets.

    A run that failed is left out: how long it took until then says nothing.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (time, memory) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    runs, before = (
        [run for run in some if not (run.failed or run.checkout.endswith(AGAIN))]
        for some in (runs, before)
    )
    sizes = [run.groups for run in runs]
    for number, step in enumerate(runs[0].steps if runs else ()):
        seconds = [run.steps[number].processor_seconds for run in runs]
        time.plot(sizes, seconds, marker=".", linewidth=1, label=step.step)
    for some, label, line in ((runs, "all steps", "-"), (before, "all steps, before", "--")):
        if some:
            x = [run.groups for run in some]
            y = [run.processor_seconds for run in some]
            time.plot(x, y, f"k{line}", marker="o", label=label)
            memory.plot(x, [run.peak_mb for run in some], f"k{line}", marker="o", label=label)
    time.axhline(2 * AIM_SECONDS, color="grey", linestyle=":", label="aim: two cores for 120 s")
    memory.axhline(AIM_MB, color="grey", linestyle=":", label="aim: 4 GB")
    for axes, what in ((time, "processor seconds"), (memory, "peak MB")):
        axes.set(xscale="log", yscale="log", xlabel="groups of 100 partitions", ylabel=what)
        axes.grid(visible=True, which="both", alpha=0.2)
        axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=3)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter("{x:,.0f}")
    memory.set(yscale="linear", ylim=(0, 1.1 * AIM_MB))
    # the date of the file is all that would differ between two pictures of the same runs
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
