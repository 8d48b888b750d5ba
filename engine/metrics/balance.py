"""How even a group is, and how even it could be at best: spread, skew, KIP-54's predicate, floors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.arrays import Column, Flags, Indices, Ints


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


def spread(counts: Ints, classes: Sequence[Ints]) -> int | None:
    """
    Most minus fewest partitions among members of equal subscription; the largest such difference.

    Args:
        counts: (M) partitions per member.
        classes: Member indices of each subscription class.

    None when no member counts.
    """
    differences = [int(counts[c].max() - counts[c].min()) for c in classes if len(c)]
    return max(differences, default=None)


def skew(lags: Column) -> float | None:
    """
    Largest member lag over the mean member lag: 1 is even.

    None when there is no member, any lag is unknown, or all are 0.
    """
    total = lags.total()
    if not len(lags) or not total:
        return None
    return float(lags.values.max()) * len(lags) / total


def fairly_balanced(
    counts: Ints, topic_of: Indices, owner: Indices, subscribers: Sequence[Indices]
) -> bool:
    """
    KIP-54's predicate: no member with two partitions fewer could take over one of somebody else's.

    Args:
        counts: (M) partitions per member.
        topic_of, owner: (P) topic and owner of each partition.
        subscribers: Per topic, its members.
    """
    if not len(counts) or int(counts.max()) <= int(counts.min()) + 1:
        return True
    most = np.full(len(subscribers), -1, np.int64)
    np.maximum.at(most, topic_of, np.append(counts, -1)[owner])
    return not any(
        len(members) and most[topic] >= int(counts[members].min()) + 2
        for topic, members in enumerate(subscribers)
    )


def lag_lower_bound(lag: Column, topic_of: Indices, subscribers: Sequence[Indices]) -> int | None:
    """
    No assignment can bring the largest member lag under this many offsets.

    The largest partition lag, and for each set of members that shares topics the mean over them of those topics' lag,
    rounded up. None when a lag is unknown or nobody subscribes.
    """
    total, reachable = lag.total(), [m for m in subscribers if len(m)]
    if total is None or not reachable:
        return None
    per_topic = np.bincount(topic_of, weights=lag.values, minlength=len(subscribers))
    by_members: dict[bytes, int] = {}
    size: dict[bytes, int] = {}
    for topic, members in enumerate(subscribers):
        if len(members):
            key = members.tobytes()
            by_members[key] = by_members.get(key, 0) + int(per_topic[topic])
            size[key] = len(members)
    everyone = len(np.unique(np.concatenate(reachable)))
    owned_lag = sum(by_members.values())
    means = [-(-by_members[k] // size[k]) for k in by_members]
    has = np.array([len(m) > 0 for m in subscribers], np.bool_)[topic_of]
    largest = int(lag.values[has].max()) if bool(has.any()) else 0
    return max([largest, -(-owned_lag // everyone), *means])


def lag_lower_bound_equal_counts(lag: Column, members: int) -> int | None:
    """
    The same when every member must hold as many partitions as the others, give or take one; one subscription class.

    Whoever holds the largest partition holds at least floor(P / M) - 1 more; the smallest others at best.
    None when a lag is unknown or there is no member.
    """
    total = lag.total()
    if total is None or not members:
        return None
    ordered = np.sort(lag.values)
    company = len(ordered) // members - 1
    packed = int(ordered[-1]) + int(ordered[:company].sum()) if len(ordered) and company > 0 else 0
    largest = int(ordered[-1]) if len(ordered) else 0
    return max(packed, largest, -(-total // members))


def subscription_classes(subscriptions: Sequence[frozenset[int]]) -> list[Ints]:
    """
    Members of equal subscription, as index arrays; those that subscribe to nothing are left out.

    >>> [c.tolist() for c in subscription_classes([frozenset({1}), frozenset(), frozenset({1})])]
    [[0, 2]]
    """
    classes: dict[frozenset[int], list[int]] = {}
    for member, topics in enumerate(subscriptions):
        if topics:
            classes.setdefault(topics, []).append(member)
    return [np.array(c, np.int64) for c in classes.values()]


def counting_members(subscriptions: Sequence[frozenset[int]]) -> Flags:
    """(M) members subscribed to at least one existing topic, idle ones included."""
    return np.array([bool(s) for s in subscriptions], np.bool_)
