"""Commits and ends lie close together, or it is said that they do not."""

from __future__ import annotations

from typing import Any

import pytest
from kafka.protocol.metadata import MetadataResponse

from evenkeel.engine.adapters.kafka import offsets
from evenkeel.engine.adapters.kafka.groups import Commits, Group
from evenkeel.engine.adapters.kafka.offsets import read_offsets
from evenkeel.engine.adapters.kafka.topics import Topics
from evenkeel.engine.config import Filter
from evenkeel.engine.model.states import GroupType
from tests.helpers.facts import said
from tests.helpers.scripted_connection import ScriptedConnection, run


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
        "commits were read up to 3 s before ends"
    ]


def test_what_was_read_is_not_risked_when_time_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second time that the deadline may cut short would leave less than the first."""
    notes, times, _ = reading(monkeypatch, [10.0], seconds=30)
    assert (times, len(notes)) == (1, 1)
