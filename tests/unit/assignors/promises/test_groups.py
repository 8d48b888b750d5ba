"""Random groups, cutting them down, and what is counted over many."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from evenkeel.engine.assignors.interface import Promise
from evenkeel.engine.assignors.promises import check, examine, sketches
from evenkeel.engine.assignors.promises.promises import changed_fields
from evenkeel.engine.assignors.promises.shrink import shrink
from evenkeel.engine.assignors.promises.sketch import PartitionSketch, Sketch, TopicSketch
from evenkeel.engine.cli.assign_cases import read_case
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.assignments import Assignment
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.model.facts import finding
from tests.data.broken_assignors import Deals, LeavesLongLags, SharesTheGroupBadly
from tests.helpers.examples import examples


@pytest.mark.parametrize("sent", [False, True])
def test_a_sketch_and_its_case_are_the_same_group(sent):
    """What is printed for `evenkeel assign` is what the strategy was asked about, field by field."""
    for number, sketch in enumerate(sketches(4 * examples(), seed=1, sent=sent)):
        group, strategy = read_case(sketch.case("range", f"case {number}"))

        assert (changed_fields(sketch.spec(), group), strategy) == ([], "range"), sketch


def _some(flags):
    flags = list(flags)
    return any(flags) and not all(flags)


FEATURES = {
    "no member": lambda s, g: not s.members,
    "no topic": lambda s, g: not s.topics,
    "a topic without partitions": lambda s, g: any(not t.partitions for t in s.topics),
    "many members": lambda s, g: len(s.members) > 16,
    "many partitions": lambda s, g: g.partition_count > 40,
    "racks on both sides": lambda s, g: (g.member_rack != NONE).any() and len(g.replica_rack) > 0,
    "members without rack among others": lambda s, g: _some(m.rack for m in s.members),
    "a broker without rack": lambda s, g: (g.replica_rack == NONE).any(),
    "static and dynamic members": lambda s, g: _some(m.instance_id for m in s.members),
    "equal subscriptions": lambda s, g: len(s.members) > 1 and len({m.topics for m in s.members}) == 1,
    "unequal subscriptions": lambda s, g: len({frozenset(m.topics) for m in s.members}) > 1,
    "an empty subscription": lambda s, g: s.topics and any(not m.topics for m in s.members),
    "a topic named twice": lambda s, g: any(len(set(m.topics)) < len(m.topics) for m in s.members),
    "a topic that does not exist": lambda s, g: not g.topic_exists.all(),
    "equal sizes": lambda s, g: len(s.topics) > 1 and len({len(t.partitions) for t in s.topics}) == 1,
    "owners": lambda s, g: (g.owner != NONE).any(),
    "user data": lambda s, g: any(m.user_data for m in s.members),
    "a partition owned twice": lambda s, g: len(set(_owned(s))) < len(_owned(s)),
    "a vanished partition": lambda s, g: _beyond(s),
    "stale generations": lambda s, g: len({m.generation for m in s.members if m.owned}) > 1,
    "every lag known": lambda s, g: g.partition_count and g.lag.known.all() and g.lag.values.any(),
    "no lag at all": lambda s, g: g.partition_count and g.lag.known.all() and not g.lag.values.any(),
    "no lag known": lambda s, g: g.partition_count and not g.lag.known.any(),
    "some lags unknown": lambda s, g: _some(g.lag.known),
    "rates": lambda s, g: g.partition_count and not np.isnan(g.rate).any(),
    "weights": lambda s, g: _some("weight" in m.config for m in s.members),
}  # fmt: skip


def _owned(sketch):
    return [pair for member in sketch.members for pair in member.owned]


def _beyond(sketch):
    ends = {topic.name: len(topic.partitions) for topic in sketch.topics}
    return any(name in ends and number >= ends[name] for name, number in _owned(sketch))


def test_every_kind_of_group_is_among_three_hundred():
    """Racks, static members, unequal subscriptions and the edges come up often enough to be tried."""
    drawn = [(sketch, sketch.spec()) for sketch in sketches(300)]

    found = {name: sum(bool(has(*one)) for one in drawn) for name, has in FEATURES.items()}
    assert {name: count for name, count in found.items() if count < 4} == {}


def test_a_seed_makes_its_groups():
    """The same seed the same ones, one by one; another seed others."""
    assert list(sketches(20, seed=5)) == list(sketches(20, seed=5))
    assert list(sketches(20, seed=5))[:10] == list(sketches(10, seed=5))
    assert list(sketches(20, seed=5)) != list(sketches(20, seed=6))


def test_data_is_drawn_from_what_is_given():
    """Members carry nothing else."""
    members = [m for s in sketches(50, data=[{"tier": "gold"}], sent=True) for m in s.members]
    found = [m.config for m in members if m.config]

    assert found
    assert all(said == {"tier": "gold"} for said in [*found, *(m.sent for m in members)])


NEEDS = {
    "two members of one rack": lambda s: any(
        a.rack and a.rack == b.rack for a in s.members for b in s.members if a.id != b.id
    ),
    "two partitions of which the second lags more": lambda s: any(
        (a.lag or 0) < (b.lag or 0)
        for t in s.topics
        for a, b in zip(t.partitions, t.partitions[1:], strict=False)
    ),
    "an owned partition beyond the end of a topic": lambda s: _beyond(s),
    "one partition owned twice": lambda s: any(_owned(s).count((t.name, 0)) > 1 and t.partitions for t in s.topics),
    "an owned partition that lags": lambda s: any(
        (t.name, n) in _owned(s) and (p.lag or 0) > 1000
        for t in s.topics for n, p in enumerate(t.partitions)
    ),
    "two topics of one size": lambda s: any(
        len(a.partitions) == len(b.partitions) > 0
        for a, b in itertools.combinations(s.topics, 2)
    ),
    "a lag above 1,000": lambda s: any((p.lag or 0) > 1000 for t in s.topics for p in t.partitions),
    "user data": lambda s: any(m.user_data for m in s.members),
    "a weight and a static member": lambda s: any("weight" in m.config and m.instance_id for m in s.members),
    "a replica on rack-b": lambda s: any("rack-b" in p.racks for t in s.topics for p in t.partitions),
}  # fmt: skip
SMALLEST = {
    "two members of one rack": 2,
    "two partitions of which the second lags more": 3,
    "an owned partition beyond the end of a topic": 3,
    "one partition owned twice": 6,
    "an owned partition that lags": 4,
    "two topics of one size": 4,
    "a lag above 1,000": 2,
    "user data": 1,
    "a weight and a static member": 1,
    "a replica on rack-b": 2,
}


@cache
def _drawn():
    return list(sketches(150, seed=2))


@pytest.mark.parametrize("need", list(NEEDS))
def test_a_group_is_cut_down_to_what_shows_the_fault(need):
    """Members, topics, partitions, owners, racks, lags and data go as far as they can."""
    for sketch in [s for s in _drawn() if NEEDS[need](s)][:8]:
        small, seen = shrink(sketch, True, lambda s: NEEDS[need](s) or None)

        assert NEEDS[need](small)
        assert seen is True
        assert small.size == SMALLEST[need], small


def test_numbers_and_words_are_cut_down_too():
    """A lag ends just above what it takes, everything else is gone."""
    start = next(s for s in sketches(99) if NEEDS["a lag above 1,000"](s))
    small, _ = shrink(start, True, lambda s: NEEDS["a lag above 1,000"](s) or None)
    [topic] = small.topics

    assert [(p.lag, p.racks, p.rate) for p in topic.partitions] == [(1001, (), None)]
    assert (small.members, topic.id) == ((), None)


def test_of_several_racks_those_that_do_not_matter_go():
    """A partition keeps the replica that shows it."""
    start = next(s for s in sketches(99) if NEEDS["a replica on rack-b"](s))
    small, _ = shrink(start, True, lambda s: NEEDS["a replica on rack-b"](s) or None)

    assert [p.racks for t in small.topics for p in t.partitions] == [("rack-b",)]


def test_an_unknown_lag_that_does_not_matter_becomes_none_at_all():
    """Beside a lag that does it would look as if it did; where no lag matters all are unknown."""
    lags = (None, 7)
    topic = TopicSketch(name="t", partitions=tuple(PartitionSketch(lag=lag) for lag in lags))

    def left(needed):
        start = Sketch(topics=(topic,), members=())
        small, _ = shrink(start, True, lambda s: needed(s) or None)
        return [p.lag for t in small.topics for p in t.partitions]

    def second_lags(sketch):
        return [[(p.lag or 0) > 4 for p in t.partitions] for t in sketch.topics] == [[False, True]]

    assert left(second_lags) == [0, 5]
    assert left(lambda s: [len(t.partitions) for t in s.topics] == [2]) == [None, None]


def test_looking_ends_after_so_many_looks():
    """The work is bounded, and what is returned still shows it."""
    looks = []

    def shows(sketch):
        looks.append(sketch)
        return len(looks) if sketch.members else None

    start = next(s for s in sketches(99) if len(s.members) == 8)
    small, seen = shrink(start, 0, shows, looks=5)

    assert len(looks) == 5
    assert small == looks[seen - 1]


def test_the_smallest_of_many_is_where_cutting_starts():
    """Every group that shows a fault is counted, one is shown, and its violation is that group's own."""
    examined = examine(LeavesLongLags(), groups=15)
    [outcome] = examined.broken
    again = check(LeavesLongLags(), outcome.smallest.spec())

    assert outcome.promise is Promise.COMPLETE
    assert outcome.broken > 2
    assert again == [outcome.violation]


def test_what_is_not_promised_is_counted_and_not_held_against_it():
    """A class sees which promises it could add."""
    outcomes = {one.promise: one for one in examine(Deals(), groups=15).outcomes}

    assert not outcomes[Promise.EVEN_TOPICS].promised
    assert outcomes[Promise.EVEN_TOPICS].broken == 0
    assert outcomes[Promise.EVEN_GROUP].broken > 0
    assert outcomes[Promise.EVEN_GROUP].smallest is None
    [broken] = examine(SharesTheGroupBadly(), groups=15).broken
    assert broken.promise is Promise.EVEN_GROUP


class Owns(Deals):
    """Owns up to what it does with long lags, and refuses groups without members."""

    def assign(self, group):
        """The owners of long lags are left out, with a finding."""
        if not group.members:
            raise Infeasible("owns needs a member.")
        answer = super().assign(group)
        long = group.lag.filled(0) > 1000
        if not long.any():
            return answer
        owner = np.where(long, NONE, answer.owner).astype(np.int32)
        return replace(
            answer, owner=owner, findings=(finding("flaw", quote="long lags are left out"),)
        )


def test_answers_are_counted_by_what_they_are():
    """Plain answers, those with findings, and those that say infeasible, with the first reason."""
    examined = examine(Owns(), groups=30)

    assert examined.broken == []
    assert examined.infeasible > 0
    assert examined.reason == "owns needs a member."
    assert examined.flawed > 0
    assert examined.answered == 30 - examined.infeasible


class Raises(Deals):
    """Raises two kinds of exception."""

    def assign(self, group):
        """By how many members there are."""
        if len(group.members) > 6:
            raise KeyError("seven")
        if len(group.members) > 3:
            return Assignment(owner=group.owner[1:])
        return super().assign(group)


def test_each_kind_of_failure_has_its_own_smallest_group():
    """An exception and an answer that does not fit are two faults; promises count where there was an answer."""
    examined = examine(Raises(), groups=20)
    raised, misfit = sorted(
        (o for o in examined.broken if o.promise is None), key=lambda o: o.violation.error or "~"
    )

    assert (raised.violation.error, misfit.violation.error) == ("KeyError", None)
    assert (len(raised.smallest.members), len(misfit.smallest.members)) == (7, 4)
    complete = next(o for o in examined.outcomes if o.promise is Promise.COMPLETE)
    assert complete.checked == 20 - raised.broken - misfit.broken
