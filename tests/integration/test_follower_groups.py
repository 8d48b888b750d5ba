"""Groups of Java's consumers, and of Java's and Python's, follow a plan on real brokers, whatever happens to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AclOperation, ResourceType

from evenkeel.engine.followers.kafka_python import PlanAssignor
from tests.helpers.following import SECONDS, Consumers
from tests.helpers.kafka_stage import Stage
from tests.helpers.secured_broker import READER, READER_PASSWORD, SecuredBroker
from tests.oracle.follower import FollowerGroupJvm
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures", "tests.helpers.secured_fixtures")
pytestmark = pytest.mark.kafka

OURS = "io.evenkeel.EvenkeelPlanAssignor"
COOPERATIVE, EAGER = (
    f"org.apache.kafka.clients.consumer.{name}Assignor" for name in ("CooperativeSticky", "Range")
)
HOST = "127.0.0.1"
"""As the brokers of the fixtures see every member."""

Owned = dict[str, list[int]]
"""Member -> partitions of the one topic."""


class Group:
    """A group of Java's members that consumes one topic of 12 partitions; a member is known by its client id."""

    def __init__(self, jvm: FollowerGroupJvm, stage: Stage, name: str, plan: str) -> None:
        self.jvm, self.stage, self.plan = jvm, stage, plan
        self.name = stage.prefix + name
        self.topic = stage.topic(f"{name}-topic", [0] * 12)
        self.members: list[str] = []
        stage.ending.callback(self.end)

    def end(self) -> None:
        """All that are there leave."""
        for member in list(self.members):
            self.stop(member)

    def start(self, member: str, *strategies: str, **more: str) -> None:
        """A member that lists these strategies."""
        settings = {
            "bootstrap.servers": self.stage.bootstrap,
            "group.id": self.name,
            "client.id": member,
            "partition.assignment.strategy": ",".join(strategies),
            "heartbeat.interval.ms": "200",
            "session.timeout.ms": "30000",
            "evenkeel.plan": self.plan,
            "evenkeel.plan.timeout.ms": "25000",
            **more,
        }
        self.members.append(member)
        self.jvm.start(self.name + member, settings, [self.topic])

    def stop(self, member: str) -> None:
        """A member leaves."""
        self.members.remove(member)
        self.jvm.stop(self.name + member)

    def owned(self) -> Owned:
        """Who has what now."""
        owned = self.jvm.owned()
        return {member: [n for _, n in owned[self.name + member]] for member in self.members}

    def until(self, expected: Callable[[Owned], bool], what: str) -> Owned:
        """Wait for what members own, which is then complete."""

        def reached() -> Owned | None:
            owned = self.owned()
            complete = sorted(n for own in owned.values() for n in own) == list(range(12))
            return owned if complete and expected(owned) else None

        try:
            return wait_until(reached, SECONDS, what) or {}
        except Exception as problem:
            raise AssertionError(f"{problem}: {self.owned()}, {self.told()}") from problem

    def told(self) -> list[str]:
        """What the followers of this group warned of, without its name."""
        mark = f"Group {self.name}: "
        return [line.removeprefix(mark) for line in self.jvm.warned() if line.startswith(mark)]

    def write(self, planned: Owned, **more: Any) -> str:
        """A plan, as it is stored."""
        at = datetime.now(UTC)
        entries = [
            {"client_id": member, "host": f"/{HOST}", "partitions": {self.topic: own}}
            if not member.startswith("static")
            else {"instance_id": member, "partitions": {self.topic: own}}
            for member, own in planned.items()
        ]
        plan = {
            "schema": "evenkeel-plan/1",
            "group": self.name,
            "made_at": at.isoformat(),
            "valid_until": (at + timedelta(days=7)).isoformat(),
            "fallback": "cooperative-sticky",
            "strategy": "balanced",
            "topics": {},
            "members": entries,
        }
        return json.dumps(plan | more)


PLANNED = {"a": [0, 1, 2, 3, 4, 11], "b": [5, 6, 7, 8], "static-c": [9, 10]}


def test_a_cooperative_group_follows_a_file(
    members_jvm: FollowerGroupJvm, stage: Stage, tmp_path: Path
) -> None:
    """
    A rolling restart brings it to the plan, which holds when a member leaves; when it has expired the fallback evens
    out, and says why once. At no moment do two members have the same partition.
    """
    path = tmp_path / "plan.json"
    group = Group(members_jvm, stage, "cooperative", str(path))
    path.write_text(group.write(PLANNED))
    instance = {"static-c": {"group.instance.id": "static-c"}}
    for member in PLANNED:
        group.start(member, COOPERATIVE, **instance.get(member, {}))
    group.until(lambda owned: [len(own) for own in owned.values()] == [4, 4, 4], "an even group")
    for member in PLANNED:
        group.stop(member)
        group.start(member, OURS, COOPERATIVE, **instance.get(member, {}))
        group.until(lambda owned: all(owned.values()), f"{member} to be back")
    group.until(lambda owned: owned == PLANNED, "the plan")
    group.stop("b")
    left = group.until(lambda owned: len(owned) == 2, "what b had")
    assert {n: own for n in ("a", "static-c") if (own := set(PLANNED[n]) - set(left[n]))} == {}
    group.start("b", OURS, COOPERATIVE)
    group.until(lambda owned: owned == {n: PLANNED[n] for n in owned}, "the plan again")
    soon = datetime.now(UTC) + timedelta(seconds=2)
    path.write_text(group.write(PLANNED, valid_until=soon.isoformat()))
    assert not [line for line in group.told() if "expired" in line]
    wait_until(lambda: datetime.now(UTC) > soon, 60, "the plan to expire")
    for member in ("a", "b"):
        group.jvm.rebalance(group.name + member)
        group.until(lambda owned: {len(own) for own in owned.values()} == {4}, "an even group")
    assert [line for line in group.told() if "expired" in line] == [
        f"the plan expired at {soon:%Y-%m-%d %H:%M:%S} UTC; cooperative-sticky decides"
    ]


def publish(stage: Stage, topic: str, plans: dict[str, str | None]) -> None:
    """Plans by group; None takes one back."""
    producer = Producer({"bootstrap.servers": stage.bootstrap, "log_level": 1})
    for group, plan in plans.items():
        producer.produce(topic, plan, group)
    assert producer.flush(30) == 0


@pytest.mark.nightly
def test_an_eager_group_follows_a_topic(members_jvm: FollowerGroupJvm, stage: Stage) -> None:
    """The newest record of its name, at the next rebalance; without one, or without the topic, the fallback decides."""
    plans = stage.prefix + "plans"
    group = Group(members_jvm, stage, "eager", f"topic:{plans}")
    for member in ("a", "b"):
        group.start(member, OURS, EAGER, **{"evenkeel.plan.fallback": "range"})
    by_range = group.until(lambda owned: [len(own) for own in owned.values()] == [6, 6], "range")
    assert plans not in stage.admin.list_topics()
    assert group.told() == [
        f"no plan can be read from topic {plans} (there is no such topic); range decides"
    ]
    assert stage.topic("plans", [0, 0], cleanup_policy="compact") == plans
    first = {"a": [0], "b": list(range(1, 12))}
    second = {"a": [1, 2, 3], "b": [0, *range(4, 12)]}

    ours = group.name
    publish(stage, plans, {"other": group.write(second), ours: group.write(second)})
    publish(stage, plans, {ours: group.write(first), "another": "{"})
    group.jvm.rebalance(group.name + "a")
    group.until(lambda owned: owned == first, "the newest plan")
    publish(stage, plans, {ours: group.write(second)})
    group.jvm.rebalance(group.name + "b")
    group.until(lambda owned: owned == second, "the plan after it")
    publish(stage, plans, {ours: None})
    group.jvm.rebalance(group.name + "a")
    group.until(lambda owned: owned == by_range, "range again")
    assert f"it has no record whose key is '{group.name}'" in group.told()[-1]


@pytest.mark.nightly
def test_a_topic_is_read_with_the_rights_of_the_application(
    members_jvm: FollowerGroupJvm, secured_broker: SecuredBroker
) -> None:
    """By its own login; without the right to read the topic the fallback decides, and no password is in the log."""
    with Stage.on(secured_broker.bootstrap, "evenkeel-test-follower-") as stage:
        plans = stage.topic("plans", [0])
        group = Group(members_jvm, stage, "secured", f"topic:{plans}")
        rights = [(ResourceType.TOPIC, group.topic), (ResourceType.GROUP, group.name)]
        secured_broker.grant([(kind, name, AclOperation.READ) for kind, name in rights])
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        login = {
            "bootstrap.servers": secured_broker.address("bare"),
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f'{module} required username="{READER}" password="{READER_PASSWORD}";',
        }
        for member in ("a", "b"):
            group.start(member, OURS, COOPERATIVE, **login)
        group.until(lambda owned: [len(own) for own in owned.values()] == [6, 6], "halves")
        (reason,) = group.told()
        assert f"topic {plans} (TopicAuthorizationException: " in reason
        planned = {"a": [0], "b": list(range(1, 12))}
        publish(stage, plans, {group.name: group.write(planned)})
        secured_broker.grant([(ResourceType.TOPIC, plans, AclOperation.READ)])

        def followed(owned: Owned) -> bool:
            if owned != planned:  # what was granted takes a moment to be known
                members_jvm.rebalance(group.name + "a")
            return owned == planned

        group.until(followed, "the plan")
        assert READER_PASSWORD not in members_jvm.log.read_text()
        for member in ("a", "b"):
            group.stop(member)


@pytest.mark.nightly
@pytest.mark.parametrize("leader", ["java", "python"])
def test_members_of_both_kinds_follow_one_plan(
    members_jvm: FollowerGroupJvm, stage: Stage, tmp_path: Path, leader: str
) -> None:
    """Whoever leads: the other's addresses and claims are understood."""
    path = tmp_path / "plan.json"
    group = Group(members_jvm, stage, f"led-by-{leader}", str(path))
    planned = {"a": [0, 1, 2, 3, 4, 11], "p": [5, 6, 7], "b": [8, 9, 10]}
    path.write_text(group.write(planned))
    if leader == "java":
        group.start("a", OURS, COOPERATIVE)
        group.until(lambda owned: len(owned["a"]) == 12, "all of it")
    with Consumers.of(stage, f"led-by-{leader}", group.topic) as python:
        follower = PlanAssignor(plan=group.plan, group=group.name, timeout_seconds=25)
        python.start("p", [follower], static=False)
        python.settle(
            lambda owned: set(planned["p"]) <= set(owned["p"]), "the one in Python to have its part"
        )
        if leader == "python":
            group.start("a", OURS, COOPERATIVE)
        group.start("b", OURS, COOPERATIVE)
        wait_until(lambda: group.owned() | python.owned == planned, SECONDS, "the plan")
