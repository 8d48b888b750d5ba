"""A group as `balanced` sees it: in canonical order, with nothing but what its four criteria need."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.facts import Fact, FactKind
from evenkeel.engine.kit.permute import partition_order
from evenkeel.engine.kit.subscribers import Subscribers, subscribers_in_order
from evenkeel.engine.model import NONE, Flags, Indices, Ints

_GREATEST_TOTAL = 1 << 52
"""Lags that add up to more are not sure to be exact in the arithmetic of loads."""

_LEFT_OUT = Fact(kind=FactKind.NOT_PROVEN, measure="largest_member_lag")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """
    M members, N partitions that somebody subscribes to, K classes of topics with the same subscribers.

    Members stand in canonical order (static ones by instance id, then dynamic ones by member id), partitions by topic
    name and number, so nothing that is worked out from here can depend on the order of the input.

    Attributes:
        member: (M) index in the group.
        partition: (N) index in the group.
        topic_class: (N) class of the partition's topic.
        start, subscriber: Ragged, class -> its subscribers (0 to M - 1), ascending.
        lag: (N) offsets; None where the lag of a member cannot be told, *lagless* says so.
        holder: (N) subscriber that owns it now; NONE for nobody, or for an owner that does not subscribe.
        forced_moves: Partitions that change hands whatever is done.
        site: (M) column of the member's rack in *crosses* and *known*.
        pattern: (N) row of the partition in *crosses* and *known*.
        crosses, known: (patterns, sites) whether such a partition is known to cross racks when owned there, and
            whether that can be told at all. One pattern and one site where no choice of owner changes the share.
    """

    member: Indices
    partition: Ints
    topic_class: Ints
    start: Ints
    subscriber: Ints
    lag: Ints | None
    lagless: Fact | None
    holder: Ints
    forced_moves: int
    site: Ints
    pattern: Ints
    crosses: Flags
    known: Flags

    @property
    def members(self) -> int:
        """M."""
        return len(self.member)

    @property
    def partitions(self) -> int:
        """N."""
        return len(self.partition)

    @property
    def classes(self) -> int:
        """K."""
        return len(self.start) - 1


def problem_of(group: GroupSpec) -> Problem:
    """
    >>> from evenkeel.engine.assignor import spec
    >>> members = {"b": ["u", "t"], "a": ["t", "u"], "c": ["t"]}
    >>> found = problem_of(spec(members, {"u": 1, "t": 2}, owned={"c": [("t", 0)]}))
    >>> found.member.tolist(), found.partition.tolist(), found.topic_class.tolist()
    ([1, 0, 2], [1, 2, 0], [0, 0, 1])
    >>> found.start.tolist(), found.subscriber.tolist(), found.holder.tolist()
    ([0, 3, 5], [0, 1, 2, 0, 1], [2, -1, -1])
    """
    order = _member_order(group)
    topics = np.array(sorted(range(len(group.topics)), key=group.topics.__getitem__), np.int64)
    subscribers = subscribers_in_order(group, order)
    class_of_topic, start, subscriber = _classes(subscribers, topics)
    partition = partition_order(group, topics)
    partition = partition[class_of_topic[group.topic_of[partition]] != NONE]
    topic_class = class_of_topic[group.topic_of[partition]]
    holder = _holders(group, order, partition, topic_class, start, subscriber)
    lag, lagless = _lags(group, partition)
    site, pattern, crosses, known = _racks(group, order, partition)
    leaving = (group.owner != NONE).sum() - (holder != NONE).sum()
    return Problem(
        member=order,
        partition=partition,
        topic_class=topic_class,
        start=start,
        subscriber=subscriber,
        lag=lag,
        lagless=lagless,
        holder=holder,
        forced_moves=int(leaving),
        site=site,
        pattern=pattern,
        crosses=crosses,
        known=known,
    )


def _member_order(group: GroupSpec) -> Indices:
    keys = [
        (instance is None, instance or "", member)
        for member, instance in zip(group.members, group.instance_ids, strict=True)
    ]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int32)


def _classes(subscribers: Subscribers, topics: Ints) -> tuple[Ints, Ints, Ints]:
    """(T) class of each topic, NONE without subscribers or partitions; then ragged the members of each class."""
    class_of_topic = np.full(len(topics), NONE, np.int64)
    class_of_key: dict[bytes, int] = {}
    members: list[Ints] = []
    bounds, place = subscribers.start.tolist(), subscribers.place
    for topic in topics.tolist():
        mine = place[bounds[topic] : bounds[topic + 1]]
        if len(mine):
            key = mine.tobytes()
            if key not in class_of_key:
                class_of_key[key] = len(members)
                members.append(mine)
            class_of_topic[topic] = class_of_key[key]
    start = np.zeros(len(members) + 1, np.int64)
    np.cumsum([len(m) for m in members], out=start[1:])
    return class_of_topic, start, np.concatenate([np.zeros(0, np.int64), *members])


def _holders(
    group: GroupSpec,
    order: Indices,
    partition: Ints,
    topic_class: Ints,
    start: Ints,
    subscriber: Ints,
) -> Ints:
    place = np.full(len(order) + 1, NONE, np.int64)  # the last entry is what NONE reads
    place[order] = np.arange(len(order))
    holder = place[group.owner[partition]]
    if (np.diff(start) == len(order)).all():
        return holder
    keys = np.repeat(np.arange(len(start) - 1), np.diff(start)) * len(order) + subscriber
    asked = topic_class * len(order) + holder
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where((holder != NONE) & (keys[at] == asked), holder, NONE)


def _lags(group: GroupSpec, partition: Ints) -> tuple[Ints | None, Fact | None]:
    lag = group.lag.take(partition)
    unknown = len(lag) - int(lag.known.sum())
    if unknown:
        return None, replace(_LEFT_OUT, partitions=unknown)
    if lag.values.astype(np.float64).sum() >= _GREATEST_TOTAL:
        return None, _LEFT_OUT
    return lag.values, None


def _racks(group: GroupSpec, order: Indices, partition: Ints) -> tuple[Ints, Ints, Flags, Flags]:
    """Sites and patterns as `evenkeel.engine.metrics.racks` judges them: see `Problem`."""
    nothing = np.zeros((1, 1), np.bool_)
    alike = np.zeros(len(order), np.int64), np.zeros(len(partition), np.int64), nothing, nothing
    racks = np.array(sorted(set(group.member_rack[group.member_rack != NONE].tolist())), np.int64)
    if not len(racks) or not len(group.replica_rack):
        return alike
    column = np.full(len(group.racks) + 1, len(racks), np.int64)  # a rack of nobody reads the last
    column[racks] = np.arange(len(racks))
    entry = np.repeat(np.arange(group.partition_count), np.diff(group.replica_start))
    matches = np.zeros((group.partition_count, len(racks) + 1), np.bool_)
    matches[entry, column[group.replica_rack]] = True
    matches[:, -1] = False
    told = np.diff(group.replica_start) > 0
    told[entry[group.replica_rack == NONE]] = False
    crosses = ~matches & told[:, None]
    crosses[:, -1] = False
    both = np.concatenate([crosses, matches | crosses], axis=1)[partition]
    rows, pattern = _distinct_rows(both)
    crosses, known = np.split(rows, 2, axis=1)
    site = column[group.member_rack[order]]
    used = np.unique(site)
    crosses, known = crosses[:, used], known[:, used]
    steady = bool((crosses == crosses[:, :1]).all() and (known == known[:, :1]).all())
    if steady or not crosses.any():
        return alike
    return np.searchsorted(used, site), pattern, crosses, known


def _distinct_rows(rows: Flags) -> tuple[Flags, Ints]:
    """The distinct rows, and which of them each row is."""
    packed = np.ascontiguousarray(np.packbits(rows, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], which.astype(np.int64)
