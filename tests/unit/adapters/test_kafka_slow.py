"""Brokers that are slow, restless or silent: what the others have is read, and what is missing is named."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError, RequestTimedOutError
from kafka.protocol.admin import ListGroupsRequest
from typer.testing import CliRunner

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.adapters.kafka import connection as connection_module
from evenkeel.engine.adapters.kafka.connection import FOR_OTHERS, Connection, Unanswered
from evenkeel.engine.cli import app
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.errors import ClusterUnreachable
from tests.helpers.facts import said
from tests.helpers.scripted_connection import run
from tests.helpers.wire_cluster import END, Slowly, WireCluster, at_once

WHOLE, EACH = 20.0, 4.5
"""Seconds of a conversation, and of each answer of a slow broker."""

SLOW, QUICK = 2, 1
GROUPS = {"app-1": 1, "app-2": 2, "app-3": 3}
NOT_COORDINATOR = 16


@dataclass
class Brokers:
    """In place of the client library: broker `SLOW` takes its time, by a clock of its own."""

    now: float = 1000.0
    asked: list[int] = field(default_factory=list)
    failures: dict[int, BaseException] = field(default_factory=dict)
    cluster: Any = None

    def __post_init__(self) -> None:
        nodes = [SimpleNamespace(node_id=n, host=f"b{n}", port=9092) for n in (SLOW, QUICK)]
        self.cluster = SimpleNamespace(brokers=lambda: nodes)

    def monotonic(self) -> float:
        """The clock."""
        return self.now

    def least_loaded_node(self) -> None:
        """None stands out."""

    async def send(self, request: Any, node: int, request_timeout_ms: int) -> str:
        """Takes as long as it takes, up to the limit."""
        took = min(EACH if node == SLOW else 0.0, request_timeout_ms / 1000)
        self.now += took
        self.asked.append(node)
        if node == SLOW and took < EACH:
            raise RequestTimedOutError("late")
        return "answered"


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> Brokers:
    """Two brokers and their clock."""
    made = Brokers()
    monkeypatch.setattr(connection_module, "time", SimpleNamespace(monotonic=made.monotonic))
    monkeypatch.setattr(Connection, "_connect", lambda self, arguments: None)
    return made


def conversation(brokers: Brokers) -> Connection:
    """With these brokers."""
    settings = ClusterSettings(bootstrap="b1:9092", timeout_seconds=WHOLE)
    connection = Connection("prod", settings)
    connection._manager = brokers  # type: ignore[assignment]
    return connection


def test_a_slow_broker_leaves_time_for_the_others(brokers: Brokers) -> None:
    """It is asked as long as its share lasts, then named; the others are asked to the end."""
    connection, began = conversation(brokers), brokers.now
    for _ in range(3):
        run(connection.ask(ListGroupsRequest(), SLOW))
    causes = []
    for _ in range(2):
        with pytest.raises(Unanswered) as caught:
            run(connection.ask(ListGroupsRequest(), SLOW))
        causes.append((str(caught.value), caught.value.passing))
    assert causes == [
        ("broker 2 (b2:9092) did not answer within 4 s", True),
        ("broker 2 (b2:9092) was too slow for the time limit of 20 s", False),
    ]
    assert brokers.now - began == WHOLE * (1 - FOR_OTHERS)
    assert run(connection.ask(ListGroupsRequest(), QUICK)) == "answered"


def test_what_any_broker_can_tell_is_not_asked_of_a_slow_one(brokers: Brokers) -> None:
    """After its first slow answer the others come first."""
    connection = conversation(brokers)
    for _ in range(3):
        run(connection.ask_any(ListGroupsRequest()))
    assert brokers.asked == [SLOW, QUICK, QUICK]


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
