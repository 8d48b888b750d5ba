"""Groups of kafka-python consumers on real brokers that follow a plan, through all that happens to a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from confluent_kafka import Producer
from kafka.admin import MemberToRemove
from kafka.coordinator.assignors.range import RangePartitionAssignor

from evenkeel.engine.followers.kafka_python import PlanAssignor
from evenkeel.engine.followers.plan import Plan, PlannedMember
from evenkeel.engine.followers.sources import Reading, SourceError, source_of
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.snapshots import groups_of
from tests.helpers.following import SECONDS, Consumers
from tests.helpers.kafka_stage import Stage, taken
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = pytest.mark.kafka

Planned = dict[str, list[int]]
"""Name -> partition numbers, ascending."""


def plan(consumers: Consumers, planned: Planned, *, static: bool = True) -> Plan:
    """Which of them shall read which partitions."""
    now = utc_now()
    members = []
    for name, own in planned.items():
        partitions = {consumers.topic: tuple(own)}
        if static:
            members.append(PlannedMember(instance_id=name, partitions=partitions))
        else:
            here = "/127.0.0.1"
            members.append(PlannedMember(client_id=name, host=here, partitions=partitions))
    return Plan(
        group=consumers.group,
        members=tuple(members),
        made_at=now,
        valid_until=now + timedelta(days=7),
        fallback="cooperative-sticky",
        strategy="balanced",
    )


def is_seen_to_follow(consumers: Consumers, strategy: str | None) -> None:
    """Wait until evenkeel sees which plan the group follows: a last rebalance may be under way."""
    what = f"{consumers.group} to be seen to follow {strategy}"
    wait_until(lambda: _followed(consumers) == {strategy}, SECONDS, what)


def _followed(consumers: Consumers) -> set[str | None]:
    snapshot = taken(consumers.stage.bootstrap, consumers.group, consumers.topic)
    (found,) = groups_of(snapshot.tables, snapshot.started_at)
    return {member.follows for member in found.members}


def read_by_all(owned: Mapping[str, list[int]]) -> list[int]:
    """Partition numbers that somebody reads."""
    return sorted(number for own in owned.values() for number in own)


def test_static_members_follow_a_plan_in_a_file(stage: Stage, tmp_path: Path) -> None:
    """Through restarts, which move nothing, a member that is added, ones that leave, and until the plan expires."""
    path = tmp_path / "plan.json"
    planned = {"a": [0], "b": [1, 2, 3], "c": [4, 5]}
    topic = stage.topic("file", [0] * 6)
    with Consumers.of(stage, "file", topic) as consumers:

        def start(name: str, static: bool = True) -> None:
            consumers.start(name, [PlanAssignor(plan=path, group=consumers.group)], static=static)

        now = plan(consumers, planned)
        path.write_text(now.to_json())
        for name in planned:
            start(name)
        consumers.settle_on(**planned)
        is_seen_to_follow(consumers, "balanced")

        for name, own in planned.items():
            consumers.taken.clear()
            consumers.stop(name)
            start(name)
            consumers.settle(lambda owned: owned == planned, f"{name} to be back")
            # it gave up its own when it closed, nobody else gave up anything
            assert consumers.taken == [(name, number) for number in own]

        start("d", static=False)
        consumers.settle(
            lambda owned: bool(owned["d"]) and read_by_all(owned) == [*range(6)],
            "a share for a member that the plan does not know",
        )
        owned = consumers.owned
        share = owned["d"]
        left = {name: [n for n in own if n not in share] for name, own in planned.items()}
        assert owned == left | {"d": share}

        consumers.stop("d")
        consumers.settle_on(**planned)

        consumers.stop("c")
        stage.admin.remove_group_members(consumers.group, [MemberToRemove(group_instance_id="c")])
        consumers.settle(
            lambda owned: read_by_all(owned) == [*range(6)], "the share of a member that has left"
        )
        assert set(planned["a"]) < set(consumers.owned["a"])
        assert set(planned["b"]) <= set(consumers.owned["b"])

        path.write_text(replace(now, valid_until=utc_now()).to_json())
        start("c")
        consumers.settle(
            lambda owned: [len(own) for own in owned.values()] == [2, 2, 2],
            "what cooperative-sticky gives when the plan has expired",
        )
        is_seen_to_follow(consumers, None)
        assert not consumers.twice


@pytest.mark.nightly
def test_dynamic_members_follow_a_plan_in_a_topic(stage: Stage) -> None:
    """The newest record of their group; known by client id and address, they are who they were after a restart."""
    topic = stage.topic("topic", [0] * 4)
    plans = stage.topic("plans", [0, 0], cleanup_policy="compact")
    with Consumers.of(stage, "topic", topic) as consumers:

        def put(planned: Planned | None, key: str = consumers.group) -> None:
            value = None if planned is None else plan(consumers, planned, static=False).to_json()
            producer = Producer({"bootstrap.servers": stage.bootstrap, "log_level": 1})
            producer.produce(plans, value, key)
            assert producer.flush(60) == 0

        def start(name: str) -> None:
            follower = PlanAssignor(
                plan=f"topic:{plans}",
                group=consumers.group,
                timeout_seconds=30,
                client={"bootstrap_servers": stage.bootstrap.split(",")},
            )
            consumers.start(name, [follower], static=False)

        put({"p": [0, 1], "q": [2, 3]})
        put({"p": [3], "q": [0, 1, 2]})
        put({"p": [0, 1, 2, 3], "q": []}, "another")
        for name in ("p", "q"):
            start(name)
        consumers.settle_on(p=[3], q=[0, 1, 2])

        consumers.stop("p")
        consumers.settle_on(q=[0, 1, 2, 3])
        start("p")
        consumers.settle_on(q=[0, 1, 2], p=[3])

        put({"p": [0, 1, 2], "q": [3]})
        consumers.stop("q")
        consumers.settle_on(p=[0, 1, 2, 3])
        start("q")
        consumers.settle_on(p=[0, 1, 2], q=[3])

        put(None)
        consumers.stop("q")
        consumers.settle_on(p=[0, 1, 2, 3])
        start("q")
        consumers.settle(
            lambda owned: [len(own) for own in owned.values()] == [2, 2],
            "the fallback's halves when the plan was taken back",
        )
        is_seen_to_follow(consumers, None)
        assert not consumers.twice


@pytest.mark.nightly
def test_a_topic_without_a_plan_is_said_to_have_none(stage: Stage) -> None:
    """One that is not there, which stays so, and one that is empty."""
    client = {"bootstrap_servers": stage.bootstrap.split(",")}
    missing, empty = f"{stage.prefix}missing", stage.topic("empty", [0])
    with pytest.raises(SourceError, match="there is no such topic"):
        Reading(source_of(f"topic:{missing}", "g", client), 60).read()
    assert missing not in stage.admin.list_topics()
    with pytest.raises(SourceError, match="it has no record of key 'g'"):
        Reading(source_of(f"topic:{empty}", "g", client), 60).read()


@pytest.mark.nightly
def test_a_group_that_ran_range_comes_to_follow_a_plan(stage: Stage, tmp_path: Path) -> None:
    """By a rolling restart that puts the follower before range, then one without range, which makes it cooperative."""
    path = tmp_path / "plan.json"
    topic = stage.topic("range", [0] * 4)
    with Consumers.of(stage, "range", topic) as consumers:
        path.write_text(plan(consumers, {"a": [3], "b": [0, 1, 2]}).to_json())
        for name in ("a", "b"):
            consumers.start(name, [RangePartitionAssignor])
        consumers.settle_on(a=[0, 1], b=[2, 3])

        eager = {"plan": path, "group": consumers.group, "eager": True}
        consumers.stop("a")
        consumers.start("a", [PlanAssignor(**eager), RangePartitionAssignor])
        consumers.settle_on(b=[2, 3], a=[0, 1])
        consumers.stop("b")
        consumers.start("b", [PlanAssignor(**eager), RangePartitionAssignor])
        consumers.settle_on(a=[3], b=[0, 1, 2])

        for name in ("a", "b"):
            consumers.stop(name)
            consumers.start(name, [PlanAssignor(plan=path, group=consumers.group)])
            consumers.settle(
                lambda owned: owned == {"a": [3], "b": [0, 1, 2]}, f"{name} to be cooperative"
            )
        is_seen_to_follow(consumers, "balanced")
