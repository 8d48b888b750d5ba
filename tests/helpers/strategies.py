"""Hypothesis strategies for groups as they occur: racks, static members, odd subscriptions, claims, lags."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from engine.assignor import GroupSpec, build_spec
from engine.model import NONE, Column

# A busy machine is no reason to fail: nothing here depends on the clock.
settings.register_profile(
    "unhurried", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")

TOPICS = ("t0", "t1", "t10", "orders", "Aa", "BB", "\uffee", "\U0001f600")
"""Two that share a hash, and two whose order depends on UTF-16."""

MEMBERS = tuple(f"consumer-{name}" for name in ("b", "a", "Aa", "BB", "10", "2", "\u00e9", "z"))

RACKS = ("rack-a", "rack-b", "rack-c")


@dataclass(frozen=True)
class Shape:
    """What kind of groups to make."""

    most_members: int = 8
    most_topics: int = 5
    most_partitions: int = 7
    fewest_members: int = 0


@st.composite
def groups(draw: st.DrawFn, shape: Shape = Shape()) -> GroupSpec:
    """Any group a broker could describe, and some it could not."""
    topics = draw(st.lists(st.sampled_from(TOPICS), unique=True, max_size=shape.most_topics))
    count = st.integers(min_value=0, max_value=shape.most_partitions)
    counts = [draw(st.none() | count | st.just(shape.most_partitions)) for _ in topics]
    members = draw(
        st.lists(
            st.sampled_from(MEMBERS),
            unique=True,
            min_size=shape.fewest_members,
            max_size=shape.most_members,
        )
    )
    partitions = [(t, p) for t, n in zip(topics, counts, strict=True) for p in range(n or 0)]
    claims = draw(_claims(len(members), partitions))
    held = {pair: m for m, pairs in enumerate(claims) for pair in pairs}
    return build_spec(
        members=members,
        instance_ids=draw(_instance_ids(len(members))),
        member_racks=draw(_member_racks(len(members))),
        subscriptions=draw(_subscriptions(len(members), topics)),
        topics=topics,
        partition_counts=counts,
        replica_racks=draw(_replicas(len(partitions))),
        owner=[held.get(pair, NONE) for pair in partitions],
        claims=claims,
        generation=[draw(st.none() | st.integers(0, 3)) for _ in members],
        lag=Column.of(draw(st.none() | st.integers(0, 1000)) for _ in partitions),
    )


def _subscriptions(count: int, topics: list[str]) -> st.SearchStrategy[list[list[str]]]:
    """Half of them equal for all; any may be empty, unsorted, or name a topic twice."""
    if not topics:
        return st.just([[]] * count)
    one = st.lists(st.sampled_from(topics), max_size=len(topics) + 1)
    alike = st.permutations(topics).map(lambda order: [order] * count)
    return alike | st.lists(one, min_size=count, max_size=count)


def _instance_ids(count: int) -> st.SearchStrategy[list[str | None]]:
    """Nobody, some or all members are static; no instance id is there twice."""
    some = st.permutations([f"host-{i}" for i in range(count)]).flatmap(
        lambda names: st.tuples(*(st.sampled_from([None, name]) for name in names)).map(list)
    )
    return st.just([None] * count) | some


def _member_racks(count: int) -> st.SearchStrategy[list[str | None]]:
    """No racks at all, or any, some of them missing or empty."""
    one = st.sampled_from([*RACKS, *RACKS, "", None])
    return st.just([None] * count) | st.lists(one, min_size=count, max_size=count)


def _replicas(count: int) -> st.SearchStrategy[list[list[str | None]]]:
    """Replicas unknown, all alike, or any racks, with rackless brokers among them."""
    one = st.lists(st.sampled_from([*RACKS, *RACKS, None]), max_size=3)
    alike = one.map(lambda racks: [racks] * count)
    return alike | st.lists(one, min_size=count, max_size=count)


@st.composite
def _claims(
    draw: st.DrawFn, members: int, partitions: list[tuple[str, int]]
) -> list[list[tuple[str, int]]]:
    """Each partition is claimed by one member or by nobody."""
    claims: list[list[tuple[str, int]]] = [[] for _ in range(members)]
    if members and draw(st.booleans()):
        for pair in partitions:
            owner = draw(st.integers(NONE, members - 1))
            if owner != NONE:
                claims[owner].append(pair)
    return claims
