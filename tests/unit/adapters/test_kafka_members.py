"""Descriptions of groups as rows: every kind of member, racks by precedence, damaged blobs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from kafka.protocol.admin import DescribeGroupsResponse
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from evenkeel.engine.adapters.kafka.groups import Group
from evenkeel.engine.adapters.kafka.members import MemberReader, RackFor, topology_json, used_topics
from evenkeel.engine.adapters.kafka.messages import (
    ConsumerGroupDescribeResponse,
    ShareGroupDescribeResponse,
    StreamsGroupDescribeResponse,
)
from evenkeel.engine.config import Filter
from evenkeel.engine.model.states import GroupType

Consumer = ConsumerGroupDescribeResponse.DescribedGroup
Streams = StreamsGroupDescribeResponse.DescribedGroup
COUNTS = {"orders": 4, "pay": 2, "app-repartition": 4}


def reader(
    rack_for: RackFor = lambda *_: None,
    topics: Filter = Filter(),  # noqa: B008
    counts: Mapping[str, int] | None = None,
) -> MemberReader:
    """A reader that knows three topics, or those of *counts*."""
    return MemberReader(counts or COUNTS, topics, rack_for)


def group(kind: GroupType, described: Any) -> Group:
    """A listed group with its description."""
    return Group("app", kind, "Stable", "consumer", 1, described)


def metadata(version: int = 3, **values: Any) -> bytes:
    """A subscription to orders."""
    whole = {"topics": ["orders"], "user_data": None, "generation_id": 5, **values}
    return ConsumerProtocolSubscription(version=version, **whole).encode()


def assignment(user_data: bytes | None = None, **partitions: list[int]) -> bytes:
    """Topic -> partitions."""
    entry = ConsumerProtocolAssignment.TopicPartition
    rows = [entry(topic=t, partitions=p) for t, p in partitions.items()]
    return ConsumerProtocolAssignment(
        version=1, assigned_partitions=rows, user_data=user_data
    ).encode()


def classic(
    blobs: list[tuple[bytes, bytes]], *, protocol: str = "range", kind: str = "consumer"
) -> Group:
    """A classic group with one member per pair of blobs."""
    described = DescribeGroupsResponse.DescribedGroup
    members = [
        described.DescribedGroupMember(
            member_id=f"m{n}",
            group_instance_id="static" if n == 1 else None,
            client_id=f"client-{n}",
            client_host=f"/10.0.0.{n}",
            member_metadata=said,
            member_assignment=owns,
        )
        for n, (said, owns) in enumerate(blobs, 1)
    ]
    return group(
        GroupType.CLASSIC,
        described(group_id="app", protocol_type=kind, protocol_data=protocol, members=members),
    )


def test_a_classic_member_is_decoded_and_keeps_its_blobs() -> None:
    """Subscription, generation, rack and assignment come from the blobs, which stay as they were."""
    blobs = (metadata(rack_id="rack-a"), assignment(orders=[2, 0]))
    one = classic([blobs])
    (row,) = reader().rows(one)
    assert row["subscription"] == ["orders"]
    assert (row["generation"], row["rack"], row["rack_source"]) == (5, "rack-a", "subscription")
    assert list(zip(row["assigned_topics"], row["assigned_partitions"], strict=True)) == [
        ("orders", 2),
        ("orders", 0),
    ]
    assert (row["metadata"], row["assignment"]) == blobs
    assert (row["instance_id"], row["position"], row["kind"]) == ("static", 0, "classic")
    assert one.errors == []


def test_user_data_is_kept_for_a_strategy_that_is_not_known() -> None:
    """Only its own class can read it; that of Kafka's strategies says what the member owned, which is known anyway."""
    blobs = [(metadata(user_data=b"heavy"), assignment()), (metadata(), assignment())]
    own, stock = (reader().rows(classic(blobs, protocol=name)) for name in ("own", "sticky"))
    assert [row["user_data"] for row in own] == [b"heavy", None]
    assert [row.get("user_data") for row in stock] == [None, None]


@pytest.mark.parametrize(
    ("told", "follows"),
    [
        (b'{"evenkeel": 1, "follows": "balanced", "token": "x"}', "balanced"),
        (b'{"evenkeel": 1, "follows": null}', None),
        (b'{"follows": "balanced"}', None),
        (b"\xff", None),
        (None, None),
    ],
)
def test_the_plan_that_a_group_follows_is_what_its_leader_says(
    told: bytes | None, follows: str | None
) -> None:
    """With each assignment; what is no such word, or stands under another protocol, says nothing."""
    blobs = [(metadata(), assignment(told, orders=[1]))]
    (row,) = reader().rows(classic(blobs, protocol="evenkeel-plan"))
    assert (row["follows"], row["assigned_partitions"]) == (follows, [1])
    (other,) = reader().rows(classic(blobs, protocol="range"))
    assert other.get("follows") is None


def test_a_rebalancing_group_shows_members_without_claims() -> None:
    """Both blobs are empty then; nothing said about ownership is not the same as owning nothing."""
    (row,) = reader().rows(classic([(b"", b"")], protocol=""))
    assert row["member_id"] == "m1"
    assert row.get("subscription") is None
    assert row.get("assigned_topics") is None
    assert row["metadata"] is None


def test_an_idle_member_owns_nothing() -> None:
    """A member that was given nothing, by an empty list or no list at all."""
    rows = reader().rows(classic([(metadata(), assignment()), (metadata(), b"")]))
    assert [row["assigned_partitions"] for row in rows] == [[], []]


@pytest.mark.parametrize("damage", [0, 1])
def test_a_damaged_blob_is_an_error_of_its_group(damage: int) -> None:
    """The other member is decoded, the damaged one keeps its bytes, the group says who it is."""
    blobs = [metadata(), assignment(orders=[1])]
    blobs[damage] = blobs[damage][:-3]
    one = classic([(blobs[0], blobs[1]), (metadata(), assignment(orders=[3]))])
    bad, good = reader().rows(one)
    assert one.errors[0].startswith("member m1 cannot be decoded: ")
    assert bad[("metadata", "assignment")[damage]] == blobs[damage]
    assert bad.get("assigned_partitions") is None
    assert good["assigned_partitions"] == [3]


NEGATIVE = "it has partition -1 of topic orders; no topic has a negative partition"
NO_NAME = "letters, digits and . _ - make a topic's name, at most 249"


@pytest.mark.parametrize(
    ("said", "owns", "why"),
    [
        (metadata(), assignment(orders=[1, -1]), NEGATIVE),
        (metadata(topics=["orders", "a b"]), assignment(), f"it names topic 'a b'; {NO_NAME}"),
        (metadata(), assignment(**{"\x1b[2J": [0]}), rf"it names topic '\x1b[2J'; {NO_NAME}"),
        (metadata(), assignment(**{"x" * 300: [0]}), f"it names topic '{'x' * 59}…'; {NO_NAME}"),
    ],
    ids=["negative", "subscription", "control characters", "long"],
)
def test_what_no_topic_can_have_is_refused(said: bytes, owns: bytes, why: str) -> None:
    """The group says who claims it; that member's claims are unknown, the other member's are not."""
    one = classic([(said, owns), (metadata(), assignment(orders=[3]))])
    bad, good = reader().rows(one)
    assert one.errors == [f"member m1 cannot be decoded: {why}"]
    assert bad["assignment"] == owns
    assert bad.get("assigned_partitions") is None
    assert bad.get("subscription") is None
    assert good["assigned_partitions"] == [3]


def test_a_partition_that_the_topic_has_no_more_is_kept() -> None:
    """A topic that was made anew may have fewer than the group's members still hold; that is found out later."""
    one = classic([(metadata(), assignment(orders=[2**31 - 1, 1, 1], gone=[0]))])
    (row,) = reader().rows(one)
    assert row["assigned_partitions"] == [2**31 - 1, 1, 1, 0]
    assert one.errors == []


def test_a_negative_partition_of_a_newer_protocol_is_refused() -> None:
    """Of a target assignment, too; a task of Kafka Streams that can be none reads nothing."""
    members = [
        consumer(assignment=held(orders=[-1])),
        consumer(target_assignment=held(orders=[-1])),
    ]
    one = group(GroupType.CONSUMER, Consumer(members=[*members, consumer()]))
    *bad, good = reader().rows(one)
    assert one.errors == [f"member m1 cannot be decoded: {NEGATIVE}"] * 2
    assert [row.get("target_partitions", "unknown") for row in bad] == ["unknown"] * 2
    assert good["target_partitions"] == []
    streams = streams_group()
    streams.described.members[0].assignment.active_tasks[0].partitions = [-1, 1]
    (row,) = reader().rows(streams)
    assert -1 not in row["assigned_partitions"]


def test_a_member_of_an_id_that_cannot_be_kept_is_left_out() -> None:
    """A broker makes it of the client id, which may have 32 kB; the group says so."""
    one = classic([(metadata(), assignment(orders=[1])), (metadata(), assignment(orders=[3]))])
    one.described.members[0].member_id = "x" * 1001
    (good,) = reader().rows(one)
    assert good["member_id"] == "m2"
    shown = f"{'x' * 30}…{'x' * 29}"
    told = f"member {shown} is left out: its id has 1,001 bytes, 1,000 at most can be kept"
    assert one.errors == [told]


def test_whatever_else_fails_costs_the_group_its_members() -> None:
    """The group says why, and the reading of the cluster goes on."""
    one = group(GroupType.CONSUMER, Consumer(members=[consumer(assignment=None)]))
    assert reader().rows(one) == []
    assert one.errors[0].startswith("members cannot be decoded: ")


def test_members_of_another_protocol_are_listed_only() -> None:
    """A Connect worker's blobs are its own; they are kept and not decoded."""
    one = classic([(b"\x00\x01connect", b"\x00")], kind="connect", protocol="compatible")
    (row,) = reader().rows(one)
    assert (row["member_id"], row.get("subscription"), one.errors) == ("m1", None, [])
    assert row["metadata"] == b"\x00\x01connect"


@pytest.mark.parametrize(
    ("own", "configured", "expected"),
    [
        ("rack-a", "rack-z", ("rack-a", "subscription")),
        (None, "rack-z", ("rack-z", "configured")),
        ("", "rack-z", ("rack-z", "configured")),
        ("", None, (None, None)),
        ("", "", (None, None)),
    ],
)
def test_racks_by_precedence(
    own: str | None, configured: str | None, expected: tuple[str | None, str | None]
) -> None:
    """The member's own word first, then the configured mapping; an empty rack is none."""
    (row,) = reader(lambda *_: configured).rows(classic([(metadata(rack_id=own), b"")]))
    assert (row["rack"], row["rack_source"]) == expected


def test_the_mapping_is_asked_with_group_client_and_plain_host() -> None:
    """Kafka writes hosts with a slash; patterns are written without."""
    asked: list[tuple[str, str, str]] = []

    def rack_for(*member: str) -> str | None:
        asked.append(member)
        return None

    (row,) = reader(rack_for).rows(classic([(metadata(2), b"")]))
    assert asked == [("app", "client-1", "10.0.0.1")]
    assert row["client_host"] == "/10.0.0.1"


def test_partitions_of_topics_left_out_do_not_appear() -> None:
    """What is not read of the cluster must not look like a topic that does not exist."""
    one = classic([(metadata(), assignment(audit=[0], orders=[1]))])
    (row,) = reader(topics=Filter(deny=("audit",))).rows(one)
    assert (row["assigned_topics"], row["assigned_partitions"]) == (["orders"], [1])


def held(**partitions: list[int]) -> Any:
    """A KIP-848 assignment; a topic named `_` was deleted meanwhile."""
    entry = Consumer.Member.Assignment.TopicPartitions
    return Consumer.Member.Assignment(
        topic_partitions=[
            entry(topic_id=UUID(int=1), topic_name="" if t == "_" else t, partitions=p)
            for t, p in partitions.items()
        ]
    )


def consumer(**values: Any) -> Any:
    """A KIP-848 member."""
    return Consumer.Member(
        **{
            "member_id": "m1",
            "instance_id": None,
            "rack_id": "rack-b",
            "member_epoch": 7,
            "client_id": "client",
            "client_host": "/10.0.0.1",
            "subscribed_topic_names": ["pay", "orders"],
            "subscribed_topic_regex": None,
            "assignment": held(),
            "target_assignment": held(),
            "member_type": 1,
            **values,
        }
    )


def test_a_consumer_protocol_member_has_assignment_and_target() -> None:
    """Both are kept; names come from the response, deleted topics are left out."""
    member = consumer(assignment=held(orders=[0, 1], _=[5]), target_assignment=held(pay=[1]))
    (row,) = reader().rows(group(GroupType.CONSUMER, Consumer(members=[member])))
    assert (row["assigned_topics"], row["assigned_partitions"]) == (["orders"] * 2, [0, 1])
    assert (row["target_topics"], row["target_partitions"]) == (["pay"], [1])
    assert row["subscription"] == ["pay", "orders"]
    assert (row["rack"], row["rack_source"], row["generation"]) == ("rack-b", "describe", 7)


def test_topics_of_a_pattern_come_as_the_coordinator_walks_them() -> None:
    """In the order of Java's set, and before those that are named where they are more."""
    one = consumer(subscribed_topic_names=["audit"], subscribed_topic_regex="orders|pay")
    other = consumer(subscribed_topic_names=["a", "b", "c"], subscribed_topic_regex="orders|pay")
    rows = reader().rows(group(GroupType.CONSUMER, Consumer(members=[one, other])))
    assert [row["subscription"] for row in rows] == [
        ["pay", "orders", "audit"],
        ["a", "b", "c", "pay", "orders"],
    ]


def test_both_member_types_of_a_migrating_group_are_told() -> None:
    """0 is classic, 1 is consumer, anything else is unknown."""
    members = [consumer(member_type=kind) for kind in (0, 1, -1)]
    rows = reader().rows(group(GroupType.CONSUMER, Consumer(members=members)))
    assert [row["kind"] for row in rows] == ["classic", "consumer", None]


def test_a_regex_stands_for_the_topics_it_matches_and_those_its_members_have() -> None:
    """As the broker evaluates it: the whole name, in RE2's syntax; a topic that is gone was matched once."""
    regex = {"subscribed_topic_names": [], "subscribed_topic_regex": "or.*|pa.*"}
    members = [
        consumer(**regex, assignment=held(orders=[0])),
        consumer(**regex, target_assignment=held(parting=[0])),
        consumer(subscribed_topic_names=["other"], target_assignment=held(other=[0])),
    ]
    found = reader(counts={"orders": 1, "pay": 2, "repay": 1, "other": 1})
    rows = found.rows(group(GroupType.CONSUMER, Consumer(members=members)))
    assert [row["subscription"] for row in rows] == [["pay", "orders", "parting"]] * 2 + [["other"]]
    assert [row["subscription_regex"] for row in rows] == ["or.*|pa.*"] * 2 + [None]


def test_a_regex_that_re2_refuses_stands_for_what_its_members_have(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Nothing is guessed, and nothing is printed by the library."""
    members = [
        consumer(
            subscribed_topic_names=[],
            subscribed_topic_regex="(?=orders)",
            assignment=held(orders=[0]),
            target_assignment=held(),
        )
    ]
    (row,) = reader(counts={"orders": 1, "pay": 2}).rows(
        group(GroupType.CONSUMER, Consumer(members=members))
    )
    assert (row["subscription"], row["subscription_regex"]) == (["orders"], "(?=orders)")
    assert capfd.readouterr().err == ""


def streams_group() -> Group:
    """Two subtopologies: orders and pay -> a repartition topic; one member with tasks of both."""
    sub = Streams.Topology.Subtopology
    internal = sub.TopicInfo
    topology = Streams.Topology(
        epoch=2,
        subtopologies=[
            sub(
                subtopology_id="0",
                source_topics=["orders", "pay"],
                repartition_sink_topics=["app-repartition"],
                state_changelog_topics=[],
                repartition_source_topics=[],
            ),
            sub(
                subtopology_id="1",
                source_topics=[],
                repartition_sink_topics=[],
                state_changelog_topics=[],
                repartition_source_topics=[internal(name="app-repartition", partitions=4)],
            ),
        ],
    )
    tasks = Streams.Member.Assignment
    ids = tasks.TaskIds
    current = tasks(
        active_tasks=[
            ids(subtopology_id="0", partitions=[1, 3]),
            ids(subtopology_id="1", partitions=[0]),
        ],
        standby_tasks=[ids(subtopology_id="1", partitions=[2])],
        warmup_tasks=[ids(subtopology_id="1", partitions=[3])],
    )
    target = tasks(
        active_tasks=[ids(subtopology_id="0", partitions=[0])], standby_tasks=[], warmup_tasks=[]
    )
    member = Streams.Member(
        member_id="m1",
        member_epoch=3,
        instance_id=None,
        rack_id=None,
        client_id="client",
        client_host="/10.0.0.1",
        process_id="p-1",
        client_tags=[Streams.Member.KeyValue(key="zone", value="a")],
        assignment=current,
        target_assignment=target,
        is_classic=False,
    )
    return group(GroupType.STREAMS, Streams(group_id="app", topology=topology, members=[member]))


def test_tasks_become_partitions_through_the_topology() -> None:
    """A task reads the partition of its number of every source topic that has one."""
    (row,) = reader().rows(streams_group())
    pairs = list(zip(row["assigned_topics"], row["assigned_partitions"], strict=True))
    assert pairs == [("orders", 1), ("pay", 1), ("orders", 3), ("app-repartition", 0)]
    assert list(zip(row["target_topics"], row["target_partitions"], strict=True)) == [
        ("orders", 0),
        ("pay", 0),
    ]
    assert row["subscription"] == ["app-repartition", "orders", "pay"]
    assert row["active_tasks"] == ["0_1", "0_3", "1_0"]
    assert (row["standby_tasks"], row["warmup_tasks"]) == (["1_2"], ["1_3"])
    assert (row["process_id"], json.loads(row["client_tags"])) == ("p-1", {"zone": "a"})
    assert (row["kind"], row["rack"]) == ("streams", None)


def test_the_topology_is_kept_as_text() -> None:
    """Subtopologies with their topics by role; groups without a topology have none."""
    told = json.loads(topology_json(streams_group()) or "")
    assert told["epoch"] == 2
    assert told["subtopologies"]["0"]["source_topics"] == ["orders", "pay"]
    assert told["subtopologies"]["1"]["repartition_source_topics"] == {"app-repartition": 4}
    assert topology_json(group(GroupType.STREAMS, Streams(topology=None, members=[]))) is None
    assert topology_json(classic([])) is None


def test_members_of_a_share_group_may_have_the_same_partition() -> None:
    """Each tells its rack, subscription and epoch; nobody has a target, and no instance id is to be had."""
    described = ShareGroupDescribeResponse.DescribedGroup
    of_member = described.Member
    of_topic = of_member.Assignment.TopicPartitions
    members = [
        of_member(
            member_id=f"m{n}",
            rack_id="rack-a" if n else None,
            member_epoch=3,
            client_id=f"worker-{n}",
            client_host="/10.0.0.1",
            subscribed_topic_names=["orders"],
            assignment=of_member.Assignment(
                topic_partitions=[of_topic(topic_name="orders", partitions=[0, 1])]
            ),
        )
        for n in (0, 1)
    ]
    one = group(GroupType.SHARE, described(group_id="q", members=members))
    rows = reader().rows(one)
    assert [row["assigned_partitions"] for row in rows] == [[0, 1], [0, 1]]
    assert [(row["rack"], row["rack_source"]) for row in rows] == [
        (None, None),
        ("rack-a", "describe"),
    ]
    assert {(row["kind"], row["generation"], *row["subscription"]) for row in rows} == {
        ("share", 3, "orders")
    }
    assert used_topics({"q": one}) == {"orders"}


def test_topics_in_use_are_those_members_name() -> None:
    """Subscribed, assigned or read by tasks: what decides about Kafka's internal topics."""
    member = consumer(target_assignment=held(__consumer_offsets=[0]))
    groups = {
        "a": group(GroupType.CONSUMER, Consumer(members=[member])),
        "b": streams_group(),
        "c": group(GroupType.CONSUMER, None),
        "d": classic([(metadata(topics=["__transaction_state"]), b""), (b"__damaged", b"")]),
    }
    named = {"pay", "orders", "app-repartition", "__consumer_offsets", "__transaction_state"}
    assert used_topics(groups) == named


def test_a_group_that_could_not_be_described_has_no_members() -> None:
    """Nor does one of an unknown type."""
    for kind in GroupType:
        assert reader().rows(group(kind, None)) == []
