"""Real brokers read over the wire: every kind and state of group, agreement with Kafka's own tool."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from kafka.protocol.consumer import JoinGroupRequest

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.config import ClusterSettings, Filter, Rule, Settings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.states import REBALANCING
from evenkeel.engine.snapshots import groups_of, new_snapshot_id
from evenkeel.engine.streams.compare import outcome, present
from evenkeel.engine.streams.live import running
from evenkeel.engine.streams.settings import RackStrategy, StickyTasks
from tests.helpers.kafka_session import ClusterInUse, RunningWorkload
from tests.helpers.kafka_stage import Stage
from tests.helpers.measuring import metric_rows
from tests.helpers.streams_groups import presume
from tests.stage.kafka.jars import classpath, resolve_jars
from tests.stage.process import find_java, spawn, stop, wait_until
from tests.stage.workload.rebalancing import RestlessMember

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = pytest.mark.kafka

SHARE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"


def take(bootstrap: str, prefix: str = "", **settings: Any) -> ClusterSnapshot:
    """A snapshot of the groups and topics of this prefix."""
    only = Filter(allow=(f"{prefix}*",))
    whole = ClusterSettings(bootstrap=bootstrap, **{"groups": only, "topics": only} | settings)
    with closing(KafkaClusterReader("test", whole)) as reader:
        return reader.take_snapshot(new_snapshot_id("test", utc_now()))


def by_name(snapshot: ClusterSnapshot, prefix: str) -> dict[str, GroupSnapshot]:
    """Its groups as values, by their names without the prefix."""
    groups = groups_of(snapshot.tables, snapshot.started_at)
    return {group.group.removeprefix(prefix): group for group in groups}


def rows(snapshot: ClusterSnapshot, dataset: str, **wanted: Any) -> list[dict[str, Any]]:
    """Rows of a table in which these columns have these values."""
    found = snapshot.tables[dataset].to_pylist()
    return [row for row in found if all(row[k] == v for k, v in wanted.items())]


@pytest.fixture(scope="module")
def snapshot(workload: RunningWorkload) -> ClusterSnapshot:
    """The workload's groups, read once while none rebalances but the one that always does."""

    def at_rest() -> ClusterSnapshot | None:
        taken = take(workload.bootstrap, workload.prefix)
        restless = {g.group for g in by_name(taken, workload.prefix).values() if g.rebalancing}
        return taken if restless <= {workload.prefix + "keeps-rebalancing"} else None

    taken = wait_until(at_rest, 120, "groups at rest", interval=1)
    assert taken is not None
    return taken


@pytest.fixture
def stage(kafka_cluster: ClusterInUse, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Topics and groups of one test, removed at its end."""
    name = request.node.name.removeprefix("test_")[:40]
    with Stage.on(kafka_cluster.bootstrap, f"{kafka_cluster.prefix}{name}-") as stage:
        yield stage


def test_every_group_of_the_workload_is_read(
    snapshot: ClusterSnapshot, workload: RunningWorkload
) -> None:
    """All groups are there with their type, none has an error, nothing is reported as missing."""
    groups = by_name(snapshot, workload.prefix)
    assert snapshot.problems == ()
    assert set(groups) == {name.removeprefix(workload.prefix) for name in workload.groups}
    kinds = {"consumer": "consumer", "streams": "streams", "share": "share"}
    for name, plan in workload.groups.items():
        group = groups[name.removeprefix(workload.prefix)]
        assert group.type == kinds.get(plan["kind"], "classic"), name
        assert group.error is None


def test_members_and_what_they_own(snapshot: ClusterSnapshot, workload: RunningWorkload) -> None:
    """Each settled group has its members, and every member as many partitions as planned."""
    groups = by_name(snapshot, workload.prefix)
    checked = 0
    for name, plan in workload.groups.items():
        if not plan["owned"]:
            continue
        group = groups[name.removeprefix(workload.prefix)]
        counts = Counter(group.partitions.owner.tolist())
        assert -1 not in counts, name
        assert sorted((counts[m] for m in range(len(group.members))), reverse=True) == sorted(
            plan["owned"], reverse=True
        ), name
        checked += 1
    assert checked >= 8


def test_states_of_groups(snapshot: ClusterSnapshot, workload: RunningWorkload) -> None:
    """Empty, never committed, rebalancing and static groups look as they should."""
    groups = by_name(snapshot, workload.prefix)
    empty, never = groups["empty-with-commits"], groups["never-committed"]
    assert (empty.state, empty.members) == ("Empty", ())
    assert None not in empty.partitions.committed.tolist()
    assert never.partitions.committed.tolist() == [None] * len(never.partitions)
    restless = groups["keeps-rebalancing"]
    assert restless.state in REBALANCING
    assert [m.subscription for m in restless.members] == [None] * len(restless.members)
    assert len(restless.partitions) > 0
    static = groups["static-members"].members
    assert [m.instance_id for m in static] == [m.client_id for m in static]


def test_racks_come_from_the_subscription_or_the_description(
    snapshot: ClusterSnapshot, workload: RunningWorkload
) -> None:
    """Classic members write their rack into their subscription, KIP-848 members tell the broker."""
    groups = by_name(snapshot, workload.prefix)
    for name, source in (("balanced", "subscription"), ("racks-ignored", "describe")):
        members = groups[name].members
        assert {m.rack_source for m in members} == {source}
        assert len({m.rack for m in members}) == 3
    assert {m.rack for m in groups["hot-partition"].members} == {None}


def test_streams_groups_of_both_protocols(
    snapshot: ClusterSnapshot, workload: RunningWorkload
) -> None:
    """Both tell process and tasks; every partition of the sources has exactly one owner."""
    streams = [n for n, plan in workload.groups.items() if plan["kind"].startswith("streams")]
    assert streams or workload.left_out
    for name in streams:
        group = by_name(snapshot, workload.prefix)[name.removeprefix(workload.prefix)]
        members = rows(snapshot, "members", group_id=name)
        assert len({m["process_id"] for m in members}) == 2, name
        tasks = [task for m in members for task in m["active_tasks"]]
        assert len(tasks) == len(set(tasks)) == len(group.partitions), name
        assert -1 not in group.partitions.owner.tolist(), name
        assert group.assignor == (None if group.type == "streams" else "stream")
        assert (group.topology is not None) == (group.type == "streams")


def test_a_classic_application_is_recognized_task_by_task(
    snapshot: ClusterSnapshot, workload: RunningWorkload
) -> None:
    """Processes, racks, tags and stores are right: Kafka's own `min_traffic` is what ours gives, at the same cost."""
    application = presume(running(by_name(snapshot, workload.prefix)["streams-classic"]))
    app = application.app
    assert app.threads.tolist() == [2, 2]
    racks = [app.racks[rack] for rack in app.client_rack.tolist()]
    assert sorted(racks) == ["rack-a", "rack-b"]
    assert [dict(tags) for tags in app.tags] == [{"zone": rack} for rack in racks]
    assert app.stateful.tolist() == [False] * 6 + [True] * 6
    assert [task for task in application.owner.tolist() if task < 0] == []
    assert np.diff(application.copies_start).tolist() == [0] * 6 + [1] * 6
    now, ours = present(application), outcome(application, RackStrategy.MIN_TRAFFIC)
    assert now.unknown.sum() == ours.unknown.sum() == 0
    assert now.crossing.sum() == ours.crossing.sum()
    assert now.crossing.sum() <= outcome(application, RackStrategy.NONE).crossing.sum()


def test_a_kip_1071_application_is_recognized_with_its_topology(
    snapshot: ClusterSnapshot, workload: RunningWorkload
) -> None:
    """Its stores come from the topology, its racks from client.rack of Kafka Streams; its broker would keep it all."""
    name = "streams-kip1071"
    if workload.prefix + name in workload.left_out:
        pytest.skip(workload.left_out[workload.prefix + name])
    application = presume(running(by_name(snapshot, workload.prefix)[name]))
    app = application.app
    assert app.threads.tolist() == [2, 2]
    assert app.stateful.tolist() == [False] * 6 + [True] * 6
    assert [topic for topic, _ in app.partitions if topic.endswith("-changelog")]
    assert application.runs is StickyTasks.SERVER
    assert {member.rack for member in by_name(snapshot, workload.prefix)[name].members} == {
        "rack-a",
        "rack-b",
    }
    assert present(application).unknown.sum() == 0
    ahead = outcome(application, StickyTasks.SERVER)
    assert ahead.thread is not None
    assert ahead.thread.tolist() == application.thread.tolist()


def test_what_is_configured_is_read(stage: Stage, kafka_cluster: ClusterInUse) -> None:
    """Policies and retention of topics; the local brokers let consumers read from followers."""
    kept = {"retention_ms": "3600000", "retention_bytes": "5000000"}
    topic = stage.topic("kept", [0], cleanup_policy="compact,delete", **kept)
    found = take(stage.bootstrap, stage.prefix)
    (row,) = rows(found, "partitions", topic=topic)
    assert (row["cleanup_policy"], row["retention_ms"]) == ("compact,delete", 3_600_000)
    assert row["retention_bytes"] == 5_000_000
    assert found.notes == ()
    if kafka_cluster.owned:
        assert {row["follower_fetching"] for row in rows(found, "brokers")} == {True}
        assert {tuple(row["group_assignors"]) for row in rows(found, "brokers")} == {
            ("uniform", "range")
        }


def test_the_size_of_logs_tells_what_a_record_weighs(
    stage: Stage, kafka_cluster: ClusterInUse
) -> None:
    """Of topics that groups use, as each leader's disk has them; an empty log takes nothing."""
    if not kafka_cluster.owned:
        pytest.skip("a foreign cluster may not let us see its log directories")
    topic = stage.topic("weighed", [500, 0])
    stage.commit("reader", topic, {0: 0})
    stage.topic("unused", [10])

    found = take(stage.bootstrap, stage.prefix)

    sizes = {
        (r["topic"].removeprefix(stage.prefix), r["partition"]): r["log_bytes"]
        for r in rows(found, "partitions")
    }
    assert sizes == {("weighed", 0): sizes["weighed", 0], ("weighed", 1): 0, ("unused", 0): None}
    assert 500 < sizes["weighed", 0] < 500 * 200
    settings = Settings(rules=(Rule(bytes_per_record=7),))
    [group] = groups_of(found.tables, found.started_at)
    measured = metric_rows(settings, group, [])["partition_metrics"]
    assert [row["bytes_per_record_basis"] for row in measured] == ["log directory"]
    assert measured[0]["bytes_per_record"] == sizes["weighed", 0] / 500


def test_bytes_are_counted_both_ways(snapshot: ClusterSnapshot) -> None:
    """Responses hold every partition and commit, requests only their names."""
    assert snapshot.bytes_sent is not None
    assert snapshot.bytes_received is not None
    assert 1_000 < snapshot.bytes_sent < snapshot.bytes_received < 10_000_000


def test_each_reading_has_its_time_and_requests_are_few(snapshot: ClusterSnapshot) -> None:
    """Begins are read before commits, commits before ends; requests are counted and batched."""
    first = {name: snapshot.tables[t][name].to_pylist() for t, name in TIMES}
    assert snapshot.started_at.timestamp() - 1 < min(first["begin_at"]).timestamp()
    assert max(first["begin_at"]) <= min(first["read_at"])
    assert max(first["read_at"]) <= min(first["end_at"])
    assert max(first["end_at"]) <= snapshot.finished_at
    assert snapshot.requests["ListGroups"] == len(rows(snapshot, "brokers"))
    assert sum(snapshot.requests.values()) < 40


TIMES = (("commits", "read_at"), ("partitions", "begin_at"), ("partitions", "end_at"))


def test_topics_have_ids_replicas_and_offsets(
    snapshot: ClusterSnapshot, workload: RunningWorkload
) -> None:
    """Each partition has its leader among its replicas and a begin that is not above its end."""
    partitions = rows(snapshot, "partitions")
    assert {row["topic"] for row in partitions} >= {workload.prefix + "orders"}
    for row in partitions:
        assert row["error"] is None
        assert row["leader"] in row["replicas"]
        assert set(row["in_sync"]) <= set(row["replicas"])
        assert 0 <= row["begin_offset"] <= row["last_stable_offset"] <= row["end_offset"]
    ids = {(row["topic"], row["topic_id"]) for row in partitions}
    assert len(ids) == len({topic for topic, _ in ids}) == len({i for _, i in ids})


def test_a_share_group_is_read(stage: Stage, kafka_cluster: ClusterInUse) -> None:
    """Its member has the partition, which nobody owns; a start offset is told from the first acknowledgement on."""
    topic, group = stage.topic("shared", [1]), stage.prefix + "share"
    java, _ = find_java()
    argv = [str(java), "-Xmx128m", "-cp", classpath(resolve_jars()), SHARE_CONSUMER]
    argv += ["--bootstrap-server", stage.bootstrap, "--topic", topic, "--group", group]
    log = kafka_cluster.directory / "share.log"
    process = spawn(argv, None, log, "a share consumer", home=kafka_cluster.directory)
    stage.ending.callback(stop, process)

    def begun() -> ClusterSnapshot | None:
        stage.produce(topic, [1])
        taken = take(stage.bootstrap, stage.prefix)
        starts = [row["committed_offset"] for row in rows(taken, "commits")]
        return taken if starts not in ([], [None]) else None

    snapshot = wait_until(begun, 120, "the share group to begin", process=process, interval=0.5)
    (row,) = rows(snapshot, "groups")
    assert (row["group_type"], row["state"], row["error"]) == ("share", "Stable", None)
    assert (row["assignor"], row["offset_reset"]) == ("simple", "latest")
    (member,) = rows(snapshot, "members")
    assert (member["kind"], member["assigned_partitions"]) == ("share", [0])
    (commit,) = rows(snapshot, "commits")
    (partition,) = rows(snapshot, "partitions")
    assert 1 < commit["committed_offset"] <= partition["end_offset"]
    assert 0 <= commit["reported_lag"] <= partition["end_offset"] - commit["committed_offset"]
    assert commit["error"] is None
    (one,) = groups_of(snapshot.tables, snapshot.started_at)
    assert one.partitions.owner.tolist() == [-1]
    assert (snapshot.problems, snapshot.notes) == ((), ())


class Foreigner(RestlessMember):
    """A member of another protocol type, whose bytes say nothing to a consumer."""

    def _news(self) -> bytes:
        return b"\x00\x07not a subscription, %d" % self.joined

    def _request(self) -> JoinGroupRequest:
        request = super()._request()
        request.protocol_type = "connect"
        return request


def test_a_group_of_another_protocol_type_is_listed_and_not_decoded(stage: Stage) -> None:
    """Kafka Connect groups its workers as Kafka does consumers; what they tell each other is theirs."""
    group = stage.prefix + "connect-cluster"
    worker = Foreigner(stage.bootstrap, group, (), 1)
    stage.ending.callback(worker.join, 30)
    stage.ending.callback(worker.ask_to_end)
    wait_until(lambda: worker.joined, 120, "the worker to join")
    snapshot = take(stage.bootstrap, stage.prefix)
    (row,) = rows(snapshot, "groups")
    assert (row["group_type"], row["protocol_type"], row["error"]) == ("classic", "connect", None)
    told = [(m["subscription"], m["assigned_topics"]) for m in rows(snapshot, "members")]
    assert told == [(None, None)]
    assert snapshot.problems == ()


def test_filters_apply_before_any_group_is_asked(stage: Stage) -> None:
    """A group or topic left out is neither described nor read."""
    kept, dropped = stage.topic("kept", [1]), stage.topic("dropped", [1])
    stage.commit("mine", kept, {0: 1})
    stage.commit("mine", dropped, {0: 1})
    stage.commit("other", kept, {0: 1})
    groups = Filter(allow=(f"{stage.prefix}*",), deny=("*-other",))
    topics = Filter(allow=(f"{stage.prefix}kept",))
    snapshot = take(stage.bootstrap, groups=groups, topics=topics)
    assert [row["group_id"] for row in rows(snapshot, "groups")] == [stage.prefix + "mine"]
    assert [row["topic"] for row in rows(snapshot, "commits")] == [kept]
    assert [row["topic"] for row in rows(snapshot, "partitions")] == [kept]
    assert snapshot.requests["OffsetFetch"] == snapshot.requests["DescribeGroups"] == 1


def test_internal_topics_are_left_out_unless_a_group_uses_them(stage: Stage) -> None:
    """Kafka's own topics appear when somebody has committed offsets of them."""
    assert rows(take(stage.bootstrap), "partitions", topic="__consumer_offsets") == []
    group = stage.commit("curious", "__consumer_offsets", {0: 0})
    wanted = Filter(allow=(group,))
    snapshot = take(stage.bootstrap, groups=wanted, topics=Filter())
    assert rows(snapshot, "partitions", topic="__consumer_offsets")


def test_a_healthy_cluster_is_found_so(workload: RunningWorkload) -> None:
    """Every finding is fine and says what was seen; the snapshot has the same cluster id."""
    only = Filter(allow=(f"{workload.prefix}*",))
    settings = ClusterSettings(bootstrap=workload.bootstrap, groups=only)
    health = KafkaClusterReader("test", settings).ping()
    tried = {"brokers", "racks", "versions", "rights", "groups", "topics"}
    assert {f.what for f in health.findings} == tried
    assert [f for f in health.findings if f.what in ("groups", "topics") and not f.ok] == []
    assert health.kafka_cluster_id == take(workload.bootstrap).kafka_cluster_id
    assert json.dumps([f.seen for f in health.findings])
