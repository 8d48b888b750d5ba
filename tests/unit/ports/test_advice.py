"""What the ports `ResultHistory` and `AdviceHistory` promise, of the fake and of Postgres."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest

from evenkeel.engine.model.assignments import AdviceState, Move
from evenkeel.engine.model.errors import HistoryError
from evenkeel.engine.model.facts import Fact, FactKind
from evenkeel.engine.model.groups import Member
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.ports import History, PreviousAdvice
from evenkeel.engine.records import Course
from evenkeel.engine.records.lifecycle import (
    AdvicePromise,
    AdviceProposal,
    Claim,
    Mute,
    Uptake,
)
from tests.helpers.history_rows import (
    FIRST,
    advice,
    candidates,
    checks,
    fill,
    manifest,
    metrics,
    validation,
)
from tests.helpers.outbox import NOW, check, forecast, take
from tests.helpers.outbox import advice as advised

pytest_plugins = ("tests.helpers.postgres_fixtures",)

MOVE = {"topic": "orders", "partition": 0, "from_member": None, "to_member": "m-1"}


def test_advice_is_never_rewritten(history: History) -> None:
    """The first advice of a snapshot stays; an advice without groups counts, too."""
    taken, empty = manifest(0), manifest(1)
    for each in (taken, empty):
        history.store_snapshot(each)
    snapshot_id = taken.snapshot_id
    assert history.store_advice(snapshot_id, [advice(snapshot_id, "a")])
    assert not history.store_advice(snapshot_id, [advice(snapshot_id, "a", reason="no")])
    assert history.store_advice(empty.snapshot_id, [])
    assert not history.store_advice(empty.snapshot_id, [advice(empty.snapshot_id, "a")])
    assert [row.reason for row in history.advice_with_scores(snapshot_id)] == ["it is better"]
    assert history.advice_with_scores(empty.snapshot_id) == []


def test_previous_advice_is_that_of_the_advised_snapshot_before(history: History) -> None:
    """What was said after this snapshot or a later one, or about another cluster, was not said before."""
    first, second, third = (fill(history, number) for number in range(3))
    fill(history, 0, "other")
    unknown, waiting = manifest(9).snapshot_id, manifest(8)
    history.store_snapshot(waiting)
    said = [PreviousAdvice(group_id="orders-app")]
    assert history.previous_advice(first) == []
    assert [history.previous_advice(one) for one in (second, third, unknown)] == [said] * 3


def test_the_course_of_advice_is_read_back_as_it_was(history: History) -> None:
    """All of it, of the group's newest advice, also when the snapshot between knew nothing of the group."""
    at = FIRST + timedelta(hours=1)
    gain = Fact(kind=FactKind.GAIN, measure="unowned", before=2, after=0, subjects=("a", "b"))
    promise = AdvicePromise(
        after_seconds=3600, measure="lag", unit="offsets", low=0.5, expected=1, high=math.inf
    )
    uptake = Uptake(
        strategy="sticky",
        first_at=FIRST,
        at=at,
        assignment="a1",
        diagnosis=Diagnosis.SKEWED_LOAD,
        ran=("range",),
        came_from=None,
        promises=(promise,),
        outcome=AdviceState.MISSED,
        outcome_at=at,
    )
    proposal = AdviceProposal(
        strategy="fair",
        against=Claim(strategy="fair", since=at, evidence=3.61, snapshots=3),
        diagnosis=None,
        facts=(gain,),
        ran=(),
        assignment="a2",
        promises=(),
    )
    course = Course(
        at=at,
        state=AdviceState.PROPOSED,
        since=FIRST,
        claims=(Claim(strategy="range", since=at, evidence=1.9, snapshots=1),),
        proposal=proposal,
        uptakes=(uptake,),
        mutes=(Mute(strategy="sticky", until=at, missed=(FIRST, at)),),
    )
    taken, between, newest = manifest(0), manifest(1), manifest(2)
    for each in (taken, between, newest):
        history.store_snapshot(each)
    history.store_advice(taken.snapshot_id, [advice(taken.snapshot_id, "a", course=course)])
    history.store_advice(between.snapshot_id, [advice(between.snapshot_id, "b")])
    history.store_metrics(newest.snapshot_id, metrics(newest.snapshot_id, {"a": [1], "c": [1]}))
    found = {one.group_id: one.course for one in history.previous_advice(newest.snapshot_id)}

    assert found == {"a": course, "b": None}
    partial, later = manifest(3, problems=["a broker did not answer"]), manifest(4)
    for each in (partial, later):
        history.store_snapshot(each)
    history.store_advice(partial.snapshot_id, [advice(partial.snapshot_id, "c")])
    known = {one.group_id for one in history.previous_advice(later.snapshot_id)}
    assert known == {"b", "c"}
    (row,) = history.advice_with_scores(taken.snapshot_id)
    assert row.course == course


def test_a_snapshot_says_how_new_its_advice_is(history: History) -> None:
    """The newest of its cluster that has advice for a group, and when the newest of all was begun."""
    first = fill(history, 0)
    fill(history, 9, "other")
    later, broken = manifest(1), manifest(2, problems=["group 'x': not authorised"])
    for taken in (later, broken):
        history.store_snapshot(taken)
    history.store_advice(later.snapshot_id, [])
    found = history.advised_snapshot(first)
    assert found is not None
    assert (found.snapshot_id, found.cluster, found.started_at) == (first, "demo", FIRST)
    assert (found.finished_at, found.partial, list(found.problems)) == (
        FIRST + timedelta(seconds=3),
        False,
        [],
    )
    assert found.newest_advised_id == first
    assert found.newest_started_at == FIRST + timedelta(minutes=2)
    partial = history.advised_snapshot(broken.snapshot_id)
    assert partial is not None
    assert (partial.partial, list(partial.problems)) == (True, ["group 'x': not authorised"])
    assert history.advised_snapshot(manifest(7).snapshot_id) is None


def test_advice_comes_with_the_scores_it_rests_on(history: History) -> None:
    """The live and the advised candidate and the group's metrics, as written last; unknown where there are none."""
    snapshot_id = fill(history)
    names = "most_partitions fewest_partitions racks_left_out moves newly_owned unowned"
    counts = dict.fromkeys(names.split(), 0)
    history.store_candidates(
        snapshot_id,
        candidates(snapshot_id, "orders-app", largest_member_lag=77, notes=["n", "o"], **counts),
    )
    history.store_metrics(snapshot_id, metrics(snapshot_id, {"orders-app": [4, None]}))
    (row,) = history.advice_with_scores(snapshot_id)
    assert (row.group_id, row.verdict, row.strategy) == ("orders-app", "switch", "range")
    assert row.live is not None
    assert row.live == row.proposed
    assert (row.live.largest_member_lag, row.live.drain_seconds) == (77, math.inf)
    assert row.metrics is not None
    assert (row.metrics.assignor, row.metrics.total_lag) == ("range", None)
    assert row.running == {"live": False, "range": True}
    assert row.notes == ("n", "o")
    assert row.members == (Member(id="orders-app-1", client_id="c", host="h"),)
    bare = manifest(1)
    history.store_snapshot(bare)
    stay = advice(bare.snapshot_id, "b", strategy=None, seen=0)
    history.store_advice(bare.snapshot_id, [stay, advice(bare.snapshot_id, "a")])
    first, second = history.advice_with_scores(bare.snapshot_id)
    assert (first.group_id, second.group_id) == ("a", "b")
    assert (second.live, second.proposed, second.metrics, second.claim) == (None,) * 4
    assert (second.running, second.notes, second.members) == ({}, (), ())


def test_the_first_moves_stand_in_order(history: History) -> None:
    """By topic and partition, at most so many of each advice; one without moves has no entry."""
    taken = manifest()
    history.store_snapshot(taken)
    moves = [MOVE | {"topic": topic, "partition": p} for topic in "ba" for p in (2, 10)]
    rows = [
        advice(taken.snapshot_id, "g", moves=moves),
        advice(taken.snapshot_id, "h", moves=[]),
        advice(taken.snapshot_id, "i"),
    ]
    history.store_advice(taken.snapshot_id, rows)
    stored = history.advice_with_scores(taken.snapshot_id)
    g, h, i = (row.advice_id for row in stored)
    found = history.first_moves([g, h], 3)
    assert {*found} == {g}
    assert [(move.topic, move.partition) for move in found[g]] == [("a", 2), ("a", 10), ("b", 2)]
    assert history.first_moves([i], 5) == {i: [Move(**MOVE)]}
    assert history.first_moves([], 5) == {}


@pytest.mark.parametrize(
    "write", ["store_validation", "store_metrics", "store_candidates", "store_advice"]
)
def test_rows_of_an_unknown_snapshot_are_refused(history: History, write: str) -> None:
    """Nothing is written for a snapshot the history does not know; the error names it and what to do."""
    unknown = manifest().snapshot_id
    arguments = {
        "store_validation": ("snapshot", checks(validation(None, success=False))),
        "store_metrics": (metrics(unknown, {}),),
        "store_candidates": (candidates(unknown, "g"),),
        "store_advice": ([],),
    }[write]
    with pytest.raises(HistoryError, match=rf"has no snapshot {unknown}\. Run `validate_snapshot`"):
        getattr(history, write)(unknown, *arguments)


def test_a_rejection_at_one_stage_is_not_undone_by_the_other(history: History) -> None:
    """A critical failure without a group rejects; written again without it, the snapshot is accepted."""
    taken = manifest()
    history.store_snapshot(taken)

    def rejection() -> str | None:
        (facts,) = history.cluster_facts(["demo"])
        assert (facts.rejection is None) == (facts.rejected_snapshot_id is None)
        return facts.rejection

    for stage, group, success, expected in (
        ("snapshot", "a", False, None),
        ("snapshot", None, False, "offsets in order: an end before a begin"),
        ("candidates", "a", False, "offsets in order: an end before a begin"),
        ("snapshot", None, True, None),
        ("candidates", None, False, "offsets in order: an end before a begin"),
    ):
        row = validation(group, success=success)
        history.store_validation(taken.snapshot_id, stage, checks(row))
        assert rejection() == expected


def test_the_advice_stands_beside_its_forecasts_and_what_came_of_the_one_before(
    history: History,
) -> None:
    """Of what is taken up only the checks of that uptake, whichever snapshot made them; an hour after 15 minutes."""
    now, other = check(250.0), check(1.0, adopted_at=NOW, after_seconds=900)
    first = advised("g", "verified", checks=(now, other))
    take(history, "test-20260301T090000Z-000001", first)
    soon = check(300.0, after_seconds=900)
    taken = take(
        history,
        "test-20260301T090500Z-000002",
        advised("g", "verified", checks=(soon,)),
        advised("h"),
        at=NOW + timedelta(minutes=5),
    )

    verified, switch = history.advice_with_scores(taken)

    assert verified.checks == (soon, now)
    assert (verified.uptake.strategy, verified.live_forecast) == ("sticky", forecast(120_000))
    assert (switch.checks, switch.forecast) == ((), forecast(300, restarts=6))
