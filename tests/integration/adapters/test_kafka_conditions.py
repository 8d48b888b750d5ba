"""
What the rows say of each condition a partition or its group can be in, on real brokers.

A leaderless partition and a coordinator that is down are in `test_kafka_trouble`, which may kill brokers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Offset
from kafka import TopicPartition
from kafka.coordinator.assignors.range import RangePartitionAssignor

from evenkeel.engine.config import Settings
from evenkeel.engine.model.arrays import Column
from evenkeel.engine.model.groups import GroupSnapshot
from tests.helpers.following import Consumers
from tests.helpers.kafka_session import ClusterInUse
from tests.helpers.kafka_stage import Row, Seen, Stage, Watch, close
from tests.helpers.measuring import proposed
from tests.stage.kafka.brokers import RACKS
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = pytest.mark.kafka

MODERN = {"group.protocol": "consumer"}
"""Settings of a KIP-848 member."""


@pytest.fixture
def stage(kafka_cluster: ClusterInUse, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Topics and groups of one test, removed at its end."""
    name = request.node.originalname.removeprefix("test_")[:40]
    with Stage.on(kafka_cluster.bootstrap, f"{kafka_cluster.prefix}{name}-") as stage:
        yield stage


def commit(consumer: Consumer, topic: str, offset: int, partition: int = 0) -> None:
    """Commit as a live member."""
    consumer.commit(offsets=[Offset(topic, partition, offset)], asynchronous=False)


def totals(seen: Seen, *names: str) -> tuple[Any, ...]:
    """Some columns of the group's row."""
    return tuple(seen.totals[name] for name in names)


@pytest.mark.parametrize(
    ("reset", "lag", "basis", "status", "after"),
    [
        (None, None, "no commit", "UNKNOWN", "UNKNOWN"),
        ("latest", 0, "no commit, reset latest", "OK", "OK"),
        ("earliest", 5, "no commit, reset to log start", "STALL", "OK"),
    ],
)
def test_no_commit(
    stage: Stage, reset: str | None, lag: int | None, basis: str, status: str, after: str
) -> None:
    """Lag is what the group's reset makes of it, unknown without one; the first commit is progress."""
    topic = stage.topic("t", [5])
    member = stage.member("app", [topic], owned=1)
    watch = Watch(stage, "app", auto_offset_reset=reset)
    seen = watch.looks(3)
    expected = {"begin": 0, "end": 5, "subscribed": True, "member": "app-client"}
    assert seen["t", 0] == Row(
        **expected, committed=None, lag=lag, basis=basis, lost=None, status=status
    )
    assert totals(seen, "total_lag", "unknown_lag_partitions", "lost_records", "status") == (
        lag,
        int(lag is None),
        None,
        status,
    )
    commit(member, topic, 2)
    assert watch.look()["t", 0] == Row(
        **expected, committed=2, lag=3, basis="committed", status=after
    )


def test_partitions_nobody_ever_wrote_to_hide_no_lag(stage: Stage) -> None:
    """A client that commits only what it consumed leaves them without a commit: nothing is behind there."""
    topic = stage.topic("t", [5, 0])
    commit(stage.member("app", [topic], owned=2), topic, 2)
    seen = Watch(stage, "app").look()
    assert seen["t", 1] == Row(
        begin=0,
        end=0,
        committed=None,
        lag=0,
        basis="no commit, nothing to read",
        lost=None,
        status="OK",
        subscribed=True,
        member="app-client",
    )
    known = totals(seen, "total_lag", "unknown_lag_partitions", "largest_member_lag", "lag_skew")
    assert known == (3, 0, 3, 1)


def test_a_commit_of_minus_one_is_no_commit(stage: Stage) -> None:
    """Kafka's "no offset" is never taken for a number."""
    topic = stage.topic("t", [5, 5])
    stage.commit("app", topic, {0: -1, 1: 5})
    seen = Watch(stage, "app").look()
    assert seen["t", 0] == Row(
        begin=0, end=5, committed=None, lag=None, basis="no commit", lost=None, status="UNKNOWN"
    )
    assert totals(seen, "total_lag", "unknown_lag_partitions", "lost_records") == (None, 1, 0)


def test_commit_below_begin(stage: Stage) -> None:
    """Lag counts what is still there; what was removed is lost, and said."""
    topic = stage.topic("t", [10])
    stage.commit("app", topic, {0: 2})
    stage.admin.delete_records({TopicPartition(topic, 0): 6})
    seen = Watch(stage, "app").look()
    assert seen["t", 0] == Row(
        begin=6,
        end=10,
        committed=2,
        lag=4,
        basis="commit below log start",
        lost=4,
        status="UNKNOWN",
    )
    assert totals(seen, "total_lag", "lost_records", "time_to_loss_seconds") == (4, 4, None)
    assert seen.totals["findings"] == ["retention deleted 4 unread records on 1 partition"]


def test_commit_above_end(stage: Stage) -> None:
    """Nothing is behind, never less than nothing; and it is said."""
    topic = stage.topic("t", [10, 10])
    stage.commit("app", topic, {0: 15, 1: 7})
    seen = Watch(stage, "app").look()
    assert seen["t", 0] == Row(
        begin=0, end=10, committed=15, lag=0, basis="commit beyond end", status="OK"
    )
    assert seen.totals["total_lag"] == 3
    assert seen.totals["findings"] == ["commit beyond end on 1 partition"]


def test_a_deleted_topic_leaves_no_ghost(stage: Stage) -> None:
    """While its commits are still there they have no lag and no part in totals; then they are gone."""
    gone, kept = stage.topic("gone", [10]), stage.topic("kept", [10])
    stage.commit("app", gone, {0: 1})
    stage.commit("app", kept, {0: 6})
    watch = Watch(stage, "app")
    assert watch.look().totals["total_lag"] == 13
    stage.admin.delete_topics([gone])  # looked at while brokers hear of it

    def vanished(seen: Seen) -> bool:
        row = seen.partitions.get(("gone", 0))
        if row and row["end_offset"] is None:
            assert (row["lag"], row["lag_basis"], row["status"]) == (None, "end unknown", "UNKNOWN")
            assert totals(seen, "total_lag", "unknown_lag_partitions", "partitions") == (4, 0, 1)
        return row is None

    seen = watch.until(vanished, "the deleted topic's rows to vanish")
    assert list(seen.partitions) == [("kept", 0)]
    assert totals(seen, "total_lag", "unknown_lag_partitions", "findings") == (4, 0, [])


def test_a_topic_deleted_under_its_member(stage: Stage) -> None:
    """What a member is still said to own of it counts nowhere."""
    gone, kept = stage.topic("gone", [10]), stage.topic("kept", [10])
    member = stage.member("app", [gone, kept], owned=2)
    commit(member, gone, 1)
    commit(member, kept, 6)
    watch = Watch(stage, "app")
    assert watch.look().totals["total_lag"] == 13
    stage.admin.delete_topics([gone])

    def forgotten(seen: Seen) -> bool:
        row = seen.partitions["gone", 0]
        return row["end_offset"] is row["committed_offset"] is None

    seen = watch.until(forgotten, "the deleted topic's commits to vanish")
    assert seen["gone", 0] == Row(
        begin=None,
        end=None,
        committed=None,
        lag=None,
        basis="end unknown",
        lost=None,
        status="UNKNOWN",
        subscribed=True,
        member="app-client",  # until it is polled, it gives nothing up
    )
    assert totals(seen, "total_lag", "unknown_lag_partitions", "partitions") == (4, 0, 1)


def test_a_recreated_topic_starts_afresh(stage: Stage) -> None:
    """Its offsets fell, but it is another topic: no rewind, no rate, no history of the old one."""
    topic = stage.topic("t", [20])
    stage.commit("app", topic, {0: 12})
    watch = Watch(stage, "app")
    old = watch.looks(3)
    assert old["t", 0] == Row(
        begin=0, end=20, committed=12, lag=8, basis="committed", status="STOP"
    )
    assert old.partitions["t", 0]["production_per_second"] == 0.0
    stage.delete(topic)
    group = watch.group
    wait_until(
        lambda: not stage.admin.list_group_offsets({group: None})[group], 120, "its commits to go"
    )
    stage.topic("t", [4])
    stage.commit("app", topic, {0: 1})
    new = watch.look()
    assert new["t", 0] == Row(
        begin=0, end=4, committed=1, lag=3, basis="committed", status="UNKNOWN"
    )
    row = new.partitions["t", 0]
    assert row["topic_id"] != old.partitions["t", 0]["topic_id"]
    assert (row["production_per_second"], row["consumption_per_second"]) == (None, None)
    assert totals(new, "rates_since", "findings") == (None, [])


def test_an_unsubscribed_topic(stage: Stage) -> None:
    """It is left out of totals and of the group's status while there are members, and counted without."""
    old, new = stage.topic("old", [50]), stage.topic("new", [10])
    stage.commit("app", old, {0: 10})
    member = stage.member("app", [new], owned=1)
    commit(member, new, 10)
    watch = Watch(stage, "app")
    seen = watch.looks(3)
    left = {"begin": 0, "end": 50, "committed": 10, "lag": 40, "basis": "committed"}
    assert seen["old", 0] == Row(**left, status="STOP")
    assert totals(seen, "total_lag", "status", "partitions", "unsubscribed_partitions") == (
        0,
        "OK",
        1,
        1,
    )
    assert seen.totals["findings"] == [
        "commits on 1 partition without subscriber, left out of totals"
    ]
    close(member)
    empty = watch.until(lambda seen: seen.group.state == "Empty", "the member to have left")
    assert empty["old", 0] == Row(**left, status="STOP")
    assert totals(empty, "total_lag", "status", "partitions", "unsubscribed_partitions") == (
        40,
        "STOP",
        2,
        None,
    )


def test_a_group_in_mid_rebalance(stage: Stage) -> None:
    """Nobody owns, nobody is accused, and what nobody subscribed to before adds no lag."""
    topic, old = stage.topic("t", [10]), stage.topic("old", [50])
    stage.commit("app", old, {0: 10})
    member = stage.member("app", [topic], owned=1)
    commit(member, topic, 4)
    watch = Watch(stage, "app")
    before = watch.looks(3)
    assert before["t", 0] == Row(
        begin=0,
        end=10,
        committed=4,
        lag=6,
        basis="committed",
        status="STALL",
        subscribed=True,
        member="app-client",
    )
    assert totals(before, "total_lag", "status") == (6, "STALL")
    join = Consumer({"bootstrap.servers": stage.bootstrap, "group.id": stage.prefix + "app"})
    stage.ending.callback(close, join)
    stage.ending.callback(close, member)  # before the other, which waits for it
    join.subscribe([topic])  # the first is not polled, so the rebalance waits for it
    seen = watch.until(lambda seen: seen.group.rebalancing, "the rebalance")
    row = seen["t", 0]
    assert (row.committed, row.lag, row.status, row.member) == (4, 6, "UNKNOWN", None)
    assert (row.subscribed, seen["old", 0].subscribed) == (None, None)
    assert {one.subscription for one in seen.group.members} == {None}
    assert totals(seen, "state", "status", "total_lag", "lag_skew") == (
        "PreparingRebalance",
        "UNKNOWN",
        6,
        None,
    )
    assert seen.totals["findings"] == [
        "rebalancing (PreparingRebalance): the assignment is changing",
        "1 rebalance: members added (rdkafka)",
    ]


def test_an_open_transaction(stage: Stage) -> None:
    """Its records are lag for a group that reads uncommitted ones, and not for one that does not."""
    topic = stage.topic("t", [5])
    stage.commit("app", topic, {0: 5})
    settings = {"bootstrap.servers": stage.bootstrap, "transactional.id": stage.prefix + "t"}
    producer = Producer({**settings, "log_level": 1})
    producer.init_transactions(60)
    producer.begin_transaction()
    for _ in range(3):
        producer.produce(topic, b"x", partition=0)
    assert producer.flush(60) == 0
    try:
        all_of_it = Watch(stage, "app").look()
        held_back = Watch(stage, "app", isolation="read_committed").look()
    finally:
        producer.abort_transaction(60)
    found = {"begin": 0, "committed": 5, "basis": "committed"}
    assert all_of_it["t", 0] == Row(**found, end=8, lag=3, status="UNKNOWN")
    assert held_back["t", 0] == Row(**found, end=5, lag=0, status="OK")
    assert held_back.totals["findings"] == []


def test_a_transaction_that_hangs(stage: Stage) -> None:
    """
    Its consumer reads up to it and waits; the cause is told though its isolation is not known.

    The marker of the transaction before takes an offset that no consumer of librdkafka commits.
    """
    topic = stage.topic("t", [5])
    member = stage.member("app", [topic], owned=1, **{"auto.offset.reset": "earliest"})
    settings = {"bootstrap.servers": stage.bootstrap, "transactional.id": stage.prefix + "t"}
    producer = Producer({**settings, "log_level": 1})
    producer.init_transactions(60)
    watch = Watch(stage, "app")

    def produced() -> None:
        for _ in range(3):
            producer.produce(topic, b"x", partition=0)
        assert producer.flush(60) == 0

    producer.begin_transaction()
    produced()
    producer.commit_transaction(60)
    read: list[Any] = []
    wait_until(lambda: read.extend(member.consume(8, 0.2)) or len(read) == 8, 60, "8 records")
    member.commit(asynchronous=False)
    assert watch.look()["t", 0].committed == 8

    producer.begin_transaction()
    try:
        for _ in range(3):
            produced()
            watch.look()
        watch.earlier = [_sooner(one, 60 * n) for n, one in enumerate(watch.earlier, start=1)]
        produced()
        hung = watch.look()
    finally:
        producer.abort_transaction(60)
    assert hung.totals["diagnosis"] == "hanging transaction"
    assert re.match(
        rf"a transaction in {topic}-0 has been open for 4 min", hung.totals["diagnosis_reason"]
    )
    table = hung.group.partitions
    assert (table.last_stable.tolist(), table.high_watermark.tolist()) == ([9], [21])


class Forgetful(RangePartitionAssignor):  # type: ignore[misc]
    """Range, but for the last partition: a leader that does not know of one deals it out to nobody, too."""

    name = "forgetful"

    @classmethod
    def assign(cls, cluster: Any, members: Any) -> Any:
        """Range, as of a topic with one partition less."""
        known = SimpleNamespace(
            partitions_for_topic=lambda topic: sorted(cluster.partitions_for_topic(topic))[:-1]
        )
        return RangePartitionAssignor.assign(known, members)


def test_a_partition_that_nobody_owns(stage: Stage) -> None:
    """It is told while its group lives and is stable, and no more once somebody owns it."""
    topic = stage.topic("t", [5, 5, 5])
    stage.commit("app", topic, {0: 5, 1: 5, 2: 2})
    watch = Watch(stage, "app")
    with Consumers.of(stage, "app", topic) as members:
        members.start("a", [Forgetful], static=False)
        members.settle_on(a=[0, 1])
        watch.looks(2)
        watch.earlier = [_sooner(one, 60 * n) for n, one in enumerate(watch.earlier, start=1)]
        found = watch.look()
        members.stop("a")
        members.start("a", [RangePartitionAssignor], static=False)
        members.settle_on(a=[0, 1, 2])
        after = watch.look()

    assert found.group.state == "Stable"
    assert totals(found, "diagnosis", "unowned_partitions") == ("unassigned partitions", 1)
    assert re.fullmatch(
        rf"1 partition of 3 has no owner for 2 min( \d+ s)? \({topic}-2\)",
        found.totals["diagnosis_reason"],
    )
    assert totals(after, "unowned_partitions") == (0,)
    assert after.totals["diagnosis"] != "unassigned partitions"


def _sooner(group: GroupSnapshot, seconds: int) -> GroupSnapshot:
    """A group as if it had been read so much sooner."""
    table = group.partitions
    moved = {
        name: Column(getattr(table, name).values - 1000 * seconds, getattr(table, name).known)
        for name in ("begin_at_ms", "end_at_ms", "committed_at_ms")
    }
    return replace(group, partitions=replace(table, **moved))


def test_a_quiet_partition_then_a_burst(stage: Stage) -> None:
    """Without traffic there is nothing to commit; after a burst the group is given time to begin."""
    topic = stage.topic("t", [5])
    member = stage.member("app", [topic], owned=1)
    commit(member, topic, 5)
    found = {
        "begin": 0,
        "committed": 5,
        "basis": "committed",
        "subscribed": True,
        "member": "app-client",
    }
    watch = Watch(stage, "app")
    quiet = watch.looks(5)
    assert quiet["t", 0] == Row(**found, end=5, lag=0, status="OK")
    assert (quiet.totals["status"], quiet.totals["production_per_second"]) == ("OK", 0.0)
    stage.produce(topic, [400])
    burst = watch.look()
    assert burst["t", 0] == Row(**found, end=405, lag=400, status="OK")
    assert burst.totals["production_per_second"] > 0
    assert watch.looks(2)["t", 0].status == "OK"
    assert watch.look()["t", 0].status == "STALL"


def test_a_member_without_rack(stage: Stage, kafka_cluster: ClusterInUse) -> None:
    """Whether it reads across racks is unknown, never no; the share says how many it left out."""
    if not kafka_cluster.owned:
        pytest.skip("the racks of a cluster in use are not known here")
    here, there = sorted(RACKS)[:2]
    mixed, plain = (stage.topic(name, [1, 1], on=[here, there]) for name in ("mixed", "plain"))
    told = {"client.id": f"{stage.prefix}told", "client.rack": RACKS[here]}
    stage.member("app", [mixed], 2, **told, **MODERN)
    stage.member("app", [plain], 2, **{"client.id": f"{stage.prefix}silent"}, **MODERN)
    watch = Watch(stage, "app")
    seen = watch.until(lambda seen: seen.group.state == "Stable", "a stable group")
    crossing = {key: (row["member"], row["cross_rack"]) for key, row in seen.partitions.items()}
    assert crossing == {
        ("mixed", 0): ("told", False),
        ("mixed", 1): ("told", True),
        ("plain", 0): ("silent", None),
        ("plain", 1): ("silent", None),
    }
    assert totals(seen, "cross_rack_share", "racks_left_out") == (0.5, 2)
    members = {
        row["client_id"].removeprefix(stage.prefix): row for row in seen.rows["member_metrics"]
    }
    columns = ("rack", "rack_source", "cross_rack_partitions")
    found = {name: tuple(row[c] for c in columns) for name, row in members.items()}
    assert found == {"told": (RACKS[here], "describe", 1), "silent": (None, None, None)}


def test_a_regex_subscription(stage: Stage) -> None:
    """Topics are subscribed by matching as a whole, a new one at once; a name that only begins like it is not."""
    first, other = stage.topic("rx-a", [3]), stage.topic("x-rx-a", [9])
    stage.commit("app", other, {0: 1})
    member = stage.member("app", [f"^{stage.prefix}rx-.*"], owned=1, **MODERN)
    commit(member, first, 1)
    watch = Watch(stage, "app")
    seen = watch.look()
    assert seen["rx-a", 0] == Row(
        begin=0,
        end=3,
        committed=1,
        lag=2,
        basis="committed",
        status="UNKNOWN",
        subscribed=True,
        member="app-client",
    )
    assert seen["x-rx-a", 0] == Row(
        begin=0, end=9, committed=1, lag=8, basis="committed", status="UNKNOWN"
    )
    assert totals(seen, "total_lag", "partitions", "unsubscribed_partitions") == (2, 1, 1)
    stage.topic("rx-b", [7])
    row = watch.look()["rx-b", 0]
    assert (row.subscribed, row.end, row.lag, row.basis) == (True, 7, None, "no commit")


def test_a_static_member_that_is_gone(stage: Stage) -> None:
    """It owns its partitions, and is to blame, until its session times out; then nobody does."""
    topic = stage.topic("t", [10])
    # long enough for a look, however busy the machine
    static = {"group.instance.id": "one", "session.timeout.ms": 25_000}
    member = stage.member("app", [topic], owned=1, **static)
    commit(member, topic, 4)
    watch = Watch(stage, "app")
    watch.looks(2)
    close(member)  # a static member does not leave when it ends
    stays = watch.look()
    found = {"begin": 0, "end": 10, "committed": 4, "lag": 6, "basis": "committed"}
    assert [one.instance_id for one in stays.group.members] == ["one"]
    assert stays["t", 0] == Row(**found, status="STALL", subscribed=True, member="app-client")
    assert totals(stays, "state", "members", "total_lag") == ("Stable", 1, 6)
    gone = watch.until(lambda seen: seen.group.state == "Empty", "its session to time out")
    assert gone.group.members == ()
    assert gone["t", 0] == Row(**found, status="STOP")
    assert totals(gone, "members", "total_lag", "status", "unowned_partitions") == (
        0,
        6,
        "STOP",
        None,
    )


def test_a_consumer_that_assigns_itself(stage: Stage) -> None:
    """Its group has commits and no member: what it has committed counts, and it takes no strategy."""
    topic = stage.topic("t", [10, 10])
    settings = {"bootstrap.servers": stage.bootstrap, "group.id": stage.prefix + "app"}
    consumer = Consumer({**settings, "enable.auto.commit": False, "log_level": 1})
    stage.ending.callback(consumer.close)
    consumer.assign([Offset(topic, 0)])
    commit(consumer, topic, 4)
    seen = Watch(stage, "app").look()
    assert list(seen.partitions) == [("t", 0)]
    assert totals(seen, "state", "members", "total_lag") == ("Empty", 0, 6)
    rows = proposed(Settings(), seen.group, [])
    assert {row["feasibility"] for row in rows} == {"not applicable"}
    assert "assign()" in rows[0]["reason"]
