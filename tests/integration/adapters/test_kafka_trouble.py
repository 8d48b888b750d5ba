"""A cluster in trouble: groups that may not be read, brokers that die; the rest is kept."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from kafka import TopicPartition
from kafka.admin import ConfigResource, KafkaAdminClient
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.adapters.kafka import offsets as offsets_module
from evenkeel.engine.adapters.kafka import reader as reader_module
from evenkeel.engine.adapters.kafka.topics import NO_LEADER
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.snapshots import groups_of
from tests.helpers.facts import said
from tests.helpers.kafka_stage import commit_for
from tests.helpers.measuring import metric_rows
from tests.helpers.own_brokers import own_brokers
from tests.stage.kafka.brokers import RACKS, KafkaCluster
from tests.stage.kafka.spreading import await_no_topics, await_rules, await_topics
from tests.stage.process import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

ANYBODY, SOMEBODY = "User:ANONYMOUS", "User:somebody-else"
GROUPS = [f"app-{n}" for n in range(12)]
"""Enough that each broker coordinates some."""
LOST_GROUP, LOST_OFFSETS = "app-2", 6
"""A group, and the partition of the offsets topic that has it and no other of ours."""
DESCRIBED = "described-only"
"""A group whose settings we may not see."""
HALF_BLIND = "half-blind"
"""A group with commits of a topic whose first partition is on the third broker alone."""


GUARDED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
"""Brokers that check rights; what has no rule is open to all."""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """A cluster of our own with topics, idle groups and rules."""
    directory = tmp_path_factory.mktemp("guarded")
    with own_brokers(directory, settings=GUARDED) as cluster:
        _fill(cluster.bootstrap)
        _restrict(cluster.bootstrap)
        yield cluster


def _fill(bootstrap: str) -> None:
    """A topic on two brokers per partition, one on the third broker alone, and idle groups."""
    with closing(KafkaAdminClient(bootstrap_servers=bootstrap.split(","))) as admin:
        placed = {0: [1, 2], 1: [2, 3], 2: [3, 1]}
        admin.create_topics(
            {
                "orders": {"assignments": placed},
                "fragile": {"assignments": {0: [3], 1: [1]}},
            }
        )
        await_topics(admin, ["orders", "fragile"])
        pairs = [TopicPartition("orders", p) for p in placed]
        offsets = {pair: OffsetAndMetadata(0, "", -1) for pair in pairs}
        for group in [*GROUPS, "secret", DESCRIBED]:
            commit_for(admin, group, offsets)
        own = {"consumer.session.timeout.ms": "60000"}
        admin.alter_configs([ConfigResource("GROUP", one, own) for one in (GROUPS[0], DESCRIBED)])


def _restrict(bootstrap: str) -> None:
    """One group is somebody else's; of one group and one topic we may see the description only."""
    rules = [
        (ResourceType.GROUP, "secret", SOMEBODY, AclOperation.READ),
        (ResourceType.GROUP, DESCRIBED, ANYBODY, AclOperation.DESCRIBE),
        (ResourceType.TOPIC, "orders", ANYBODY, AclOperation.DESCRIBE),
    ]
    bindings = [
        AclBinding(kind, name, ResourcePatternType.LITERAL, who, "*", what, AclPermissionType.ALLOW)
        for kind, name, who, what in rules
    ]
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 1})
    for future in admin.create_acls(bindings, request_timeout=30).values():
        future.result()
    with closing(KafkaAdminClient(bootstrap_servers=bootstrap.split(","))) as asking:
        await_rules(asking, len(rules))
    assert "secret" in _errors(take(bootstrap))


def take(bootstrap: str) -> ClusterSnapshot:
    """A snapshot of everything."""
    settings = ClusterSettings(bootstrap=bootstrap)
    return KafkaClusterReader("test", settings).take_snapshot("test-20260301T120000Z-000000")


def _errors(snapshot: ClusterSnapshot) -> dict[str, str]:
    """Group -> error."""
    groups = snapshot.tables["groups"].to_pylist()
    return {row["group_id"]: row["error"] for row in groups if row["error"]}


def _commits(snapshot: ClusterSnapshot) -> set[str]:
    """Groups with commits of all three partitions of `orders`."""
    read = snapshot.tables["commits"].to_pylist()
    found = [row["group_id"] for row in read if row["committed_offset"] == 0]
    return {group for group in found if found.count(group) == 3}


def test_what_may_not_be_seen_of_configurations_is_unknown_and_said_once(
    guarded: KafkaCluster,
) -> None:
    """It takes a right of its own that a reader need not have; nothing is partial for it."""
    snapshot = take(guarded.bootstrap)
    assert said(snapshot.notes) == (
        "configurations of 1 group: not allowed (grant this client DESCRIBE_CONFIGS on the groups)",
        "configurations of 1 topic: not allowed (grant this client DESCRIBE_CONFIGS)",
    )
    own = {row["group_id"]: row["group_settings"] for row in snapshot.tables["groups"].to_pylist()}
    assert (own[GROUPS[0]], own[GROUPS[1]], own[DESCRIBED]) == (
        '{"consumer.session.timeout.ms": "60000"}',
        "{}",
        None,
    )
    assert not any("configurations" in problem for problem in said(snapshot.problems))
    told = {
        row["topic"]: row["cleanup_policy"] for row in snapshot.tables["partitions"].to_pylist()
    }
    assert (told["orders"], told["fragile"]) == (None, "delete")


@pytest.fixture(scope="module")
def without_broker_3(guarded: KafkaCluster) -> tuple[ClusterSnapshot, ClusterSnapshot]:
    """A snapshot of the whole cluster and one right after a broker was killed; it is back after that."""
    pairs = [TopicPartition("fragile", p) for p in (0, 1)]
    offsets = TopicPartition("__consumer_offsets", LOST_OFFSETS)
    with closing(KafkaAdminClient(bootstrap_servers=guarded.bootstrap.split(","))) as admin:
        commit_for(admin, HALF_BLIND, {pair: OffsetAndMetadata(0, "", -1) for pair in pairs})
        assert admin.alter_partition_reassignments({offsets: [3]}) == {offsets: None}
        wait_until(lambda: not admin.list_partition_reassignments(), 120, "the offsets to move")
        whole = _healed(guarded.bootstrap)
        guarded.kill(3)
        try:
            hurt = take(guarded.bootstrap)
        finally:
            guarded.restart(3)
        _healed(guarded.bootstrap)

    def forgotten() -> bool:
        # a client remembers coordinators, and this one may just be moving back
        with (
            suppress(KafkaError),
            closing(KafkaAdminClient(bootstrap_servers=guarded.bootstrap.split(","))) as fresh,
        ):
            fresh.delete_groups([HALF_BLIND])
            return HALF_BLIND not in {group["group_id"] for group in fresh.list_groups()}
        return False

    wait_until(forgotten, 120, "the group to be gone", interval=1)
    return whole, hurt


def _healed(bootstrap: str) -> ClusterSnapshot:
    """A snapshot in which only what is forbidden is missing, with every replica in sync."""

    def whole() -> ClusterSnapshot | None:
        snapshot = take(bootstrap)
        allowed = {*GROUPS, DESCRIBED}
        rows = snapshot.tables["partitions"].to_pylist()
        in_sync = all(set(row["in_sync"]) == set(row["replicas"]) for row in rows)
        healthy = allowed == _commits(snapshot) and len(snapshot.problems) == 2
        return snapshot if healthy and in_sync else None

    with closing(KafkaAdminClient(bootstrap_servers=bootstrap.split(","))) as admin:
        wait_until(lambda: _in_sync(admin), 120, "every replica to be in sync")
    snapshot = wait_until(whole, 120, "the cluster to be whole")
    assert snapshot is not None
    return snapshot


def _in_sync(admin: KafkaAdminClient) -> bool:
    """Whether every replica is, those of Kafka's own topics among them, from which coordinators read."""
    try:
        topics = admin.describe_topics()
    except KafkaError:
        return False
    partitions = [one for topic in topics for one in topic["partitions"]]
    return all(set(one["isr_nodes"]) == set(one["replica_nodes"]) for one in partitions)


def _measured(snapshot: ClusterSnapshot) -> dict[str, dict[str, Any]]:
    """Group -> its row of metrics, its partitions' rows below `rows`."""
    measured = {}
    for group in groups_of(snapshot.tables, snapshot.started_at):
        tables = metric_rows(Settings(), group, [])
        measured[group.group] = tables["group_metrics"][0] | {"rows": tables["partition_metrics"]}
    return measured


def test_a_broker_that_dies_costs_what_it_alone_had(
    without_broker_3: tuple[ClusterSnapshot, ClusterSnapshot],
) -> None:
    """Read right after a kill: only the group and the partition without another replica are lost."""
    _, snapshot = without_broker_3
    assert set(_errors(snapshot)) == {"secret"}
    assert _commits(snapshot) == {*GROUPS, DESCRIBED} - {LOST_GROUP}
    partitions = snapshot.tables["partitions"].to_pylist()
    lost = [row for row in partitions if row["error"]]
    assert [(row["topic"], row["partition"], row["error"]) for row in lost] == [
        ("fragile", 0, NO_LEADER)
    ]
    assert lost[0]["end_offset"] is None
    assert {row["leader"] for row in partitions if row["topic"] == "orders"} <= {1, 2}
    assert f"partition fragile-0: {NO_LEADER}" in said(snapshot.problems)
    racks = {row["node_id"]: row["rack"] for row in snapshot.tables["brokers"].to_pylist()}
    assert racks == RACKS


def test_a_leaderless_partition_has_an_unknown_lag(
    without_broker_3: tuple[ClusterSnapshot, ClusterSnapshot],
) -> None:
    """Its row stays with the commit, the group says that one is unknown, and no total is made up."""
    whole, hurt = (_measured(snapshot)[HALF_BLIND] for snapshot in without_broker_3)
    columns = ("begin_offset", "end_offset", "committed_offset", "lag", "lag_basis", "lost_records")
    leaderless, led = (tuple(row[c] for c in columns) for row in hurt["rows"])
    assert leaderless == (None, None, 0, None, "end unknown", None)
    assert led == (0, 0, 0, 0, "committed", 0)
    assert [row["status"] for row in hurt["rows"]] == ["UNKNOWN", "OK"]
    totals = ("total_lag", "unknown_lag_partitions", "partitions")
    assert tuple(whole[c] for c in totals) == (0, 0, 2)
    assert tuple(hurt[c] for c in totals) == (None, 1, 2)


def test_a_coordinator_that_is_down_is_replaced_or_its_groups_are_missed(
    without_broker_3: tuple[ClusterSnapshot, ClusterSnapshot],
) -> None:
    """Groups move to another broker with all their numbers; those that cannot have no row, which is said."""
    whole, hurt = without_broker_3
    were, are = (
        {row["group_id"]: row["coordinator"] for row in one.tables["groups"].to_pylist()}
        for one in without_broker_3
    )
    moved = {group for group, node in were.items() if node == 3} - {LOST_GROUP, "secret"}
    assert were[LOST_GROUP] == 3
    assert moved
    assert {are[group] for group in moved} <= {1, 2}
    rows = _measured(hurt)
    for group in moved - {HALF_BLIND}:
        assert (rows[group]["total_lag"], rows[group]["unknown_lag_partitions"]) == (0, 0), group
        assert [row["committed_offset"] for row in rows[group]["rows"]] == [0, 0, 0], group
    assert were.keys() - are.keys() == {LOST_GROUP}
    lost = "1 partition of __consumer_offsets has no leader: the groups there are missing"
    assert lost in said(hurt.problems)
    assert lost not in said(whole.problems)


def test_a_broker_that_stops_and_starts_costs_no_snapshot(guarded: KafkaCluster) -> None:
    """Six in a row, a broker gone during some: each is there, and is complete or says what is missing in it."""
    snapshots = []
    for number in range(6):
        if number == 1:
            guarded.kill(2)
        if number == 3:
            guarded.restart(2)
        snapshots.append(take(guarded.bootstrap))
    everybody = {*GROUPS, DESCRIBED}
    for number, snapshot in enumerate(snapshots):
        rows = snapshot.tables["groups"].to_pylist()
        listed = {row["group_id"] for row in rows}
        if missing := {*everybody, "secret"} - listed:
            assert any(
                "groups" in line and "missing" in line for line in said(snapshot.problems)
            ), missing
        unread = everybody & listed - _commits(snapshot)
        assert unread <= _errors(snapshot).keys(), number
        for row in snapshot.tables["partitions"].to_pylist():
            known = row["begin_offset"] is not None and row["end_offset"] is not None
            assert known != any(str(row["error"]) in line for line in said(snapshot.problems)), (
                number
            )
    whole = _healed(guarded.bootstrap)
    assert _commits(whole) == everybody


def test_a_broker_that_hangs_makes_no_lag_and_loses_no_group(
    guarded: KafkaCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It accepts and never answers: others take over its groups, and what was read before that is read again."""
    described = reader_module.describe_groups

    async def then_hang(*args: Any) -> None:
        await described(*args)
        os.kill(guarded.pids[2], signal.SIGSTOP)

    try:
        with monkeypatch.context() as patch:
            patch.setattr(reader_module, "describe_groups", then_hang)
            snapshot = take(guarded.bootstrap)
    finally:
        os.kill(guarded.pids[2], signal.SIGCONT)
    listed = snapshot.tables["groups"].to_pylist()
    assert 2 not in {row["coordinator"] for row in listed if not row["error"]}
    assert set(_errors(snapshot)) == {"secret"}
    assert _commits(snapshot) == {*GROUPS, DESCRIBED}
    commits = [row for row in snapshot.tables["commits"].to_pylist() if row["error"] is None]
    ends = [row for row in snapshot.tables["partitions"].to_pylist() if row["end_at"]]
    apart = max(row["end_at"] for row in ends) - min(row["read_at"] for row in commits)
    waited_for = ClusterSettings(bootstrap=guarded.bootstrap).request_timeout_seconds
    assert apart.total_seconds() < waited_for / 2
    _healed(guarded.bootstrap)


def test_a_topic_deleted_while_it_is_read_costs_nothing(
    guarded: KafkaCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no row, nothing is waited for, and the snapshot is as whole as before."""
    fetch = offsets_module.fetch_commits
    with closing(KafkaAdminClient(bootstrap_servers=guarded.bootstrap.split(","))) as admin:
        admin.create_topics({"passing": {"num_partitions": 3}})
        await_topics(admin, ["passing"])
        assert _has_topic(guarded, "passing")

        async def then_delete(*args: Any) -> Any:
            commits = await fetch(*args)
            admin.delete_topics(["passing"])
            await_no_topics(admin, ["passing"])
            return commits

        monkeypatch.setattr(offsets_module, "fetch_commits", then_delete)
        snapshot = take(guarded.bootstrap)
    assert not _has_topic(guarded, "passing", snapshot)
    assert {line.split(":")[0] for line in said(snapshot.problems)} == {"group secret"}
    assert snapshot.requests["ListOffsets"] <= 3 * 3 + 6


def _has_topic(cluster: KafkaCluster, name: str, snapshot: ClusterSnapshot | None = None) -> bool:
    """Whether all of a topic was read."""
    rows = (snapshot or take(cluster.bootstrap)).tables["partitions"].to_pylist()
    own = [row for row in rows if row["topic"] == name]
    return bool(own) and all(row["end_offset"] is not None for row in own)
