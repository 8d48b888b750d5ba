"""Listing groups while brokers come, go and hand groups over."""

from __future__ import annotations

import re
from typing import Any

import pytest
from kafka.protocol.admin import ListGroupsResponse

from evenkeel.engine.adapters.kafka.listing import list_groups
from evenkeel.engine.config import Filter
from evenkeel.engine.model.errors import ClusterUnreachable
from evenkeel.engine.model.facts import Fact
from evenkeel.engine.model.states import GroupType
from tests.helpers.facts import said
from tests.helpers.scripted_connection import ScriptedConnection, run, unreachable

ALL = Filter()
LOADING = 14


def listed(*names: str, error: int = 0, kind: str | None = "Classic") -> ListGroupsResponse:
    """A broker's list of groups."""
    entry = ListGroupsResponse.ListedGroup
    groups = [
        entry(group_id=name, protocol_type="consumer", group_state="Stable", group_type=kind)
        for name in names
    ]
    return ListGroupsResponse(error_code=error, groups=groups)


def test_groups_of_all_brokers_are_listed_with_their_coordinator() -> None:
    """Each broker names its own; the filter applies before anything else is asked."""
    connection = ScriptedConnection(lambda _, node: listed(f"app-{node}", f"test-{node}"))
    problems: list[Fact] = []
    result = run(list_groups(connection, Filter(deny=("test-*",)), problems))
    assert {g.id: g.coordinator for g in result.values()} == {"app-1": 1, "app-2": 2}
    assert problems == []


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("Classic", GroupType.CLASSIC),
        ("Consumer", GroupType.CONSUMER),
        ("Streams", GroupType.STREAMS),
        ("Share", GroupType.SHARE),
        ("Later", GroupType.UNKNOWN),
        (None, GroupType.CLASSIC),
        ("", GroupType.CLASSIC),
    ],
)
def test_group_types_are_told_apart(told: str | None, kind: GroupType) -> None:
    """What a broker calls it; a broker that tells no type has classic groups only."""
    connection = ScriptedConnection(lambda *_: listed("app", kind=told), nodes=[1])
    result = run(list_groups(connection, ALL, []))
    assert result["app"].type == kind


def test_a_broker_that_is_loading_is_asked_again() -> None:
    """A passing error is no problem once it has passed."""
    answers = iter([listed(error=LOADING), listed("app"), listed("app")])
    connection = ScriptedConnection(lambda *_: next(answers), nodes=[1])
    problems: list[Fact] = []
    assert list(run(list_groups(connection, ALL, problems))) == ["app"]
    assert problems == []


def test_a_broker_that_stays_away_costs_its_own_groups_only() -> None:
    """The others' groups are there, the broker is one line, and it is asked nothing more."""

    def answer(_: Any, node: int | None) -> Any:
        if node == 2:
            raise unreachable(2)
        return listed("app")

    connection = ScriptedConnection(answer)
    problems: list[Fact] = []
    assert list(run(list_groups(connection, ALL, problems))) == ["app"]
    (line,) = said(problems)
    assert re.fullmatch(
        r"broker 2 did not answer: connection refused \(4 tries in \d+ s\); "
        "groups that it coordinates may be missing",
        line,
    )
    assert list(connection.given_up) == [2]


def test_groups_of_a_broker_that_left_are_found_at_its_heirs() -> None:
    """Once the cluster has buried a broker, all others are listed again, and nothing is missing."""

    def answer(_: Any, node: int | None) -> Any:
        if node == 2:
            raise unreachable(2)
        return listed("app", "inherited") if 2 not in connection.brokers else listed("app")

    connection = ScriptedConnection(answer)
    connection.on_refresh = lambda: connection.brokers.pop(2, None) and None
    problems: list[Fact] = []
    result = run(list_groups(connection, ALL, problems))
    assert {g.id: g.coordinator for g in result.values()} == {"app": 1, "inherited": 1}
    assert problems == []


def test_a_group_that_moves_while_brokers_are_asked_is_not_lost() -> None:
    """Neither broker lists it at first; the moved leadership tells, and all are asked again."""
    rounds = iter([listed(), listed(), listed(), listed("moved"), listed(), listed("moved")])
    leaders = iter([2, 1])
    connection = ScriptedConnection(lambda *_: next(rounds))
    connection.offsets_leaders = lambda: next(leaders, 1)
    problems: list[Fact] = []
    assert list(run(list_groups(connection, ALL, problems))) == ["moved"]
    assert problems == []


def test_an_heir_that_is_not_ready_yet_is_waited_for() -> None:
    """After trouble one quiet round is not enough: an heir may not know yet that it is one."""
    heir = iter([listed("own"), listed("own"), listed("own", "inherited")])

    def answer(_: Any, node: int | None) -> Any:
        if node == 2:
            raise unreachable(2)
        return next(heir, listed("own", "inherited"))

    connection = ScriptedConnection(answer, patience=9)
    connection.on_refresh = lambda: connection.brokers.pop(2, None) and None
    problems: list[Fact] = []
    assert list(run(list_groups(connection, ALL, problems))) == ["inherited", "own"]
    assert problems == []


def test_restless_leaders_are_told() -> None:
    """When the leaders never settle, the listing says that it may lack some."""
    count = iter(range(99))
    connection = ScriptedConnection(lambda *_: listed("app"))
    connection.offsets_leaders = lambda: next(count)
    problems: list[Fact] = []
    assert list(run(list_groups(connection, ALL, problems))) == ["app"]
    assert said(problems) == (
        "groups kept moving between brokers while listed; some may be missing",
    )


def test_no_broker_to_ask_is_an_unreachable_cluster() -> None:
    """Brokers that tell addresses which cannot be reached from here are explained as such."""

    def answer(_: Any, node: int | None) -> Any:
        raise unreachable(node)

    connection = ScriptedConnection(answer, patience=0)
    with pytest.raises(ClusterUnreachable, match=r"'prod'.*broker 2 did.*advertised\.listeners"):
        run(list_groups(connection, ALL, []))


def test_brokers_that_load_without_end_are_reached_and_waited_for() -> None:
    """Their addresses are right: each answers, and says why there is nothing to read yet."""
    connection = ScriptedConnection(lambda *_: listed(error=LOADING), patience=1)
    with pytest.raises(ClusterUnreachable) as caught:
        run(list_groups(connection, ALL, []))
    assert "broker 1 answered COORDINATOR_LOAD_IN_PROGRESS (2 tries in " in str(caught.value)
    assert caught.value.fix == "Wait until a broker answers without an error."


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("x" * 1001, f"{'x' * 30}…{'x' * 29}: its id has 1,001 bytes, 1,000 at most can be kept"),
        ("a\0", "a\0: its id has a null character, which cannot be kept"),
    ],
)
def test_a_group_of_an_id_that_cannot_be_kept_is_left_out_and_told(name: str, told: str) -> None:
    """Kafka takes any; the history would refuse the whole snapshot for it."""
    problems: list[Fact] = []
    connection = ScriptedConnection(lambda *_: listed(name, "app", "x" * 1000))
    result = run(list_groups(connection, ALL, problems))
    assert [*result] == ["app", "x" * 1000]
    assert [one.removeprefix("group ") for one in said(problems)] == [told]
