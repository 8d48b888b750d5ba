"""What strategies would make of a group after changes: as when asked by hand; without changes as `advise` says."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import fresh, rejoining
from evenkeel.engine.assignors.interface.build import build_spec
from evenkeel.engine.assignors.kit.settle import settle
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.model.arrays import NONE, Column
from evenkeel.engine.pipeline.whatif import Grows, Joins, Leaves, answer, outcomes, suppose
from tests.helpers.examples import examples
from tests.helpers.measuring import proposed, seen
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic

CLIENT_SIDE = ("range", "roundrobin", "sticky", "cooperative-sticky")
SERVER_SIDE = ("uniform", "range-server")
BY_BROKER = {"uniform": "uniform", "range-server": "range"}
RACKS = ("rack-a", "rack-b", "rack-c")


@st.composite
def described(draw, strategy):
    """The members of a group that runs a strategy, and its topics, as rows of a snapshot."""
    sizes = {f"t{n}": draw(st.integers(1, 6)) for n in range(draw(st.integers(1, 3)))}
    count = draw(st.integers(2, 5))
    some = st.lists(st.sampled_from([*sizes]), min_size=1, unique=True)
    alike = draw(st.booleans())
    static = (
        draw(st.sampled_from(["nobody", "some", "all"])) if strategy in CLIENT_SIDE else "nobody"
    )
    racked = draw(st.booleans())
    listed = [[*sizes] if alike else draw(some) for _ in range(count)]
    owned = [dict[str, list[int]]() for _ in range(count)]
    for name, size in sizes.items():
        takers = [n for n, topics in enumerate(listed) if name in topics]
        for number in range(size if takers else 0):
            owner = draw(st.sampled_from([*takers, None]))
            if owner is not None:
                owned[owner].setdefault(name, []).append(number)
    names = draw(st.permutations([f"c{n}" for n in range(count)]))
    members = [
        member(
            names[n],
            listed[n],
            owned[n],
            rack=draw(st.sampled_from(RACKS)) if racked else None,
            instance_id=f"i{9 - n}" if static == "all" or (static == "some" and n % 2) else None,
            kind="consumer" if strategy in SERVER_SIDE else "classic",
        )
        for n in range(count)
    ]
    return members, [topic(name, size, end=10) for name, size in sizes.items()]


def snapshot_of(members, topics, strategy):
    """The group as a snapshot has it."""
    header = {"group_type": "consumer"} if strategy in SERVER_SIDE else {}
    one = group(
        "g",
        members=members,
        committed={rows[0]["topic"]: 10 for rows in topics},
        assignor=BY_BROKER.get(strategy, strategy),
        **header,
    )
    return groups(make_snapshot(topics=topics, groups=[one]))[0]


def by_hand(members, topics, strategy, runs):
    """
    What a strategy gives to members that own what their rows say, and to nobody else: member -> sorted pairs.

    The one that runs is told what they own; another one nothing.
    """
    names = sorted(rows[0]["topic"] for rows in topics)
    size = {rows[0]["topic"]: len(rows) for rows in topics}
    kept = [name for name in names if any(name in row["subscription"] for row in members)]
    pairs = [(name, number) for name in kept for number in range(size[name])]
    owned = [
        set(zip(row["assigned_topics"], row["assigned_partitions"], strict=True)) for row in members
    ]
    owner = [next((m for m, has in enumerate(owned) if pair in has), NONE) for pair in pairs]
    spec = build_spec(
        members=[row["member_id"] for row in members],
        instance_ids=[row.get("instance_id") for row in members],
        member_racks=[row["rack"] for row in members],
        subscriptions=[row["subscription"] for row in members],
        topics=kept,
        topic_ids=[next(r[0]["topic_id"] for r in topics if r[0]["topic"] == n) for n in kept],
        partition_counts=[size[name] for name in kept],
        replica_racks=[[RACKS[number % 3]] for _, number in pairs],
        owner=owner,
        lag=Column.of([0] * len(pairs)),
    )
    told = rejoining(spec, np.array(owner, np.int32)) if runs else fresh(spec)
    settled = settle(ASSIGNORS[strategy].assign, told)
    return {name: sorted(has) for name, has in spec.lists(settled.assignment).items()}


def lists_of(found):
    """Member -> sorted pairs, by strategy."""
    return {
        one.candidate.strategy: {name: sorted(has) for name, has in one.lists.items()}
        for one in found
        if one.lists is not None
    }


@given(data=st.data(), strategy=st.sampled_from([*CLIENT_SIDE, *SERVER_SIDE]))
def test_without_a_member_it_is_what_the_strategy_gives_the_others(data, strategy):
    """The one that runs is told what those who stay own; another one of the same kind is asked afresh."""
    members, topics = data.draw(described(strategy))
    gone = data.draw(st.sampled_from(members))
    stay = [row for row in members if row is not gone]
    kind = CLIENT_SIDE if strategy in CLIENT_SIDE else SERVER_SIDE

    supposed = suppose(
        seen(snapshot_of(members, topics, strategy)), [Leaves(member=gone["member_id"])]
    )
    found = lists_of(outcomes(Settings(), supposed, kind))

    # a broker keeps the target whatever assignor comes next
    expected = {
        name: by_hand(stay, topics, name, runs=name == strategy or kind is SERVER_SIDE)
        for name in kind
    }
    assert found == expected


@given(data=st.data(), strategy=st.sampled_from(CLIENT_SIDE))
def test_who_joins_has_nothing_to_report(data, strategy):
    """It is as if the group had that member, who owns nothing, last on its list."""
    members, topics = data.draw(described(strategy))
    one = snapshot_of(members, topics, strategy)
    supposed = suppose(seen(one), [Joins(member="new-1")])
    new = supposed.group.members[-1]
    row = member("new-1", new.subscription, instance_id=new.instance_id)

    found = lists_of(outcomes(Settings(), supposed, [strategy]))

    assert found == {strategy: by_hand([*members, row], topics, strategy, runs=True)}


@pytest.mark.slow
@settings(max_examples=max(examples() // 3, 1))
@given(data=st.data(), strategy=st.sampled_from([*CLIENT_SIDE, *SERVER_SIDE]))
def test_without_changes_it_is_what_advise_says(data, strategy):
    """Scores, moves, feasibility and reasons of every strategy, of a group with a past."""
    members, topics = data.draw(described(strategy))
    now = snapshot_of(members, topics, strategy)
    rows = {row["strategy"]: row for row in proposed(Settings(), now)}
    # ours for brokers is asked of a classic group only by name, as here, not by a scoreboard
    unasked = {"racks-server"} if strategy in CLIENT_SIDE else set[str]()
    every = [name for name in rows if name not in {"live", *unasked}]

    found = outcomes(Settings(), suppose(seen(now), ()), every)

    assert [one.candidate.strategy for one in found if one.candidate.is_running] == [strategy]
    for one in found:
        row = rows[one.candidate.strategy]
        score = {} if one.candidate.score is None else asdict(one.candidate.score)
        assert score == {name: row[name] for name in score}
        assert one.candidate.feasibility == row["feasibility"]
        assert [asdict(move) for move in one.moves] == row["moved"]


def past(count=3, rate=60, **columns):
    """Snapshots of a group that keeps up, newest first: three members with two partitions each."""
    taken = []
    for n in range(count):
        end = [rate * 300 * (n + 1)] * 6
        one = group("g", members=3, committed={"t": end}, **columns)
        taken += groups(make_snapshot(number=n, topics=[topic("t", 6, end=end)], groups=[one]))
    return taken[::-1]


def test_the_forecast_without_changes_is_that_of_advise():
    """Low, expected and high, of the live assignment and of each strategy that takes no restart."""
    now, *earlier = past()
    settings = Settings(rules=(Rule(capacity_per_second=500.0),))
    rows = {row["strategy"]: row for row in proposed(settings, now, earlier, ask_next_change=False)}
    told = answer(settings, seen(now, earlier, settings), ())
    assert told.outcomes[0].candidate.strategy == "range"
    for one in (told.today, *told.outcomes):
        row, forecast = rows[one.candidate.strategy], asdict(one.candidate.forecast)
        assert forecast["price_restarts"] is None
        if row["price_restarts"]:
            assert forecast["forecast_lag_high"] <= row["forecast_lag_high"]
        else:
            assert forecast == {name: row[name] for name in forecast}


@pytest.mark.parametrize(
    ("change", "strategy", "counts", "came_from", "moved"),
    [
        (Leaves(member="g-2"), "sticky", (0, 2, 6), "g-2", {4, 5}),
        (Grows(topic="t", partitions=8), "range", (2, 3, 8), None, {6, 7}),
    ],
)
def test_what_was_somebodys_who_leaves_moves_and_new_partitions_are_newly_owned(
    change, strategy, counts, came_from, moved
):
    """From whom is told; what comes from nobody counts apart."""
    now, *earlier = past()
    [one] = outcomes(Settings(), suppose(seen(now, earlier), [change]), [strategy])
    score = one.candidate.score
    assert (score.newly_owned, one.members, one.partitions) == counts
    assert one.idle == 0
    assert score.moves + score.newly_owned == len(one.moves) >= 2
    assert {move.partition for move in one.moves if move.from_member == came_from} == moved


def test_nothing_is_foreseen_where_it_is_not_known_what_members_can_do():
    """Two would get half as much again as they were ever seen to do, and never were they busy."""
    now, *earlier = past()
    settings = Settings()
    told = answer(settings, seen(now, earlier), (Leaves(member="g-2"),))
    first = told.outcomes[0]
    assert told.today.candidate.forecast is not None
    assert first.candidate.forecast is None
    assert first.diagnosed.diagnosis == "unknown"
    assert [fact.measure for fact in first.facts] == ["ability_unknown"]
    assert (first.facts[0].before, first.facts[0].after) == (
        pytest.approx(120),
        pytest.approx(180),
    )
