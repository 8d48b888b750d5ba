"""For how long members are away that restart, as far as snapshots of simulated groups show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from statistics import median
from typing import Any

import pytest

from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Policy, Rule, Settings
from evenkeel.engine.model.tables import Table
from evenkeel.engine.pipeline import lookback_of
from evenkeel.engine.pipeline.measure import measure_chunk, record_metrics
from evenkeel.engine.records.pause_course import PauseSpan, spans_of
from evenkeel.engine.snapshots import SNAPSHOT
from tests.helpers.fluid import Commits, Member, simulate, snapshots
from tests.helpers.fluid.plan import Group, Join, Leave, Restart, steady
from tests.helpers.lake_snapshots import Taken, write_taken

SESSION = 50
"""Seconds after which a dynamic member that crashed is let in again."""

FREQUENT, RARE = 10, 300
"""Seconds from snapshot to snapshot."""


def _group(
    name: str,
    down: float = 30,
    *,
    static: bool = True,
    clean: bool = True,
    behind: bool = False,
    every: int = FREQUENT,
    **other: Any,
) -> Group:
    """Three members, of whom one after another restarts, three times in all."""
    capacity = 30 if behind else 100
    restarts = tuple(
        Restart(at=every * (16 + 12 * n) + 3, member=n % 3, down=down, clean=clean)
        for n in range(3)
    )
    return steady(
        name=name,
        members=(Member(capacity=capacity, static=static),) * 3,
        backlog=(every * 1e4,) * 4 if behind else None,
        events=restarts,
        **other,
    )


AWAY = {
    "static": (_group("static", 30), 30),
    "static-long": (_group("static-long", 60), 60),
    "static-crash": (_group("static-crash", 30, clean=False), 30),
    "dynamic": (_group("dynamic", 30, static=False), 30),
    "dynamic-long": (_group("dynamic-long", 60, static=False), 60),
    "dynamic-crash": (_group("dynamic-crash", 20, static=False, clean=False), SESSION),
    "modern": (_group("modern", 30, static=False, modern=True, strategy="uniform"), 30),
    "behind": (_group("behind", 30, behind=True), 30),
    "behind-short": (_group("behind-short", 10, behind=True), 10),
}
"""Groups that snapshots 10 s apart show, and for how long their members are really away."""

OTHERS = {
    "one-name": _group("one-name", 30, static=False),
    "stopped": steady(
        name="stopped",
        members=(Member(capacity=100),) * 3,
        events=(Leave(at=103, members=(2,)), Join(at=503, members=(2,))),
    ),
    "rarely": _group("rarely", 30, commits=Commits(every=600)),
}
"""Groups of whose restarts nothing is known; the members of the first have one client id and host."""

SELDOM = {
    name: _group(name, down, every=RARE, **how)
    for name, down, how in (
        *((f"rare-{down}", down, {"behind": True}) for down in (60, 120, 20)),
        *((f"up-{static}", 60, {"static": static}) for static in (True, False)),
    )
}
"""Groups that snapshots five minutes apart show."""

PEERS = {"static-quiet": steady(name="static-quiet"), "configured": _group("configured")}
"""One that never restarts, with the client library of those above, and one that is configured."""

SETTINGS = Settings(
    rules=(
        Rule(groups="static*", client="java"),
        Rule(groups="configured", policy=Policy(restart_seconds=7)),
    )
)


def _named_alike(taken: Taken) -> Taken:
    """A snapshot in which the members of the group "one-name" have one client id and host."""
    rows = taken.tables["members"].to_pylist()
    for row in rows:
        if row["group_id"] == "one-name":
            row |= {"client_id": "app", "client_host": "/10.0.0.1"}
    members = Table.from_rows(rows, SNAPSHOT["members"])
    return replace(taken, tables={**taken.tables, "members": members})


@cache
def _rows(every: int, *groups: Group) -> dict[str, dict[str, Any]]:
    """What the metrics say of some groups after each snapshot has taken up what the one before had learned."""
    lake, names, measured = Recording(), [group.name for group in groups], {}
    taken = map(_named_alike, snapshots(simulate(groups, 60, every=every)))
    for snapshot_id in [*write_taken(lake, taken)]:
        measured = measure_chunk(lake, SETTINGS, lookback_of(lake, SETTINGS, snapshot_id), names)
        record_metrics(lake, snapshot_id, measured)
    return {row["group_id"]: row for row in measured["group_metrics"].to_pylist()}


def _frequent() -> dict[str, dict[str, Any]]:
    known = (group for group, _ in AWAY.values())
    return _rows(FREQUENT, *known, *OTHERS.values(), *PEERS.values())


def _restarts(row: Mapping[str, Any]) -> Iterator[PauseSpan]:
    course = row["pause_course"]
    return iter(spans_of(course["restarts"]) if course else ())


@pytest.mark.parametrize("name", AWAY)
def test_snapshots_ten_seconds_apart_show_for_how_long_a_member_was_away(name):
    """What is true lies between both ends of the median, whose middle is off by one interval at most."""
    row, away = _frequent()[name], AWAY[name][1]
    spans = [*_restarts(row)]

    assert len(spans) == 3
    low, high = (median(getattr(span, end) for span in spans) for end in ("low", "high"))
    assert low - 1 <= away <= high + 1
    assert row["restart_basis"] == "observed"
    assert row["restarts_observed"] == 3
    assert row["restart_seconds"] == pytest.approx(away, abs=FREQUENT)


@pytest.mark.parametrize("name", OTHERS)
def test_who_cannot_be_told_from_another_or_was_stopped_does_not_count(name):
    """Of one client id and host, back after minutes, or committing every ten."""
    row = _frequent()[name]

    assert [*_restarts(row)] == []
    assert (row["restart_seconds"], row["restart_basis"]) == (30, "usual")


def test_what_is_older_than_the_lookback_is_not_forgotten():
    """The first restart was 40 snapshots ago, and each snapshot reads the twelve before it."""
    first, *_, last = _restarts(_frequent()["static"])

    assert last.at - first.at > 12 * FREQUENT


def test_a_group_without_a_restart_takes_what_others_of_its_client_library_show():
    """The median over three of them, as the metrics of the snapshot before have it."""
    row, others = _frequent()["static-quiet"], ("static", "static-long", "static-crash")

    assert row["client_library"] == "java"
    assert (row["restart_basis"], row["restarts_observed"]) == ("as its client library", 0)
    expected = median(_frequent()[name]["restart_seconds"] for name in others)
    assert row["restart_seconds"] == pytest.approx(expected)


def test_what_is_configured_beats_what_was_observed():
    """The observations are there all the same."""
    row = _frequent()["configured"]

    assert (row["restart_seconds"], row["restart_basis"]) == (7, "configured")
    assert row["restarts_observed"] == 3


@pytest.mark.parametrize(
    ("down", "seconds", "basis"),
    [(60, 60, "observed"), (120, 120, "observed"), (20, 30, "usual")],
)
def test_snapshots_five_minutes_apart_show_long_restarts_of_static_members_that_are_behind(
    down, seconds, basis
):
    """They consume less by so much; a short one may be a capacity that is a little off."""
    row = _rows(RARE, *SELDOM.values())[f"rare-{down}"]

    assert row["restart_seconds"] == pytest.approx(seconds, abs=3)
    assert row["restart_basis"] == basis


@pytest.mark.parametrize("static", [True, False])
def test_snapshots_five_minutes_apart_say_nothing_of_who_keeps_up(static):
    """At most five or ten minutes is no news."""
    row = _rows(RARE, *SELDOM.values())[f"up-{static}"]

    assert [*_restarts(row)] == []
    assert row["restart_basis"] == "usual"
