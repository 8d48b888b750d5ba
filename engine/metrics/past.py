"""The earlier samples of partitions, in the order of the present ones; and which present member an earlier one is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.arrays import NONE, Column, Indices, Ints
from ..model.batch import GroupBatch, Members
from .lag import ReadOffsets


class Recognized:
    """Who of the present members earlier ones are: by id while they live, over restarts by identity unless shared."""

    def __init__(self, members: Members) -> None:
        self.members = members
        self.ids = np.array(members.ids, np.object_)

    def among(self, then: Members, group: Ints) -> Indices:
        """
        (earlier members) the number of each among the present ones, NONE for one who is gone.

        Args:
            then: Members of an earlier snapshot.
            group: (earlier members) the present number of the group of each, NONE for none.
        """
        now = self.members.start
        at = now[group] + np.arange(len(then)) - then.start[then.group]
        there = np.flatnonzero((group != NONE) & (at < now[group + 1]))
        # most stay where they were: only the others have to be looked for
        stayed = there[np.array(then.ids, np.object_)[there] == self.ids[at[there]]]
        same = np.full(len(then), NONE, np.int32)
        same[stayed] = at[stayed]
        self._look_for(then, group, same)
        return same

    def _look_for(self, then: Members, group: Ints, same: Indices) -> None:
        """Fill in who does not stand where it stood."""
        wanted = np.zeros(len(self.members.start), np.bool_)
        wanted[group[(same == NONE) & (group != NONE)]] = True
        rows = np.flatnonzero(wanted[group]).tolist()
        known = [
            (g, then.identities[row]) for g, row in zip(group[rows].tolist(), rows, strict=True)
        ]
        several = self._shared | _shared(known)
        for row, who in zip(rows, known, strict=True):
            if same[row] == NONE:
                by_identity = NONE if who in several else self._by_identity.get(who, NONE)
                same[row] = self._by_id.get((who[0], then.ids[row]), by_identity)

    @cached_property
    def _by_id(self) -> dict[tuple[int, str], int]:
        members = self.members
        return {
            key: i for i, key in enumerate(zip(members.group.tolist(), members.ids, strict=True))
        }

    @cached_property
    def _identities(self) -> list[tuple[int, str]]:
        return list(zip(self.members.group.tolist(), self.members.identities, strict=True))

    @cached_property
    def _by_identity(self) -> dict[tuple[int, str], int]:
        return {who: i for i, who in enumerate(self._identities)}

    @cached_property
    def _shared(self) -> set[tuple[int, str]]:
        return _shared(self._identities)


def _shared(identities: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """Identities that more than one member of a group has, as consumers of one program may."""
    return {identity for identity, members in Counter(identities).items() if members > 1}


class Past:
    """
    Earlier samples of the partitions of a batch, newest first.

    Sample k of a group is the k-th newest of its earlier snapshots in which it could be read, so two groups of a batch
    may have theirs from different ones. What a sample does not know is unknown, also where a group has fewer samples.
    """

    def __init__(self, now: GroupBatch, earlier: Sequence[GroupBatch]) -> None:
        """
        Args:
            now: The groups as they are.
            earlier: Earlier snapshots of (some of) these groups, newest first.
        """
        self.now, self.earlier = now, tuple(earlier)
        self.of_group = [_same_groups(now, old) for old in self.earlier]
        """Per earlier snapshot, (G) the number of each present group in it; NONE where it cannot be used."""
        self.sample: list[Ints] = []
        """Per earlier snapshot, (G) which sample of each group it is, NONE for none."""
        count = np.zeros(len(now), np.int64)
        for one in self.of_group:
            self.sample.append(np.where(one != NONE, count, NONE))
            count = count + (one != NONE)
        self.samples = max((int(one.max(initial=NONE)) + 1 for one in self.sample), default=0)
        self._places = _places(now, self.earlier, self.sample)
        self._columns: dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]] = {}

    def column(self, name: str, sample: int) -> Column:
        """(n) a column of the partition table at an earlier sample."""
        if name not in self._columns:
            columns: list[Column] = [getattr(old.partitions, name) for old in self.earlier]
            self._columns[name] = (
                self.gather([one.values for one in columns], 0, np.int64),
                self.gather([one.known for one in columns], False, np.bool_),
            )
        values, known = self._columns[name]
        return Column(values[sample], known[sample])

    def offsets(self, sample: int) -> ReadOffsets:
        """What a lag follows from, at an earlier sample."""
        return ReadOffsets(
            begin=self.column("begin", sample),
            end=self.column("end", sample),
            committed=self.column("committed", sample),
            commit_unread=self._unread[sample],
            reported_lag=self.column("reported_lag", sample),
        )

    @cached_property
    def owners(self) -> Indices:
        """(samples, n) the owner of each partition, numbered as in the batch of its sample; NONE for nobody."""
        columns = [old.partitions.owner for old in self.earlier]
        owners: Indices = self.gather(columns, NONE, np.int32)
        return owners

    @cached_property
    def _unread(self) -> npt.NDArray[np.bool_]:
        columns = [old.partitions.commit_unread for old in self.earlier]
        unread: npt.NDArray[np.bool_] = self.gather(columns, False, np.bool_)
        return unread

    def gather(self, arrays: Sequence[npt.NDArray[Any]], otherwise: Any, kind: Any) -> Any:
        """
        (samples, n) what earlier snapshots say of each present partition.

        Args:
            arrays: Per earlier snapshot, one entry per row of its partition table.
            otherwise: What stands where nothing is said.
            kind: The type of the result.
        """
        is_whole = all(isinstance(place.at, slice) for place in self._places)
        shape = (self.samples, len(self.now.partitions))
        gathered = np.empty(shape, kind) if is_whole else np.full(shape, otherwise, kind)
        for place, array in zip(self._places, arrays, strict=True):
            place.put(array, gathered)
        return gathered

    def flags(self, name: str) -> npt.NDArray[np.bool_]:
        """(samples, G) flags of the groups of a batch, by their name; false where a group has no such sample."""
        gathered = np.zeros((self.samples, len(self.now)), np.bool_)
        for old, of_group, sample in zip(self.earlier, self.of_group, self.sample, strict=True):
            there = np.flatnonzero(of_group != NONE)
            gathered[sample[there], there] = getattr(old, name)[of_group[there]]
        return gathered

    def snapshots_of(self, group: int) -> Iterator[tuple[GroupBatch, int]]:
        """The earlier snapshots of one group, newest first: the batch, and its number in it."""
        for old, of_group in zip(self.earlier, self.of_group, strict=True):
            if of_group[group] != NONE:
                yield old, int(of_group[group])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Places:
    """
    Where the rows of an earlier snapshot stand among the samples of the present partitions.

    Attributes:
        rows: (k) rows of the earlier snapshot; a slice where they are the first so many, in their order.
        samples: (k) which sample each is; a number where they are all of one.
        at: (k) the present partition of each; a slice where they are all there are, of one sample.
    """

    rows: Ints | slice
    samples: Ints | int
    at: Ints | slice

    @classmethod
    def of(cls, now: GroupBatch, rows: Ints, sample: Ints) -> _Places:
        """
        Args:
            now: The groups as they are.
            rows: (n) the row of each present partition in the earlier snapshot, NONE where it has none.
            sample: (G) which sample of each group it is.
        """
        at = np.flatnonzero(rows != NONE)
        there, samples = rows[at], sample[now.group[at]]
        is_one = bool(len(samples)) and bool((samples == samples[0]).all())
        return cls(
            rows=slice(len(there)) if np.array_equal(there, np.arange(len(there))) else there,
            samples=int(samples[0]) if is_one else samples,
            at=slice(len(at)) if is_one and len(at) == len(rows) else at,
        )

    def put(self, array: npt.NDArray[Any], gathered: npt.NDArray[Any]) -> None:
        """Bring what the earlier snapshot says of its rows to their places among (samples, n)."""
        gathered[self.samples, self.at] = array[self.rows]


def _places(
    now: GroupBatch, earlier: Sequence[GroupBatch], samples: Sequence[Ints]
) -> list[_Places]:
    """Of each earlier snapshot; what has the same groups and partitions as the one after it has its rows, too."""
    places: list[_Places] = []
    rows: Ints | None = None
    for number, (old, sample) in enumerate(zip(earlier, samples, strict=True)):
        if rows is None or not _is_like(earlier[number - 1], old):
            rows = _rows_in(now, old)
        places.append(_Places.of(now, rows, sample))
    return places


def _is_like(newer: GroupBatch, older: GroupBatch) -> bool:
    """Whether two batches have the same groups, as well readable, and the older took its partitions from the newer."""
    ours, theirs = newer.partitions, older.partitions
    return (
        ours.topics is theirs.topics
        and ours.topic_ids is theirs.topic_ids
        and ours.topic is theirs.topic
        and ours.partition is theirs.partition
        and np.array_equal(newer.readable, older.readable)
    )


def _same_groups(now: GroupBatch, old: GroupBatch) -> Ints:
    """(G) the number of each present group in an earlier batch, NONE where it is missing or could not be read."""
    there = ((old.place.get(header.group, NONE)) for header in now.headers)
    numbers = np.fromiter(there, np.int64, len(now))
    return np.where(np.append(old.readable, False)[numbers], numbers, NONE)


def _rows_in(now: GroupBatch, old: GroupBatch) -> Ints:
    """
    (n) the row of each present partition in an earlier batch, NONE where it has none.

    A topic is the same by its id, or by name where no id is known.
    """
    table, then = now.partitions, old.partitions
    group_now = np.array([now.place.get(header.group, NONE) for header in old.headers], np.int64)
    group_now = np.where(old.readable, group_now, NONE)
    numbers = {
        key: number
        for number, key in enumerate(zip(now.topic_group.tolist(), table.topics, strict=True))
    }
    of_group = group_now[old.topic_group].tolist() if len(then.topics) else []
    same = [numbers.get(key, NONE) for key in zip(of_group, then.topics, strict=True)]
    same = [
        number if number != NONE and table.topic_ids[number] in (None, old_id) else NONE
        for number, old_id in zip(same, then.topic_ids, strict=True)
    ]
    topic = np.array([*same, NONE], np.int64)[then.topic]
    kept = np.flatnonzero(topic != NONE)
    rows = np.full(len(table), NONE, np.int64)
    if not len(kept):
        return rows
    codes = (topic[kept] << 32) + then.partition[kept]
    if bool((codes[1:] < codes[:-1]).any()):  # the groups stand in another order
        order = np.argsort(codes)
        codes, kept = codes[order], kept[order]
    wanted = (table.topic.astype(np.int64) << 32) + table.partition
    place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    found = codes[place] == wanted
    rows[found] = kept[place[found]]
    return rows


def owners_before(past: Past) -> Indices:
    """
    (samples, n) who owned each present partition at each earlier sample, as a present member.

    A member is recognized by its id while it lives, over restarts by `Member.identity`, unless another member has the
    same. NONE is for nobody, and for a member who is gone.
    """
    recognized = Recognized(past.now.members)
    owners, known = [], dict[tuple[int, bytes], Indices]()
    for old, of_group in zip(past.earlier, past.of_group, strict=True):
        numbers = np.full(len(old) + 1, NONE, np.int64)
        numbers[of_group[of_group != NONE]] = np.flatnonzero(of_group != NONE)
        # a snapshot without another member has the members of the next one
        key = (id(old.members), numbers.tobytes())
        if (same := known.get(key)) is None:
            same = known[key] = recognized.among(old.members, numbers[old.members.group])
        owners.append(np.append(same, np.int32(NONE))[old.partitions.owner])
    gathered: Indices = past.gather(owners, NONE, np.int32)
    return gathered


def owned_together(past: Past, owner: Indices) -> Indices:
    """
    (S, n) owners, now and before, in which a share group is one consumer: its first present member stands for all.

    Who of them gets a record the broker decides record by record, so only all together have a speed, or stand still.

    Args:
        past: The groups and their earlier samples.
        owner: (S, n) owners of the partitions, as present members; those of share groups have none.
    """
    now = past.now
    shared = now.shared & (now.members.counts > 0)
    if not shared.any():
        return owner
    manned = np.zeros((len(owner), len(now)), np.bool_)
    manned[0] = shared
    for old, of_group, sample in zip(past.earlier, past.of_group, past.sample, strict=True):
        own = np.flatnonzero(shared & (sample != NONE))
        manned[sample[own] + 1, own] = old.members.counts[of_group[own]] > 0
    first = now.members.start[:-1][now.group]
    theirs = manned[:, now.group] & now.partitions.assignable
    together: Indices = np.where(theirs, first, owner).astype(np.int32)
    return together
