"""What advice goes on by: read from the tables of a snapshot, and what may not be advised left out."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.replay import Recording
from evenkeel.engine.config import Policy, Rule, Settings
from evenkeel.engine.model.assignments import AdviceState, Verdict
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.pipeline.advise import advise_groups, metrics_by_group, of_lake, would_be
from evenkeel.engine.records import Course
from evenkeel.engine.records.course import Uptake
from evenkeel.engine.snapshots.groups_with_past import taken_at
from tests.helpers.measuring import of_tables
from tests.helpers.snapshots import group, make_snapshot, member, store, topic

SETTINGS = Settings(
    rules=(
        Rule(policy=Policy(confirm_wins=1, confirm_seconds=0, least_saving_records_per_day=10_000)),
    )
)
CROSSED = {"a": [0, 1], "b": [2, 3]}


def _snapshot(number, owned):
    """Two members, whose partitions lie in each other's rack as long as they are crossed."""
    members = [
        member(name, ["orders"], {"orders": own}, rack=f"rack-{name}")
        for name, own in owned.items()
    ]
    return make_snapshot(
        number=number,
        topics=[topic("orders", 4, end=1000 + 100 * number, replicas=[[1], [0], [1], [0]])],
        groups=[group("crossing", members=members, lag={"orders": 0})],
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
    """What the group is told after the second snapshot."""
    name = _ids(lake)[1]
    courses = {} if course is None else {"crossing": course}
    at = taken_at(lake, name)
    [each] = advise_groups(of_lake(lake, name), SETTINGS, "test", at, courses, {})
    return each, at


def _ids(lake):
    [cluster] = lake.clusters()
    return lake.snapshots(cluster, limit=9)[::-1]


def _uptake(at, strategy, **more):
    return Uptake(
        strategy=strategy,
        first_at=at,
        at=at,
        assignment="x",
        diagnosis=Diagnosis.KEEPS_UP,
        promises=(),
        **{"ran": (), "came_from": None, "outcome": AdviceState.VERIFIED, "outcome_at": at} | more,
    )


def test_what_an_assignment_would_be_is_what_it_is_afterwards(lake):
    """The fingerprint of a strategy's answer is that of the live assignment once it is taken up."""
    followed, _ = _followed(lake)
    found = would_be(of_lake(lake, _ids(lake)[1]), ["crossing"])["crossing"]
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

    assert advise_groups(of_tables(tables), SETTINGS, "test", at, {}, {}) == [followed]


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
