"""What a single test puts on a real cluster, and how it is removed again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, Producer
from kafka import TopicPartition
from kafka.admin import KafkaAdminClient, MemberToRemove
from kafka.errors import KafkaError, NoError
from kafka.structs import OffsetAndMetadata

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.config import ClusterSettings, Filter, Rule, Settings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.snapshots import groups_of, new_snapshot_id
from tests.helpers.measuring import metric_rows
from tests.stage.kafka.spreading import are_deleted, await_no_topics, await_topics
from tests.stage.process import LocalClusterError, wait_until


class Stage:
    """A place to put topics, commits and members under one prefix."""

    def __init__(self, bootstrap: str, prefix: str, admin: KafkaAdminClient) -> None:
        self.bootstrap, self.prefix, self.admin = bootstrap, prefix, admin
        self.ending = ExitStack()

    @classmethod
    @contextmanager
    def on(cls, bootstrap: str, prefix: str) -> Iterator[Stage]:
        """Everything made on it is removed afterwards."""
        stage = cls(bootstrap, prefix, _admin(bootstrap))
        try:
            with stage.ending:
                yield stage
        finally:
            with closing(stage.admin):
                stage.remove()

    def reconnect(self) -> None:
        """To be called after restarts of brokers: what a client knows of one that was away lags behind."""
        self.admin.close()
        self.admin = _admin(self.bootstrap)

    def remove(self) -> None:
        """Delete the groups and topics of the prefix; of members that were closed the static ones are still there."""
        wait_until(self._removed_groups, 90, f"the groups {self.prefix}* to be gone", interval=0.2)
        wait_until(
            lambda: are_deleted(self.admin, lambda topic: topic.startswith(self.prefix)),
            90,
            f"the topics {self.prefix}* to be gone",
            interval=0.2,
        )

    def _removed_groups(self) -> bool:
        """Whether no group of the prefix is left; those that are lose their members, and are deleted."""
        every = [each["group_id"] for each in self.admin.list_groups()]
        mine = [group for group in every if group.startswith(self.prefix)]
        for group in mine:
            # a group of the newer protocol is not described so; it is left to itself until its session ends
            with suppress(KafkaError):
                members = self.admin.describe_groups([group])[group]["members"]
                static = {member["group_instance_id"] for member in members} - {None}
                leaving = [MemberToRemove(group_instance_id=name) for name in sorted(static)]
                if leaving:
                    self.admin.remove_group_members(group, leaving)
        if mine:
            self.admin.delete_groups(mine)
        return not mine

    def topic(
        self, name: str, records: list[int], on: list[int] | None = None, **configs: str
    ) -> str:
        """
        A topic that every broker knows.

        Args:
            name: Its name without the prefix.
            records: How many there are in each partition.
            on: The one broker that has each partition.
            configs: Its settings, with `_` for the dots in their names.
        """
        full = self.prefix + name
        placed = {p: [node] for p, node in enumerate(on or [])}
        shape = {"assignments": placed} if on else {"num_partitions": len(records)}
        settings = {key.replace("_", "."): value for key, value in configs.items()}
        self.admin.create_topics({full: {**shape, "configs": settings}})
        await_topics(self.admin, [full])
        self.produce(full, records)
        return full

    def delete(self, topic: str) -> None:
        """Delete a topic, by its full name; no broker knows it afterwards."""
        self.admin.delete_topics([topic])
        await_no_topics(self.admin, [topic])

    def produce(self, topic: str, records: list[int]) -> None:
        """This many more records for each partition."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "log_level": 1})
        failed: list[Any] = []

        def written(error: Any, record: Any) -> None:
            if error is not None:
                failed.append(error)

        for partition, count in enumerate(records):
            for _ in range(count):
                producer.produce(topic, b"x", partition=partition, on_delivery=written)
        assert (producer.flush(120), failed) == (0, [])

    def commit(self, group: str, topic: str, offsets: dict[int, int]) -> str:
        """An idle group with these committed offsets."""
        values = {
            TopicPartition(topic, p): OffsetAndMetadata(o, "", -1) for p, o in offsets.items()
        }
        commit_for(self.admin, self.prefix + group, values)
        return self.prefix + group

    def member(self, group: str, topics: list[str], owned: int, **settings: Any) -> Consumer:
        """A live member that has got so many partitions."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": self.prefix + group,
                "client.id": f"{self.prefix}{group}-client",
                "enable.auto.commit": False,
                "log_level": 1,
                **settings,
            }
        )
        self.ending.callback(close, consumer)
        consumer.subscribe(topics)
        wait_until(
            lambda: consumer.poll(0.1) or len(consumer.assignment()) == owned,
            120,
            f"{owned} partitions for {group}",
        )
        return consumer


def close(consumer: Consumer) -> None:
    """
    Close a consumer of librdkafka, if it lets itself be closed.

    One that is closed while it joins may wait for ever (seen with 2.16: it has left the group, and `close` does not
    return); it is then left to itself.
    """
    thread = threading.Thread(target=consumer.close, daemon=True)
    thread.start()
    thread.join(60)


def commit_for(
    admin: KafkaAdminClient, group: str, offsets: dict[TopicPartition, OffsetAndMetadata]
) -> None:
    """Commit for a group without members; its coordinator may not be ready at the first time."""
    told: list[Any] = []

    def taken() -> bool:
        try:
            told[:] = admin.alter_group_offsets(group, offsets).values()
        except KafkaError as error:
            told[:] = [type(error)]
        return set(told) == {NoError}

    try:
        wait_until(taken, 60, f"the commits of {group}", interval=0.2)
    except LocalClusterError as error:
        raise LocalClusterError(f"{error}: {told}") from None


def taken(bootstrap: str, groups: str, topics: str = "") -> ClusterSnapshot:
    """A snapshot of the groups of a pattern, and of the topics of another or the same."""
    patterns = {"groups": Filter(allow=(groups,)), "topics": Filter(allow=(topics or groups,))}
    cluster = ClusterSettings(bootstrap=bootstrap, **patterns)
    with closing(KafkaClusterReader("test", cluster)) as reader:
        return reader.take_snapshot(new_snapshot_id("test", utc_now()))


def groups_with_targets(bootstrap: str, groups: str, topics: str = "") -> dict[str, GroupSnapshot]:
    """Those groups by name, without the ones whose coordinator has yet to work out a target assignment."""
    found = taken(bootstrap, groups, topics)
    rows = found.tables["groups"].to_pylist()
    known = {row["group_id"] for row in rows if row["epoch"] == row["assignment_epoch"]}
    every = groups_of(found.tables, found.started_at)
    return {group.group: group for group in every if group.group in known}


def _admin(bootstrap: str) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=bootstrap.split(","))


class Watch:
    """What evenkeel says of one group of a stage, snapshot by snapshot; each look knows the earlier ones."""

    def __init__(self, stage: Stage, group: str, **rule: Any) -> None:
        """
        Args:
            stage: Where the group is.
            group: Its name without the prefix.
            rule: What is configured of it: `auto_offset_reset`, `isolation`. Looks are moments apart, so a group is
                late here that is behind at all.
        """
        self.stage, self.group = stage, stage.prefix + group
        at_once = {"commit_interval_seconds": 0.001, "lag_slo_seconds": 0.001}
        self.settings = Settings(rules=(Rule(**at_once, **rule),))
        self.committed_only = rule.get("isolation") == "read_committed"
        self.earlier: list[GroupSnapshot] = []

    def look(self) -> Seen:
        """Take a snapshot and measure the group."""
        all_of_it = taken(self.stage.bootstrap, f"{self.stage.prefix}*")
        found = groups_of(all_of_it.tables, all_of_it.started_at, lambda group: self.committed_only)
        (group,) = (one for one in found if one.group == self.group)
        rows = metric_rows(self.settings, group, self.earlier)
        self.earlier.insert(0, group)
        return Seen(self.stage.prefix, group, rows)

    def looks(self, count: int) -> Seen:
        """The last of so many looks."""
        return [self.look() for _ in range(count)][-1]

    def until(self, is_so: Callable[[Seen], bool], what: str) -> Seen:
        """Look until something is so."""
        seen: list[Seen] = []

        def is_it() -> bool:
            seen.append(self.look())
            return is_so(seen[-1])

        wait_until(is_it, 120, what, interval=0.2)
        return seen[-1]


@dataclass(frozen=True)
class Seen:
    """A group and its metric rows; names are given and told without the stage's prefix."""

    prefix: str
    group: GroupSnapshot
    rows: dict[str, list[dict[str, Any]]]

    @property
    def totals(self) -> dict[str, Any]:
        """The group's row."""
        (row,) = self.rows["group_metrics"]
        return row

    @property
    def partitions(self) -> dict[tuple[str, int], dict[str, Any]]:
        """(topic, partition) -> row, with the owner's client id as `member`."""
        clients = {one.id: one.client_id.removeprefix(self.prefix) for one in self.group.members}
        return {
            (row["topic"].removeprefix(self.prefix), row["partition"]): row
            | {"member": clients.get(row["member_id"])}
            for row in self.rows["partition_metrics"]
        }

    def __getitem__(self, key: tuple[str, int]) -> Row:
        """What is expected of a partition, by (topic, partition)."""
        row = self.partitions[key]
        return Row(
            begin=row["begin_offset"],
            end=row["end_offset"],
            committed=row["committed_offset"],
            lag=row["lag"],
            basis=row["lag_basis"],
            lost=row["lost_records"],
            status=row["status"],
            subscribed=row["subscribed"],
            member=row["member"],
            cross_rack=row["cross_rack"],
        )


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a test expects of a row of `partition_metrics`; the defaults are those of a group without members."""

    begin: int | None
    end: int | None
    committed: int | None
    lag: int | None
    basis: str
    lost: int | None = 0
    status: str
    subscribed: bool | None = False
    member: str | None = None
    cross_rack: bool | None = None
