"""A classic group whose leader may not DESCRIBE a topic that members subscribe to: its partitions have no owner."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AclOperation, ResourceType
from kafka import TopicPartition
from kafka.structs import OffsetAndMetadata

from tests.helpers.kafka_stage import Stage, close, commit_for
from tests.helpers.secured_broker import SecuredBroker
from tests.integration.cli.conftest import objects
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.secured_fixtures",)
pytestmark = [pytest.mark.kafka, pytest.mark.slow]

PREFIX = "evenkeel-test-denied-"


def await_owned(*owned: tuple[Consumer, int]) -> None:
    """Wait until each consumer owns so many partitions; that it may not read a topic, it is told by an error."""

    def settled() -> bool:
        return all([each.poll(0.1) is None and len(each.assignment()) == n for each, n in owned])

    wait_until(settled, 120, "the members to own their partitions")


def test_the_topic_that_its_leader_may_not_describe_is_named(
    run: Any, secured_broker: SecuredBroker
) -> None:
    """By `lag` and `advise`, with who subscribes and what to do; it helps, and a rebalance is not advised."""
    with Stage.on(secured_broker.bootstrap, PREFIX) as stage:
        seen, denied = stage.topic("seen", [5, 5]), stage.topic("denied", [7, 7])
        group = f"{PREFIX}app"
        read = {
            TopicPartition(topic, p): OffsetAndMetadata(2, "", -1)
            for topic in (seen, denied)
            for p in range(2)
        }
        commit_for(stage.admin, group, read)
        may_read = [(ResourceType.GROUP, group), (ResourceType.TOPIC, seen)]
        secured_broker.grant([(*what, AclOperation.READ) for what in may_read])

        def joined(name: str, **settings: str) -> Consumer:
            own = {"client.id": name, "enable.auto.commit": False, "log_level": 1}
            where = {"bootstrap.servers": stage.bootstrap, "group.id": group}
            consumer = Consumer({**where, **own, **settings})
            stage.ending.callback(close, consumer)
            consumer.subscribe([seen, denied])
            return consumer

        login = secured_broker.by_password("SCRAM-SHA-512")
        login["bootstrap.servers"] = secured_broker.address("login")
        leader = joined("leader", **login)
        await_owned((leader, 2))
        other = joined("other")
        await_owned((leader, 1), (other, 1))

        asked = ("--bootstrap", stage.bootstrap, "--group", group)
        told = " ".join(run("lag", *asked).stdout.split())
        assert "unassigned partitions" in told
        assert f"2 partitions of 4 have no owner ({denied}-0, {denied}-1)" in told
        assert f"no partition of {denied} has an owner; 1 of 2 members subscribes to them" in told
        assert f"Check that every member may describe topic {denied}" in told
        owners = {(row["topic"], row["client_id"]) for row in objects(run("lag", *asked, "--json"))}
        assert owners == {(seen, "leader"), (seen, "other"), (denied, None)}
        [advice] = objects(run("advise", *asked, "--json"))
        assert (advice["diagnosis"], advice["verdict"]) == ("unassigned partitions", "stay")

        secured_broker.grant([(ResourceType.TOPIC, denied, AclOperation.READ)])
        close(leader)
        close(other)
        leader = joined("leader", **login)
        await_owned((leader, 4))
        assert "no owner" not in run("lag", *asked).stdout
