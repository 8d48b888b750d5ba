"""The rows of some groups of a snapshot, and the partition table that follows from them, all in arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..model.arrays import NONE, Column, Flags, Indices, Ints, ragged_entries
from ..model.batch import Members, one_group
from ..model.groups import PartitionTable
from ..model.tables import (
    INT32,
    INT64,
    MOMENT,
    TEXT,
    Table,
    Texts,
    column,
    empty,
    list_of,
    nulls,
)
from .arrays import among, distinct, ints_of, numbers_of
from .cluster import ClusterTables, row_codes


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsOfGroups:
    """
    Rows of a dataset, group by group.

    Attributes:
        rows: As they are stored.
        group: (rows) the number of the group of each.
        start: (G + 1) where those of each group begin.
        is_whole: Whether those are all rows that were handed in, in the order in which they were.
    """

    rows: Table
    group: Ints
    start: Ints
    is_whole: bool = False


def rows_of_groups(table: Table, names: Sequence[str], then: str | None = None) -> RowsOfGroups:
    """The rows of some groups in the order of *names*, within a group by a column of numbers."""
    group = table["group_id"].index_in(names)
    if then is None:
        order = np.argsort(group, kind="stable")
    else:
        order = np.lexsort((ints_of(table[then]), group))
    order = order[np.searchsorted(group[order], 0) :]
    is_whole = len(order) == len(table) and bool((np.diff(order) == 1).all())
    rows = table if is_whole else table.take(order)
    group = group[order]
    start = np.searchsorted(group, np.arange(len(names) + 1))
    return RowsOfGroups(rows=rows, group=group, start=start, is_whole=is_whole)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Pairs:
    """Partitions that somebody names: (entries) who, topic number, partition; of who in ascending order."""

    owner: Ints
    topic: Ints
    partition: Indices

    def take(self, mask: Flags) -> _Pairs:
        return _Pairs(
            owner=self.owner[mask], topic=self.topic[mask], partition=self.partition[mask]
        )


def topics_named(members: Table, commits: Table) -> list[str]:
    """The topics that members subscribe to, own or aim at, and those of commits, each once, ascending."""
    lists = ("subscription", "assigned_topics", "target_topics")
    named: list[Texts] = [*(members[name].entries for name in lists), commits["topic"]]
    return sorted({word for each in named for word in each.used().words})


class SnapshotRows:
    """The rows of some groups of one snapshot, and the partition table that follows from them."""

    def __init__(
        self,
        cluster: ClusterTables,
        members: RowsOfGroups,
        commits: RowsOfGroups,
        committed_only: Flags,
        shared: Flags,
    ) -> None:
        """
        Args:
            cluster: The partitions of the cluster.
            members, commits: The rows of the groups.
            committed_only: (G) whether each reads committed records only.
            shared: (G) whether each is a share group.
        """
        self.cluster, self.of_members, self.of_commits = cluster, members, commits
        self.committed_only, self.shared = committed_only, shared
        self.names = topics_named(members.rows, commits.rows)
        """Topics that anybody names, ascending: a topic's number in here is its number below."""
        self.in_cluster = Texts(np.arange(len(self.names)), self.names).index_in(cluster.places)
        self.subscribed = self._subscribed()
        self.owned, self.aimed = self._held("assigned"), self._held("target")
        self.committed, self.commit_rows = self._commits()

    @property
    def count(self) -> int:
        """Number of groups."""
        return len(self.committed_only)

    @cached_property
    def _subscription(self) -> tuple[Ints, Ints]:
        """Ragged, member -> the topics it subscribes to, by number."""
        lists = self.of_members.rows["subscription"]
        return lists.start, lists.entries.index_in(self.names)

    def _subscribed(self) -> Ints:
        """(pairs) group and topic in one number, distinct and ascending: what each group's members subscribe to."""
        start, topic = self._subscription
        group = np.repeat(self.of_members.group, np.diff(start))
        return distinct(row_codes(group, topic.astype(np.int32))[topic != NONE])

    def _held(self, what: str) -> _Pairs:
        """The entries of the `assigned` or `target` lists; lists of unequal length are damage that must not stop us."""
        rows = self.of_members.rows
        topics, partitions = rows[f"{what}_topics"], rows[f"{what}_partitions"]
        start, other = topics.start, partitions.start
        sizes = np.minimum(np.diff(start), np.diff(other))
        turn = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        numbers = numbers_of(partitions.entries)
        at = np.repeat(other[:-1], sizes) + turn
        topic = topics.entries.index_in(self.names)[np.repeat(start[:-1], sizes) + turn]
        pairs = _Pairs(
            owner=np.repeat(np.arange(len(rows)), sizes),
            topic=topic,
            partition=numbers.values[at].astype(np.int32),
        )
        return pairs.take((topic != NONE) & numbers.known[at] & (pairs.partition >= 0))

    def _commits(self) -> tuple[_Pairs, Ints]:
        """The partitions with a commit row (*owner* is the group), and which row that is."""
        topic = self.of_commits.rows["topic"].index_in(self.names)
        numbers = numbers_of(self.of_commits.rows["partition"])
        # a negative number would be another topic's, of another group, in a number that is made of both
        named = (topic != NONE) & numbers.known & (numbers.values >= 0)
        pairs = _Pairs(
            owner=self.of_commits.group, topic=topic, partition=numbers.values.astype(np.int32)
        )
        return pairs.take(named), np.flatnonzero(named)

    def members(self) -> Members:
        """The members of the groups, in the order of their positions."""
        rows = self.of_members.rows
        text = {
            name: rows[name].filled("").listed for name in ("member_id", "client_id", "client_host")
        }
        instances = rows["instance_id"].listed
        identity_parts = zip(instances, text["client_id"], text["client_host"], strict=True)
        return Members(
            start=self.of_members.start,
            ids=text["member_id"],
            identities=[
                instance or f"{client}@{host}" for instance, client, host in identity_parts
            ],
            client_ids=text["client_id"],
            hosts=text["client_host"],
            instance_ids=instances,
            racks=rows["rack"].listed,
            rack_sources=rows["rack_source"].listed,
            kinds=rows["kind"].listed,
            follows=rows["follows"].listed,
            generations=rows["generation"].to_pylist(),
            subscription_start=self._subscription[0],
            subscription_topic=self._subscription[1],
            topic_names=self.names,
            subscription_known=rows["subscription"].known,
            shares=np.where(
                self.shared[self.of_members.group], rows["assigned_topics"].lengths, NONE
            ),
        )

    def topics(self) -> tuple[frozenset[str], ...]:
        """(G) what the members of each group subscribe to, existing or not."""
        names = [self.names[topic] for topic in (self.subscribed & 0xFFFFFFFF).tolist()]
        bounds = np.searchsorted(self.subscribed >> 32, np.arange(self.count + 1)).tolist()
        return tuple(frozenset(names[a:b]) for a, b in itertools.pairwise(bounds))

    def partition_table(self) -> tuple[PartitionTable, Ints]:
        """The partitions that concern the groups, and (G + 1) where those of each begin."""
        group = self.of_members.group
        pairs = (
            self.subscribed[self.in_cluster[self.subscribed & 0xFFFFFFFF] != NONE],
            row_codes(group[self.owned.owner], self.owned.topic.astype(np.int32)),
            row_codes(group[self.aimed.owner], self.aimed.topic.astype(np.int32)),
            row_codes(self.committed.owner, self.committed.topic.astype(np.int32)),
        )
        topics = distinct(np.concatenate(pairs))
        """Of the table: group and topic in one number, ascending."""
        subscribed, owned, aimed, committed = (np.searchsorted(topics, pair) for pair in pairs)
        codes = [
            self._of_topics(topics, subscribed),
            row_codes(owned, self.owned.partition),
            row_codes(aimed, self.aimed.partition),
            row_codes(committed, self.committed.partition),
        ]
        all_codes = distinct(np.concatenate(codes))
        topic = (all_codes >> 32).astype(np.int32)
        partition = (all_codes & 0xFFFFFFFF).astype(np.int32)
        of_cluster = self.in_cluster[topics & 0xFFFFFFFF]
        at_owned, at_aimed, at_committed = (np.searchsorted(all_codes, c) for c in codes[1:])
        place = _Place(
            topics=topics & 0xFFFFFFFF,
            of_cluster=of_cluster,
            topic=topic,
            partition=partition,
            row=self.cluster.rows_of(of_cluster[topic], partition),
            group=(topics >> 32)[topic],
            subscribed=among(topics, self.subscribed),
        )
        self._place, self._at_committed = place, at_committed
        start = np.searchsorted(place.group, np.arange(self.count + 1))
        return self._filled(place, at_owned, at_aimed, at_committed), start

    def moved(self, partitions: Table, commits: Table) -> tuple[SnapshotRows, dict[str, Any]]:
        """
        The same groups, members and partitions at another moment.

        Args:
            partitions, commits: Rows in the order of those that they stand for.

        Returns:
            The rows, and the columns of the partition table that changed. What of the new rows says the same as the
            old ones is not kept.
        """
        then = copy(self)
        then.cluster = self.cluster.moved(partitions)
        return then, then._moving(self._place, self._at_committed, commits)

    def _of_topics(self, topics: Ints, wanted: Ints) -> Ints:
        """The codes of all partitions that the cluster has of some topics of the table."""
        of_cluster = self.in_cluster[topics[wanted] & 0xFFFFFFFF]
        start, rows = ragged_entries(self.cluster.topic_start, of_cluster)
        return row_codes(np.repeat(wanted, np.diff(start)), self.cluster.partition[rows])

    def _filled(self, place: _Place, owned: Ints, aimed: Ints, committed: Ints) -> PartitionTable:
        """The columns of the table; the last three are the rows of the entries of the same names."""
        cluster, count = self.cluster, len(place.topic)
        known_topics = [cluster.topics[t] if t != NONE else None for t in place.of_cluster.tolist()]
        start, racks, in_sync = place.replicas(cluster)
        # the number of each entry of the target lists within its group
        group = self.of_members.group[self.aimed.owner]
        turn = np.arange(len(group)) - np.searchsorted(group, np.arange(self.count))[group]
        owner = self.owned.owner
        owner = np.where(self.shared[self.of_members.group[owner]], NONE, owner)
        return PartitionTable(
            topics=tuple(self.names[topic] for topic in place.topics.tolist()),
            topic_ids=tuple(t.topic_id if t else None for t in known_topics),
            cleanup_policies=tuple(t.cleanup_policy if t else None for t in known_topics),
            retention_ms=tuple(t.retention_ms if t else None for t in known_topics),
            retention_bytes=tuple(t.retention_bytes if t else None for t in known_topics),
            racks=cluster.racks,
            topic=place.topic,
            partition=place.partition,
            exists=place.exists,
            subscribed=place.subscribed[place.topic],
            owner=_spread(count, owned, owner),
            target_owner=_spread(count, aimed, self.aimed.owner),
            target_turn=_spread(count, aimed, turn),
            log_bytes=place.of(cluster.log_bytes),
            **self._moving(place, committed, self.of_commits.rows),
            leader_rack=np.where(place.exists, cluster.leader_rack[place.at], NONE).astype(np.int32)
            if len(cluster)
            else np.full(count, NONE, np.int32),
            replica_start=start,
            replica_rack=racks,
            in_sync=in_sync,
        )

    def _moving(self, place: _Place, committed: Ints, rows: Table) -> dict[str, Any]:
        """The columns of offsets, and of when they were read."""
        cluster, count = self.cluster, len(place.topic)
        high, stable = place.of(cluster.end), place.of(cluster.last_stable)
        stable_only = self.committed_only[place.group]
        end = Column(
            np.where(stable_only, stable.values, high.values),
            np.where(stable_only, stable.known, high.known),
        )
        begin = place.of(cluster.begin)
        # A log whose start was read as lying beyond its end was read at two moments: a topic recreated or truncated in
        # between. Which of the two a committed offset is to be compared with nobody knows: both are unknown then.
        torn = begin.known & end.known & (begin.values > end.values)
        commits = rows.select(("committed_offset", "reported_lag", "read_at", "error"))
        if len(self.commit_rows) < len(rows):
            commits = commits.take(self.commit_rows)
        failed = commits["error"].known

        def at_commits(name: str) -> Column:
            return _known_at(count, committed, numbers_of(commits[name]), ~failed)

        return {
            "begin": Column(begin.values, begin.known & ~torn),
            "end": Column(end.values, end.known & ~torn),
            "high_watermark": high,
            "last_stable": stable,
            "committed": at_commits("committed_offset"),
            "reported_lag": at_commits("reported_lag"),
            "begin_at_ms": place.of(cluster.begin_at),
            "end_at_ms": place.of(cluster.end_at),
            "committed_at_ms": at_commits("read_at"),
            "commit_unread": _spread(count, committed, failed.astype(np.int64)) == 1,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class _Place:
    """
    Where the rows of a partition table lie in the cluster's.

    Attributes:
        topics: (topics of the table) number of its name.
        of_cluster: (topics of the table) number among the cluster's, NONE for one that does not exist.
        topic, partition, group: (n) of each row.
        row: (n) row of the cluster's partitions, NONE for one that does not exist.
        subscribed: (topics of the table) whether a member of its group subscribes to it.
    """

    topics: Ints
    of_cluster: Ints
    topic: Indices
    partition: Indices
    row: Ints
    group: Ints
    subscribed: Flags

    @cached_property
    def exists(self) -> Flags:
        return self.row >= 0

    @cached_property
    def at(self) -> Ints:
        """(n) a row that can be looked up, where there is any."""
        return np.maximum(self.row, 0)

    def of(self, column: Column) -> Column:
        """A column of the cluster's partitions; unknown where there is no such partition."""
        if not len(column):
            return Column.unknown(len(self.row))
        known = column.known[self.at] & self.exists if not column.known.all() else self.exists
        return Column(column.values[self.at], known)

    def replicas(self, cluster: ClusterTables) -> tuple[Ints, Indices, Flags]:
        """The ragged replica arrays of the rows; none for a partition that does not exist."""
        last = cluster.replica_start[-1]
        start, entry = ragged_entries(
            np.append(cluster.replica_start, last), np.where(self.exists, self.row, len(cluster))
        )
        return start, cluster.replica_rack[entry], cluster.replica_in_sync[entry]


def _spread(count: int, rows: Ints, numbers: Any) -> Indices:
    """(count) each number at its row, NONE at all others; of several for one row the last counts."""
    spread = np.full(count, NONE, np.int32)
    spread[rows] = numbers
    return spread


def _known_at(count: int, rows: Ints, numbers: Column, counts: Flags) -> Column:
    """(count) each number at its row where it counts; unknown elsewhere."""
    values, known = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    values[rows] = numbers.values
    known[rows] = numbers.known & counts
    return Column(values, known)


def tables_of_topics(
    cluster: ClusterTables, lists: Sequence[Sequence[str]]
) -> list[PartitionTable]:
    """The partitions of some existing topics, for each list of them: owned by nobody, without commits."""
    count = len(lists)
    asked = Table(
        {
            "subscription": column([[*each] for each in lists], list_of(TEXT)),
            **{
                f"{what}_{part}": nulls(count, list_of(kind))
                for what in ("assigned", "target")
                for part, kind in (("topics", TEXT), ("partitions", INT32))
            },
        }
    )
    each = np.arange(count)
    members = RowsOfGroups(rows=asked, group=each, start=np.arange(count + 1))
    schema = {"topic": TEXT, "partition": INT32, "error": TEXT}
    schema |= {"committed_offset": INT64, "reported_lag": INT64, "read_at": MOMENT}
    none = np.zeros(count + 1, np.int64)
    commits = RowsOfGroups(rows=empty(schema), group=each[:0], start=none)
    no = np.zeros(count, np.bool_)
    table, start = SnapshotRows(cluster, members, commits, no, no).partition_table()
    return [one_group(table, slice(a, b), 0) for a, b in itertools.pairwise(start.tolist())]
