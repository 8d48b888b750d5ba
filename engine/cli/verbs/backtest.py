"""`evenkeel backtest`: what would have been said over many snapshots in a row, and how it came out."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...model.text import several
from ..command_end import NothingFound, complain
from ..options import AsJson, ClusterName, Group, Wide, epilog, option

if TYPE_CHECKING:
    from datetime import datetime

    from ...pipeline.backtest import DiagnosisChange, Event, ForecastCheck, RegretCheck, Said
    from ..views.tables import Table

EPILOG = epilog(
    [
        "evenkeel backtest --from cluster.recording",
        "evenkeel backtest --from cluster.recording --plot backtest.png",
        "evenkeel backtest --from lake --cluster prod --group 'orders-*' --json",
    ],
    [0, 1, 2, 4],
    "Evaluates every snapshot with what was known at that time: earlier snapshots (setting lookback), earlier advice "
    "and earlier messages. Sends nothing.",
    "--json prints one object per line in time order: changed diagnoses, messages about advice (switch, withdrawn, "
    "adopted, verified, missed), messages about incidents (opened, worse, still, habit, resolved, digest), lag "
    "forecasts and regret. Regret is the lag that the best deployable strategy would have saved in an hour, in "
    "lag-seconds. A forecast is the lag 15 minutes and one hour later with the current assignment (p10, p50, p90), "
    "beside the actual value (actual). It is null if the assignment changed, the lag was unknown, or no snapshot was "
    "taken at that time.",
)


def backtest(
    stored: Annotated[
        str,
        option(
            "--from FILE|DIR|lake",
            "A recording, a lake folder, or `lake` for the configured lake.",
        ),
    ],
    cluster: ClusterName = None,
    group: Group = "*",
    wide: Wide = False,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None,
        option(
            "--plot FILE",
            "Plot lag, forecasts, diagnoses and messages of at most 24 groups (PNG, SVG or PDF).",
        ),
    ] = None,
) -> None:
    """Compare past diagnoses, forecasts and advice with what happened."""
    from ... import wiring
    from ...metrics.forecast import AHEAD
    from ...pipeline import backtest as walk
    from .. import sources
    from ..views import plots
    from ..views.tables import emit, show, tell

    if plot is not None:
        plots.check_file(plot, "--plot")
    source = sources.stored_source(stored, cluster)
    pattern = sources.select_ever(source, group)
    history = wiring.scratch_history()
    events = list(walk.backtest(source.lake, history, source.settings, source.cluster, pattern))
    if not events:
        raise NothingFound(f"no group of {stored} could be evaluated.")
    changes = [event for event in events if isinstance(event, walk.DiagnosisChange)]
    messages = [event for event in events if isinstance(event, walk.Said)]
    checks = [event for event in events if isinstance(event, walk.ForecastCheck)]
    if plot is not None:
        complain(f"drawn: {plots.draw_backtest(changes, messages, checks, AHEAD[0], plot)}")
    if as_json:
        emit(to_json(event) for event in sorted(events, key=lambda e: (e.at, e.group or "")))
        return
    counts = [several(len(changes), "diagnosis change"), several(len(messages), "message")]
    regrets = [event for event in events if isinstance(event, walk.RegretCheck)]
    tell([", ".join(counts), *(held(checks, seconds) for seconds in AHEAD), missed(regrets), ""])
    show([table(changes, messages, wide=wide)], wide=wide)


def to_json(event: Event) -> dict[str, Any]:
    """An event as one object."""
    from ... import records
    from ...messages.events import GroupEvent
    from ...messages.length import plain_text, section_text
    from ...messages.wording import because
    from ...pipeline.backtest import DiagnosisChange, Message, RegretCheck

    keys = {"at": event.at, "cluster": event.cluster, "group": event.group}
    if isinstance(event, DiagnosisChange):
        return {
            "event": "diagnosis",
            **keys,
            "diagnosis": event.diagnosis,
            "subjects": [name for fact in event.facts for name in fact.subjects],
            "text": because(event.facts),
        }
    if isinstance(event, Message):
        text = section_text(event.section)
        return {"event": "message", **keys, "kind": event.kind, "text": text}
    if isinstance(event, GroupEvent):
        return {
            "event": "message",
            **keys,
            "groups": event.groups,
            "kind": event.kind,
            "causes": event.causes,
            "text": plain_text(event.message),
        }
    if isinstance(event, RegretCheck):
        return {"event": "regret", **keys, **records.to_json(event.regret)}
    return {
        "event": "forecast",
        **keys,
        "for": event.due,
        "measure": "lag",
        "low": event.low,
        "expected": event.expected,
        "high": event.high,
        "actual": event.actual,
    }


REASON = 60
"""As many characters of a reason are shown in the table."""


def table(
    changes: Sequence[DiagnosisChange], messages: Sequence[Said], *, wide: bool = False
) -> Table:
    """Changes of diagnoses and messages, group by group; reasons in full where *wide*."""
    from ...messages.wording import because
    from ...model.formats import NOTHING, minute
    from ...model.text import shortened
    from ..views import columns
    from ..views.tables import text

    shown: list[columns.Shown] = [
        ("GROUP", itemgetter("group")),
        ("TIME", lambda row: minute(row["at"])),
        ("DIAGNOSIS", lambda row: text(row["diagnosis"])),
        ("REASON", lambda row: shortened(row["reason"], REASON) if not wide else row["reason"]),
        ("MESSAGE", itemgetter("message")),
    ]
    headings: dict[tuple[str, datetime], list[str]] = {}
    for one in messages:
        for group in one.groups:
            headings.setdefault((group, one.at), []).append(one.title)
    found = {(change.group, change.at): change for change in changes}
    rows, diagnosis = [], None
    for group, at in sorted(headings.keys() | found.keys()):
        change = found.get((group, at))
        diagnosis = change.diagnosis if change else diagnosis
        row = {
            "group": text(group),
            "at": at,
            "diagnosis": diagnosis,
            "reason": text(because(change.facts)) if change else NOTHING,
            "message": text("; ".join(headings.get((group, at), ())), ""),
        }
        rows.append(row)
    return columns.table(shown, rows, apart=True, beside=2)


def missed(checks: Sequence[RegretCheck]) -> str:
    """What switches would have saved."""
    from ...messages.wording.forecasts import about
    from ...pipeline.backtest import regret_hours

    told, silent = (about(regret_hours(checks, told=told)) for told in (True, False))
    return (
        "Lag that the best deployable strategy would have saved: "
        f"{told} record-hours after advice to switch, {silent} without advice"
    )


def held(checks: Sequence[ForecastCheck], seconds: float) -> str:
    """How many forecasts so far ahead held."""
    from ...model.formats import duration, percent
    from ...pipeline.backtest import coverage

    inside, known = coverage(checks, seconds)
    ahead = f"Forecast of lag {duration(seconds)} ahead"
    if not known:
        return f"{ahead}: none came due while the assignment stayed"
    return f"{ahead}: {percent(inside / known)} of {known:,} actual values within p10-p90 (expected 80%)"
