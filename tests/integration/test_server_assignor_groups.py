"""The server-side assignor keeps KIP-848 groups in their racks, on brokers of its own that run it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer

from evenkeel.engine.model.groups import GroupSnapshot
from tests.helpers.commands import evenkeel
from tests.helpers.kafka_stage import Stage, Watch, close
from tests.helpers.own_brokers import own_brokers
from tests.integration.test_target_assignments import (
    EQUAL,
    SIZES,
    UNEQUAL,
    LiveGroup,
    compare_as_members_come_and_go,
)
from tests.oracle.follower import server_assignor_jar
from tests.stage.kafka.brokers import RACKS, KafkaCluster
from tests.stage.kafka.jars import resolve_jars
from tests.stage.process import wait_until

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.timeout(1200)]

SECONDS = 300
"""For a group to settle, on a busy machine."""

Owned = dict[str, set[int]]
"""Rack of each member -> partitions of the one topic."""

LOCAL = {"rack-a": {1, 3}, "rack-b": {2, 5}, "rack-c": {0, 4}}
"""What the rack of each member holds of the topic of `racked`."""


SETTINGS = {
    "group.consumer.assignors": "io.evenkeel.EvenkeelServerAssignor,uniform,range",
    "group.consumer.session.timeout.ms": "20000",
    "group.consumer.min.session.timeout.ms": "20000",
}


@pytest.fixture(scope="module")
def brokers(compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """Three of them, in three racks."""
    folder = tmp_path_factory.mktemp("server-assignor")
    jars = folder / "jars"
    jars.mkdir()
    for jar in [*resolve_jars().glob("*.jar"), server_assignor_jar()]:
        (jars / jar.name).symlink_to(jar)
    with own_brokers(folder, jars=jars, settings=SETTINGS) as running:
        yield running


class Group:
    """A group of one member in each rack, that asks for the assignor by name or for none."""

    def __init__(self, stage: Stage, name: str, topic: str, **settings: str) -> None:
        self.stage, self.name, self.topic, self.settings = stage, name, topic, settings
        self.members: dict[str, Consumer] = {}

    def join(self, rack: str) -> None:
        """A member comes."""
        usual = {
            "bootstrap.servers": self.stage.bootstrap,
            "group.id": self.stage.prefix + self.name,
            "group.protocol": "consumer",
            "log_level": 1,
        }
        consumer = Consumer({**usual, **self.settings, "client.rack": rack})
        self.stage.ending.callback(close, consumer)
        consumer.subscribe([self.topic])
        self.members[rack] = consumer

    def leave(self, rack: str) -> None:
        """A member goes."""
        self.members.pop(rack).close()

    def seen(self) -> GroupSnapshot:
        """The group as evenkeel reads it; its members go on meanwhile."""
        for consumer in self.members.values():
            consumer.poll(0.05)
        return Watch(self.stage, self.name).look().group

    def until(self, expected: Callable[[Owned], bool], what: str) -> Owned:
        """Wait for who owns what, and for the coordinator to have heard so of every member."""
        owned: Owned = {}

        def reached() -> bool:
            for rack, consumer in self.members.items():
                consumer.poll(0.05)
                owned[rack] = {one.partition for one in consumer.assignment()}
            as_expected = expected({rack: owned[rack] for rack in self.members})
            return as_expected and self.seen().state == "Stable"

        wait_until(reached, SECONDS, what)
        return {rack: owned[rack] for rack in self.members}


def racked(stage: Stage) -> str:
    """A topic of which each rack holds two partitions."""
    return stage.topic("racked", [0] * 6, on=[3, 1, 2, 1, 3, 2])


@pytest.mark.parametrize("settings", [{"group.remote.assignor": "evenkeel-racks"}, {}])
def test_members_get_what_their_rack_holds(brokers: KafkaCluster, settings: dict[str, str]) -> None:
    """As members leave and come: counts even, and nobody gives up a partition of the own rack for another."""
    name = "asked-for" if settings else "default"
    with Stage.on(brokers.bootstrap, f"evenkeel-test-{name}-") as stage:
        topic = racked(stage)
        group = Group(stage, name, topic, **settings)
        for rack in RACKS.values():
            group.join(rack)
        group.until(lambda owned: owned == LOCAL, "each rack to have its own")
        group.leave("rack-c")
        owned = group.until(lambda owned: [len(own) for own in owned.values()] == [3, 3], "halves")
        assert all(LOCAL[rack] < own for rack, own in owned.items())
        group.join("rack-c")
        group.until(lambda owned: owned == LOCAL, "each rack to have its own again")


def test_the_replay_is_the_target_the_coordinator_then_has(brokers: KafkaCluster) -> None:
    """Whoever joins or leaves, of equal and of different subscriptions, partition by partition."""
    with Stage.on(brokers.bootstrap, "evenkeel-test-replayed-") as stage:
        for name, size in SIZES.items():
            stage.topic(name, [0] * size, on=[1 + number % 7 % 3 for number in range(size)])
        compare_as_members_come_and_go(
            [
                LiveGroup(stage, name, "racks-server", subscriptions, list(RACKS.values()))
                for name, subscriptions in (("equal", EQUAL), ("unequal", UNEQUAL))
            ]
        )


@pytest.mark.parametrize(
    ("asked", "runs", "feasibility"),
    [("evenkeel-racks", "racks-server", "available"), ("uniform", "uniform", "needs restart")],
)
def test_it_is_known_what_runs_and_what_brokers_have(
    brokers: KafkaCluster, asked: str, runs: str, feasibility: str
) -> None:
    """`evenkeel advise` names the strategy, with an answer; who runs another is told that members can request it."""
    with Stage.on(brokers.bootstrap, f"evenkeel-test-known-{asked}-") as stage:
        group = Group(stage, "app", racked(stage), **{"group.remote.assignor": asked})
        for rack in RACKS.values():
            group.join(rack)
        group.until(lambda owned: [len(own) for own in owned.values()] == [2] * 3, "an even group")
        given = ("--bootstrap", stage.bootstrap, "--group", stage.prefix + group.name)
        told = json.loads(evenkeel("advise", *given, "--samples", "1", "--json"))
        rows = {row["strategy"]: row for row in told["strategies"]}
        assert [name for name, row in rows.items() if row["is_running"]] == [runs]
        ours = rows["racks-server"]
        assert (ours["feasibility"], ours["cross_rack_share"]) == (feasibility, 0)
