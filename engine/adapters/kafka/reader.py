"""A Kafka cluster read over the wire (port `Cluster`), with DESCRIBE rights only."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np

from ...config import ClusterSettings
from ...model.arrays import NONE
from ...model.cluster_snapshot import ClusterSnapshot
from ...model.coordinators import GROUP_VERSION
from ...model.facts import Fact, finding
from ...model.moments import utc_now
from ...model.states import GroupType
from ...model.tables import (
    INT32,
    INT64,
    MOMENT,
    Kind,
    Numbers,
    Series,
    Table,
    Texts,
    column,
    repeated,
)
from ...snapshots import SNAPSHOT
from .configs import Configs, TopicConfig, read_configs
from .connection import Connection
from .groups import Commits, Group, Names, describe_groups, error_text
from .health import Health, certificates, check
from .listing import list_groups
from .log_dirs import LogSizes, read_log_sizes
from .members import MemberReader, RackFor, topology_json, used_topics
from .offsets import read_offsets
from .properties import client_arguments
from .topics import REFUSED, Node, Topics, describe_cluster, hidden_topics, read_begins
from .versions import group_version, untold

_UNKNOWN = TopicConfig(
    cleanup_policy=None, retention_ms=None, retention_bytes=None, remote_storage=None
)


@dataclass(frozen=True, slots=True)
class _Reading:
    """All responses of one pass over the cluster."""

    kafka_cluster_id: str | None
    nodes: list[Node]
    groups: Mapping[str, Group]
    members: list[dict[str, Any]]
    commits: Commits
    topics: Topics
    configs: Configs
    sizes: LogSizes
    problems: list[Fact]
    notes: list[Fact]


class KafkaClusterReader:
    """Reads one configured cluster; each reading is a conversation of its own."""

    def __init__(
        self, name: str, settings: ClusterSettings, rack_for: RackFor | None = None
    ) -> None:
        """
        Args:
            name: The configured slug.
            settings: Addresses, properties, filters and time limits.
            rack_for: (group, client id, host) -> rack of members that do not tell theirs.

        Raises:
            ConfigError: A property is not supported.
        """
        client_arguments(settings.properties, f"cluster {name!r}")
        self._name, self._settings = name, settings
        self._rack_for: RackFor = rack_for or (lambda group, client_id, host: None)

    def take_snapshot(self, snapshot_id: str) -> ClusterSnapshot:
        """What cannot be read has its cause in its row, and in *problems* one fact for each."""
        started_at, began = utc_now(), time.monotonic()
        with Connection(self._name, self._settings) as connection:
            reading = connection.run(self._read, connection)
            requests = dict(sorted(connection.requests.items()))
            traffic, release = connection.traffic, connection.version
        key = {"snapshot_id": snapshot_id, "cluster": self._name}
        tables = {
            "brokers": _brokers(
                reading.nodes, reading.configs, self._settings.follower_fetching, release, key
            ),
            "groups": _table(
                "groups",
                [_group_row(group, reading.configs) for group in reading.groups.values()],
                key,
            ),
            "members": _table("members", reading.members, key),
            "partitions": _partitions(reading.topics, reading.configs, reading.sizes, key),
            "commits": _commits(reading.commits, key),
        }
        return ClusterSnapshot(
            snapshot_id=snapshot_id,
            cluster=self._name,
            kafka_cluster_id=reading.kafka_cluster_id,
            started_at=started_at,
            # a clock that is set meanwhile makes no reading of hours, or of less than nothing
            finished_at=started_at + timedelta(seconds=time.monotonic() - began),
            tables={name: tables[name] for name in SNAPSHOT},
            problems=(
                *reading.problems,
                *_unread(reading.groups.values(), tables["commits"]),
                *reading.topics.problems,
            ),
            notes=tuple(reading.notes),
            requests=requests,
            bytes_sent=traffic.sent,
            bytes_received=traffic.received,
        )

    def ping(self) -> Health:
        """
        Try connection, versions and rights, for `evenkeel doctor`.

        Raises:
            ClusterUnreachable: No broker answered, or the login was refused.
        """
        with Connection(self._name, self._settings) as connection:
            health = connection.run(check, connection, self._settings)
            return replace(health, findings=(*health.findings, *certificates(connection)))

    def close(self) -> None:
        """Nothing is kept open between readings."""

    async def _read(self, connection: Connection) -> _Reading:
        settings, problems = self._settings, list[Fact]()
        kafka_cluster_id, nodes = await describe_cluster(connection)
        groups = await list_groups(connection, settings.groups, problems)
        await describe_groups(connection, groups)
        topics = await read_begins(connection, settings.topics)
        commits, notes = await read_offsets(connection, groups, topics, settings.topics)
        used = {*commits.topic.words, *used_topics(groups)}
        topics.settle(used)
        alive = [node.id for node in nodes if node.alive]
        shared = [name for name, group in groups.items() if group.type == GroupType.SHARE]
        configs = await read_configs(connection, topics.counts, alive, groups, shared)
        version = await group_version(connection)
        if version is not None:
            for node in alive:
                configs.coordinators.setdefault(node, {})[GROUP_VERSION] = str(version)
        sizes = await read_log_sizes(connection, [p for p in topics.partitions if p.topic in used])
        reader = MemberReader(topics.counts, settings.topics, self._rack_for)
        members = [row for group in groups.values() for row in reader.rows(group)]
        unseen = _unseen(groups, members, topics)
        hidden = await hidden_topics(
            connection, {name for names in unseen.values() for name in names}
        )
        _note_hidden(groups, unseen, hidden)
        return _Reading(
            kafka_cluster_id,
            nodes,
            groups,
            members,
            commits,
            topics,
            configs,
            sizes,
            problems,
            notes=[*untold(connection), *notes, *configs.unknown, *sizes.unknown],
        )


def _unseen(
    groups: Mapping[str, Group], members: list[dict[str, Any]], topics: Topics
) -> dict[str, set[str]]:
    """
    Classic group -> topics that its members own partitions of and nobody told us of.

    To whom may not DESCRIBE a topic, brokers name neither it nor what is committed on it, so the group's lag would be
    that of the rest. Of other groups they refuse the description themselves.
    """
    unseen: dict[str, set[str]] = {}
    if topics.problems and not topics.counts:
        return unseen
    for row in members:
        unknown = set(row.get("assigned_topics") or ()) - topics.counts.keys()
        if unknown and groups[row["group_id"]].type == GroupType.CLASSIC:
            unseen.setdefault(row["group_id"], set()).update(unknown)
    return unseen


def _note_hidden(
    groups: Mapping[str, Group], unseen: Mapping[str, set[str]], hidden: set[str]
) -> None:
    """Add an error to groups that own partitions of hidden topics; topics that are gone are no error."""
    for group_id, names in unseen.items():
        groups[group_id].errors += [
            f"topic {name}: {error_text(REFUSED)}" for name in sorted(names & hidden)
        ]


def _group_row(group: Group, configs: Configs) -> dict[str, Any]:
    described, modern = group.described, group.type != GroupType.CLASSIC
    own = configs.groups.get(group.id)
    assignor = getattr(described, "assignor_name" if modern else "protocol_data", None)
    return {
        "group_id": group.id,
        "group_type": str(group.type),
        "state": group.state,
        "protocol_type": group.protocol_type,
        "assignor": assignor or None,
        "coordinator": group.coordinator,
        "epoch": described.group_epoch if modern and described else None,
        "assignment_epoch": described.assignment_epoch if modern and described else None,
        "topology": topology_json(group),
        "offset_reset": configs.offset_resets.get(group.id),
        "group_settings": None if own is None else json.dumps(own, sort_keys=True),
        "error": "; ".join([*group.errors, *group.commit_errors]) or None,
    }


def _unread(groups: Iterable[Group], commits: Table) -> Iterator[Fact]:
    """The groups that could not be read as they should, one fact per cause: a coordinator may have thousands."""
    failed: dict[str, list[str]] = defaultdict(list)
    for group in groups:
        for error in (*group.errors, *group.commit_errors):
            failed[error].append(group.id)
    for error, names in failed.items():
        yield finding("group_unread", names, quote=error)
    refused = commits.filter(commits["error"].known).select(["group_id", "topic", "error"])
    for group_id, topic, error in dict.fromkeys(tuple(row.values()) for row in refused.to_pylist()):
        yield finding("commits_unread", [group_id, topic], quote=error)


def _table(dataset: str, rows: list[dict[str, Any]], key: Mapping[str, str]) -> Table:
    """Rows with keys missing where they are null."""
    schema = SNAPSHOT[dataset]
    columns = {name: [row.get(name) for row in rows] for name in schema if name not in key}
    return _filled(dataset, columns, len(rows), key)


def _filled(dataset: str, columns: Mapping[str, Any], length: int, key: Mapping[str, str]) -> Table:
    """Columns of a dataset, made ones or lists of values, with its key before them."""

    def made(name: str, kind: Kind) -> Series:
        if name in key:
            return repeated(key[name], length)
        values = columns[name]
        return values if isinstance(values, Series) else column(values, kind)

    return Table({name: made(name, kind) for name, kind in SNAPSHOT[dataset].items()})


def _brokers(
    nodes: list[Node],
    configs: Configs,
    fetching: bool | None,
    release: str,
    key: Mapping[str, str],
) -> Table:
    """*fetching* is what is configured of brokers that do not tell it."""
    follower_fetching, assignors = configs.follower_fetching, configs.group_assignors
    settings = configs.coordinators
    columns = {
        "node_id": [node.id for node in nodes],
        "host": [node.host for node in nodes],
        "port": [node.port for node in nodes],
        "rack": [node.rack for node in nodes],
        "follower_fetching": [follower_fetching.get(node.id, fetching) for node in nodes],
        "group_assignors": [assignors.get(node.id) for node in nodes],
        "group_settings": [
            json.dumps(settings[node.id], sort_keys=True) if node.id in settings else None
            for node in nodes
        ],
        "kafka_release": [release] * len(nodes),
    }
    return _filled("brokers", columns, len(nodes), key)


def _partitions(topics: Topics, configs: Configs, sizes: LogSizes, key: Mapping[str, str]) -> Table:
    rows = topics.partitions
    topic_configs = [configs.topics.get(row.topic, _UNKNOWN) for row in rows]
    columns = {
        "topic": [row.topic for row in rows],
        "topic_id": [row.topic_id for row in rows],
        "partition": [row.number for row in rows],
        "leader": [row.leader for row in rows],
        "replicas": [row.replicas for row in rows],
        "in_sync": [row.in_sync for row in rows],
        "begin_offset": [row.begin for row in rows],
        "end_offset": [row.end for row in rows],
        "last_stable_offset": [row.last_stable for row in rows],
        "begin_at": [row.begin_at for row in rows],
        "end_at": [row.end_at for row in rows],
        "cleanup_policy": [one.cleanup_policy for one in topic_configs],
        "retention_ms": [one.retention_ms for one in topic_configs],
        "retention_bytes": [one.retention_bytes for one in topic_configs],
        # a log of which a part is in remote storage is larger than what is on the disk
        "log_bytes": [
            sizes.bytes.get((row.topic, row.number)) if one.remote_storage is False else None
            for row, one in zip(rows, topic_configs, strict=True)
        ],
        "error": [row.error for row in rows],
    }
    return _filled("partitions", columns, len(rows), key)


def _commits(commits: Commits, key: Mapping[str, str]) -> Table:
    """
    Group by group, as groups and members are, whichever broker answered first: so a few groups can be read of many.
    """
    offset, lag = (np.frombuffer(each, np.int64) for each in (commits.offset, commits.lag))
    columns: dict[str, Series] = {
        "group_id": _texts(commits.group),
        "topic": _texts(commits.topic),
        "partition": Numbers(np.frombuffer(commits.partition, np.int32), INT32),
        "committed_offset": Numbers(offset, INT64, offset != NONE),
        "read_at": Numbers(np.frombuffer(commits.read_at, np.int64), MOMENT),
        "error": _texts(commits.error),
        "reported_lag": Numbers(lag, INT64, lag != NONE),
    }
    order = np.argsort(columns["group_id"].codes(), kind="stable")
    ordered = {name: each.take(order) for name, each in columns.items()}
    return _filled("commits", ordered, len(offset), key)


def _texts(names: Names) -> Texts:
    return Texts(np.frombuffer(names.places, np.int32), [*names.words])
