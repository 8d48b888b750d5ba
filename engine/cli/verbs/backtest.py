"""`evenkeel backtest`: what would have been said over many snapshots in a row, and how it came out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenkeel.engine.cli.options import AsJson, ClusterName, GroupPattern, epilog
from evenkeel.engine.cli.running import NothingFound, complain

if TYPE_CHECKING:
    from evenkeel.engine.cli.views.tables import Table
    from evenkeel.engine.steps.backtest import DiagnosisChange, Event, ForecastCheck

EPILOG = epilog(
    [
        "evenkeel backtest --from cluster.recording",
        "evenkeel backtest --from cluster.recording --plot backtest.png",
        "evenkeel backtest --from lake --cluster prod --group 'orders-*' --json",
    ],
    [0, 1, 2, 4],
    "Every snapshot is judged with what was known by then: earlier snapshots, as many as `lookback` says. --json "
    "prints an object per line in the order of time: each change of a diagnosis, and for every group with members the "
    "lag (offsets) that was to come 15 minutes and an hour later under the assignment it had (low, expected, high: "
    "four in five should lie between), with what came. realised is null where the assignment changed, the lag was "
    "unknown or no snapshot was taken about then. Advice and messages are not part of it yet.",
)


def backtest(
    stored: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FILE|DIR|lake",
            help="A recording, a lake folder, or with `lake` the configured lake.",
        ),
    ],
    cluster: ClusterName = None,
    group: GroupPattern = "*",
    as_json: AsJson = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw lag, forecasts and diagnoses, of at most 24 groups, into a PNG, SVG or PDF file.",
        ),
    ] = None,
) -> None:
    """Say what would have been diagnosed and forecast over many snapshots, and how it came out."""
    from evenkeel.engine import wiring
    from evenkeel.engine.cli import sources
    from evenkeel.engine.cli.views import backtest_picture, pictures
    from evenkeel.engine.cli.views.tables import emit, show, tell
    from evenkeel.engine.steps import backtest as walk

    if plot is not None:
        pictures.check_kind(plot, "--plot")
    settings = wiring.settings()
    source = sources.from_lake(settings, wiring.recorded(stored, settings), cluster, stored)
    pattern = sources.select(source, group)
    events = list(walk.backtest(source.lake, source.settings, source.cluster, pattern))
    if not events:
        raise NothingFound(f"no group of {stored} could be judged.")
    changes = [event for event in events if isinstance(event, walk.DiagnosisChange)]
    checks = [event for event in events if isinstance(event, walk.ForecastCheck)]
    if plot is not None:
        complain(f"drawn: {backtest_picture.draw(changes, checks, walk.AHEAD[0], plot)}")
    if as_json:
        emit(to_json(event) for event in sorted(events, key=lambda e: (e.at, e.group)))
        return
    show([table(changes)])
    tell([held(checks, seconds) for seconds in walk.AHEAD])


def to_json(event: Event) -> dict[str, Any]:
    """An event as one object."""
    from evenkeel.engine.steps.backtest import DiagnosisChange
    from evenkeel.engine.wording import because

    keys = {"at": event.at, "cluster": event.cluster, "group": event.group}
    if isinstance(event, DiagnosisChange):
        return {
            "event": "diagnosis",
            **keys,
            "diagnosis": event.diagnosis,
            "subjects": [name for fact in event.facts for name in fact.subjects],
            "text": because(event.facts),
        }
    return {
        "event": "forecast",
        **keys,
        "for": event.due,
        "measure": "lag",
        "low": event.low,
        "expected": event.expected,
        "high": event.high,
        "realised": event.realised,
    }


def table(changes: Sequence[DiagnosisChange]) -> Table:
    """Changes of diagnoses, group by group."""
    from evenkeel.engine.cli.views.columns import cells, heads, pick
    from evenkeel.engine.cli.views.tables import Table
    from evenkeel.engine.records import GroupMetrics, LatestLag
    from evenkeel.engine.wording import because

    columns = [
        *pick(GroupMetrics, "group_id"),
        *pick(LatestLag, "taken_at"),
        *pick(GroupMetrics, "diagnosis", "diagnosis_reason"),
    ]
    ordered: Iterable[DiagnosisChange] = sorted(changes, key=lambda e: (e.group, e.at))
    rows = [
        {
            "group_id": change.group,
            "taken_at": change.at,
            "diagnosis": change.diagnosis,
            "diagnosis_reason": because(change.facts) or None,
        }
        for change in ordered
    ]
    return Table(headings=heads(columns), rows=[cells(columns, row) for row in rows], apart=True)


def held(checks: Sequence[ForecastCheck], seconds: float) -> str:
    """How many forecasts so far ahead held."""
    from evenkeel.engine.steps.backtest import coverage
    from evenkeel.engine.wording.numbers import duration, percent

    inside, known = coverage(checks, seconds)
    ahead = f"lag {duration(seconds)} ahead"
    if not known:
        return f"{ahead}: no forecast came due while the assignment stayed"
    return f"{ahead}: {percent(inside / known)} of {known:,} forecasts held what came (80% should)"
