"""`drain`: the least lag integral of the coming hour, pauses included, before all assignments there are."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors import by_name
from evenkeel.engine.assignors.drain import Drain
from evenkeel.engine.assignors.drain.search import backlogged, floor_of
from evenkeel.engine.assignors.interface import build_spec, spec
from evenkeel.engine.assignors.kit.kernels import held_to
from evenkeel.engine.assignors.promises import check
from evenkeel.engine.messages.wording import proof as words_of
from evenkeel.engine.model.arrays import NONE, Column
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.model.facts import FactKind
from evenkeel.engine.model.pauses import Pauses
from tests.helpers.examples import examples, times

HOUR = 3600.0
LAGS = st.sampled_from([0, 0, 7, 100, 5_000, 20_000, 77_777, 100_000, 1_000_000])
RATES = st.sampled_from([0, 0.5, 1, 5, 20, 40, 80])
CAPACITIES = st.sampled_from([1, 20, 50, 100, 100, 200])
PAUSES = st.builds(Pauses, rebalance_seconds=st.sampled_from([0.0, 5, 60]), eager=st.booleans())


@st.composite
def behind(draw, most_members=4, most_partitions=6):
    """Groups with a backlog, members that cannot keep up among them; not all subscribe to the same."""
    some = st.lists(st.integers(0, most_partitions), min_size=1, max_size=3)
    counts = draw(some.filter(lambda c: 0 < sum(c) <= most_partitions))
    topics, size = [f"t{i}" for i in range(len(counts))], sum(counts)
    members = [f"m{i}" for i in range(draw(st.integers(1, most_members)))]
    alike = st.just([topics] * len(members))
    any_of_them = st.lists(st.sampled_from(topics), unique=True)
    subscriptions = draw(alike | st.tuples(*[any_of_them] * len(members)))
    of_topic = [t for t, count in zip(topics, counts, strict=True) for _ in range(count)]
    who = [[m for m, listed in enumerate(subscriptions) if t in listed] for t in of_topic]
    owned = draw(st.booleans())
    group = build_spec(
        members=members,
        instance_ids=[draw(st.sampled_from([None, f"i{m}"])) for m in members],
        member_racks=[None] * len(members),
        subscriptions=subscriptions,
        topics=topics,
        partition_counts=counts,
        replica_racks=[[]] * size,
        owner=[draw(st.sampled_from(w if owned and w else [NONE, *w])) for w in who],
        lag=Column.of(draw(st.lists(LAGS, min_size=size, max_size=size))),
        rate=draw(st.lists(RATES, min_size=size, max_size=size)),
        capacity=draw(st.lists(CAPACITIES, min_size=len(members), max_size=len(members))),
    )
    return replace(group, pauses=draw(PAUSES))


def _worth(group, owners):
    """(K) the lag integral of the hour (lag-seconds) under each of (K, P) owners, worked out another way."""
    staying, dynamic = (owners == group.owner).all(axis=1), ~group.static
    one, seconds = len(group.members), group.pauses.rebalance_seconds
    lag = np.tile(group.lag.values.astype(float), (len(owners), 1))
    waited_for = np.append(group.static, False)[group.owner]
    if group.pauses.eager:
        pause = 2 * dynamic.sum() / one * seconds + group.static.any() * seconds
        pause = np.tile(pause + 30 / one * waited_for, (len(owners), 1))
    else:
        pause = np.where(waited_for, 30, 2 * seconds) / one + seconds * (owners != group.owner)
        pause = pause * (group.owner != NONE)
    lag += ~staying[:, None] * pause * group.rate
    lag *= [len(group.subscribers[t]) > 0 for t in group.topic_of.tolist()]
    rate = (
        group.rate * (lag >= 0) * [len(group.subscribers[t]) > 0 for t in group.topic_of.tolist()]
    )
    total = np.zeros(len(owners))
    for member, capacity in [*enumerate(group.capacity.tolist()), (NONE, 0.0)]:
        mine = owners == member
        backlog, spare = (lag * mine).sum(axis=1), capacity - (rate * mine).sum(axis=1)
        # what has drained by then stays so: the most of all ends
        drained = np.where(spare > 0, np.minimum(backlog / np.where(spare > 0, spare, 1), HOUR), 0)
        total += np.max(
            [backlog * t - spare * t * t / 2 for t in (0 * drained, drained, HOUR)], axis=0
        )
    return total


@times(3)
@given(behind())
def test_no_assignment_there_is_has_a_smaller_lag_integral(group):
    """Brute force over all owners of up to six partitions; the proof says the same figures."""
    answer = Drain().assign(group)
    choices = [group.subscribers[t].tolist() or [NONE] for t in group.topic_of.tolist()]
    every = np.array(list(itertools.product(*choices)))
    worth, (mine,) = _worth(group, every), _worth(group, answer.owner[None])
    moves = ((group.owner != NONE) & (every != group.owner)).sum(axis=1)

    if answer.proof[0].measure == "no_backlog":
        assert ((answer.owner == group.owner) | (group.owner == NONE)).all()
        return
    claim = answer.proof[0]
    assert claim.kind is FactKind.EXACT
    assert mine == pytest.approx(worth.min(), rel=1e-9)
    assert claim.after == pytest.approx(worth.min(), rel=1e-9)
    assert claim.before == pytest.approx(_worth(group, group.owner[None])[0], rel=1e-9)
    changed = worth[(every != group.owner).any(axis=1)]
    floor = floor_of(backlogged(group, group.lag.values.astype(float)).queues)
    assert floor <= changed.min(initial=np.inf) * (1 + 1e-9)
    moved = ((group.owner != NONE) & (answer.owner != group.owner)).sum()
    assert moved <= moves[worth <= worth.min() * (1 + 1e-13)].min()


def _random_group(seed, members, partitions):
    """A group of some size, everything owned, half of it all subscribing to the same."""
    dice = np.random.default_rng(seed)
    topics = ["t", "u", "v"]
    listed = [
        topics if seed % 2 else [t for t in topics if dice.random() < 0.7]
        for _ in range(members - 1)
    ]
    listed.append(topics)
    who = [
        [m for m, own in enumerate(listed) if t in own] for t in topics for _ in range(partitions)
    ]
    size = len(who)
    group = build_spec(
        members=[f"m{m}" for m in range(members)],
        instance_ids=[None] * members,
        member_racks=[None] * members,
        subscriptions=listed,
        topics=topics,
        partition_counts=[partitions] * 3,
        replica_racks=[[]] * size,
        owner=[int(dice.choice(w)) for w in who],
        lag=Column.of(
            (dice.pareto(1.0, size) * 2_000 * (dice.random(size) < 0.6)).astype(int).tolist()
        ),
        rate=dice.choice([0.1, 1, 3, 8], size).tolist(),
        capacity=dice.choice([20.0, 60.0, 90.0, 200.0], members).tolist(),
    )
    return replace(group, pauses=Pauses(eager=bool(seed % 3)))


def test_it_is_never_worse_than_what_there_is_nor_than_other_strategies():
    """By its own objective, of groups too large to try all; and the floor it tells is none too high."""
    sums, improved = dict.fromkeys(("live", "lag-aware", "balanced", "drain"), 0.0), 0
    seeds = range(0, 60, max(60 // examples(), 1))
    for seed in seeds:
        group = _random_group(seed, 3 + seed % 15, 4 + seed % 23)
        worth = {name: _worth(group, by_name(name).assign(group).owner[None])[0] for name in sums}
        claim = Drain().assign(group).proof[0]
        improved += worth["drain"] < 0.99 * _worth(group, Drain(0).assign(group).owner[None])[0]
        assert worth["drain"] <= min(worth.values()) * (1 + 1e-9)
        assert claim.bound <= claim.after * (1 + 1e-9)
        sums = {name: sums[name] + worth[name] for name in sums}

    assert improved >= len(seeds) // 8, "dealing partitions out is not enough"
    assert sums["drain"] < 0.97 * min(sums[name] for name in ("live", "lag-aware", "balanced"))


@given(behind(most_members=6, most_partitions=24))
def test_it_keeps_its_promises_where_there_is_a_backlog(group):
    """Whatever the order of the input, pauses and capacities."""
    with held_to(compiled=False):
        assert check(Drain(), group) == []


@pytest.mark.slow
@given(behind(most_members=6, most_partitions=24))
def test_compiled_and_interpreted_it_answers_alike(group):
    """How much a process has worked on before chooses the form of the loops, never the answer."""
    with held_to(compiled=False):
        interpreted = Drain().assign(group)
    with held_to(compiled=True):
        fast = Drain().assign(group)

    assert (fast.owner.tolist(), fast.proof) == (interpreted.owner.tolist(), interpreted.proof)


OWNED = {"a": [("t", 0), ("t", 1)], "b": [("t", 2)]}
MEMBERS = {"a": ["t"], "b": ["t"]}


def _two(lags, **known):
    known = {"rates": {"t": [1, 1, 1]}, "capacities": {"a": 50, "b": 50}, "owned": OWNED} | known
    return spec(MEMBERS, {"t": 3}, lags={"t": lags}, **known)


def test_without_a_backlog_nothing_moves_and_it_says_so():
    """What waits for the next commit is none, however unevenly it lies."""
    lagging = replace(_two([9_000, 9_000, 0]), backlog=np.zeros(3))

    answer = Drain().assign(lagging)

    assert np.array_equal(answer.owner, lagging.owner)
    assert words_of(answer.proof) == "exact; no backlog: no partition moves"


def test_without_a_backlog_what_has_no_owner_gets_one_and_nothing_moves():
    """Though `a` has more than it can do."""
    group = _two([0, 0, 0], owned={"a": [("t", 0), ("t", 1)]}, capacities={"a": 1, "b": 50})

    assert Drain().assign(group).owner.tolist() == [0, 0, 1]


def test_a_backlog_of_what_nobody_subscribes_to_is_nobodys():
    """Of a group without subscribers too: it is told of no backlog, and owns nothing."""
    answer = Drain().assign(spec({"a": []}, {"t": 2}, backlogs={"t": [5, 0]}))
    assert answer.owner.tolist() == [NONE, NONE]
    assert [fact.measure for fact in answer.proof] == ["no_backlog"]


def test_a_change_that_saves_less_than_its_pauses_is_not_made():
    """The same backlog, with a rebalance of no time and with one of a minute."""
    group = _two([300, 300, 0], rates={"t": [9, 9, 9]})
    free, dear = (replace(group, pauses=Pauses(rebalance_seconds=s)) for s in (0.0, 60.0))

    assert Drain().assign(free).owner.tolist() in ([0, 1, 1], [1, 0, 1])
    assert np.array_equal(Drain().assign(dear).owner, group.owner)


def test_nothing_is_taken_to_who_cannot_drain_it():
    """`b` can do less than arrives: what waits stays with `a`, and of `b` is taken away."""
    group = _two([9_000, 9_000, 9_000], capacities={"a": 500, "b": 0.5})

    assert Drain().assign(group).owner.tolist() == [0, 0, 0]


def test_where_no_capacity_is_known_members_count_as_equals():
    """KIP-169's lags: the sum of the squared member lags is the least, and what was left aside is said."""
    group = _two([100_000, 60_000, 50_000], capacities={}, rates={"t": [None, 9, 9]})

    answer = Drain().assign(group)

    assert answer.owner.tolist() == [0, 1, 1]
    assert words_of(answer.proof) == (
        "exact; no capacity is known: members count as equals, incoming rates and pauses are left out"
    )


def test_what_it_found_and_what_it_had_to_guess_is_told():
    """Both lag integrals, and that arrivals are not known."""
    group = _two([60_000, 60_000, 0], rates={})

    assert words_of(Drain().assign(group).proof) == (
        "exact (lag integral 72,000,000 lag-seconds over the hour, 144,000,000 with the current assignment);"
        " no incoming rates are known: assumed to be 0"
    )


def test_too_large_a_group_is_told_what_no_assignment_is_below():
    """With no work allowed the answer is what dealing out gives, and the claim is a gap."""
    told = words_of(Drain(0).assign(_random_group(3, 12, 20)).proof)

    assert "with the current assignment, no assignment has less than" in told
    assert told.endswith("moves not proven")


def test_a_group_with_more_assignments_than_a_float_counts_has_an_answer():
    """Each of 300 partitions has 40 members to go to: about 10 to the power of 480 ways."""
    answer = Drain(work=0).assign(_random_group(1, 40, 100))
    assert len(answer.owner) == 300
    assert answer.owner.min() >= 0


def test_a_lag_that_is_not_known_is_a_reason_with_its_numbers():
    """Unless the backlog is told: then that counts."""
    group = _two([1, None, 3])

    with pytest.raises(Infeasible, match="1 of 3 are unknown"):
        Drain().assign(group)
    assert Drain().assign(replace(group, backlog=np.ones(3))).proof
