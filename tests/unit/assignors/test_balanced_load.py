"""`balanced` where arrivals are known: peak utilization, bytes across racks, moves, or how far from them at most."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from evenkeel.engine.assignors.balanced import Balanced
from evenkeel.engine.assignors.interface import build_spec, spec
from evenkeel.engine.assignors.kit.kernels import held_to
from evenkeel.engine.assignors.promises import check
from evenkeel.engine.messages.wording import proof as words_of
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.facts import FactKind
from tests.helpers.examples import times
from tests.helpers.strategies import groups

RACKS = [None, "a", "b", "c"]
RATES = st.one_of(st.just(0), st.integers(0, 9), st.sampled_from([0.25, 7.5, 1000]))
CAPACITIES = st.sampled_from([None, 1, 2, 10, 16])
BACKLOGS = st.sampled_from([0, 0, 9000, 18_000, 3_600_000])
SIZES = st.sampled_from([None, 1, 100, 4])


@st.composite
def loaded(draw, most_members=4, most_partitions=6, racks=RACKS):
    """Groups with arrivals, capacities, sizes, racks, backlogs and owners of every kind."""
    some = st.lists(st.integers(0, most_partitions - 2), min_size=1, max_size=3)
    counts = draw(some.filter(lambda c: 0 < sum(c) <= most_partitions))
    topics = [f"t{i}" for i in range(len(counts))]
    members = [f"m{i}" for i in range(draw(st.integers(1, most_members)))]
    size = sum(counts)
    alike = st.just([topics] * len(members))
    any_of_them = st.lists(st.sampled_from(topics), unique=True)
    made = build_spec(
        members=members,
        instance_ids=[None] * len(members),
        member_racks=[draw(st.sampled_from(racks)) for _ in members],
        subscriptions=draw(alike | st.tuples(*[any_of_them] * len(members))),
        topics=topics,
        partition_counts=counts,
        replica_racks=[draw(st.lists(st.sampled_from(racks), max_size=2)) for _ in range(size)],
        owner=[draw(st.integers(NONE, len(members) - 1)) for _ in range(size)],
        rate=draw(st.lists(RATES, min_size=size, max_size=size).filter(any)),
        capacity=draw(st.lists(CAPACITIES, min_size=len(members), max_size=len(members))),
        bytes_per_record=draw(st.lists(SIZES, min_size=size, max_size=size)),
    )
    waits = draw(st.none() | st.lists(BACKLOGS, min_size=size, max_size=size))
    return made if waits is None else replace(made, backlog=np.array(waits, float))


def _load(group):
    """(P) what there is to do in each, offsets/s."""
    return group.rate + (0.0 if group.backlog is None else group.backlog / 3600)


@st.composite
def lopsided(draw):
    """Most replicas in one rack and members in two, so that some of what arrives must be read across."""
    racks = ["a", *draw(st.lists(st.sampled_from("ab"), min_size=1, max_size=3)), "b"]
    size = draw(st.integers(12, 14))
    return build_spec(
        members=[f"m{i}" for i in range(len(racks))],
        instance_ids=[None] * len(racks),
        member_racks=racks,
        subscriptions=[["t"]] * len(racks),
        topics=["t"],
        partition_counts=[size],
        replica_racks=[[draw(st.sampled_from("aaab"))] for _ in range(size)],
        owner=[draw(st.integers(NONE, len(racks) - 1)) for _ in range(size)],
        rate=draw(st.lists(st.integers(2, 30), min_size=size, max_size=size)),
        bytes_per_record=draw(st.lists(SIZES, min_size=size, max_size=size)),
    )


def _usual(values):
    """Unknown ones as the median of the known, all 1 where none is."""
    known = values[~np.isnan(values)]
    return np.where(np.isnan(values), np.median(known) if len(known) else 1.0, values)


def _costs(group):
    """(P, M) bytes/s across racks, and moves, of each partition on each member; no member may where both are inf."""
    volume = np.full(group.partition_count, np.nan)
    owned = np.array([len(group.subscribers[t]) > 0 for t in group.topic_of.tolist()], bool)
    busy = owned & (_load(group) > 0) & (group.rate[owned] > 0).any()
    volume[busy] = group.rate[busy] * _usual(group.bytes_per_record[busy])
    crossing = np.full((group.partition_count, len(group.members)), np.inf)
    moves = crossing.copy()
    for p, topic in enumerate(group.topic_of.tolist()):
        replicas = group.replica_rack[group.replica_start[p] : group.replica_start[p + 1]].tolist()
        for m in group.subscribers[topic].tolist():
            rack = int(group.member_rack[m])
            far = rack != NONE and bool(replicas) and NONE not in replicas and rack not in replicas
            crossing[p, m] = volume[p] if far and busy[p] else 0.0
            moves[p, m] = group.owner[p] not in (NONE, m)
    return busy, crossing, moves


def _value(group, owner, known):
    """Peak, bytes/s across racks and moves of what has arrivals, the squares of all counts, moves of the idle."""
    busy, crossing, moves = known
    mine = [(p, m) for p, m in enumerate(owner) if m != NONE]
    load, capacity = np.zeros(len(group.members)), _usual(group.capacity)
    counts = np.bincount([m for _, m in mine], minlength=len(group.members))
    for p, m in mine:
        load[m] += _load(group)[p]
    far, moved = (sum(of[p, m] for p, m in mine if busy[p]) for of in (crossing, moves))
    idle = sum(moves[p, m] for p, m in mine if not busy[p])
    return (load / capacity).max(), round(far, 6), moved, int((counts**2).sum()), idle


def _alike(group, known):
    """Whether only numbers of partitions tell members apart."""
    busy, _, _ = known
    reached = [t for t in group.topic_of.tolist()]
    counted = np.array([len(group.subscribers[t]) > 0 for t in reached], bool)
    volume = group.rate[busy] * _usual(group.bytes_per_record[busy])
    return (busy == counted).all() and all(
        len(set(values.tolist())) <= 1
        for values in (_load(group)[busy], _usual(group.capacity), volume)
    )


@pytest.mark.slow
@times(3)
@given(loaded())
def test_no_assignment_of_a_small_group_is_better(group):
    """All assignments of up to four members and six partitions tried: none is smaller in the criteria, in order."""
    known = _costs(group)
    if not known[0].any():
        return
    answer = Balanced().assign(group)

    choices = [group.subscribers[t].tolist() or [NONE] for t in group.topic_of.tolist()]
    every = list(itertools.product(*choices))
    values = [_value(group, owner, known) for owner in every]
    value = _value(group, answer.owner.tolist(), known)
    if _alike(group, known):  # counts come first, and keep the peak at its least
        assert (value[0], value[3]) == (min(values)[0], min(v[3] for v in values))
    else:
        assert value[:3] == min(values)[:3]
        assert value == min(
            v for v, o in zip(values, every, strict=True) if _agree(o, answer, known)
        )
        assert {f.kind for f in answer.proof} <= {FactKind.EXACT, FactKind.REMARK}


def _agree(owner, answer, known):
    """Whether two assignments give what has arrivals to the same members."""
    busy, _, _ = known
    return (np.array(owner)[busy] == answer.owner[busy]).all()


def _least(group, known, peak=np.inf):
    """
    Peak, bytes across racks and moves of the best assignment, one after another by integer programming.

    With a *peak* the least bytes, and then moves, of those that are no busier, whatever their own.
    """
    busy, crossing, moves = known
    rows = np.flatnonzero(busy)
    may = np.isfinite(crossing[rows])
    count, members = may.shape
    size = count * members
    once = np.zeros((count, size + 1))
    share = np.zeros((members, size + 1))
    share[:, -1] = -1
    for i in range(count):
        once[i, i * members : (i + 1) * members] = 1
        share[range(members), range(i * members, (i + 1) * members)] = _load(group)[rows[i]]
    share[:, :-1] /= _usual(group.capacity)[:, None]
    rules = [LinearConstraint(once, 1, 1), LinearConstraint(share, -np.inf, 0)]
    utilization = np.append(np.zeros(size), 1.0)
    least = []
    far, moved = (np.append(np.where(may, of[rows], 0).ravel(), 0.0) for of in (crossing, moves))
    for aim in (utilization, far, moved)[int(np.isfinite(peak)) :]:
        solved = milp(
            aim,
            constraints=rules,
            integrality=np.append(np.ones(size), 0),
            options={"mip_rel_gap": 0},
            bounds=Bounds(0, np.append(may.ravel().astype(float), peak * (1 + 1e-9))),
        )
        assert solved.success
        # what is found keeps the rules within 1e-7 only: its assignment says exactly what can be had
        chosen = np.round(solved.x[:-1])
        found = max(share[:, :-1] @ chosen) if aim is utilization else aim[:-1] @ chosen
        least.append(found)
        rules.append(LinearConstraint(aim, -np.inf, found * (1 + 1e-9) + 1e-9))
    return least


@pytest.mark.slow
@times(1)
@given(
    loaded(most_members=5, most_partitions=14) | lopsided(), st.sampled_from([0, 1_000, 500_000])
)
def test_what_it_claims_holds_beside_integer_programming(group, work):
    """Floors are floors, gaps are as told, what is called exact is the optimum: groups too large to try all."""
    known = _costs(group)
    if not known[0].any() or _alike(group, known):
        return
    answer = Balanced(work).assign(group)

    value, least = _value(group, answer.owner.tolist(), known), _least(group, known)
    told = {fact.measure: fact for fact in answer.proof}
    peak = told.get("peak_utilization") or told["peak_load"]
    assert peak.after == pytest.approx(value[0])
    assert peak.bound <= least[0] * (1 + 1e-6)
    far = told.get("cross_rack_bytes") or told.get("cross_rack_rate")
    if far is not None:
        assert far.after == pytest.approx(value[1], abs=1e-3)
    under = _least(group, known, value[0])
    assert far is None or far.bound <= under[0] * (1 + 1e-6) + 1e-6
    moves = told["moves"]
    if moves.bound is not None:
        assert moves.after - moves.bound >= value[2] - under[1] - 1e-6
    if {fact.kind for fact in answer.proof} == {FactKind.EXACT}:
        assert value[:3] == pytest.approx(least, rel=1e-6, abs=1e-6)


@given(groups(), st.randoms(use_true_random=False))
def test_it_keeps_its_promises_whatever_is_known(group, random):
    """Complete, to subscribers only, repeatable, whatever the order of the input, with arrivals and capacities."""
    group = _with_load(group, random)

    assert check(Balanced(), group) == []


def _with_load(group, random):
    """The group with rates, capacities and sizes, some unknown."""
    some = [None, 0, 0, 1, 3, 3, 7.25, 1e9]
    return replace(
        group,
        rate=np.array([random.choice(some) for _ in range(group.partition_count)], float),
        capacity=np.array([random.choice([None, 5, 10]) for _ in group.members], float),
        bytes_per_record=np.array(
            [random.choice([None, 100, 2000]) for _ in range(group.partition_count)], float
        ),
    )


@pytest.mark.slow
@given(loaded(most_members=6, most_partitions=30))
def test_compiled_and_interpreted_it_answers_alike(group):
    """How much a process has worked on before chooses the form of the loops, never the answer."""
    with held_to(compiled=False):
        interpreted = Balanced().assign(group)
    with held_to(compiled=True):
        fast = Balanced().assign(group)

    assert (fast.owner.tolist(), fast.proof) == (interpreted.owner.tolist(), interpreted.proof)


def test_twice_the_capacity_gets_twice_the_load():
    """Capacity is a weight: equal arrivals go two to one."""
    rates = {"t": [1, 1, 1, 1, 1, 1]}
    group = spec({"a": ["t"], "b": ["t"]}, {"t": 6}, rates=rates, capacities={"a": 10, "b": 5})

    answer = Balanced().assign(group)

    assert np.bincount(answer.owner).tolist() == [4, 2]


def test_idle_partitions_even_the_counts_out():
    """What carries nothing costs no utilization anywhere; it goes to whoever owns fewest."""
    rates = {"t": [9, *[1] * 9, *[0] * 10]}
    group = spec(
        {"a": ["t"], "b": ["t"]}, {"t": 20}, rates=rates, owned={"a": [("t", p) for p in range(20)]}
    )

    answer = Balanced().assign(group)

    assert np.bincount(answer.owner, weights=group.rate).tolist() == [9, 9]
    assert np.bincount(answer.owner).tolist() == [10, 10]


def test_what_is_unknown_counts_as_the_usual_and_is_said():
    """A new partition arrives as much as the mean of the others, a new member can do as much as the median."""
    group = spec(
        {"a": ["t"], "b": ["t"]}, {"t": 3}, rates={"t": [6, 2, None]}, capacities={"a": 10}
    )

    answer = Balanced().assign(group)

    assert answer.owner[1] == answer.owner[2] != answer.owner[0]
    assert words_of(answer.proof) == (
        "exact (busiest member at 60% of its capacity);"
        " the unknown incoming rate of 1 partition is assumed to be the mean of the others"
    )


def test_of_equal_partitions_nobody_goes_without():
    """Four to three members, 2/2/0 would be as busy: where loads are equal the counts decide."""
    owned = {"a": [("t", 0), ("t", 1)], "b": [("t", 2), ("t", 3)]}
    members = {"a": ["t"], "b": ["t"], "c": ["t"]}
    group = spec(members, {"t": 4}, rates={"t": [5, 5, 5, 5]}, owned=owned)

    answer = Balanced().assign(group)

    assert sorted(np.bincount(answer.owner).tolist()) == [1, 1, 2]
    assert words_of(answer.proof) == "exact (busiest member takes 10/s)"


@given(st.integers(0, 10_000))
def test_a_large_group_comes_within_a_hundredth_of_its_floor(seed):
    """A hundred partitions whose arrivals differ a lot, members of three sizes, racks: what is told is what is."""
    random = np.random.default_rng(seed)
    size, members = 100, [f"m{i}" for i in range(8)]
    group = build_spec(
        members=members,
        instance_ids=[None] * 8,
        member_racks=[RACKS[1 + i % 3] for i in range(8)],
        subscriptions=[["t"]] * 8,
        topics=["t"],
        partition_counts=[size],
        replica_racks=[[str(rack)] for rack in random.choice(RACKS[1:], size)],
        owner=random.integers(0, 8, size).tolist(),
        rate=random.lognormal(3, 0.7, size).tolist(),
        capacity=random.choice([500, 1000, 1500], 8).tolist(),
    )

    answer = Balanced().assign(group)

    peak = answer.proof[0]
    assert peak.after == pytest.approx(_peak(group, answer.owner))
    assert peak.after <= 1.01 * peak.bound * (1 + 1e-9)
    assert peak.after <= _peak(group, group.owner) * (1 + 1e-9)
    assert peak.bound >= group.rate.sum() / group.capacity.sum() * (1 - 1e-9)

    again = replace(group, owner=answer.owner)
    assert _peak(group, Balanced().assign(again).owner) <= peak.after * (1 + 1e-9)


def _peak(group, owner):
    """The utilization of the busiest member."""
    load = np.bincount(owner, weights=group.rate, minlength=len(group.members))
    return (load / group.capacity).max()


def test_a_backlog_is_dealt_out_like_arrivals_and_what_waits_for_a_commit_is_none():
    """Two partitions that wait part, though all have the same arrivals; without a backlog nobody is moved for a lag."""
    members, lags = {m: ["t"] for m in "ab"}, [90_000, 90_000, 10, 10]
    owned = {"a": [("t", 0), ("t", 1)], "b": [("t", 2), ("t", 3)]}
    known = {"rates": {"t": [5, 5, 5, 5]}, "lags": {"t": lags}, "owned": owned}
    keeps_up, behind = (
        Balanced().assign(spec(members, {"t": 4}, **known, **more))
        for more in ({}, {"backlogs": {"t": lags}})
    )

    assert keeps_up.owner.tolist() == [0, 0, 1, 1]
    assert behind.owner[0] != behind.owner[1]
    assert [fact.measure for fact in behind.proof][-1] == "backlog_counted"
    assert words_of(behind.proof).endswith(
        "; the backlog of 4 partitions counts as work of the coming hour"
    )


def test_a_group_in_more_racks_than_a_word_has_bits_reads_nearby():
    """Patterns of replicas are words of two bits per rack; with 40 racks they are longer than 64."""
    racks = [f"rack-{number:02}" for number in range(40)]
    group = spec(
        {f"in-{rack}": ["t"] for rack in racks},
        {"t": len(racks)},
        racks={f"in-{rack}": rack for rack in racks},
        replicas={"t": [[rack] for rack in racks]},
        rates={"t": [number + 1 for number in range(len(racks))]},
    )

    assert Balanced().assign(group).owner.tolist() == list(range(len(racks)))
