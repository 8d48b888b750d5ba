"""
The pictures of the command line, and where they go.

`evenkeel query --plot` draws columns of its answer over time, a line per group or cluster; `evenkeel backtest --plot`
each group's lag over time, what was forecast of it, its diagnoses, and its messages.
"""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...model.columns import ColumnSpec, Unit
from ...model.errors import InputError
from ...model.formats import duration, moment
from ...model.states import Diagnosis
from ...model.text import printable
from ...records import columns_of_query
from ..files import check_folder, replacing
from .columns import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evenkeel.sql import Plot

    from ...pipeline.backtest import DiagnosisChange, ForecastCheck, Said

KINDS = (".png", ".svg", ".pdf")


def check_file(file: Path, option: str) -> None:
    """
    Raises:
        InputError: The file's suffix is of no kind of picture, or its folder is missing.
        ModuleNotFoundError: What draws is not installed; better now than after the work.
    """
    import matplotlib  # noqa: F401

    if file.suffix.lower() not in KINDS:
        raise InputError(
            f"{option} {file} is no picture.", fix=f"Let it end in {', '.join(KINDS)}."
        )
    check_folder(file, what=_WHAT, fix=_FIX.format(option))


_WHAT, _FIX = "the picture ", "Name another place with {}."


def save(figure: Figure, file: Path, option: str) -> Path:
    """
    Write a picture, and say where.

    Raises:
        InputError: The file cannot be written.
    """
    with replacing(file, what=_WHAT, fix=_FIX.format(option)) as partial:
        figure.savefig(partial, format=file.suffix[1:].lower())
    return file


MOST_LINES = 12
"""So many lines are drawn, the highest first; more cannot be told apart."""

MISSING = 2.5
"""Two rows that are so many times further apart than usual are not joined by a line."""

HEADROOM = 0.05
"""What is left free above the highest value, as a share of all."""

_SPANS = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0))
_STYLES = ("-", "--", ":")
_COLORS = 10

Row = Mapping[str, Any]


def lines_of(plot: Plot, rows: Sequence[Row]) -> dict[tuple[str, ...], list[Row]]:
    """The rows of each line in the order of time, those lines that come highest first."""
    known = [name for name in plot.lines if name in rows[0]]
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row[plot.over]):
        found.setdefault(tuple(str(row[name]) for name in known), []).append(row)
    tops = {key: max(heights(own, plot.values[0]), default=0.0) for key, own in found.items()}
    return dict(sorted(found.items(), key=lambda one: (-tops[one[0]], one[0])))


def heights(rows: Sequence[Row], column: str) -> list[float]:
    """The values of a column that can be drawn: what is unknown or infinite has no place."""
    return [height for row in rows if math.isfinite(height := _height(row[column]))]


def _height(value: float | None) -> float:
    return math.nan if value is None or not math.isfinite(value) else float(value)


def query_figure(query: str, question: str, plot: Plot, rows: Sequence[Row]) -> Figure:
    """
    The picture of a query: a panel per value, one above the other, over the same time.

    Args:
        query: The query's name.
        question: What it answers.
        plot: Which of its columns are drawn.
        rows: Its rows, at least one.
    """
    from matplotlib import dates
    from matplotlib.figure import Figure

    lines = lines_of(plot, rows)
    specs = [columns_of_query(query)[name] for name in plot.values]
    figure = Figure(figsize=(10, 1.6 + 2.6 * len(specs)), layout="constrained")
    every = figure.subplots(len(specs), sharex=True, squeeze=False)[:, 0]
    for axes, spec in zip(every, specs, strict=True):
        _panel(axes, spec, plot.over, dict(itertools.islice(lines.items(), MOST_LINES)), rows)
    known: Any = dates
    locator = known.AutoDateLocator(tz="UTC")
    every[-1].xaxis.set_major_locator(locator)
    every[-1].xaxis.set_major_formatter(known.ConciseDateFormatter(locator, tz="UTC"))
    every[-1].set_xlabel("time (UTC)")
    if len(lines) > 1:
        every[0].legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    figure.suptitle(_title(question, plot, lines), parse_math=False, fontsize="medium")
    return figure


def _panel(
    axes: Any,
    spec: ColumnSpec,
    over: str,
    lines: Mapping[tuple[str, ...], Sequence[Row]],
    rows: Sequence[Row],
) -> None:
    """One column: a gap where it is unknown, a dot at each value so that one between two gaps is seen."""
    drawn = heights([row for own in lines.values() for row in own], spec.name)
    label, size = _scale(spec, drawn, rows)
    for number, (key, own) in enumerate(lines.items()):
        moments, values = course(own, over, spec.name)
        axes.plot(
            moments,
            [value / size for value in values],
            marker=".",
            markersize=3,
            linewidth=1.2,
            color=f"C{number % _COLORS}",
            linestyle=_STYLES[number // _COLORS % len(_STYLES)],
            # not as mathematics, and a leading underscore would hide it
            label=re.sub("^_", " _", _names(key, lines, shared=False).replace("$", r"\$")),
        )
    axes.set_ylabel(label, parse_math=False)
    low, high = min([0.0, *drawn]) / size, max([0.0, *drawn]) / size
    room = HEADROOM * ((high - low) or 1.0)
    axes.set_ylim(low - room if low < 0 else 0, high + room)
    axes.yaxis.set_major_formatter(_tick)
    axes.grid(visible=True, alpha=0.3)


def course(rows: Sequence[Row], over: str, column: str) -> tuple[list[datetime], list[float]]:
    """
    Where a line goes, with a gap where a value is unknown, and where rows are missing.

    They are missing where two in a row are further apart than `MISSING` times what is usual.

    Args:
        rows: In the order of time.
        over: The column of the moment.
        column: That of the value.
    """
    steps = [after[over] - before[over] for before, after in itertools.pairwise(rows)]
    usual = statistics.median(steps) if steps else timedelta()
    moments, values = [row[over] for row in rows], [_height(row[column]) for row in rows]
    for place in range(len(steps), 0, -1):
        if steps[place - 1] > MISSING * usual:
            moments.insert(place, moments[place - 1] + usual)
            values.insert(place, math.nan)
    return moments, values


def _scale(spec: ColumnSpec, drawn: Sequence[float], rows: Sequence[Row]) -> tuple[str, float]:
    """The label of the axis, with the unit, and by what values are divided for it."""
    unit: str | None = spec.meaning.unit
    if unit == Unit.SECONDS:
        top = max(drawn, default=0.0)
        unit, size = next(((name, size) for name, size in _SPANS if top >= 2 * size), _SPANS[-1])
        return f"{named(spec)} ({unit})", size
    if unit in (Unit.MONEY_PER_MONTH, Unit.COST):
        several = sorted({row["currency"] for row in rows if row.get("currency")})
        unit = f"{', '.join(several)} {unit}".replace(f" {Unit.COST}", "").strip()
    return f"{named(spec)} ({unit})" if unit else named(spec), 1.0


def _tick(height: float, _: int) -> str:
    """
    A number at the axis: thousands and more in short, below that in full.

    >>> _tick(2_500_000, 0), _tick(0.5, 0), _tick(40, 0)
    ('2.5M', '0.5', '40')
    """
    for sign, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(height) >= size:
            return f"{height / size:g}{sign}"
    return f"{height:g}"


def _names(key: Sequence[str], lines: Iterable[Sequence[str]], *, shared: bool) -> str:
    """What of a line's names the others have, too, which stands in the title; or what they have not."""
    alike = [len(set(each)) == 1 for each in zip(*lines, strict=True)]
    own = (name for name, same in zip(key, alike, strict=True) if same is shared)
    return printable(" · ".join(own))


def _title(question: str, plot: Plot, lines: Mapping[tuple[str, ...], Sequence[Row]]) -> str:
    """The question, of what and from when to when, and what is not there to be seen."""
    moments: list[datetime] = [row[plot.over] for own in lines.values() for row in own]
    span = f"{moment(min(moments))} to {moment(max(moments))}"
    parts = [_names(next(iter(lines)), lines, shared=True), span]
    courses = [course(own, plot.over, name) for own in lines.values() for name in plot.values]
    if any(math.isnan(value) for _, values in courses for value in values):
        parts.append("gap: unknown")
    if len(lines) > MOST_LINES:
        parts.append(f"the highest {MOST_LINES} of {len(lines):,} lines")
    return "\n".join([question, "; ".join(one for one in parts if one)])


MOST_GROUPS = 24
"""So many groups are drawn, those with most changes first; more would be too small to see."""

WRITTEN = 0.06
"""The share of the whole time that a diagnosis has to last for its name to be written."""

_OF_DIAGNOSIS = {
    Diagnosis.HEALTHY: "#d9f0d3",
    Diagnosis.CATCHING_UP: "#ffffb3",
    Diagnosis.UNKNOWN: "#eeeeee",
    Diagnosis.CRASH_LOOP: "#e7d4e8",
    Diagnosis.SCALER_FLAPPING: "#e7d4e8",
    Diagnosis.REBALANCING: "#e7d4e8",
    Diagnosis.SKEWED_LOAD: "#fdd9a0",
    Diagnosis.SLOW_MEMBER: "#fdc0a0",
    Diagnosis.HOT_PARTITION: "#fdc0a0",
    Diagnosis.UNDER_PROVISIONED: "#fdc0a0",
}
_WORST = "#f4a5a5"
"""Of every other diagnosis: it needs attention."""


def drawn(changes: Sequence[DiagnosisChange]) -> list[str]:
    """The groups that are drawn, by name."""
    number = Counter(change.group for change in changes)
    return sorted(sorted(number, key=lambda group: (-number[group], group))[:MOST_GROUPS])


def draw_backtest(
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
        messages: Messages.
        checks: Forecasts and actual values.
        ahead_seconds: Which forecasts are drawn: those so far ahead, at the moment they are of.
        file: Where it goes; its suffix is one of `KINDS`.

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
        own = [
            check
            for check in checks
            if check.group == group and (check.due - check.at).total_seconds() == ahead_seconds
        ]
        due, low, high = ([getattr(c, end) for c in own] for end in ("due", "low", "high"))
        axes.fill_between(due, low, high, color="tab:blue", alpha=0.3, linewidth=0)
        known = [check for check in own if check.actual is not None]
        axes.plot([c.due for c in known], [c.actual for c in known], "k.", markersize=2)
        _diagnoses(axes, [change for change in changes if change.group == group], end)
        _messages(axes, [one for one in messages if group in one.groups])
        axes.set_title(printable(group), loc="left", fontsize="small", parse_math=False)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    figure.supylabel("lag (offsets)")
    ahead = duration(ahead_seconds)
    figure.suptitle(f"Lag, what was forecast of it {ahead} before, diagnoses, and messages (lines)")
    return save(figure, file, "--plot")


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
    """A strip of color from each change to the next, with the diagnosis in it where there is room."""
    for change, until in zip(changes, [*(c.at for c in changes[1:]), end], strict=True):
        axes.axvspan(change.at, until, color=_OF_DIAGNOSIS.get(change.diagnosis, _WORST), zorder=0)
        if (until - change.at) < WRITTEN * (end - changes[0].at):
            continue
        axes.annotate(
            change.diagnosis.value,
            (change.at, 1),
            xycoords=("data", "axes fraction"),
            va="top",
            fontsize="x-small",
            clip_on=True,
        )
