"""What is decided and advised by: read from the tables of a snapshot, and what may not be advised left out."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Policy, Rule, Settings
from evenkeel.engine.model.assignments import AdviceState, Candidate, Verdict
from evenkeel.engine.model.columns import columns_of
from evenkeel.engine.model.facts import FactKind, fact, finding
from evenkeel.engine.model.figures import Forecast
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.model.tables import Table
from evenkeel.engine.pipeline.advise import advise_groups, metrics_by_group, of_lake, would_be
from evenkeel.engine.pipeline.candidate_rows import candidate_of, scored
from evenkeel.engine.pipeline.propose import moves_of
from evenkeel.engine.records import Course, row_of
from evenkeel.engine.records.lifecycle import Uptake
from evenkeel.engine.snapshots import CANDIDATES
from evenkeel.engine.snapshots.groups_with_past import taken_at
from tests.helpers.measuring import of_tables
from tests.helpers.snapshots import group, make_snapshot, member, store, topic

SETTINGS = Settings(
    rules=(Rule(policy=Policy(confirm_evidence=1, least_saving_records_per_day=10_000)),)
)
CROSSED = {"a": [0, 1], "b": [2, 3]}


def _snapshot(number, owned):
    """A group that reads from each other's racks as long as it is crossed, one without members and one moving."""
    members = [
        member(name, ["orders"], {"orders": own}, rack=f"rack-{name}")
        for name, own in owned.items()
    ]
    return make_snapshot(
        number=number,
        topics=[
            topic("orders", 4, end=1000 + 100 * number, replicas=[[1], [0], [1], [0]]),
            topic("old", 1),
        ],
        groups=[
            group("crossing", members=members, lag={"orders": 0}),
            group("empty", lag={"old": 7}),
            group("moving", members=1, topics=["orders"], state="PreparingRebalance"),
        ],
    )


@pytest.fixture(scope="module")
def lake():
    """Three snapshots with metrics and candidates; the last as the second is advised."""
    held = Recording()
    for number, owned in enumerate((CROSSED, CROSSED, {"a": [1, 3], "b": [0, 2]})):
        [name] = store(held, _snapshot(number, owned))
        pipeline.record_metrics(held, name, pipeline.compute_metrics(held, SETTINGS, name))
        pipeline.record_candidates(held, name, pipeline.propose_candidates(held, SETTINGS, name))
    return held


def _followed(lake, course=None):
    """What the group that crosses racks is told after the second snapshot, and when that was."""
    followed, at = _all_followed(lake, course)
    return followed["crossing"], at


def _all_followed(lake, course=None):
    name = _ids(lake)[1]
    courses = {} if course is None else {"crossing": course}
    at = taken_at(lake, name)
    followed = advise_groups(
        of_lake(lake, name), _moves_of(lake, name), SETTINGS, "test", at, courses, {}
    )
    return {each.advice.group: each for each in followed}, at


def _ids(lake):
    [cluster] = lake.clusters()
    return lake.snapshots(cluster, limit=9)[::-1]


def _moves_of(lake, name):
    return partial(moves_of, lake, SETTINGS, name)


def _uptake(at, strategy, **more):
    return Uptake(
        strategy=strategy,
        first_at=at,
        at=at,
        assignment="x",
        diagnosis=Diagnosis.HEALTHY,
        promises=(),
        **{"ran": (), "came_from": None, "outcome": AdviceState.VERIFIED, "outcome_at": at} | more,
    )


def test_what_an_assignment_would_be_is_what_it_is_afterwards(lake):
    """The fingerprint of a strategy's answer is that of the live assignment once it is taken up."""
    followed, _ = _followed(lake)
    name, asked = _ids(lake)[1], [followed.advice.strategy, "live"]
    found = would_be(of_lake(lake, name), _moves_of(lake, name), {"crossing": asked})["crossing"]
    before, after = (
        metrics_by_group(of_lake(lake, name))["crossing"]["assignment"] for name in _ids(lake)[1:]
    )

    assert (found[followed.advice.strategy], found["live"]) == (after, before)
    assert before != after


def test_tables_are_read_as_a_lake_is(lake):
    """Those made just now and those stored give the same advice."""
    followed, at = _followed(lake)
    name = _ids(lake)[1]
    names = ("group_metrics", "member_metrics", "partition_metrics", "candidates")
    tables = {each: lake.read(each, [name]) for each in names}

    assert followed in advise_groups(
        of_tables(tables), _moves_of(lake, name), SETTINGS, "test", at, {}, {}
    )


def test_what_is_muted_leaves_the_field_to_what_else_pays(lake):
    """The next best is advised; where nothing else pays, it is said what is muted."""
    followed, at = _followed(lake)
    first = followed.advice.strategy
    muted = {"outcome": AdviceState.MISSED}
    uptakes = [_uptake(at - timedelta(days=20 - n), first, **muted) for n in range(2)]
    other, _ = _followed(lake, Course(at=at, uptakes=tuple(uptakes)))

    assert (other.advice.verdict, other.course.mutes[0].strategy) == (Verdict.SWITCH, first)
    assert other.advice.strategy not in (None, first)
    paying = {first, other.advice.strategy}
    while other.advice.verdict is Verdict.SWITCH:
        paying.add(other.advice.strategy)
        every = [_uptake(u.at, name, **muted) for name in paying for u in uptakes]
        other, _ = _followed(lake, Course(at=at, uptakes=tuple(every)))
    assert other.advice.facts[0].measure == "muted_strategy"
    assert other.advice.strategy == first


def test_no_strategy_leads_back_to_the_assignment_that_the_group_came_from(lake):
    """Whatever its name: all that pay here give the same, so nothing is advised."""
    followed, at = _followed(lake)
    after = metrics_by_group(of_lake(lake, _ids(lake)[2]))["crossing"]["assignment"]
    uptake = _uptake(at - timedelta(days=1), "of another name", came_from=after)
    back, _ = _followed(lake, Course(at=at, uptakes=(uptake,)))

    assert followed.advice.verdict is Verdict.SWITCH
    assert (back.advice.verdict, back.advice.strategy) == (Verdict.STAY, None)
    assert back.advice.facts[0].measure == "the_way_back"


def decided_by(candidate: Candidate) -> tuple[Any, ...]:
    """What deciding looks at."""
    reason = candidate.reason if candidate.score is None and candidate.strategy == "live" else ()
    known = (candidate.strategy, candidate.deployment, candidate.feasibility)
    figures = (candidate.score, candidate.forecast)
    return (*known, reason, *figures, candidate.findings, candidate.counts)


def test_what_is_decided_by_is_as_stored(lake: Recording) -> None:
    """Scores, forecasts, flaws and the reason of a group without a score are those of each row read by itself."""
    table = lake.read("candidates", [_ids(lake)[1]])
    rows = table.sorted_by("position").to_pylist()
    for row in rows[::2]:
        flaws = [row_of(finding("flaw", quote=quote)) for quote in (row["strategy"], "another")]
        counts = row_of(fact(FactKind.COUNTS, "member_counts", [f"{row['position']}/1"]))
        row["facts"] = [flaws[0], *row["facts"], flaws[1], counts]
    for number, row in enumerate(rows[::3]):
        row |= {spec.name: number for spec in columns_of(Forecast)}
    found = scored(Table.from_rows(rows, CANDIDATES["candidates"]))
    assert {*found} == {"crossing", "empty", "moving"}
    for name, candidates in found.items():
        own = [candidate_of(row) for row in rows if row["group_id"] == name]
        assert [decided_by(one) for one in candidates] == [decided_by(one) for one in own]
    assert any(one.reason for one in found["moving"])
    assert any(one.findings for one in found["crossing"])
    assert any(one.counts for one in found["crossing"])
    assert len({one.forecast for one in found["crossing"]}) > 2


def test_a_switch_says_what_to_do_and_what_moves(lake: Recording) -> None:
    """The reader of a switch learns what changes hands and what to do; who stays has nothing to do."""
    told = {name: each.advice for name, each in _all_followed(lake)[0].items()}
    switch = told.pop("crossing")
    (row,) = (
        row
        for row in lake.read("candidates", [_ids(lake)[1]]).to_pylist()
        if (row["group_id"], row["strategy"]) == ("crossing", switch.strategy)
    )
    assert switch.verdict is Verdict.SWITCH
    assert [(m.topic, m.partition, m.from_member, m.to_member) for m in switch.moves] == [
        ("orders", 0, "a", "b"),
        ("orders", 3, "b", "a"),
    ]
    assert len(switch.moves) == row["moves"] > 0
    assert {fact.kind for fact in switch.how} == {FactKind.HOW}
    assert not any(one.moves or one.how for one in told.values())
