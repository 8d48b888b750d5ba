"""The promises that hold after chaos: each is kept by a whole run of the plain steps, and each can be broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.config import Settings
from evenkeel.engine.snapshots import VALIDATION, rows_to_table
from tests.helpers.memory import MemoryNotifier
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
    snapshot = make_snapshot(
        topics=[topic("orders", 4, end=1000)],
        groups=[group(name, members=2, topics=["orders"], lag={"orders": 5}) for name in "ab"],
    )
    store(lake, snapshot)
    [snapshot_id] = lake.snapshots(CLUSTER)
    history.store_snapshot(lake.manifest("snapshot", snapshot_id), SETTINGS.version)
    nothing = rows_to_table([], VALIDATION)
    pipeline.record_validation(lake, history, snapshot_id, "snapshot", nothing)
    pipeline.record_metrics(
        lake, snapshot_id, pipeline.compute_metrics(lake, SETTINGS, snapshot_id)
    )
    pipeline.record_candidates(
        lake, snapshot_id, pipeline.propose_candidates(lake, SETTINGS, snapshot_id)
    )
    for stage in ("metrics", "candidates"):
        pipeline.record_validation(lake, history, snapshot_id, stage, nothing)
    pipeline.advise(lake, history, SETTINGS, snapshot_id)
    pipeline.watch_groups(lake, history, MemoryNotifier(), SETTINGS, snapshot_id)
    evidence = Evidence(
        database_url=database_url,
        lake=lake,
        messages=[MESSAGE],
        settings=SETTINGS,
        cluster=CLUSTER,
        until=LONG_AGO,
        ended=lambda: down,
    )
    return Finished(evidence, snapshot_id, down)


def _second_message(finished: Finished) -> None:
    finished.evidence.messages.append(MESSAGE | {"ts": "2.0"})


def _posted_anew(finished: Finished) -> None:
    for ts, key in (("2.0", "opened"), ("3.0", "worse 1")):
        payload = {"event_payload": {"key": f"incident test/a/s1 {key}"}}
        finished.evidence.messages.append(MESSAGE | {"ts": ts, "metadata": payload})


def _never_watched(finished: Finished) -> None:
    finished.execute("DELETE FROM incident_watch")


def _open_without_reason(finished: Finished) -> None:
    finished.execute(
        "INSERT INTO incident (cluster, group_id, kind, severity, opened_at, last_seen_at)"
        " VALUES ('test', 'a', 'no members', 'critical', now(), now())"
    )


def _sent_to_nowhere(finished: Finished) -> None:
    finished.execute(
        "INSERT INTO alert (key, cluster, kind, channel, message, state, sent_channel, sent_timestamp)"
        " VALUES ('k', 'test', 'advice', '#kafka', '{}', 'sent', 'C0KAFKA001', '9.0')"
    )


def _waiting(finished: Finished) -> None:
    finished.execute(
        "INSERT INTO alert (key, cluster, kind, channel, message, created_at)"
        " VALUES ('k', 'test', 'advice', '#kafka', '{}', '2019-01-01')"
    )


def _open_incident(finished: Finished) -> None:
    finished.execute(
        "INSERT INTO incident (cluster, kind, severity, opened_at, last_seen_at)"
        " VALUES ('test', 'snapshot late', 'critical', now(), now())"
    )


def _lost_row_of_advice(finished: Finished) -> None:
    finished.execute("DELETE FROM advice WHERE group_id = 'a'")


def _lost_row_of_metrics(finished: Finished) -> None:
    finished.execute("DELETE FROM group_metrics WHERE group_id = 'b'")


def _forgotten_snapshot(finished: Finished) -> None:
    finished.execute("DELETE FROM snapshot")


def _cut_file(finished: Finished) -> None:
    lake, snapshot_id = finished.evidence.lake, finished.snapshot_id
    manifest = lake.manifest("metrics", snapshot_id)
    table = lake.read("group_metrics", [snapshot_id])
    tables = {name: lake.read(name, [snapshot_id]) for name in manifest.rows}
    more = tables | {"group_metrics": table.slice(0, 1)}
    lake.write("metrics", snapshot_id, more, manifest.facts)


def _broker_down(finished: Finished) -> None:
    finished.down.append("1 brokers")


def test_a_finished_run_keeps_every_promise(finished: Finished) -> None:
    """Nothing is found where everything is done and sent."""
    assert broken(finished.evidence) == {name: [] for name in PROMISES}


@pytest.mark.parametrize(
    ("spoil", "promise"),
    [
        (_second_message, "no message came twice"),
        (_posted_anew, "no message came twice"),
        (_never_watched, "every snapshot was watched, or a newer one was"),
        (_open_without_reason, "no incident of a group is open that is not true"),
        (_sent_to_nowhere, "no message is lost"),
        (_waiting, "no alert is pending"),
        (_open_incident, "no incident of the pipeline is left open"),
        (_lost_row_of_advice, "the history holds whole snapshots"),
        (_lost_row_of_metrics, "the history holds whole snapshots"),
        (_cut_file, "the history holds whole snapshots"),
        (_forgotten_snapshot, "every snapshot has its advice, or was overtaken or rejected"),
        (_broker_down, "everything that was killed came back"),
    ],
)
def test_each_promise_can_be_broken(
    finished: Finished, spoil: Callable[[Finished], None], promise: str
) -> None:
    """What was spoilt breaks its promise and no other."""
    spoil(finished)
    assert [name for name, lines in broken(finished.evidence).items() if lines] == [promise]


def test_what_waits_for_its_advice_is_named(finished: Finished) -> None:
    """A snapshot from before the end that is still at work breaks the promise; one from later does not."""
    finished.execute("UPDATE snapshot SET advised_at = NULL, taken_up_at = now()")
    now = replace(finished.evidence, until=datetime.now(tz=UTC))
    lines = broken(now)["every snapshot has its advice, or was overtaken or rejected"]
    assert f"{finished.snapshot_id} is at work" in lines
    later = broken(finished.evidence)["every snapshot has its advice, or was overtaken or rejected"]
    assert later == ["no snapshot that was taken afterwards has its advice"]
