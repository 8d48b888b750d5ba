"""The local cluster does what the other tests and the demo rely on, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from kafka.admin import KafkaAdminClient, OffsetSpec
from kafka.errors import KafkaError

from tests.helpers.kafka_session import (
    ClusterInUse,
    RunningWorkload,
    await_settled,
    start_workload,
)
from tests.stage.kafka.brokers import RACKS, KafkaCluster
from tests.stage.kafka.spreading import topics_anywhere
from tests.stage.process import (
    LocalClusterError,
    marked_processes,
    spawn,
    stop,
    sweep,
    wait_until,
)
from tests.stage.workload import topics
from tests.stage.workload.groups import GROUPS

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.nightly, pytest.mark.kafka]

ROOT = Path(__file__).resolve().parents[3]
GROUP_COMMAND = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
REBALANCING = {"PreparingRebalance", "CompletingRebalance"}


@pytest.fixture
def admin(kafka_cluster: ClusterInUse) -> Iterator[KafkaAdminClient]:
    """A reader of the session's cluster."""
    with closing(_reader(kafka_cluster.bootstrap)) as client:
        yield client


def _reader(bootstrap: str) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=bootstrap.split(","))


def _racks(admin: KafkaAdminClient) -> dict[int, str]:
    """Rack by id of the brokers that are up; a killed one is still described, as fenced."""
    brokers = admin.describe_cluster()["brokers"]
    return {broker["broker_id"]: broker["rack"] for broker in brokers if not broker["is_fenced"]}


def _up(admin: KafkaAdminClient) -> set[int]:
    """The brokers that are up; none while the connection that asks was the killed one's."""
    try:
        return set(_racks(admin))
    except KafkaError:
        return set()


def _states(admin: KafkaAdminClient, prefix: str) -> dict[str, str]:
    """State by group name without the prefix."""
    found = ((group["group_id"], group["group_state"]) for group in admin.list_groups())
    return {name.removeprefix(prefix): state for name, state in found if name.startswith(prefix)}


def _lags(admin: KafkaAdminClient, group: str) -> dict[int, int]:
    """Lag by partition of a group that reads one topic."""
    commits = admin.list_group_offsets({group: None})[group]
    ends = admin.list_partition_offsets(dict.fromkeys(commits, OffsetSpec.LATEST))
    return {key.partition: ends[key].offset - commit.offset for key, commit in commits.items()}


def _owned(admin: KafkaAdminClient, group: str) -> dict[str, set[tuple[str, int]]]:
    """Partitions by client id of a stable classic group."""
    members = admin.describe_groups([group])[group]["members"]
    return {
        member["client_id"]: {
            (topic["topic"], partition)
            for topic in member["member_assignment"]["assigned_partitions"]
            for partition in topic["partitions"]
        }
        for member in members
    }


def test_three_brokers_answer_from_three_racks(
    kafka_cluster: ClusterInUse, admin: KafkaAdminClient
) -> None:
    """The session's own cluster has three brokers, each in its rack."""
    if not kafka_cluster.owned:
        pytest.skip("another cluster's racks are its own")
    assert _racks(admin) == RACKS


def test_brokers_speak_the_new_group_protocols(admin: KafkaAdminClient) -> None:
    """KIP-848 and KIP-1071 groups can be had."""
    features = admin.describe_features()
    assert features["group.version"]["finalized"][1] >= 1
    assert features["streams.version"]["finalized"][1] >= 1


def test_kafkas_own_tool_answers(workload: RunningWorkload, kafka_cluster: ClusterInUse) -> None:
    """A command-line tool class of Kafka's jars sees the groups that the workload made."""
    if kafka_cluster.brokers is None:
        pytest.skip("the tools' jars come with our own cluster")
    arguments = ("--bootstrap-server", kafka_cluster.bootstrap, "--list", "--timeout", "60000")
    listed = set(kafka_cluster.brokers.tool(GROUP_COMMAND, *arguments).split())
    # It lists consumer groups; the KIP-1071 group has a tool of its own.
    assert set(workload.groups) - {f"{workload.prefix}streams-kip1071"} <= listed


def test_a_tools_failure_is_told_with_its_output(kafka_cluster: ClusterInUse) -> None:
    """A tool that fails raises an error that holds what it said."""
    if kafka_cluster.brokers is None:
        pytest.skip("the tools' jars come with our own cluster")
    with pytest.raises(LocalClusterError, match="bootstrap-server"):
        kafka_cluster.brokers.tool(GROUP_COMMAND, "--list")


@pytest.mark.slow
def test_brokers_can_be_killed_restarted_stopped_and_started_again(tmp_path: Path) -> None:
    """A killed broker comes back; a second start finds topics and ports; a stop leaves nothing."""
    cluster = KafkaCluster(tmp_path / "brokers", home=tmp_path)
    with cluster, closing(_reader(cluster.bootstrap)) as admin:
        admin.create_topics({"kept": {"num_partitions": 3, "replication_factor": 3}})
        cluster.kill(3)
        wait_until(lambda: _up(admin) == {1, 2}, 120, "the killed broker to be missed")
        cluster.restart(3)
        wait_until(lambda: _up(admin) == {1, 2, 3}, 120, "whoever is asked to know all brokers")
        assert _racks(admin) == RACKS
        first = (cluster.bootstrap, cluster.cluster_id)
    assert marked_processes(tmp_path) == []
    with cluster, closing(_reader(cluster.bootstrap)) as admin:
        assert (cluster.bootstrap, cluster.cluster_id) == first
        assert "kept" in admin.list_topics()
    assert marked_processes(tmp_path) == []


def test_a_killed_parent_leaves_no_process(tmp_path: Path) -> None:
    """SIGKILL of the process that started the brokers ends the brokers."""
    argv = [sys.executable, "-m", "tests.stage", "brokers", str(tmp_path / "brokers")]
    log = tmp_path / "parent.log"
    parent = spawn(argv, {"PYTHONPATH": str(ROOT)}, log, "the parent", home=tmp_path)
    try:
        wait_until(lambda: "127.0.0.1" in log.read_text(), 500, "the brokers", process=parent)
        assert len(marked_processes(tmp_path)) == 1 + len(RACKS)
        os.kill(parent.pid, signal.SIGKILL)
        wait_until(lambda: not marked_processes(tmp_path), 60, "the brokers to end")
    finally:
        sweep(tmp_path)


def test_every_group_is_in_its_intended_state(
    workload: RunningWorkload, admin: KafkaAdminClient
) -> None:
    """Of every planned group there is one that is settled, or the reason why there is none."""
    planned = {workload.prefix + plan.name for plan in GROUPS}
    assert set(workload.groups) | set(workload.left_out) == planned
    expected = {plan.name: {"Stable"} for plan in GROUPS}
    expected |= {"empty-with-commits": {"Empty"}, "keeps-rebalancing": REBALANCING}

    odd: dict[str, str] = {}

    def as_intended() -> bool:
        found = _states(admin, workload.prefix)
        odd.clear()
        odd.update({name: state for name, state in found.items() if state not in expected[name]})
        return not odd

    with suppress(LocalClusterError):
        wait_until(as_intended, 60, "every group to be in its state")
    assert odd == {}


def test_restless_group_is_never_seen_stable(
    workload: RunningWorkload, admin: KafkaAdminClient
) -> None:
    """Looks over many of its rounds find the restless group rebalancing, never settled and never empty."""
    seen: list[str] = []

    def often_enough() -> bool:
        seen.append(_states(admin, workload.prefix)["keeps-rebalancing"])
        return len(seen) > 60

    wait_until(often_enough, 120, "the group to be looked at", interval=0.5)
    assert set(seen) <= REBALANCING


def test_slow_member_falls_behind_and_the_others_do_not(
    workload: RunningWorkload, admin: KafkaAdminClient
) -> None:
    """The lag of the third member's partitions grows while the others' stays small."""
    group = f"{workload.prefix}slow-member"
    slow = {partition for _, partition in _owned(admin, group)[f"{group}-3"]}
    before = sum(_lags(admin, group)[partition] for partition in slow)

    def fallen_behind() -> bool:
        lags = _lags(admin, group)
        behind = sum(lags[partition] for partition in slow)
        # the others commit every few seconds, later where the machine is busy
        rest = max(lag for partition, lag in lags.items() if partition not in slow)
        return behind > before + 10 and rest < before / 2

    wait_until(fallen_behind, 120, "the slow member's lag to grow, and no other's")


def test_hot_partition_carries_most_lag(workload: RunningWorkload, admin: KafkaAdminClient) -> None:
    """More than half of the group's lag is on partition 0."""
    lags = _lags(admin, f"{workload.prefix}hot-partition")
    assert lags[0] > sum(lags.values()) / 2


def test_idle_members_own_nothing(workload: RunningWorkload, admin: KafkaAdminClient) -> None:
    """Two of the five members have no partition."""
    owned = _owned(admin, f"{workload.prefix}idle-members").values()
    assert sorted(map(len, owned)) == [0, 0, 1, 1, 1]


def test_commits_are_as_each_group_is_meant_to_have_them(
    workload: RunningWorkload, admin: KafkaAdminClient
) -> None:
    """The empty group has commits and lag on every partition, another has never committed."""
    assert all(lag > 0 for lag in _lags(admin, f"{workload.prefix}empty-with-commits").values())
    assert _lags(admin, f"{workload.prefix}never-committed") == {}


def test_members_sit_where_replicas_are_not(
    workload: RunningWorkload, admin: KafkaAdminClient, kafka_cluster: ClusterInUse
) -> None:
    """Ten of twelve round robin partitions have no replica in their member's rack."""
    if not kafka_cluster.owned:
        pytest.skip("another cluster's racks are its own")
    group = f"{workload.prefix}racks-avoidable"
    (topic,) = admin.describe_topics([f"{workload.prefix}shipments"])
    replicas = {p["partition_index"]: p["replica_nodes"] for p in topic["partitions"]}
    crossing = [
        int(client[-1]) not in replicas[partition]  # member n names the rack of broker n
        for client, owned in _owned(admin, group).items()
        for _, partition in owned
    ]
    assert (sum(crossing), len(crossing)) == (10, 12)


@pytest.mark.slow
def test_workload_leaves_its_groups_and_can_be_removed(
    kafka_cluster: ClusterInUse, admin: KafkaAdminClient
) -> None:
    """After SIGTERM it ends by itself and every group is empty; removal leaves no topic and no group."""
    prefix = f"{kafka_cluster.prefix}leaving-"
    process = start_workload(kafka_cluster, prefix)
    try:
        await_settled(kafka_cluster, prefix, process)
    finally:
        stop(process, grace=120)
    assert process.popen.returncode == 0
    assert set(_states(admin, prefix).values()) == {"Empty"}
    topics.remove(admin, prefix)
    assert _states(admin, prefix) == {}
    assert not any(topic.startswith(prefix) for topic in topics_anywhere(admin))
