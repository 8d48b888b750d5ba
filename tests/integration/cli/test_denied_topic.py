"""A classic group whose leader may not DESCRIBE a topic that members subscribe to: its partitions get no owner."""

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


def test_x(run: Any, secured_broker: SecuredBroker) -> None:
    prefix = "evenkeel-test-denied-"
    with Stage.on(secured_broker.bootstrap, prefix) as stage:
        seen, denied = stage.topic("seen", [5, 5]), stage.topic("denied", [7, 7])
        group = prefix + "app"
        commit_for(stage.admin, group, {TopicPartition(t, p): OffsetAndMetadata(2, "", -1) for t in (seen, denied) for p in (0, 1)})
        secured_broker.grant([
            (ResourceType.GROUP, group, AclOperation.READ),
            (ResourceType.TOPIC, seen, AclOperation.READ),
        ])
        login = secured_broker.by_password("SCRAM-SHA-512") | {"bootstrap.servers": secured_broker.address("login")}
        leader = stage.member("app", [seen, denied], 2, **login)
        print("leader", leader.assignment())
        other = Consumer({"bootstrap.servers": stage.bootstrap, "group.id": group, "client.id": "other", "enable.auto.commit": False, "topic.metadata.refresh.interval.ms": 1000})
        stage.ending.callback(close, other)
        other.subscribe([seen, denied])
        def settled():
            for each in (leader, other):
                m = each.poll(0.1)
                if m is not None and m.error(): print(m.error())
            return len(leader.assignment()) == 1 and len(other.assignment()) == 1
        wait_until(settled, 60, "both")
        for args in (("lag",), ("advise",)):
            r = run(*args, "--bootstrap", stage.bootstrap, "--group", group)
            print(r.output)
        print(objects(run("lag", "--bootstrap", stage.bootstrap, "--group", group, "--json")))
