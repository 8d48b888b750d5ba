"""What the reader makes of several answers: commits near ends, and topics that are hidden from it."""

from __future__ import annotations

from typing import Any

import pytest
from kafka.protocol.metadata import MetadataResponse

from evenkeel.engine.adapters.kafka import offsets
from evenkeel.engine.adapters.kafka.groups import Commits, Group
from evenkeel.engine.adapters.kafka.offsets import read_offsets
from evenkeel.engine.adapters.kafka.reader import _note_hidden, _unseen
from evenkeel.engine.adapters.kafka.topics import Partition, Topics, hidden_topics
from evenkeel.engine.config import Filter
from evenkeel.engine.model.facts import finding
from evenkeel.engine.model.states import GroupType
from tests.helpers.facts import said
from tests.helpers.scripted_connection import ScriptedConnection, run, unreachable


class Waiting(ScriptedConnection):
    """Each time ends are read it waits so long, of a time that is limited."""

    def __init__(self, waits: list[float], seconds: float) -> None:
        super().__init__(lambda *_: MetadataResponse(topics=[]))
        self.waits, self.waited, self.seconds_left = waits, 0.0, seconds


def reading(
    monkeypatch: pytest.MonkeyPatch, waits: list[float], seconds: float = 100
) -> tuple[list[str], int, list[str]]:
    """What was noted, how often both were read, and of which groups the coordinator was looked up."""

    async def fetch(connection: Waiting, groups: dict[str, Group], admits: Filter) -> Commits:
        times.append(1)
        return Commits()

    async def ends(connection: Waiting, topics: Topics) -> None:
        wait = connection.waits.pop(0)
        connection.waited += wait
        connection.seconds_left -= wait + 1

    async def again(connection: Waiting, groups: dict[str, Group]) -> None:
        sought.extend(groups)

    times: list[int] = []
    sought: list[str] = []
    for name, stand_in in (("fetch_commits", fetch), ("read_ends", ends), ("find_again", again)):
        monkeypatch.setattr(offsets, name, stand_in)
    groups = {"g": Group("g", GroupType.CLASSIC, "Stable", "consumer", 1)}
    connection: Any = Waiting(waits, seconds)
    _, notes = run(read_offsets(connection, groups, Topics(), Filter()))
    return notes, len(times), sought


def test_when_nothing_was_waited_for_both_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual case costs nothing."""
    assert reading(monkeypatch, [0.0]) == ([], 1, [])


def test_after_waiting_both_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the groups are by then is looked up first."""
    assert reading(monkeypatch, [10.0, 0.5]) == ([], 2, ["g"])


def test_where_brokers_have_to_be_waited_for_each_time_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After three times, how far apart they lie."""
    notes, times, _ = reading(monkeypatch, [10.0, 4.0, 3.0])
    assert times == 3
    assert [note.split(",")[0] for note in said(notes)] == [
        "commits were read up to 3 s before log ends"
    ]


def test_what_was_read_is_not_risked_when_time_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second time that the deadline may cut short would leave less than the first."""
    notes, times, _ = reading(monkeypatch, [10.0], seconds=30)
    assert (times, len(notes)) == (1, 1)


ORDERS = Partition(topic="orders", topic_id=None, number=0, leader=1, replicas=[1], in_sync=[1])


def unseen(kind: GroupType, topics: Topics, *assigned: list[str] | None) -> set[str]:
    """The topics of one group, whose members own partitions of these, that nobody told of."""
    rows: list[dict[str, Any]] = [
        {"group_id": "app", "assigned_topics": each} if each is not None else {"group_id": "app"}
        for each in assigned
    ]
    return _unseen({"app": _group(kind)}, rows, topics).get("app", set())


def _group(kind: GroupType = GroupType.CLASSIC) -> Group:
    return Group(id="app", type=kind, state="Stable", protocol_type="consumer", coordinator=1)


def test_topics_that_members_own_and_nobody_told_of_are_unseen() -> None:
    """Topics that are known are none, and members that own nothing tell nothing."""
    owned = (["orders", "private"], ["private", "audit"], None)
    assert unseen(GroupType.CLASSIC, Topics(partitions=[ORDERS]), *owned) == {"audit", "private"}


@pytest.mark.parametrize("kind", [GroupType.CONSUMER, GroupType.STREAMS])
def test_other_groups_are_the_brokers_affair(kind: GroupType) -> None:
    """They are not described at all to whom may not see one of their topics."""
    assert unseen(kind, Topics(partitions=[ORDERS]), ["private"]) == set()


def test_topics_that_could_not_be_asked_for_are_not_unseen() -> None:
    """That has its own line; a client without any right to topics is another matter."""
    assert (
        unseen(
            GroupType.CLASSIC,
            Topics(problems=[finding("topics_unread", quote="no answer")]),
            ["orders"],
        )
        == set()
    )
    assert unseen(GroupType.CLASSIC, Topics(), ["orders"]) == {"orders"}


def test_a_hidden_topic_is_an_error_of_its_group_and_one_that_is_gone_is_none() -> None:
    """Asked by name, brokers refuse the one and do not know the other."""
    group = _group()
    _note_hidden({"app": group}, {"app": {"private", "gone"}}, {"private"})
    assert group.errors == [
        "topic private: TOPIC_AUTHORIZATION_FAILED (grant this client DESCRIBE on the topic)"
    ]


def test_topics_are_asked_for_by_name() -> None:
    """Refused is hidden; unknown is gone; no answer tells nothing; nothing to ask is not asked."""
    topic = MetadataResponse.MetadataResponseTopic
    codes = {"private": 29, "gone": 3}

    def answer(request: Any, node: int | None) -> MetadataResponse:
        return MetadataResponse(
            topics=[topic(error_code=codes[one.name], name=one.name) for one in request.topics]
        )

    connection = ScriptedConnection(answer)
    assert run(hidden_topics(connection, ["private", "gone"])) == {"private"}
    assert run(hidden_topics(connection, [])) == set()
    assert len(connection.asked) == 1

    def silence(request: Any, node: int | None) -> Any:
        raise unreachable(1)

    assert run(hidden_topics(ScriptedConnection(silence), ["private"])) == set()
