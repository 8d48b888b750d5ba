"""Describing groups and reading their commits while coordinators move, die and refuse."""

from __future__ import annotations

import re
from typing import Any

from kafka.protocol.admin import DescribeGroupsResponse
from kafka.protocol.consumer import OffsetFetchResponse
from kafka.protocol.metadata import FindCoordinatorResponse

from evenkeel.engine.adapters.kafka.connection import Unanswered
from evenkeel.engine.adapters.kafka.groups import (
    Commits,
    Group,
    describe_groups,
    error_text,
    fetch_commits,
)
from evenkeel.engine.adapters.kafka.messages import DescribeShareGroupOffsetsResponse
from evenkeel.engine.adapters.kafka.reader import _commits
from evenkeel.engine.config import Filter
from evenkeel.engine.model.states import GroupType
from tests.helpers.scripted_connection import ScriptedConnection, run, unreachable

ALL = Filter()
NOT_COORDINATOR, DENIED, NOT_FOUND = 16, 30, 69
KEY = {"snapshot_id": "s", "cluster": "c"}


def described(*answers: tuple[str, int]) -> DescribeGroupsResponse:
    """Group and error code of each description."""
    entry = DescribeGroupsResponse.DescribedGroup
    groups = [
        entry(error_code=code, group_id=name, group_state="" if code else "Stable", members=[])
        for name, code in answers
    ]
    return DescribeGroupsResponse(groups=groups)


def committed(
    group: str, offsets: dict[int, tuple[int, int]], error: int = 0, topic: str = "orders"
) -> OffsetFetchResponse:
    """Partition -> (offset, error code) of one group."""
    entry = OffsetFetchResponse.OffsetFetchResponseGroup
    of_topic = entry.OffsetFetchResponseTopics
    of_partition = of_topic.OffsetFetchResponsePartitions
    rows = [
        of_partition(partition_index=p, committed_offset=offset, error_code=code)
        for p, (offset, code) in offsets.items()
    ]
    topics = [of_topic(name=topic, partitions=rows)] if rows else []
    return OffsetFetchResponse(groups=[entry(group_id=group, topics=topics, error_code=error)])


def found(node: int, *names: str, error: int = 0) -> FindCoordinatorResponse:
    """Where the coordinator of these groups is."""
    entry = FindCoordinatorResponse.Coordinator
    rows = [entry(key=n, node_id=node, host="", port=0, error_code=error) for n in names]
    return FindCoordinatorResponse(coordinators=rows)


def groups(*names: str, coordinator: int = 1, kind: GroupType = GroupType.CLASSIC) -> Any:
    """Listed groups by id."""
    return {n: Group(n, kind, "Stable", "consumer", coordinator) for n in names}


def test_an_unreadable_group_leaves_the_others_alone() -> None:
    """The error stays with its group, with what to do about it."""
    two = groups("mine", "secret")
    answer = described(("mine", 0), ("secret", DENIED))
    run(describe_groups(ScriptedConnection(lambda *_: answer), two))
    assert two["mine"].errors == []
    assert two["mine"].described is not None
    assert two["secret"].errors == [
        "members: GROUP_AUTHORIZATION_FAILED (grant this client DESCRIBE on the group)"
    ]


def test_a_group_that_vanished_is_dead() -> None:
    """Deleted between list and description: a state, not an error."""
    one = groups("gone")
    run(describe_groups(ScriptedConnection(lambda *_: described(("gone", NOT_FOUND))), one))
    assert (one["gone"].state, one["gone"].errors) == ("Dead", [])


def test_a_group_that_moved_is_asked_for_at_its_new_coordinator() -> None:
    """NOT_COORDINATOR leads to a lookup and a second question there."""

    def answer(request: Any, node: int | None) -> Any:
        if node is None:
            return found(2, "app")
        return described(("app", NOT_COORDINATOR if node == 1 else 0))

    one = groups("app")
    connection = ScriptedConnection(answer)
    run(describe_groups(connection, one))
    assert one["app"].described is not None
    assert one["app"].coordinator == 2
    assert connection.asked == [
        ("DescribeGroups", 1),
        ("FindCoordinator", None),
        ("DescribeGroups", 2),
    ]


def test_a_coordinator_that_died_keeps_the_cause_with_its_groups() -> None:
    """When nobody takes over in time, only its groups have an error."""

    def answer(request: Any, node: int | None) -> Any:
        if node == 2:
            raise unreachable(2)
        if node is None:
            return found(2, "lost")
        return described(("kept", 0))

    both = groups("kept") | groups("lost", coordinator=2)
    run(describe_groups(ScriptedConnection(answer), both))
    assert both["kept"].errors == []
    (error,) = both["lost"].errors
    assert re.fullmatch(
        r"members: broker 2 did not answer: connection refused \(4 tries in \d+ s\)", error
    )


def test_a_coordinator_that_moves_without_end_is_asked_so_often_and_no_more() -> None:
    """Its groups say which broker said what, and how often they were asked for; the commits have no tries left."""

    def answer(request: Any, node: int | None) -> Any:
        if node is None:
            return found(1 + len(connection.asked) % 2, "restless")
        if hasattr(request, "groups") and isinstance(request.groups[0], str):
            return described(*((name, codes.get(name, 0)) for name in request.groups))
        return committed("restless", {}, error=NOT_COORDINATOR)

    codes = {"restless": NOT_COORDINATOR}
    both = groups("kept", coordinator=3) | groups("restless")
    connection = ScriptedConnection(answer, nodes=(1, 2, 3))
    run(describe_groups(connection, both))
    run(fetch_commits(connection, groups("restless") | {"restless": both["restless"]}, ALL))

    assert both["kept"].described is not None
    (error,) = both["restless"].errors
    assert re.fullmatch(
        r"members: broker [12] answered NOT_COORDINATOR \(4 tries in \d+ s\)", error
    )
    (error,) = both["restless"].commit_errors
    assert re.fullmatch(
        r"committed offsets: broker [12] answered NOT_COORDINATOR \(no time left for another try\)",
        error,
    )


def test_what_does_not_pass_is_not_asked_again() -> None:
    """A request the broker does not know, or the end of the time, costs one question."""

    def answer(request: Any, node: int | None) -> Any:
        raise Unanswered("the time limit was reached")

    one = groups("app")
    connection = ScriptedConnection(answer)
    run(describe_groups(connection, one))
    assert one["app"].errors == ["members: the time limit was reached"]
    assert len(connection.asked) == 1


def test_many_groups_go_in_batches() -> None:
    """A coordinator's groups are asked for in few requests."""
    many = groups(*[f"g{n}" for n in range(1200)])

    def answer(request: Any, node: int | None) -> Any:
        return described(*[(name, 0) for name in request.groups])

    connection = ScriptedConnection(answer)
    run(describe_groups(connection, many))
    assert len(connection.asked) == 3
    assert all(group.described is not None for group in many.values())


def test_commits_with_their_errors() -> None:
    """An offset is kept as it is, -1 is no commit, an error is told with its partition."""
    answer = committed("app", {0: (41, 0), 1: (-1, 0), 2: (-1, 29)})
    commits = run(fetch_commits(ScriptedConnection(lambda *_: answer), groups("app"), ALL))
    rows = _commits(commits, KEY).to_pylist()
    assert [row["partition"] for row in rows] == [0, 1, 2]
    assert [row["committed_offset"] for row in rows] == [41, None, None]
    refused = "TOPIC_AUTHORIZATION_FAILED (grant this client DESCRIBE on the topic)"
    assert [row["error"] for row in rows] == [None, None, refused]
    assert [row["group_id"] for row in rows] == ["app"] * 3
    assert all(row["read_at"].year > 2000 for row in rows)


def test_commits_of_topics_the_filter_leaves_out_are_not_kept() -> None:
    """A topic that is not read has no rows."""
    answer = committed("app", {0: (1, 0)}, topic="audit-log")
    connection = ScriptedConnection(lambda *_: answer)
    commits = run(fetch_commits(connection, groups("app"), Filter(deny=("audit-*",))))
    assert len(_commits(commits, KEY)) == 0


def started(group: str, *rows: tuple[int, int | None, int], error: int = 0) -> Any:
    """(start offset, lag, error code) of each partition of a share group on topic `jobs`."""
    entry = DescribeShareGroupOffsetsResponse.ShareGroup
    of_topic = entry.ShareTopic
    partitions = [
        of_topic.SharePartition(partition_index=n, start_offset=start, lag=lag, error_code=code)
        for n, (start, lag, code) in enumerate(rows)
    ]
    topics = [of_topic(topic_name="jobs", partitions=partitions)] if rows else []
    answer = entry(group_id=group, topics=topics, error_code=error)
    return DescribeShareGroupOffsetsResponse(groups=[answer])


def test_start_offsets_and_lags_of_share_groups_stand_where_commits_do() -> None:
    """Brokers of 4.1 tell no lag; a partition that nobody has read yet has no start offset."""
    rows = [(40, 7, 0), (40, None, 0), (-1, -1, 0), (-1, 0, 29)]
    connection = ScriptedConnection(lambda *_: started("shared", *rows))
    commits = run(fetch_commits(connection, groups("shared", kind=GroupType.SHARE), ALL))
    table = _commits(commits, KEY)
    assert table["committed_offset"].to_pylist() == [40, 40, None, None]
    assert table["reported_lag"].to_pylist() == [7, None, None, None]
    assert [error is None for error in table["error"].to_pylist()] == [True, True, True, False]
    assert connection.asked == [("DescribeShareGroupOffsets", 1)]


def test_a_share_group_moves_vanishes_and_is_refused_as_others_are() -> None:
    """It is asked for at its new coordinator; one that is gone has no offsets; the right it lacks is named."""

    def answer(request: Any, node: int | None) -> Any:
        if node is None:
            return found(2, "shared")
        return (
            started("shared", error=NOT_COORDINATOR) if node == 1 else started("shared", (5, 0, 0))
        )

    one = groups("shared", kind=GroupType.SHARE)
    commits = run(fetch_commits(ScriptedConnection(answer), one, ALL))
    assert commits.offset.tolist() == [5]
    for code, errors in ((NOT_FOUND, []), (DENIED, [f"start offsets: {error_text(DENIED)}"])):
        one = groups("shared", kind=GroupType.SHARE)
        gone = ScriptedConnection(lambda *_, code=code: started("shared", error=code))
        assert len(run(fetch_commits(gone, one, ALL)).offset) == 0
        assert one["shared"].commit_errors == errors


def test_start_offsets_of_topics_the_filter_leaves_out_are_not_kept() -> None:
    """As commits are."""
    connection = ScriptedConnection(lambda *_: started("shared", (1, 1, 0)))
    one = groups("shared", kind=GroupType.SHARE)
    assert len(run(fetch_commits(connection, one, Filter(deny=("jobs",)))).offset) == 0


def test_commits_of_an_older_broker_are_read_group_by_group() -> None:
    """Before 3.0 a request is for one group, and its response does not name it."""

    def answer(request: Any, node: int | None) -> Any:
        topic = OffsetFetchResponse.OffsetFetchResponseTopic
        partition = topic.OffsetFetchResponsePartition
        row = partition(partition_index=0, committed_offset=len(request.group_id), error_code=0)
        return OffsetFetchResponse(topics=[topic(name="t", partitions=[row])], error_code=0)

    connection = ScriptedConnection(answer, versions={"OffsetFetchRequest": 7})
    commits = run(fetch_commits(connection, groups("a", "bcd"), ALL))
    rows = _commits(commits, KEY).to_pylist()
    assert {row["group_id"]: row["committed_offset"] for row in rows} == {"a": 1, "bcd": 3}


def test_a_group_whose_commits_are_refused_keeps_its_members() -> None:
    """The error says that it is about the offsets."""
    one = groups("app")
    connection = ScriptedConnection(lambda *_: committed("app", {}, error=DENIED))
    commits = run(fetch_commits(connection, one, ALL))
    assert len(_commits(commits, KEY)) == 0
    assert one["app"].commit_errors[0].startswith("committed offsets: GROUP_AUTHORIZATION_FAILED")


def test_codes_have_names() -> None:
    """A known code by Kafka's name, with the broker's words if there are any; else its number."""
    assert error_text(15) == "COORDINATOR_NOT_AVAILABLE"
    assert error_text(15, "try later.") == "COORDINATOR_NOT_AVAILABLE (try later)"
    assert error_text(4711) == "error code 4711"


def test_a_group_that_changed_its_protocol_meanwhile_is_not_called_dead() -> None:
    """The broker does not find it under the old one, and says that it is there under another."""
    told = described(("g", NOT_FOUND))
    told.groups[0].error_message = "Group g is not a classic group."
    wanted = groups("g")

    run(describe_groups(ScriptedConnection(lambda *_: told), wanted))

    assert wanted["g"].state != "Dead"
    assert wanted["g"].errors == ["members: the group changed its protocol while it was read"]


def test_commits_asked_for_again_forget_the_errors_of_the_first_time() -> None:
    """What was refused once and told then is whole; what concerns members stays."""
    wanted = groups("g")
    wanted["g"].errors = ["members: no"]
    wanted["g"].commit_errors = ["committed offsets: no"]

    run(fetch_commits(ScriptedConnection(lambda *_: committed("g", {0: (5, 0)})), wanted, ALL))

    assert (wanted["g"].errors, wanted["g"].commit_errors) == (["members: no"], [])


def test_a_group_that_moved_on_older_brokers_is_looked_up_alone() -> None:
    """Before 3.0 a request tells the coordinator of one group; one that is not told stays where it was."""

    def answer(request: Any, node: int | None) -> Any:
        if node is None:
            sought.append(request.key)
            return FindCoordinatorResponse(error_code=15 if request.key == "b" else 0, node_id=2)
        return described(*((name, NOT_COORDINATOR if node == 1 else 0) for name in request.groups))

    sought: list[str] = []
    wanted = groups("a", "b")
    connection = ScriptedConnection(answer, patience=1, versions={"FindCoordinatorRequest": 3})
    run(describe_groups(connection, wanted))

    assert sought == ["a", "b"]
    assert (wanted["a"].coordinator, wanted["a"].errors) == (2, [])
    assert wanted["b"].coordinator == 1
    assert "NOT_COORDINATOR" in wanted["b"].errors[0]


def test_commits_lie_group_by_group() -> None:
    """Coordinators answer in any order; whoever reads a few groups later finds each in one place, as it was told."""
    told, topic = Commits(), OffsetFetchResponse.OffsetFetchResponseTopic
    row = topic.OffsetFetchResponsePartition
    for group, name, partitions in [("b", "y", [4, 3]), ("a", "x", [2]), ("b", "a", [1])]:
        rows = [
            row(partition_index=n, committed_offset=each, error_code=0)
            for n, each in enumerate(partitions)
        ]
        told.add(group, topic(name=name, partitions=rows), 1)
    table = _commits(told, KEY)
    assert table["group_id"].to_pylist() == ["a", "b", "b", "b"]
    assert table["committed_offset"].to_pylist() == [2, 4, 3, 1]
