"""Hypothesis strategies for groups as they occur: racks, static members, odd subscriptions, owned partitions, lags."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from evenkeel.engine.assignor import GroupSpec, build_spec
from evenkeel.engine.model import NONE, Column

TOPICS = ("t0", "t1", "t10", "orders", "Aa", "BB", "\uffee", "\U0001f600")
"""Two that share a hash, and two whose order depends on UTF-16."""

MEMBERS = tuple(f"consumer-{name}" for name in ("b", "a", "Aa", "BB", "10", "2", "\u00e9", "z"))

RACKS = ("rack-a", "rack-b", "rack-c")


@dataclass(frozen=True)
class Shape:
    """What kind of groups to make; *together*: equal subscriptions, topics of one size, and racks."""

    most_members: int = 8
    most_topics: int = 5
    most_partitions: int = 7
    fewest_members: int = 0
    together: bool = False


@st.composite
def groups(draw: st.DrawFn, shape: Shape = Shape()) -> GroupSpec:
    """Any group a broker could describe, and some it could not."""
    topics = draw(st.lists(st.sampled_from(TOPICS), unique=True, max_size=shape.most_topics))
    counts = draw(_counts(len(topics), shape))
    members = draw(
        st.lists(
            st.sampled_from(MEMBERS),
            unique=True,
            min_size=shape.fewest_members,
            max_size=shape.most_members,
        )
    )
    partitions = [(t, p) for t, n in zip(topics, counts, strict=True) for p in range(n or 0)]
    owned = draw(_owned(len(members), partitions))
    held = {pair: m for m, pairs in enumerate(owned) for pair in pairs}
    return build_spec(
        members=members,
        instance_ids=draw(_instance_ids(len(members))),
        member_racks=draw(_member_racks(len(members), shape)),
        subscriptions=draw(_subscriptions(len(members), topics, shape)),
        topics=topics,
        partition_counts=counts,
        replica_racks=draw(_replicas(len(partitions), shape)),
        owner=[held.get(pair, NONE) for pair in partitions],
        owned=owned,
        generation=[draw(st.none() | st.integers(0, 3)) for _ in members],
        lag=Column.of(draw(st.none() | st.integers(0, 1000)) for _ in partitions),
    )


def _counts(count: int, shape: Shape) -> st.SearchStrategy[list[int | None]]:
    """Numbers of partitions, None where a topic does not exist; often several alike."""
    size = st.integers(min_value=0, max_value=shape.most_partitions)
    if shape.together:
        return size.map(lambda n: [n] * count)
    one = st.none() | size | st.just(shape.most_partitions)
    return st.lists(one, min_size=count, max_size=count)


def _subscriptions(
    count: int, topics: list[str], shape: Shape
) -> st.SearchStrategy[list[list[str]]]:
    """Half of them equal for all; any may be empty, unsorted, or name a topic twice."""
    if not topics:
        return st.just([[]] * count)
    one = st.lists(st.sampled_from(topics), max_size=len(topics) + 1)
    alike = st.permutations(topics).map(lambda order: [order] * count)
    return alike if shape.together else alike | st.lists(one, min_size=count, max_size=count)


def _instance_ids(count: int) -> st.SearchStrategy[list[str | None]]:
    """Nobody, some or all members are static; no instance id is there twice."""
    some = st.permutations([f"host-{i}" for i in range(count)]).flatmap(
        lambda names: st.tuples(*(st.sampled_from([None, name]) for name in names)).map(list)
    )
    return st.just([None] * count) | some


def _member_racks(count: int, shape: Shape) -> st.SearchStrategy[list[str | None]]:
    """No racks at all, or any, some of them missing or empty."""
    one = st.sampled_from([*RACKS, *RACKS, "", None])
    racked = st.lists(one, min_size=count, max_size=count)
    return racked if shape.together else st.just([None] * count) | racked


def _replicas(count: int, shape: Shape) -> st.SearchStrategy[list[list[str | None]]]:
    """Replicas unknown, all alike, or any racks, with rackless brokers among them."""
    one = st.lists(st.sampled_from([*RACKS, *RACKS, None]), max_size=3)
    alike = one.map(lambda racks: [racks] * count)
    mixed = st.lists(one, min_size=count, max_size=count)
    return mixed if shape.together else alike | mixed


@st.composite
def _owned(
    draw: st.DrawFn, members: int, partitions: list[tuple[str, int]]
) -> list[list[tuple[str, int]]]:
    """Each partition is owned by one member or by nobody."""
    owned: list[list[tuple[str, int]]] = [[] for _ in range(members)]
    if members and draw(st.booleans()):
        for pair in partitions:
            owner = draw(st.integers(NONE, members - 1))
            if owner != NONE:
                owned[owner].append(pair)
    return owned
