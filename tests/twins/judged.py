"""What is measured of a pair, beside what is replayed from the snapshots of the group that switched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from evenkeel.engine.advice.counterfactual import (
    Present,
    before_switch,
    begun,
    gone_on,
    stayed,
    with_own,
)
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.pipeline.measure import observed_of, tables_of
from evenkeel.engine.pipeline.present import shown
from evenkeel.engine.records.lifecycle import Counterfactual
from evenkeel.engine.snapshots.groups_with_past import BatchWithPast
from tests.helpers.measuring import of_tables

LATE_SECONDS = 10.0
"""The SLO here: snapshots are seconds apart, not minutes."""

PATIENCE = 3
"""Looks at the end of which one must have a replay: a group may rebalance at any of them."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """
    What a snapshot shows of a group.

    Attributes:
        at: When it was taken.
        lag: Offsets; None unknown.
        late_seconds: How late its latest partition is; None unknown.
        present: What replays need; None where that is not known.
    """

    at: datetime
    lag: int | None
    late_seconds: float | None
    present: Present | None


@dataclass(frozen=True, kw_only=True)
class Judged:
    """
    A pair, measured and replayed.

    Attributes:
        pair, kind, strategy: As in the plan.
        seconds: From the last snapshot before the switch to the last.
        came: Record-seconds of lag of the group that switched.
        measured: By how many its twin had more.
        low, expected, high: By how many it would have had more, as replayed; None unknown.
        late_measured: Seconds that the twin is late at the end.
        late_low, late_expected, late_high: As replayed.
    """

    pair: str
    kind: str
    strategy: str | None
    seconds: float
    came: float
    measured: float
    low: float | None = None
    expected: float | None = None
    high: float | None = None
    late_measured: float | None = None
    late_low: float | None = None
    late_expected: float | None = None
    late_high: float | None = None

    @property
    def inside(self) -> bool | None:
        """Whether the lag that was measured lies within what was replayed; None: nothing was."""
        return _within(self.low, self.measured, self.high)

    @property
    def late_inside(self) -> bool | None:
        """Whether how late the twin is lies within what was replayed; None: nothing was."""
        return _within(self.late_low, self.late_measured, self.late_high)


def looks(snapshots: Sequence[GroupSnapshot], commit_seconds: float) -> list[Look]:
    """Measure a group in each of its snapshots, oldest first, by the ones before."""
    rule = Rule(
        auto_offset_reset="earliest",
        commit_interval_seconds=commit_seconds,
        lag_slo_seconds=LATE_SECONDS,
    )
    settings = Settings(rules=(rule,))
    found = []
    for number, group in enumerate(snapshots):
        earlier = snapshots[max(number - settings.lookback, 0) : number][::-1]
        past = BatchWithPast.of(group, earlier, None)
        tables = tables_of(settings, past, observed_of(settings, past), every=True)
        (row,) = tables["group_metrics"].to_pylist()
        seen = shown(of_tables(tables), {group.group: row}, [group.group]).get(group.group)
        present = None if seen is None else seen.present
        found.append(
            Look(
                at=group.taken_at,
                lag=row["total_lag"],
                late_seconds=row["delay_seconds"],
                present=present,
            )
        )
    return found


def judged(
    named: dict[str, Any], goes: Sequence[Look], stays: Sequence[Look], since: datetime
) -> Judged:
    """
    Hold what the replay says from the looks at one group against the looks at its twin, of the same snapshots.

    Args:
        named: `pair`, `kind`, `strategy`.
        goes: Looks at the group that may switch.
        stays: Looks at the other one.
        since: When the switch began, or would have.
    """
    switches = named["strategy"] is not None
    ways = [*replays(goes, since, switches)]
    newest = range(len(goes) - 1, max(len(goes) - 1 - PATIENCE, 0), -1)
    whole = [at for at in newest if (way := ways[at]) is not None and way.at == goes[at].at]
    last = whole[0] if whole else newest[0]
    way = ways[last]
    # where there is no replay, what is measured is shown all the same
    first_at = max(e.at for e in goes if e.at <= since) if way is None else way.since
    span = slice(next(n for n, e in enumerate(goes) if e.at == first_at), last + 1)
    came, measured = area(goes[span]), area(stays[span])
    one = Judged(
        **named,
        seconds=(goes[last].at - first_at).total_seconds(),
        came=came,
        measured=measured - came,
        late_measured=stays[last].late_seconds,
    )
    would = stayed(way, goes[last].present, goes[last].at)
    if would is None:
        return one
    saved, late = (
        [None if np.isnan(n) else float(n) for n in each]
        for each in (would.saved, would.delay_seconds)
    )
    return replace(
        one,
        low=saved[0],
        expected=saved[1],
        high=saved[2],
        late_low=late[0],
        late_expected=late[1],
        late_high=late[2],
    )


def replays(
    goes: Sequence[Look], since: datetime, switches: bool
) -> Iterator[Counterfactual | None]:
    """
    The replay of the assignment before the switch after each look, as advice carries it along.

    It begins with the last look before members restart; where nobody switches, with the last one before.
    """
    way: Counterfactual | None = None
    before: str | None = None
    now: str | None = None
    for look in goes:
        present = look.present
        shows = present.assignment if present else None
        if look.at <= since:
            way = way if present is None else begun(present, present.owner, look.at)
            before = now = shows or before
        else:
            way = gone_on(way, present, look.at)
            if switches and shows == before:
                way = before_switch(way, present, look.at)
            elif shows not in (None, now):
                way, now = with_own(way, present), shows
        yield way


def area(seen: Sequence[Look]) -> float:
    """Record-seconds of lag between the first and the last look; over what is unknown a straight line."""
    known = [(each.at.timestamp(), each.lag) for each in seen if each.lag is not None]
    moments, lags = (np.array(each, np.float64) for each in zip(*known, strict=True))
    return float(np.trapezoid(lags, moments)) if len(known) > 1 else 0.0


def _within(low: float | None, value: float | None, high: float | None) -> bool | None:
    if low is None or value is None or high is None:
        return None
    return low <= value <= high
