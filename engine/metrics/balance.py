"""How even groups are, and how even they could be at best: spread, skew, KIP-54's predicate, floors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..model.arrays import Column, Flags, Indices, Ints, starts_of
from ..model.batch import count_by, max_by, min_by, sum_by


def member_counts(owner: Indices, members: int) -> Ints:
    """(M) partitions each member owns."""
    counts: Ints = np.bincount(owner + 1, minlength=members + 1)[1:].astype(np.int64, copy=False)
    return counts


def member_sums(owner: Indices, members: int, numbers: Column) -> Column:
    """(M) the sum over each member's partitions; unknown when any of them is; 0 for a member without partitions."""
    sums = np.zeros(members + 1, np.int64)  # the last entry is nobody's
    if bool(numbers.known.all()):
        np.add.at(sums, owner, numbers.values)
        return Column(sums[:-1])
    known = numbers.known
    np.add.at(sums, owner[known], numbers.values[known])
    every = np.ones(members + 1, np.bool_)
    every[owner[~known]] = False
    return Column(sums[:-1], every[:-1])


@dataclass(frozen=True, kw_only=True, eq=False)
class Subscribed:
    """
    Who subscribes to what in G groups behind each other: M members, T topics, P partitions.

    Attributes:
        member_start, topics_start: (G + 1) where each group's members and topics begin.
        topic_start: (T + 1) where each topic's partitions begin.
        exists: (T) whether there is such a topic.
        subscription_start, subscription_topic: Ragged, member -> topics as it lists them.
    """

    member_start: Ints
    topics_start: Ints
    topic_start: Ints
    exists: Flags
    subscription_start: Ints
    subscription_topic: Indices

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """The distinct pairs of member and topic, by member: (pairs), (pairs)."""
        topics = max(len(self.exists), 1)
        member = np.repeat(np.arange(self.members), np.diff(self.subscription_start))
        keys = np.sort(member * topics + self.subscription_topic)
        return np.divmod(keys[np.diff(keys, prepend=-1) != 0], topics)

    @cached_property
    def members(self) -> int:
        """M."""
        return len(self.subscription_start) - 1

    @cached_property
    def topic_of(self) -> Ints:
        """(P) the topic of each partition."""
        return np.arange(len(self.exists)).repeat(np.diff(self.topic_start))

    @cached_property
    def partition_start(self) -> Ints:
        """(G + 1) where each group's partitions begin."""
        return self.topic_start[self.topics_start]

    @cached_property
    def wanted(self) -> Flags:
        """(T) whether somebody subscribes to each topic."""
        return np.bincount(self.pairs[1], minlength=len(self.exists)) > 0

    @cached_property
    def counting(self) -> Flags:
        """(M) members subscribed to at least one existing topic, idle ones included."""
        member, topic = self.pairs
        return np.bincount(member[self.exists[topic]], minlength=self.members) > 0

    @cached_property
    def classes(self) -> tuple[Ints, Ints, Ints]:
        """
        Members of equal subscription to existing topics; those that subscribe to none are left out.

        Returns:
            (K + 1) where the members of each class begin, the members, (G) the number of classes of each group.
        """
        member, topic = self.pairs
        there = self.exists[topic]
        start = starts_of(np.bincount(member[there], minlength=self.members))
        sets = _alike(start, topic[there])
        order = np.argsort(sets, kind="stable")
        order = order[self.counting[order]]
        first = np.flatnonzero(np.diff(sets[order], prepend=-1))
        in_groups = np.searchsorted(order[first], self.member_start)
        return np.append(first, len(order)), order, np.diff(in_groups)

    def subscriptions(self) -> Iterator[frozenset[int]]:
        """(M) the existing topics that each member subscribes to."""
        member, topic = self.pairs
        there = self.exists[topic]
        cuts = starts_of(np.bincount(member[there], minlength=self.members)).tolist()
        topics = topic[there].tolist()
        return (frozenset(topics[a:b]) for a, b in pairwise(cuts))

    @cached_property
    def topic_classes(self) -> tuple[Ints, Ints]:
        """
        (T) a number for the set of subscribers of each topic, equal where sets are; (T) how many these are.
        """
        member, topic = self.pairs
        order = np.argsort(topic, kind="stable")
        sizes = np.bincount(topic, minlength=len(self.exists))
        return _alike(starts_of(sizes), member[order]), sizes


def _alike(start: Ints, values: Ints) -> Ints:
    """A number for each of some lists, that of the first list which is the same."""
    found: dict[bytes, int] = {}
    whole = np.ascontiguousarray(values, np.int64).tobytes()
    cuts = (start * 8).tolist()
    numbers = (found.setdefault(whole[a:b], n) for n, (a, b) in enumerate(pairwise(cuts)))
    return np.fromiter(numbers, np.int64, len(cuts) - 1)


def spread(counts: Ints, members: Subscribed) -> Column:
    """
    (G) most minus fewest partitions among members of equal subscription; the largest such difference.

    Unknown when no member counts.

    Args:
        counts: (M) partitions per member.
    """
    start, member, classes = members.classes
    some = counts[member]
    differences = max_by(some, start, 0) - min_by(some, start, 0)
    largest = max_by(differences, starts_of(classes), -1)
    return Column(largest, largest >= 0)


def skew(lags: Column, start: Ints) -> list[float | None]:
    """
    (G) largest member lag over the mean member lag: 1 is even.

    None when a group has no member, any lag is unknown, or all are 0.

    Args:
        lags: Of members that count, group by group.
        start: (G + 1) where each group's begin.

    >>> skew(Column.of([30, 10, 0, 5, None]), np.array([0, 2, 3, 5, 5]))
    [1.5, None, None, None]
    """
    total = sum_by(np.where(lags.known, lags.values, 0), start)
    told = (count_by(~lags.known, start) == 0) & (total != 0)
    rows = (max_by(lags.values, start, 0), np.diff(start), total, told)
    return [
        float(largest) * members / whole if known else None
        for largest, members, whole, known in zip(*(row.tolist() for row in rows), strict=True)
    ]


def fairly_balanced(counts: Ints, owner: Indices, members: Subscribed) -> Flags:
    """
    (G) KIP-54's predicate: no member with two partitions fewer could take over one of somebody else's.

    Args:
        counts: (M) partitions per member.
        owner: (P) of each partition.
    """
    start = members.member_start
    near: Flags = max_by(counts, start, 0) <= min_by(counts, start, 0) + 1
    if bool(near.all()):
        return near
    most = max_by(np.append(counts, -1)[owner], members.topic_start, -1)
    member, topic = members.pairs
    fewest = np.full(len(members.exists), np.iinfo(np.int64).max)
    np.minimum.at(fewest, topic, counts[member])
    could = members.wanted & (most - 2 >= fewest)
    fair: Flags = near | (count_by(could, members.topics_start) == 0)
    return fair


def lag_lower_bound(lag: Column, members: Subscribed) -> Column:
    """
    (G) no assignment can bring the largest member lag under this many offsets.

    The largest partition lag, and for each set of members that shares topics the mean over them of those topics' lag,
    rounded up. Unknown when a lag is unknown or nobody subscribes.

    Args:
        lag: (P) of each partition.
    """
    wanted, start = members.wanted, members.topics_start
    of_topic = np.where(wanted, sum_by(lag.values, members.topic_start), 0)
    sets, sizes = members.topic_classes
    of_set = np.zeros(len(sets), np.int64)
    np.add.at(of_set, sets, of_topic)
    means = -(-of_set[sets] // np.maximum(sizes, 1))
    largest = max_by(np.where(wanted[members.topic_of], lag.values, 0), members.partition_start, 0)
    everyone = np.maximum(
        count_by(np.diff(members.subscription_start) > 0, members.member_start), 1
    )
    bound = np.maximum(max_by(np.where(wanted, means, 0), start, 0), largest)
    bound = np.maximum(bound, -(-sum_by(of_topic, start) // everyone))
    known = count_by(~lag.known, members.partition_start) == 0
    return Column(bound, known & (count_by(wanted, start) > 0))


def lag_lower_bound_equal_counts(lag: Column, members: Subscribed) -> Column:
    """
    (G) the same when every member must hold as many partitions as the others, give or take one.

    Whoever holds the largest partition holds at least floor(P / M) - 1 more; the smallest others at best.
    Unknown when a lag is unknown or subscriptions differ.

    Args:
        lag: (P) of each partition.
    """
    start = members.partition_start
    counting = count_by(members.counting, members.member_start)
    known = (count_by(~lag.known, start) == 0) & (members.classes[2] == 1) & (counting > 0)
    sizes, people = np.diff(start), np.maximum(counting, 1)
    of_group = np.arange(len(sizes)).repeat(sizes)
    ordered = lag.values[np.lexsort((lag.values, of_group))]
    before = np.append(0, np.cumsum(ordered))
    company = np.maximum(sizes // people - 1, 0)
    largest = max_by(lag.values, start, 0)
    packed = largest + before[start[:-1] + company] - before[start[:-1]]
    total = before[start[1:]] - before[start[:-1]]
    return Column(np.maximum(packed, -(-total // people)), known)
