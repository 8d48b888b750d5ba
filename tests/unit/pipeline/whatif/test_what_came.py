"""What is said of a group with other members, held against a simulation in which it gets them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.pipeline.whatif import Joins, Leaves, answer, sizes_of, suppose
from tests.helpers.fluid import simulate, snapshots
from tests.helpers.fluid.plan import Join, Leave, at, members, steady, topics
from tests.helpers.measuring import seen
from tests.helpers.snapshots import groups

pytestmark = pytest.mark.slow

NOW = 14
HOUR = 12
"""Snapshots of an hour."""

SETTINGS = Settings(rules=(Rule(capacity_per_second=100.0, commit_interval_seconds=5),))

FITS = steady(topics=topics(1, 8, 30), members=members(3, 100))
"""240 records/s arrive; of members that do 100 it takes three."""

EIGHT = steady(topics=topics(1, 8, 30), members=members(8, 100))


@cache
def seen_at(group, snapshot, *, told=True):
    """A simulated group as it is at a snapshot, with what came before; *told* whether a capacity is configured."""
    taken = [groups(each)[0] for each in snapshots(simulate([group], snapshot + 1))]
    return seen(taken[-1], tuple(taken[-2 : -2 - 13 : -1]), SETTINGS if told else Settings())


def with_members(group, here):
    """The same group with so many members from the beginning."""
    return replace(group, members=group.members[:here])


def owners(one):
    """(topic, partition) -> client id."""
    table = one.partitions
    rows = zip(table.names, table.partition.tolist(), table.owner.tolist(), strict=True)
    return {(name, number): one.members[owner].client_id for name, number, owner in rows}


@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_a_member_that_leaves_leaves_what_was_said(strategy):
    """Who owns what, what is the matter with it in an hour, and by how much it is behind then."""
    group = replace(FITS, strategy=strategy)
    gone = replace(group, events=(Leave(at=at(NOW) + 5, members=(1,)),))
    now, came = seen_at(group, NOW), seen_at(gone, NOW + HOUR)
    member = next(one.id for one in now.group.members if one.client_id == "g-1")

    told = answer(SETTINGS, now, (Leaves(member=member),))

    first, client = told.outcomes[0], {m.id: m.client_id for m in now.group.members}
    said = {tuple(pair): client[who] for who, pairs in first.lists.items() for pair in pairs}
    assert said == owners(came.group)
    assert (told.today.diagnosed.diagnosis, first.diagnosed.diagnosis) == (
        "healthy",
        "under-provisioned",
    )
    assert came.diagnosis == "under-provisioned"
    lag = sum(came.measured_group.measured.lag.tolist())
    assert first.candidate.forecast.forecast_lag_expected == pytest.approx(lag, rel=0.1)


def test_a_member_that_joins_lets_the_group_catch_up():
    """Two are too few; with a third it is behind, and nobody gets more than it can do."""
    group = replace(FITS, members=members(2, 100))
    third = replace(members(1, 100)[0], here=False)
    grown = replace(
        group, members=(*group.members, third), events=(Join(at=at(NOW) + 5, members=(2,)),)
    )
    now, came = seen_at(group, NOW), seen_at(grown, NOW + HOUR)

    told = answer(SETTINGS, now, (Joins(member="new-1"),))

    first = told.outcomes[0]
    assert told.today.diagnosed.diagnosis == "under-provisioned"
    assert (first.diagnosed.diagnosis, came.diagnosis) == ("catching up", "catching up")
    lag = sum(came.measured_group.measured.lag.tolist())
    assert first.candidate.forecast.forecast_lag_expected == pytest.approx(lag, rel=0.1)
    assert told.sizes["range"].fewest == 3


@pytest.mark.parametrize("start", [2, 5])
def test_the_smallest_number_that_keeps_up_does_and_no_smaller_one(start):
    """From fewer and from more: three members of 100/s on eight partitions of 30/s, at most three each."""
    found = sizes_of(SETTINGS, seen_at(with_members(EIGHT, start), NOW), (), ASSIGNORS["range"])
    came = {count: seen_at(with_members(EIGHT, count), NOW + HOUR).diagnosis for count in (2, 3, 4)}

    assert (found.fewest, found.enough, found.keeps_up, found.most) == (3, 3, True, 8)
    assert came == {2: "under-provisioned", 3: "healthy", 4: "healthy"}


def test_the_smallest_number_is_what_the_question_about_it_says():
    """With so many members it keeps up, with one fewer it does not; with one too many somebody is idle."""
    now = seen_at(with_members(EIGHT, 5), NOW)
    found = sizes_of(SETTINGS, now, (), ASSIGNORS["sticky"])
    names = [member.id for member in now.group.members]

    def told(count):
        leaves = tuple(Leaves(member=name) for name in names[count:])
        joins = tuple(Joins(member=f"new-{n}") for n in range(count - len(names)))
        changes = (*leaves, *joins)
        [one] = answer(SETTINGS, now, changes, ["sticky"]).outcomes
        return one

    assert told(found.fewest).diagnosed.diagnosis == "healthy"
    assert told(found.fewest - 1).diagnosed.diagnosis == "under-provisioned"
    assert (told(found.most).idle, told(found.most + 1).idle) == (0, 1)


def test_a_hot_partition_is_for_no_number_of_members():
    """110 records/s arrive in one partition, and nobody does more than 100."""
    hot = replace(FITS, topics=(replace(FITS.topics[0], rates=(110.0,) + (10.0,) * 7),))
    found = sizes_of(SETTINGS, seen_at(hot, NOW), (), ASSIGNORS["range"])

    assert (found.fewest, found.enough, found.keeps_up) == (None, None, False)
    [why] = found.why
    assert (why.measure, why.subjects) == ("hot_partition", ("g.t0-0",))


def test_a_number_is_unknown_where_it_is_unknown_what_members_can_do():
    """Three keep up, as they do now; of fewer nobody knows."""
    found = sizes_of(Settings(), seen_at(FITS, NOW, told=False), (), ASSIGNORS["range"])

    assert (found.fewest, found.enough, found.keeps_up) == (None, 3, True)
    assert [fact.measure for fact in found.why] == ["ability_unknown"]
    assert found.most == 8


def test_a_search_that_is_too_long_is_given_up():
    """Nothing is claimed, and why is said."""
    now = seen_at(FITS, NOW)
    found = sizes_of(SETTINGS, now, (), ASSIGNORS["range"], budget=20)
    assert (found.fewest, found.keeps_up, found.most) == (None, None, 8)
    assert [fact.measure for fact in found.why] == ["tried_in_vain"]
    none = sizes_of(SETTINGS, now, (), ASSIGNORS["range"], budget=10)
    assert (none.keeps_up, none.most) == (None, None)
    assert [fact.measure for fact in none.why] == ["too_large_to_try"]


def test_who_joins_does_what_its_peers_do():
    """The median of what is known of them: nobody's load is above it."""
    supposed = suppose(seen_at(FITS, NOW), [Joins(member="new-1")])
    assert supposed.measured.capacity.tolist() == [100.0] * 4
    assert supposed.condition.peers_firm == 100
