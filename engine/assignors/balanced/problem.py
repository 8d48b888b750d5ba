"""A group as `balanced` sees it: in canonical order, with nothing but what its criteria need."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...model.arrays import NONE, Flags, Indices, Ints
from ...model.facts import Fact, FactKind
from ..interface import GroupSpec
from ..kit.member_order import member_order
from ..kit.subscribers import subscribers_by_member_order

_GREATEST_TOTAL = 1 << 52
"""Lags that add up to more are not sure to be exact in the arithmetic of loads."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """
    M members, N partitions that somebody subscribes to, K classes of topics with the same subscribers.

    Members stand in Kafka's order of members, partitions by topic name and number, so nothing that is worked out from
    here can depend on the order of the input.

    Attributes:
        member: (M) index in the group.
        partition: (N) index in the group.
        topic_class: (N) class of the partition's topic.
        may: (K, M) who subscribes to the class.
        lag: (N) offsets, all 0 where the lag of a member cannot be told; *lagless* says why.
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
    may: Flags
    lag: Ints
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


def problem_of(group: GroupSpec) -> Problem:
    """
    >>> from evenkeel.engine.assignors.interface import spec
    >>> members = {"b": ["u", "t"], "a": ["t", "u"], "c": ["t"]}
    >>> found = problem_of(spec(members, {"u": 1, "t": 2}, owned={"c": [("t", 0)]}))
    >>> found.member.tolist(), found.partition.tolist(), found.topic_class.tolist()
    ([1, 0, 2], [1, 2, 0], [0, 0, 1])
    >>> found.may.tolist(), found.holder.tolist()
    ([[True, True, True], [True, True, False]], [2, -1, -1])
    """
    order = member_order(group)
    class_of_topic, may = _classes(group)
    partition = group.by_name[class_of_topic[group.topic_of[group.by_name]] != NONE]
    topic_class = class_of_topic[group.topic_of[partition]]
    place = np.full(len(order) + 1, NONE, np.int64)  # the last entry is what NONE reads
    place[order] = np.arange(len(order))
    owner = place[group.owner[partition]]
    holder = np.where((owner != NONE) & may[topic_class, owner], owner, NONE)
    lag, lagless = _lags(group, partition)
    site, pattern, crosses, known = _racks(group, order, partition)
    return Problem(
        member=order,
        partition=partition,
        topic_class=topic_class,
        may=may,
        lag=lag,
        lagless=lagless,
        holder=holder,
        forced_moves=int((group.owner != NONE).sum() - (holder != NONE).sum()),
        site=site,
        pattern=pattern,
        crosses=crosses,
        known=known,
    )


def _classes(group: GroupSpec) -> tuple[Ints, Flags]:
    """(T) class of each topic by name, NONE without subscribers or partitions; (K, M) the members of each class."""
    subscribers = subscribers_by_member_order(group)
    spans = [slice(a, b) for a, b in pairwise(subscribers.start.tolist())]
    class_of_topic = np.full(len(spans), NONE, np.int64)
    found: dict[bytes, tuple[int, Ints]] = {}
    for topic in sorted(range(len(spans)), key=group.topics.__getitem__):
        who = subscribers.place[spans[topic]]
        if len(who):
            class_of_topic[topic], _ = found.setdefault(who.tobytes(), (len(found), who))
    may = np.zeros((len(found), len(group.members)), np.bool_)
    for number, who in found.values():
        may[number, who] = True
    return class_of_topic, may


def _lags(group: GroupSpec, partition: Ints) -> tuple[Ints, Fact | None]:
    lag = group.lag.take(partition)
    unknown = len(lag) - int(lag.known.sum())
    if not unknown and lag.values.astype(np.float64).sum() < _GREATEST_TOTAL:
        return lag.values, None
    left_out = Fact(
        kind=FactKind.NOT_PROVEN, measure="largest_member_lag", partitions=unknown or None
    )
    return np.zeros(len(lag), np.int64), left_out


def _racks(group: GroupSpec, order: Indices, partition: Ints) -> tuple[Ints, Ints, Flags, Flags]:
    """Sites and patterns as `evenkeel.engine.metrics.racks` judges them: see `Problem`."""
    nothing = np.zeros((1, 1), np.bool_)
    nowhere = np.zeros(len(order), np.int64), np.zeros(len(partition), np.int64), nothing, nothing
    if not len(order):
        return nowhere
    racks, site = np.unique(group.member_rack[order], return_inverse=True)
    entry = np.repeat(np.arange(group.partition_count), np.diff(group.replica_start))
    column = np.full(len(group.racks) + 1, NONE, np.int64)  # the last entry is what NONE reads
    column[racks] = np.arange(len(racks))
    there = column[group.replica_rack]
    near = np.zeros((group.partition_count, len(racks)), np.bool_)
    near[entry[there != NONE], there[there != NONE]] = True
    told = np.diff(group.replica_start) > 0
    told[entry[group.replica_rack == NONE]] = False
    named = racks != NONE
    rows = np.concatenate([~near & told[:, None] & named, (near | told[:, None]) & named], axis=1)
    rows, pattern = _distinct_rows(rows[partition])
    crosses, known = np.split(rows, 2, axis=1)
    alike = (crosses == crosses[:, :1]).all() and (known == known[:, :1]).all()
    if crosses.any() and not alike:
        return site, pattern, crosses, known
    return nowhere


def _distinct_rows(rows: Flags) -> tuple[Flags, Ints]:
    """The distinct rows, and which of them each row is."""
    packed = np.ascontiguousarray(np.packbits(rows, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], which.astype(np.int64)
