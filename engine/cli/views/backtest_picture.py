"""
The picture of `evenkeel backtest`: each group's lag over time, what was forecast of it, its diagnoses, and what its
readers were told.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...model.formats import duration
from ...model.states import Diagnosis
from ...model.text import printable
from .pictures import save

if TYPE_CHECKING:
    from ...pipeline.backtest import DiagnosisChange, ForecastCheck, Said

MOST_GROUPS = 24
"""So many groups are drawn, those with most changes first; more would be too small to see."""

ROOM = 0.06
"""The share of the whole time that a diagnosis has to last for its name to be written."""

_COLOURS = {
    Diagnosis.KEEPS_UP: "#d9f0d3",
    Diagnosis.CATCHING_UP: "#ffffb3",
    Diagnosis.UNKNOWN: "#eeeeee",
    Diagnosis.REBALANCING: "#e7d4e8",
    Diagnosis.SKEWED_LOAD: "#fdd9a0",
    Diagnosis.SLOW_MEMBER: "#fdc0a0",
    Diagnosis.HOT_PARTITION: "#fdc0a0",
    Diagnosis.TOO_FEW_MEMBERS: "#fdc0a0",
}
_WORST = "#f4a5a5"
"""Of every other diagnosis: somebody has to look."""


def drawn(changes: Sequence[DiagnosisChange]) -> list[str]:
    """The groups that are drawn, by name."""
    number: dict[str, int] = {}
    for change in changes:
        number[change.group] = number.get(change.group, 0) + 1
    return sorted(sorted(number, key=lambda group: (-number[group], group))[:MOST_GROUPS])


def draw(
    changes: Sequence[DiagnosisChange],
    messages: Sequence[Said],
    checks: Sequence[ForecastCheck],
    ahead_seconds: float,
    file: Path,
) -> Path:
    """
    Write the picture, and say where.

    Args:
        changes: Changes of diagnoses.
        messages: What was told.
        checks: Forecasts and what came.
        ahead_seconds: Which forecasts are drawn: those so far ahead, at the moment they are of.
        file: Where it goes; its suffix is one of `pictures.KINDS`.

    Raises:
        InputError: The file cannot be written.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    groups = drawn(changes)
    figure = Figure(figsize=(11, 1.2 + 1.5 * len(groups)), layout="constrained")
    end = max([*(change.at for change in changes), *(check.at for check in checks)])
    every = figure.subplots(len(groups), sharex=True, squeeze=False)[:, 0]
    for axes, group in zip(every, groups, strict=True):
        own = [check for check in checks if check.group == group]
        _forecasts(axes, [c for c in own if (c.due - c.at).total_seconds() == ahead_seconds])
        _diagnoses(axes, [change for change in changes if change.group == group], end)
        _messages(axes, [one for one in messages if group in one.groups])
        axes.set_title(printable(group), loc="left", fontsize="small", parse_math=False)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    figure.supylabel("lag (offsets)")
    ahead = duration(ahead_seconds)
    figure.suptitle(f"Lag, what was forecast of it {ahead} before, diagnoses, and messages (lines)")
    return save(figure, file, "--plot")


def _forecasts(axes: Any, checks: Sequence[ForecastCheck]) -> None:
    due = [check.due for check in checks]
    low, high = [check.low for check in checks], [check.high for check in checks]
    axes.fill_between(due, low, high, color="tab:blue", alpha=0.3, linewidth=0)
    known = [check for check in checks if check.realised is not None]
    axes.plot([c.due for c in known], [c.realised for c in known], "k.", markersize=2)


def _messages(axes: Any, messages: Sequence[Said]) -> None:
    """A line at the time of each message, with its kind beside it."""
    for one in messages:
        axes.axvline(one.at, color="tab:red", linewidth=1)
        axes.annotate(
            one.kind.value,
            (one.at, 0.5),
            xycoords=("data", "axes fraction"),
            xytext=(2, 0),
            textcoords="offset points",
            color="tab:red",
            fontsize="x-small",
            clip_on=True,
        )


def _diagnoses(axes: Any, changes: Sequence[DiagnosisChange], end: Any) -> None:
    """A strip of colour from each change to the next, with the diagnosis in it where there is room."""
    for change, until in zip(changes, [*(c.at for c in changes[1:]), end], strict=True):
        axes.axvspan(change.at, until, color=_COLOURS.get(change.diagnosis, _WORST), zorder=0)
        if (until - change.at) < ROOM * (end - changes[0].at):
            continue
        axes.annotate(
            change.diagnosis.value,
            (change.at, 1),
            xycoords=("data", "axes fraction"),
            va="top",
            fontsize="x-small",
            clip_on=True,
        )
