"""Partitions and their offsets while leaders move, vanish or refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from kafka.protocol.admin import DescribeClusterResponse
from kafka.protocol.consumer import ListOffsetsResponse
from kafka.protocol.metadata import MetadataResponse

from evenkeel.engine.adapters.kafka import topics as topics_module
from evenkeel.engine.adapters.kafka.connection import Unanswered
from evenkeel.engine.adapters.kafka.topics import (
    NO_LEADER,
    RECREATED,
    describe_cluster,
    hidden_topics,
    read_begins,
    read_ends,
    read_topics,
)
from evenkeel.engine.config import Filter
from evenkeel.engine.model.errors import ClusterUnreachable
from tests.helpers.facts import said
from tests.helpers.scripted_connection import ScriptedConnection, run, unreachable

ALL = Filter()
ID = UUID("713dd01c-ef6d-458d-a425-f95bd01ef06d")
NOT_LEADER, DENIED = 6, 29


def metadata(
    leaders: dict[str, Sequence[int]], *, internal: Sequence[str] = (), topic_id: UUID = ID
) -> MetadataResponse:
    """Topic -> leader of each partition, -1 for none."""
    topic = MetadataResponse.MetadataResponseTopic
    partition = topic.MetadataResponsePartition
    return MetadataResponse(
        topics=[
            topic(
                error_code=0,
                name=name,
                topic_id=topic_id,
                is_internal=name in internal,
                partitions=[
                    partition(
                        error_code=0,
                        partition_index=number,
                        leader_id=leader,
                        replica_nodes=[1, 2],
                        isr_nodes=[1],
                    )
                    for number, leader in enumerate(of_partition)
                ],
            )
            for name, of_partition in leaders.items()
        ]
    )


def offsets(request: Any, value: int, error: int = 0) -> ListOffsetsResponse:
    """The same offset or error for everything asked."""
    topic = ListOffsetsResponse.ListOffsetsTopicResponse
    partition = topic.ListOffsetsPartitionResponse
    return ListOffsetsResponse(
        topics=[
            topic(
                name=one.name,
                partitions=[
                    partition(
                        partition_index=p.partition_index,
                        error_code=error,
                        offset=-1 if error else value,
                    )
                    for p in one.partitions
                ],
            )
            for one in request.topics
        ]
    )


def is_metadata(request: Any) -> bool:
    """Whether it asks for topics, not for offsets."""
    return type(request).__name__ == "MetadataRequest"


def value_of(request: Any) -> int:
    """Begin 10, last stable 90, end 100."""
    if request.topics[0].partitions[0].timestamp == -2:
        return 10
    return 90 if request.isolation_level == 1 else 100


def test_begin_last_stable_and_end_are_read_at_the_leader() -> None:
    """Each offset has its place, each leader is asked for its own partitions only."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            return metadata({"orders": [1, 2]})
        asked[node].append([p.partition_index for t in request.topics for p in t.partitions])
        return offsets(request, value_of(request))

    asked: dict[int | None, list[list[int]]] = {1: [], 2: []}
    topics = run(read_topics(ScriptedConnection(answer), ALL, set()))
    assert [(p.begin, p.last_stable, p.end) for p in topics.partitions] == [(10, 90, 100)] * 2
    assert asked == {1: [[0]] * 3, 2: [[1]] * 3}
    row = topics.partitions[0]
    assert (row.topic_id, row.replicas, row.in_sync) == (str(ID), [1, 2], [1])
    assert row.begin_at is not None
    assert row.end_at is not None
    assert row.begin_at <= row.end_at
    assert topics.problems == []
    assert topics.counts == {"orders": 2}


def test_internal_topics_are_read_only_when_used() -> None:
    """Kafka's own topics are left out unless a group reads them; filtered ones in any case."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            names = ["__consumer_offsets", "__transaction_state", "orders", "audit"]
            return metadata({n: [1] for n in names}, internal=names[:2])
        return offsets(request, 1)

    used = {"__consumer_offsets", "audit"}
    topics = run(read_topics(ScriptedConnection(answer), Filter(deny=("audit",)), used))
    assert list(topics.counts) == ["__consumer_offsets", "orders"]


def test_a_topic_without_an_id_has_none() -> None:
    """Brokers before 2.8 tell the zero id."""

    def answer(request: Any, node: int | None) -> Any:
        return (
            metadata({"t": [1]}, topic_id=UUID(int=0))
            if is_metadata(request)
            else offsets(request, 1)
        )

    topics = run(read_topics(ScriptedConnection(answer), ALL, set()))
    assert topics.partitions[0].topic_id is None


def test_a_partition_without_leader_keeps_its_row_and_says_so() -> None:
    """Nothing is asked for it, its offsets stay unknown, one line tells it."""

    def answer(request: Any, node: int | None) -> Any:
        return metadata({"orders": [1, -1]}) if is_metadata(request) else offsets(request, 7)

    connection = ScriptedConnection(answer)
    topics = run(read_topics(connection, ALL, set()))
    good, bad = topics.partitions
    assert (good.end, good.error) == (7, None)
    assert (bad.leader, bad.begin, bad.end, bad.error) == (None, None, None, NO_LEADER)
    assert said(topics.problems) == (f"partition orders-1: {NO_LEADER}",)
    assert connection.patience == 3


def test_groups_that_no_broker_can_list_are_missed_aloud() -> None:
    """Groups live in partitions of an internal topic; one without a leader hides its groups."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            return metadata({"__consumer_offsets": [1, -1]}, internal=["__consumer_offsets"])
        return offsets(request, 1)

    topics = run(read_topics(ScriptedConnection(answer), ALL, set()))
    assert said(topics.problems) == (
        "1 partition of __consumer_offsets has no leader: the groups there are missing",
    )


def test_a_partition_whose_leader_moved_is_asked_for_there() -> None:
    """The old leader refuses, the metadata tells the new one."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            return metadata({"orders": [1]} if request.topics is None else {"orders": [2]})
        return offsets(request, value_of(request), NOT_LEADER if node == 1 else 0)

    topics = run(read_topics(ScriptedConnection(answer), ALL, set()))
    (row,) = topics.partitions
    assert (row.leader, row.begin, row.last_stable, row.end, row.error) == (2, 10, 90, 100, None)
    assert topics.problems == []


def test_a_leader_that_died_costs_its_own_partitions_only() -> None:
    """Those of other brokers are read; the cause is one line however many partitions it hits."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            return metadata({"orders": [1] + [2] * 7})
        if node == 2:
            raise unreachable(2)
        return offsets(request, value_of(request))

    topics = run(read_topics(ScriptedConnection(answer), ALL, set()))
    assert topics.partitions[0].end == 100
    cause = "broker 2 did not answer: connection refused"
    (error,) = {p.error for p in topics.partitions[1:]}
    assert str(error).startswith(f"{cause} (4 tries in ")
    names = ", ".join(f"orders-{n}" for n in range(1, 6))
    assert said(topics.problems) == (f"partitions {names} and 2 more: {error}",)


def test_what_was_read_before_the_leader_died_is_kept() -> None:
    """The begin offset stays, the end is unknown and has its cause."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            return metadata({"orders": [1]})
        if value_of(request) != 10:
            raise unreachable(1)
        return offsets(request, 10)

    (row,) = run(read_topics(ScriptedConnection(answer), ALL, set())).partitions
    assert (row.begin, row.end) == (10, None)
    assert row.error is not None


def test_a_refused_topic_is_not_asked_for_again() -> None:
    """An error that does not pass costs one question for each kind of offset at most."""

    def answer(request: Any, node: int | None) -> Any:
        return metadata({"t": [1]}) if is_metadata(request) else offsets(request, 0, DENIED)

    connection = ScriptedConnection(answer)
    topics = run(read_topics(connection, ALL, set()))
    assert connection.patience == 3
    assert len(connection.asked) == 2
    assert "TOPIC_AUTHORIZATION_FAILED" in said(topics.problems)[0]


def test_unreadable_metadata_is_a_problem_and_no_topics() -> None:
    """Groups and commits read so far are not lost over it."""

    def answer(request: Any, node: int | None) -> Any:
        raise Unanswered("the time limit was reached")

    topics = run(read_topics(ScriptedConnection(answer), ALL, set()))
    assert topics.partitions == []
    assert said(topics.problems) == ("topics: the time limit was reached",)


def cluster(*racks: str | None, fenced: Sequence[int] = ()) -> DescribeClusterResponse:
    """Brokers 1, 2, ... with these racks."""
    broker = DescribeClusterResponse.DescribeClusterBroker
    rows = [
        broker(broker_id=n, host=f"b{n}", port=9092, rack=rack, is_fenced=n in fenced)
        for n, rack in enumerate(racks, 1)
    ]
    return DescribeClusterResponse(error_code=0, cluster_id="abc", brokers=rows)


def test_racks_of_all_brokers_are_told_those_that_are_down_included() -> None:
    """A replica on a broker that is down is in its rack all the same; an empty rack is none."""
    connection = ScriptedConnection(lambda *_: cluster("a", "", "c", fenced=[3]))
    cluster_id, nodes = run(describe_cluster(connection))
    assert cluster_id == "abc"
    assert [(n.id, n.rack, n.alive) for n in nodes] == [
        (1, "a", True),
        (2, None, True),
        (3, "c", False),
    ]


def test_an_older_cluster_is_described_by_its_metadata() -> None:
    """Before 2.8 there is no request for it."""
    broker = MetadataResponse.MetadataResponseBroker
    answer = MetadataResponse(
        brokers=[broker(node_id=1, host="b", port=9092, rack="a")], cluster_id="abc", topics=[]
    )
    connection = ScriptedConnection(lambda *_: answer, versions={"DescribeClusterRequest": -1})
    cluster_id, nodes = run(describe_cluster(connection))
    assert (cluster_id, [(n.id, n.rack, n.alive) for n in nodes]) == ("abc", [(1, "a", True)])


def test_a_cluster_nobody_describes_is_unreachable() -> None:
    """The advertised addresses do not answer."""

    def answer(request: Any, node: int | None) -> Any:
        raise unreachable(1)

    with pytest.raises(ClusterUnreachable, match=r"connection refused.*advertised\.listeners"):
        run(describe_cluster(ScriptedConnection(answer)))


GONE = 3
OTHER_ID = UUID("0e5f8a4c-7b1a-4a52-9d57-0a2f8f1f4a11")


def refused(name: str, error: int) -> MetadataResponse:
    """A topic that cannot be told."""
    topic = MetadataResponse.MetadataResponseTopic
    return MetadataResponse(
        topics=[topic(error_code=error, name=name, topic_id=ID, is_internal=False, partitions=[])]
    )


@pytest.mark.parametrize("deleted_after", [1, 2, 3])
def test_a_topic_deleted_meanwhile_leaves_no_row_and_no_complaint(deleted_after: int) -> None:
    """Whether begins, last stable offsets or ends meet it; what is gone is not unread, and costs no patience."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            return metadata({"a": [1], "b": [1]}) if request.topics is None else refused("b", GONE)
        asked.append(1)
        response = offsets(request, value_of(request))
        if len(asked) >= deleted_after:
            for topic in response.topics:
                for one in topic.partitions if topic.name == "b" else ():
                    one.error_code, one.offset = GONE, -1
        return response

    asked: list[int] = []
    connection = ScriptedConnection(answer, patience=99)
    topics = run(read_topics(connection, ALL, set()))

    assert [(row.topic, row.end) for row in topics.partitions] == [("a", 100)]
    assert topics.problems == []
    assert connection.patience >= 95


def test_one_broker_that_has_not_heard_of_a_topic_does_not_make_it_gone() -> None:
    """A topic may be too new for the broker that is asked; its leader knows it a moment later."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            return metadata({"b": [1]}) if request.topics is None else refused("b", GONE)
        asked.append(1)
        return offsets(request, value_of(request), GONE if len(asked) == 1 else 0)

    asked: list[int] = []
    [row] = run(read_topics(ScriptedConnection(answer), ALL, set())).partitions

    assert (row.begin, row.end, row.error) == (10, 100, None)


def test_a_topic_made_again_meanwhile_is_unknown_and_says_so() -> None:
    """The begin of one topic and the end of another make no lag."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            first = request.topics is None
            return metadata(
                {"b": [1, 1]} if first else {"b": [1]}, topic_id=ID if first else OTHER_ID
            )
        begun = request.topics[0].partitions[0].timestamp == -2
        return offsets(request, value_of(request), 0 if begun else GONE)

    topics = run(read_topics(ScriptedConnection(answer), ALL, set()))

    assert [(row.begin, row.end, row.error) for row in topics.partitions] == [
        (None, None, RECREATED)
    ] * 2
    assert said(topics.problems) == (f"partitions b-0, b-1: {RECREATED}",)


def test_topics_are_looked_up_by_name_a_bounded_number_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Five names at two a request are three requests; what one broker refuses to answer is not told."""
    monkeypatch.setattr(topics_module, "_NAMES", 2)

    def answer(request: Any, node: int | None) -> Any:
        sizes.append(len(request.topics))
        return refused(request.topics[0].name, DENIED)

    sizes: list[int] = []
    assert run(hidden_topics(ScriptedConnection(answer), "abcde")) == {"a", "c", "e"}
    assert sizes == [2, 2, 1]


def test_a_partition_that_lost_its_leader_is_looked_up_when_ends_are_read_again() -> None:
    """Without one it keeps saying so; with a new one it is read there."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            return metadata({"t": leaders})
        ends = request.topics[0].partitions[0].timestamp != -2
        return offsets(request, value_of(request), NOT_LEADER if ends and node == 1 else 0)

    leaders = [1]
    connection = ScriptedConnection(answer)
    topics = run(read_begins(connection, ALL))
    leaders[:] = [-1]
    run(read_ends(connection, topics))
    run(read_ends(connection, topics))
    [row] = topics.partitions
    assert (row.begin, row.end, row.error) == (10, None, NO_LEADER)
    leaders[:] = [2]
    run(read_ends(connection, topics))
    assert (row.begin, row.end, row.error) == (10, 100, None)


def test_a_partition_too_new_for_the_broker_that_was_asked_is_not_called_another() -> None:
    """The topic is the same; its leader answers the next time."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            return metadata({"t": [1, 1]} if request.topics is None else {"t": [1]})
        asked.append(1)
        return offsets(request, value_of(request), GONE if len(asked) == 1 else 0)

    asked: list[int] = []
    rows = run(read_topics(ScriptedConnection(answer), ALL, set())).partitions
    assert [(row.begin, row.end, row.error) for row in rows] == [(10, 100, None)] * 2


def test_ends_read_again_take_the_place_of_the_first() -> None:
    """Errors of the first time are forgotten, a partition that was never begun stays as it was."""

    def answer(request: Any, node: int | None) -> Any:
        if is_metadata(request):
            return metadata({"t": [1, -1]})
        begun = request.topics[0].partitions[0].timestamp == -2
        return offsets(request, value_of(request), 0 if begun or calls else DENIED)

    calls: list[int] = []
    connection = ScriptedConnection(answer)
    topics = run(read_begins(connection, ALL))
    run(read_ends(connection, topics))
    assert [row.error is None for row in topics.partitions] == [False, False]
    calls.append(1)
    run(read_ends(connection, topics))

    assert [(row.end, row.error) for row in topics.partitions] == [(100, None), (None, NO_LEADER)]
