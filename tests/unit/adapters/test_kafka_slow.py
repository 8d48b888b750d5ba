"""Brokers that are slow, restless or silent: what the others have is read, and what is missing is named."""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError
from kafka.protocol.admin import ListGroupsRequest
from typer.testing import CliRunner

from evenkeel.engine.adapters.kafka import KafkaClusterReader, groups, listing, reader, topics
from evenkeel.engine.adapters.kafka import connection as connection_module
from evenkeel.engine.adapters.kafka.connection import FOR_OTHERS, Connection, Unanswered
from evenkeel.engine.cli import app
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.errors import ClusterUnreachable
from tests.helpers.facts import said
from tests.helpers.virtual_brokers import VirtualBrokers
from tests.helpers.wire_cluster import END, Slowly, WireCluster, at_once

WHOLE, EACH = 20.0, 4.5
"""Seconds of a conversation, and of each answer of a slow broker."""

SLOW, QUICK = 2, 1
GROUPS = {"app-1": 1, "app-2": 2, "app-3": 3}
NOT_COORDINATOR = 16


@pytest.fixture
def virtual(monkeypatch: pytest.MonkeyPatch) -> Callable[..., VirtualBrokers]:
    """Lets brokers answer in virtual time from now on: so many, and how long each takes for what."""

    def begin(nodes: int, takes: Callable[[int, str], float]) -> VirtualBrokers:
        ids = range(1, nodes + 1)
        brokers = VirtualBrokers(WireCluster({f"app-{n}": n for n in ids}, nodes=ids), takes)
        for module in (connection_module, groups, listing, reader, topics):
            monkeypatch.setattr(module, "time", brokers)

        def connect(self: Connection, arguments: dict[str, Any]) -> None:
            self._manager = self._net = brokers  # type: ignore[assignment]

        monkeypatch.setattr(Connection, "_connect", connect)
        return brokers

    return begin


def conversation() -> Connection:
    """With these brokers."""
    return Connection("prod", ClusterSettings(bootstrap="b1:9092", timeout_seconds=WHOLE))


def test_a_slow_broker_leaves_time_for_the_others(
    virtual: Callable[..., VirtualBrokers],
) -> None:
    """It is asked as long as its share lasts, then named; the others are asked to the end."""
    brokers = virtual(2, lambda node, what: EACH if node == SLOW else 0)
    connection, began = conversation(), brokers.now
    for _ in range(3):
        connection.run(connection.ask, ListGroupsRequest(), SLOW)
    causes = []
    for _ in range(2):
        with pytest.raises(Unanswered) as caught:
            connection.run(connection.ask, ListGroupsRequest(), SLOW)
        causes.append((str(caught.value), caught.value.passing))
    assert causes == [
        ("broker 2 (b2:9092) did not answer within 4 s", True),
        ("broker 2 (b2:9092) was too slow for the time limit of 20 s", False),
    ]
    assert brokers.now - began == WHOLE * (1 - FOR_OTHERS)
    assert connection.run(connection.ask, ListGroupsRequest(), QUICK).groups


def test_what_any_broker_can_tell_is_not_asked_of_a_slow_one(
    virtual: Callable[..., VirtualBrokers],
) -> None:
    """The first one that is slow is joined by another after two seconds; from then on the others come first."""
    slow = 1
    brokers = virtual(2, lambda node, what: EACH if node == slow else 0.1)
    connection, began = conversation(), brokers.now
    took = []
    for _ in range(3):
        connection.run(connection.ask_any, ListGroupsRequest())
        took.append(round(brokers.now - began, 1))
    assert took == [2.1, 2.2, 2.3]


def taken(brokers: VirtualBrokers) -> tuple[ClusterSnapshot, float]:
    """A snapshot with the default limits, and how long it took."""
    began = brokers.now
    settings = ClusterSettings(bootstrap="b1:9092")
    snapshot = KafkaClusterReader("prod", settings).take_snapshot("prod-20260301T120000Z-000000")
    return snapshot, brokers.now - began


BOUND = 90 * (1 - FOR_OTHERS) + 1
"""Seconds that slow brokers can cost a snapshot with the default limits, and one for the others."""


@pytest.mark.parametrize(
    ("seconds", "what"),
    [(3, None), (8, "OffsetFetch"), (math.inf, None), (math.inf, "ListOffsets")],
)
def test_ten_slow_brokers_of_a_hundred_cost_no_more_than_one(
    virtual: Callable[..., VirtualBrokers], seconds: float, what: str | None
) -> None:
    """They are waited for side by side, within the bound; the others are read in full, what is missing is named."""
    times = []
    for bad in ({100}, set(range(91, 101))):

        def takes(node: int, asked: str, bad: set[int] = bad) -> float:
            return seconds if node in bad and what in (None, asked) else 0.01

        snapshot, took = taken(virtual(100, takes))
        times.append(took)
        good = {f"app-{n}" for n in range(1, 101) if n not in bad}
        rows = snapshot.tables["groups"].to_pylist()
        assert {row["group_id"] for row in rows if row["error"] is None} >= good
        assert snapshot.tables["commits"]["group_id"].is_in(good).sum() == 100 * len(good)
        ends = snapshot.tables["partitions"]["end_offset"]
        assert ends.known[: 100 - len(bad)].all()
        told = said(snapshot.problems)
        if seconds == math.inf:
            assert all(any(f"broker {node} (" in line for line in told) for node in bad)
            assert len(told) <= 2 * len(bad)
    assert times[1] == pytest.approx(times[0], abs=0.1)
    assert max(times) < BOUND


def test_silent_brokers_that_are_asked_first_cost_a_moment_each(
    virtual: Callable[..., VirtualBrokers],
) -> None:
    """Until an answer has come nobody knows which are well: after two seconds one more is asked."""
    bad = range(1, 11)
    snapshot, took = taken(virtual(100, lambda node, what: math.inf if node in bad else 0.01))
    assert len(snapshot.tables["groups"]) == 90
    assert took < BOUND


def test_how_late_ends_were_read_is_time_that_passed(
    virtual: Callable[..., VirtualBrokers],
) -> None:
    """Ten brokers that are waited for side by side make it no ten times as late."""
    snapshot, _ = taken(virtual(100, lambda node, what: 3 if node > 90 else 0.01))
    assert [line for line in said(snapshot.notes) if "commits were read" in line] == [
        "commits were read up to 9 s before log ends, because brokers were slow:"
        " lag includes the records produced in between"
    ]


def test_bootstrap_addresses_that_are_all_slow_get_one_longer_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three addresses share the time; when it is short for each, the first gets all of it."""

    def late(self: Connection, address: str, seconds: float, _: Any) -> ClusterUnreachable | None:
        tried.append((address, seconds))
        error = ClusterUnreachable("no answer.")
        error.__cause__ = KafkaTimeoutError("late")
        return None if seconds > 5 else error

    tried: list[tuple[str, float]] = []
    addresses = ["b1:9092", "b2:9092", "b3:9092"]
    monkeypatch.setattr(connection_module, "reachable", lambda *_: iter(addresses))
    monkeypatch.setattr(Connection, "_bootstrap", late)
    Connection("prod", ClusterSettings(bootstrap=",".join(addresses), request_timeout_seconds=9))
    assert tried == [*((address, 3) for address in addresses), ("b1:9092", 9)]


def drop_by_drop(released: threading.Event) -> Slowly:
    """One byte a second."""

    def send(send: Callable[[bytes], None], answer: bytes) -> None:
        for byte in answer:
            send(bytes([byte]))
            if released.wait(1):
                return

    return send


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """Set at the end: brokers that keep somebody waiting stop."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seconds for a greeting, and hardly a second try."""
    monkeypatch.setattr(connection_module, "CONNECT_SECONDS", 2.0)
    monkeypatch.setattr(connection_module, "RETRY_SECONDS", 0.5)


def settings_of(cluster: WireCluster) -> dict[str, Any]:
    """As they are configured."""
    return {"bootstrap": cluster.address(1), "timeout_seconds": 60, "request_timeout_seconds": 2}


TRIED = r"\((no time left for another try|\d tries in \d+ s)\)"
DROPS = rf"broker 2 \(127.0.0.1:\d+\) did not answer within \d s {TRIED}"
RESTLESS = r"broker 2 \(127.0.0.1:\d+\) answered NOT_COORDINATOR"


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("fault", "unread", "lines"),
    [
        ("drops", {"orders-1"}, [f"{DROPS}; groups that it", f"partition orders-1: {DROPS}"]),
        ("leader", {"orders-1"}, [f"partition orders-1: {DROPS}"]),
        (
            "restless",
            set(),
            [
                rf"group app-2: members: {RESTLESS} \(\d tries in \d+ s\)",
                rf"group app-2: committed offsets: {RESTLESS} \(no time left for another try\)",
            ],
        ),
    ],
)
def test_one_broker_in_trouble_is_named_and_the_rest_is_read(
    released: threading.Event, fault: str, unread: set[str], lines: list[str]
) -> None:
    """It sends a byte a second, never tells its offsets, or sends everybody elsewhere; over real sockets."""

    def pace(node: int, what: str) -> Slowly:
        hurt = fault == "drops" or (fault == "leader" and what == "ListOffsets")
        return drop_by_drop(released) if node == 2 and hurt else at_once

    def code(node: int, what: str, group: str) -> int:
        hurt = fault == "restless" and what in ("DescribeGroups", "OffsetFetch")
        return NOT_COORDINATOR if node == 2 and hurt else 0

    with WireCluster(GROUPS, pace=pace, code=code) as cluster:
        reader = KafkaClusterReader("prod", ClusterSettings(**settings_of(cluster)))
        snapshot = reader.take_snapshot("prod-20260301T120000Z-000000")
    groups = {row["group_id"]: row["error"] for row in snapshot.tables["groups"].to_pylist()}
    assert {name for name, error in groups.items() if error is None} >= {"app-1", "app-3"}
    assert groups.get("app-2", "missing") is not None or fault == "leader"
    ends = {
        f"{row['topic']}-{row['partition']}": row["end_offset"]
        for row in snapshot.tables["partitions"].to_pylist()
    }
    assert ends == {f"orders-{n}": None if f"orders-{n}" in unread else END for n in range(3)}
    told = said(snapshot.problems)
    assert len(told) == len(lines)
    assert all(re.match(line, one) for line, one in zip(lines, told, strict=True)), told


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_lag_says_what_a_slow_broker_kept_back(
    released: threading.Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other brokers' groups have their lag; the line below names the broker."""
    monkeypatch.chdir(tmp_path)
    pace = lambda node, what: drop_by_drop(released) if node == 2 else at_once  # noqa: E731
    with WireCluster(GROUPS, pace=pace) as cluster:
        monkeypatch.setenv("EVENKEEL_CLUSTERS", json.dumps({"prod": settings_of(cluster)}))
        ended = CliRunner().invoke(app, ["lag", "--cluster", "prod"])
    words = " ".join(ended.output.split())
    assert ended.exit_code == 0
    assert "app-1" in words
    assert "app-3" in words
    assert re.search(f"not read: {DROPS}; groups that it coordinates may be missing", words)
