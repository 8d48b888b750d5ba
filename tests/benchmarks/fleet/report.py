"""Runs as cells of tables, and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.benchmarks.fleet.results import Run, growth

AIM_SECONDS, AIM_MB = 120, 4_000
"""What is asked of the largest fleet, on two cores."""

HEADINGS = ("groups", "partitions", "code", "s", "processor s", "peak MB", "growth", "failed")
STEP_HEADINGS = ("groups", "step", "s", "processor s", "peak MB", "rows")
WORDS = ("code", "failed", "step")


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
    runs, before = ([run for run in some if not run.failed] for some in (runs, before))
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
