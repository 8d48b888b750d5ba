"""What `evenkeel runbook` prints, followed to the letter on real brokers, and back, by members of each library."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer

from evenkeel.engine.advice.rollout import PLAN_PLACE
from evenkeel.engine.assignors import by_name
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.followers.kafka_python import PlanAssignor
from tests.helpers.applied import (
    COUNT,
    InThreads,
    Java,
    Librdkafka,
    at_rest,
    closing_members,
    do,
    runbook_of,
    seen,
    settled,
    way_of,
)
from tests.helpers.commands import evenkeel
from tests.helpers.following import subscribe
from tests.helpers.kafka_stage import Stage
from tests.oracle.follower import FollowerGroupJvm

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.kafka, pytest.mark.timeout(1200)]

JAVA_RANGE = "org.apache.kafka.clients.consumer.RangeAssignor"
DOTTED = re.compile(r"[\w.]+\.(\w+)(\(.*?\))?")


class KafkaPython(InThreads):
    """Consumers of kafka-python, whose list of strategies is code."""

    client = "kafka-python"
    plan = ""

    def consumer(self, number: int) -> tuple[Callable[[], Any], Callable[[], None]]:
        """Each class of the list imported, the follower made with the arguments that stand there."""
        listed = self.settings["partition_assignment_strategy"]
        made = KafkaConsumer(
            bootstrap_servers=self.stage.bootstrap.split(","),
            group_id=self.name,
            client_id=f"m-{number}",
            heartbeat_interval_ms=200,
            # a static member is missed only when its session ends
            session_timeout_ms=10_000 if self.static else 30_000,
            group_instance_id=f"i-{number}" if self.static else None,
            partition_assignment_strategy=[
                self.made(one) for one in DOTTED.finditer(listed.removeprefix("["))
            ],
        )
        subscribe(made, self.topic)
        return lambda: made.poll(50), made.close

    def made(self, listed: re.Match[str]) -> Any:
        """A class, or the follower."""
        path, _, name = listed[0].partition("(")[0].rpartition(".")
        found = getattr(import_module(path), name)
        if found is not PlanAssignor:
            return found
        return PlanAssignor(plan=self.plan, group=self.name, eager="eager=True" in listed[0])


@pytest.fixture
def java(members_jvm: FollowerGroupJvm, stage: Stage) -> Callable[..., Java]:
    """A settled group of Java's consumers that list range."""
    settings = {
        "partition.assignment.strategy": JAVA_RANGE,
        "heartbeat.interval.ms": "200",
        "session.timeout.ms": "30000",
    }

    def make(name: str, **own: str) -> Java:
        members = Java(stage, name, settings | own, members_jvm)
        for number in range(COUNT):
            members.start(number)
        settled(members, "range")
        return members

    return make


def test_java_from_eager_to_cooperative_and_back(java: Callable[..., Java]) -> None:
    """Two rolling restarts each way; nobody is refused."""
    members = java("java")
    way = way_of(runbook_of(members, "cooperative-sticky"), members)
    assert [each["restart"] for each in way["rounds"]] == ["rolling", "rolling"]
    do(members, way["rounds"])
    do(members, way["back"])
    members.end()


@pytest.mark.parametrize("strategy", ["lag-aware", pytest.param("fair", marks=pytest.mark.nightly)])
def test_java_ships_our_class_and_gets_what_the_replay_says(
    java: Callable[..., Java], strategy: str
) -> None:
    """One rolling restart, as `runbook` prints it, to the assignment of our strategy; the leader reads the lags."""
    records = [60, 10, 50, 0, 40, 20]
    own = {"auto.offset.reset": "earliest", "enable.auto.commit": "false"}
    members = java(f"ours-{strategy}", **own)
    members.stage.produce(members.topic, records)
    way = way_of(runbook_of(members, strategy), members)
    assert [each["restart"] for each in way["rounds"]] == ["rolling"]
    do(members, way["rounds"])
    owners = {partition: one.id for partition, one in (at_rest(members) or {}).items()}
    ids = {one: [members.topic] for one in owners.values()}
    group = spec(ids, {members.topic: 6}, lags={members.topic: records})
    given = by_name(strategy).assign(group).owner.tolist()
    assert (len(ids), owners) == (3, {p: group.members[owner] for p, owner in enumerate(given)})
    assert not [line for line in members.jvm.warned() if members.name in line]
    members.end()


@pytest.mark.nightly
def test_java_from_classic_to_the_protocol_of_the_broker_and_back(
    java: Callable[..., Java],
) -> None:
    """Member by member, then by another assignor of the broker, and all the way back."""
    members = java("to-consumer")
    runbook = way_of(runbook_of(members, "uniform"), members)
    do(members, runbook["rounds"])
    assert "session.timeout.ms" not in members.settings
    other = way_of(runbook_of(members, "range-server"), members)
    do(members, other["rounds"])
    do(members, other["back"])
    do(members, runbook["back"])
    assert seen(members)["group_type"] == "classic"
    members.end()


def test_librdkafka_stops_and_starts(stage: Stage) -> None:
    """It refuses eager and cooperative strategies in one list."""
    settings = {"partition.assignment.strategy": "range", "session.timeout.ms": "10000"}
    with closing_members(Librdkafka(stage, "rdkafka", settings)) as members:
        settled(members, "range")
        way = way_of(runbook_of(members, "cooperative-sticky"), members)
        assert [each["restart"] for each in (*way["rounds"], *way["back"])] == ["all", "all"]
        do(members, way["rounds"])


@pytest.mark.nightly
def test_librdkafka_to_the_protocol_of_the_broker_and_back(stage: Stage) -> None:
    """A rolling restart each way."""
    settings = {"partition.assignment.strategy": "range", "session.timeout.ms": "10000"}
    with closing_members(Librdkafka(stage, "rd-consumer", settings)) as members:
        settled(members, "range")
        way = way_of(runbook_of(members, "uniform"), members)
        do(members, way["rounds"])
        do(members, way["back"])


def test_kafka_python_to_another_strategy_and_to_a_plan(stage: Stage, tmp_path: Path) -> None:
    """One restart for another eager one; for a plan the follower, the plan, and one member's restart."""
    ranged = "[kafka.coordinator.assignors.range.RangePartitionAssignor]"
    members = KafkaPython(stage, "python", {"partition_assignment_strategy": ranged})
    members.plan = str(tmp_path / "plan.json")
    with closing_members(members):
        settled(members, "range")
        way = way_of(runbook_of(members, "roundrobin"), members)
        do(members, way["rounds"])
        runbook = runbook_of(members, "fair")
        assert "librdkafka" in runbook["without_it"]
        plan = way_of(runbook_of(members, "balanced"), members)
        assert plan["rounds"][-1]["restart"] == "one"
        assert (
            PLAN_PLACE
            in plan["rounds"][0]["settings"]["kafka-python"]["partition_assignment_strategy"]
        )
        do(members, plan["rounds"][:-1])
        place = ("--bootstrap", stage.bootstrap, "--strategy", "balanced", "--out", members.plan)
        evenkeel("plan", "--group", members.name, *place)
        do(members, plan["rounds"][-1:])
        do(members, plan["back"])


@pytest.mark.nightly
def test_static_members_are_waited_for(stage: Stage, tmp_path: Path) -> None:
    """Nobody is refused after a stop of all, and a plan is followed once a member was away for its session."""
    ranged = "[kafka.coordinator.assignors.range.RangePartitionAssignor]"
    members = KafkaPython(stage, "static", {"partition_assignment_strategy": ranged})
    members.static, members.plan = True, str(tmp_path / "plan.json")
    with closing_members(members):
        settled(members, "range")
        way = way_of(runbook_of(members, "cooperative-sticky"), members)
        assert "Empty" in way["rounds"][0]["who"]
        do(members, way["rounds"])
        do(members, way["back"])
        to_plan = way_of(runbook_of(members, "balanced"), members)["rounds"]
        do(members, to_plan[:-1])
        place = ("--bootstrap", stage.bootstrap, "--strategy", "roundrobin", "--out", members.plan)
        evenkeel("plan", "--group", members.name, *place)
        assert "after its session.timeout.ms" in to_plan[-1]["why"]
        do(members, to_plan[-1:])
        assert runbook_of(members, "roundrobin")["then"]["is_running"] is True
