"""Groups as `balanced` sees them: in canonical order, with nothing but what its criteria need."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...model.arrays import NONE, Flags, Indices, Ints, ragged_entries, starts_of
from ...model.batch import count_by
from ..interface import GroupSpec, once
from ..kit.members import member_order, seats
from ..kit.orders import numbered, row_keys


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


def problems_of(groups: GroupSpec) -> list[Problem]:
    """
    That of each group.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> members = {"b": ["u", "t"], "a": ["t", "u"], "c": ["t"]}
    >>> (found,) = problems_of(spec(members, {"u": 1, "t": 2}, owned={"c": [("t", 0)]}))
    >>> found.member.tolist(), found.partition.tolist(), found.topic_class.tolist()
    ([1, 0, 2], [1, 2, 0], [0, 0, 1])
    >>> found.may.tolist(), found.holder.tolist()
    ([[True, True, True], [True, True, False]], [2, -1, -1])
    """
    owned = count_by(groups.owner != NONE, groups.partition_start).tolist()
    found = list[Problem]()
    for one, racks, all_owned in zip(seats(groups), racks_of(groups), owned, strict=True):
        known = one._asdict() | racks._asdict()
        del known["owner"]
        forced = all_owned - int(np.count_nonzero(one.holder != NONE))
        found.append(Problem(**known, forced_moves=forced))
    return found


class Racks(NamedTuple):
    """*site*, *pattern*, *crosses* and *known* of a `Problem`, as `evenkeel.engine.metrics.racks` judges them."""

    site: Ints
    pattern: Ints
    crosses: Flags
    known: Flags


@once
def racks_of(groups: GroupSpec) -> list[Racks]:
    """Those of each group."""
    count, racks = groups.group_count, len(groups.racks)
    parts = [one.partition for one in seats(groups)]
    counts = np.array(list(map(len, parts)))
    of_group, sizes = np.arange(count).repeat(counts), starts_of(counts)
    partition = np.concatenate(parts) + groups.partition_start[of_group]
    start, entries = ragged_entries(groups.replica_start, partition)
    replicas = start[1:] - start[:-1]
    near = np.zeros((len(partition), racks + 1), np.bool_)  # the last column is NONE's
    near[np.arange(len(partition)).repeat(replicas), groups.replica_rack[entries]] = True
    told = ((replicas > 0) & ~near[:, -1])[:, None]
    home = np.zeros((count, racks + 1), np.bool_)
    home[groups.group_of_member, groups.member_rack] = True
    named = home[of_group, :-1]
    crosses, known = named & ~near[:, :-1] & told, named & (near[:, :-1] | told)
    keys, cells = row_keys(np.concatenate([crosses, known], axis=1))
    names, pattern = numbered(of_group * cells + keys, count * cells)
    sample = np.zeros(len(names), np.int64)
    sample[pattern] = np.arange(len(pattern))
    crosses, known = crosses[sample], known[sample]
    patterns = starts_of(np.bincount(of_group[sample], minlength=count))
    sites = home.sum(axis=1)[of_group[sample]]
    varies = np.zeros(len(sample), np.bool_)
    for table in (crosses, known):
        varies |= table.any(axis=1) & (table.sum(axis=1) < sites)
    some = np.count_nonzero(crosses, axis=1) > 0
    matter = (count_by(varies, patterns) > 0) & (count_by(some, patterns) > 0)
    order, of_member = member_order(groups), groups.group_of_member
    place = home.cumsum(axis=1) - 1 + home[:, -1:]  # whoever has none comes first
    place[:, -1] = 0
    site = place[of_member, groups.member_rack[order]]
    found, nowhere = list[Racks](), np.zeros((1, 1), np.bool_)
    bounds = groups.member_start, sizes, patterns
    spans = zip(*(pairwise(bound.tolist()) for bound in bounds), strict=True)
    for number, ((a, b), (first, last), (p, q)) in enumerate(spans):
        if not matter[number]:
            nothing = np.zeros(b - a, np.int64), np.zeros(last - first, np.int64)
            found.append(Racks(*nothing, nowhere, nowhere))
            continue
        columns = np.flatnonzero(home[number, :-1])
        tables = [table[p:q, columns] for table in (crosses, known)]
        if home[number, -1]:
            tables = [np.insert(table, 0, False, axis=1) for table in tables]
        found.append(Racks(site[a:b], pattern[first:last] - p, *tables))
    return found
