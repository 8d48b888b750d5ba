"""Groups that own partitions of topics which the brokers do not name to us."""

from __future__ import annotations

from typing import Any

import pytest

from engine.adapters.kafka.groups import Group
from engine.adapters.kafka.reader import _note_hidden_topics
from engine.adapters.kafka.topics import Partition, Topics
from engine.model import GroupType

ORDERS = Partition(topic="orders", topic_id=None, number=0, leader=1, replicas=[1], in_sync=[1])


def noted(kind: GroupType, topics: Topics, *assigned: list[str] | None) -> list[str]:
    """The errors of one group whose members own partitions of these topics."""
    group = Group(id="app", type=kind, state="Stable", protocol_type="consumer", coordinator=1)
    rows: list[dict[str, Any]] = [
        {"group_id": "app", "assigned_topics": each} if each is not None else {"group_id": "app"}
        for each in assigned
    ]
    _note_hidden_topics({"app": group}, rows, topics)
    return group.errors


def test_each_hidden_topic_is_an_error_of_its_group() -> None:
    """Once, however many members own some of it; topics that are known are none."""
    topics = Topics(partitions=[ORDERS])
    owned = (["orders", "private"], ["private", "audit"], None)
    assert noted(GroupType.CLASSIC, topics, *owned) == [
        "topic audit: hidden or gone (grant this client DESCRIBE on the topic)",
        "topic private: hidden or gone (grant this client DESCRIBE on the topic)",
    ]


@pytest.mark.parametrize("kind", [GroupType.CONSUMER, GroupType.STREAMS])
def test_other_groups_are_the_brokers_affair(kind: GroupType) -> None:
    """They are not described at all to whom may not see one of their topics."""
    assert noted(kind, Topics(partitions=[ORDERS]), ["private"]) == []


def test_topics_that_could_not_be_asked_for_are_not_called_hidden() -> None:
    """That has its own line; a client without any right to topics is another matter."""
    assert noted(GroupType.CLASSIC, Topics(problems=["topics: no answer"]), ["orders"]) == []
    assert len(noted(GroupType.CLASSIC, Topics(), ["orders"])) == 1
