"""The promises that hold after chaos: a whole run of the plain steps keeps them, and what is spoilt is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.config import Settings
from tests.helpers.cookbook_history import work
from tests.helpers.snapshots import group, make_snapshot, store, topic
from tests.stage.chaos.promises import PROMISES, Evidence, broken

pytest_plugins = ("tests.helpers.postgres_fixtures",)

pytestmark = [pytest.mark.nightly, pytest.mark.postgres]

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
SETTINGS = Settings()
CLUSTER = "test"
MESSAGE = {
    "channel": "C0KAFKA001",
    "ts": "1.0",
    "text": "x",
    "metadata": {"event_payload": {"key": "incident 1"}},
}


@dataclass(frozen=True)
class Finished:
    """A snapshot with its advice, its messages sent."""

    evidence: Evidence
    snapshot_id: str
    down: list[str]

    def execute(self, statement: str) -> None:
        """Spoil something in the history."""
        with psycopg.connect(self.evidence.database_url) as connection:
            connection.execute(statement.encode())


@pytest.fixture
def finished(tmp_path: Path, history: PostgresHistory, database_url: str) -> Finished:
    """All steps done for one snapshot, and one message in Slack."""
    lake, down = FileLake(tmp_path / "lake"), list[str]()
    groups = [group(name, members=2, topics=["orders"], lag={"orders": 5}) for name in "ab"]
    [taken] = store(lake, make_snapshot(topics=[topic("orders", 4, end=1000)], groups=groups))
    work(lake, history, SETTINGS, taken)
    evidence = Evidence(
        database_url=database_url,
        lake=lake,
        messages=[MESSAGE],
        settings=SETTINGS,
        cluster=CLUSTER,
        until=LONG_AGO,
        ended=lambda: down,
    )
    return Finished(evidence, taken, down)


Spoil = Callable[[Finished], None]


def posted(*keys: str) -> Spoil:
    """More messages in Slack."""

    def spoil(finished: Finished) -> None:
        for number, key in enumerate(keys, start=2):
            payload = {"event_payload": {"key": f"incident {key}"}}
            finished.evidence.messages.append(MESSAGE | {"ts": f"{number}.0", "metadata": payload})

    return spoil


def told(statement: str) -> Spoil:
    """The history is spoilt."""
    return lambda finished: finished.execute(statement)


def incident(group: str, kind: str) -> Spoil:
    """One is open."""
    return told(
        "INSERT INTO incident (cluster, group_id, kind, severity, opened_at, last_seen_at)"
        f" VALUES ('test', {group}, '{kind}', 'critical', now(), now())"
    )


def alert(columns: str, values: str) -> Spoil:
    """One stands in the outbox."""
    return told(
        f"INSERT INTO alert (key, cluster, kind, channel, message, {columns})"
        f" VALUES ('k', 'test', 'advice', '#kafka', '{{}}', {values})"
    )


SPOILT: list[tuple[Spoil, str]] = [
    (posted("1"), "no message came twice"),
    (told("DELETE FROM incident_watch"), "every snapshot was watched, or a newer one was"),
    (incident("'a'", "no members"), "no incident of a group is open that is not true"),
    (incident("NULL", "snapshot stale"), "no incident of the pipeline is left open"),
    (
        alert("state, sent_channel, sent_timestamp", "'sent', 'C0KAFKA001', '9.0'"),
        "no message is lost",
    ),
    (alert("created_at", "'2019-01-01'"), "no alert is pending"),
    (told("DELETE FROM advice WHERE group_id = 'a'"), "the history holds whole snapshots"),
    (told("DELETE FROM snapshot"), "every snapshot has its advice, or was superseded or rejected"),
    (lambda finished: finished.down.append("1 brokers"), "everything that was killed came back"),
]


def test_a_finished_run_keeps_every_promise(finished: Finished) -> None:
    """Nothing is found where everything is done and sent."""
    assert broken(finished.evidence) == {name: [] for name in PROMISES}


@pytest.mark.parametrize(("spoil", "promise"), SPOILT)
def test_each_promise_can_be_broken(finished: Finished, spoil: Spoil, promise: str) -> None:
    """What was spoilt breaks its promise and no other."""
    spoil(finished)
    assert [name for name, lines in broken(finished.evidence).items() if lines] == [promise]
