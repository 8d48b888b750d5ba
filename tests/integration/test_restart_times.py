"""For how long members of real groups were away that restarted, against when they were stopped and started."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from evenkeel.engine import pipeline, wiring
from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.config import ClusterSettings, Filter, Settings
from evenkeel.engine.records.pause_course import spans_of
from evenkeel.engine.snapshots import split_snapshot_id
from tests.helpers.kafka_session import ClusterInUse
from tests.helpers.kafka_stage import Stage, close
from tests.helpers.memory import MemoryHistory
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(600)]

EVERY = 5.0
"""Seconds from snapshot to snapshot."""

AWAY = {"static": 20.0, "dynamic": 30.0}
"""Seconds for which a member of each group is stopped."""

CLUSTER = "test"


class Running:
    """A member that polls until it is stopped."""

    def __init__(self, settings: dict[str, Any], topic: str) -> None:
        self.settings, self.topic, self.ending = settings, topic, threading.Event()
        self.owned = 0
        self.consumer = Consumer(settings)
        self.consumer.subscribe([topic], on_assign=self._own, on_revoke=self._lose)
        self.thread = threading.Thread(target=self._poll, daemon=True)
        self.thread.start()

    def _own(self, consumer: Consumer, partitions: list[Any]) -> None:
        self.owned = len(partitions)

    def _lose(self, consumer: Consumer, partitions: list[Any]) -> None:
        self.owned = 0

    def _poll(self) -> None:
        while not self.ending.is_set():
            self.consumer.poll(0.1)
        close(self.consumer)

    def stop(self) -> None:
        """Close it, as a program does that is told to end."""
        self.ending.set()
        self.thread.join(60)

    def again(self) -> Running:
        """The same program anew."""
        return Running(self.settings, self.topic)


class Looks:
    """Snapshots of the groups with their metrics, one after another."""

    def __init__(self, bootstrap: str, prefix: str) -> None:
        only = Filter(allow=(f"{prefix}*",))
        cluster = ClusterSettings(bootstrap=bootstrap, groups=only, topics=only)
        self.settings = Settings(clusters={CLUSTER: cluster})
        self.lake, self.history, self.prefix = wiring.scratch(), MemoryHistory(), prefix
        self.moments: list[float] = []

    def look(self) -> dict[str, dict[str, Any]]:
        """What the metrics of a new snapshot say, by group."""
        with closing(KafkaClusterReader(CLUSTER, self.settings.cluster(CLUSTER))) as reader:
            taken = pipeline.take_snapshot(reader, self.lake, self.history, self.settings, CLUSTER)
        tables = pipeline.compute_metrics(self.lake, self.settings, taken)
        pipeline.record_metrics(self.lake, taken, tables)
        self.moments.append(split_snapshot_id(taken)[1].timestamp())
        rows = tables["group_metrics"].to_pylist()
        return {row["group_id"].removeprefix(self.prefix): row for row in rows}

    def look_for(self, seconds: float) -> dict[str, dict[str, Any]]:
        """Look every so often for a while, and at least once."""
        end = time.monotonic() + seconds
        while True:
            began = time.monotonic()
            found = self.look()
            if time.monotonic() >= end:
                return found
            time.sleep(max(began + EVERY - time.monotonic(), 0))


@pytest.fixture
def members(kafka_cluster: ClusterInUse) -> Iterator[tuple[Looks, dict[str, list[Running]]]]:
    """Two groups of three that keep up with a topic, one of static members."""
    prefix = f"{kafka_cluster.prefix}restarts-"
    with ExitStack() as ending:
        stage = ending.enter_context(Stage.on(kafka_cluster.bootstrap, prefix))
        topic = stage.topic("t", [10] * 6)
        ended = threading.Event()
        producer = Producer({"bootstrap.servers": kafka_cluster.bootstrap, "log_level": 1})

        def produce() -> None:
            while not ended.wait(0.2):
                for partition in range(6):
                    producer.produce(topic, b"x", partition=partition)
                producer.poll(0)

        arriving = threading.Thread(target=produce, daemon=True)
        arriving.start()
        ending.callback(arriving.join, 10)
        ending.callback(ended.set)
        made: dict[str, list[Running]] = {}
        for name in AWAY:
            for number in range(3):
                settings = {
                    "bootstrap.servers": kafka_cluster.bootstrap,
                    "group.id": prefix + name,
                    "client.id": f"{name}-{number}",
                    "auto.offset.reset": "earliest",
                    "session.timeout.ms": 60_000,
                    "auto.commit.interval.ms": 1_000,
                    "log_level": 1,
                }
                static = {"group.instance.id": f"{name}-{number}"} if name == "static" else {}
                made.setdefault(name, []).append(Running({**settings, **static}, topic))
        ending.callback(lambda: [each.stop() for own in made.values() for each in own])
        yield Looks(kafka_cluster.bootstrap, prefix), made


def test_a_restart_takes_as_long_as_its_member_was_stopped(
    members: tuple[Looks, dict[str, list[Running]]],
) -> None:
    """What is true lies between both ends of what was seen, and the middle is within two intervals of it."""
    looks, groups = members

    def settled() -> bool:
        return [one.owned for own in groups.values() for one in own] == [2] * 6

    wait_until(settled, 180, "two partitions for each member")
    looks.look_for(13 * EVERY)
    stopped, back, rows = dict[str, float](), dict[str, float](), dict[str, dict[str, Any]]()
    for name, own in groups.items():
        stopped[name] = time.time()
        own[0].stop()
        looks.look_for(AWAY[name] - (time.time() - stopped[name]))
        own[0] = own[0].again()
        wait_until(settled, 120, "two partitions for each member")
        back[name] = time.time()
        rows = looks.look_for(3 * EVERY)
    widest = max(b - a for a, b in zip(looks.moments, looks.moments[1:], strict=False))
    for name in AWAY:
        row, away = rows[name], back[name] - stopped[name]
        spans = spans_of(row["pause_course"]["restarts"])
        print(name, away, widest, spans, row["restart_seconds"], row["restart_basis"])
        assert (row["restart_basis"], row["restarts_observed"]) == ("observed", 1)
        [(_, low, high)] = spans
        assert low <= away
        assert high >= AWAY[name] - 1
        assert row["restart_seconds"] == pytest.approx(AWAY[name], abs=2 * widest)
