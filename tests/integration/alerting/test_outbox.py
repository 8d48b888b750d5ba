"""The outbox on a real Postgres: its statements, and the notifier's server at the other end."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.slack import SlackNotifier
from evenkeel.engine.alerting.outbox import DeliveryReport, deliver
from evenkeel.engine.alerting.queueing import queue_advice, queue_incidents
from evenkeel.engine.config import ClusterSettings, Policy, Rule, Settings
from evenkeel.engine.datasets import METRICS, rows_to_table
from evenkeel.engine.errors import NotifierError
from evenkeel.engine.facts import Fact, FactKind
from evenkeel.engine.message import AlertMessage
from evenkeel.engine.ports import Manifest, PendingAlert
from evenkeel.engine.records import (
    AdviceRow,
    CandidateColumns,
    Outcome,
    StepRun,
    ValidationRow,
    arrow_schema,
    record_of,
    row_of,
    table_of,
)
from tests.helpers.memory import MemoryNotifier, SlowNotifier
from tests.helpers.outbox import forecast, refusal
from tests.stage.slack import SlackServer
from tests.stage.slack_workspace import Fault

pytest_plugins = ("tests.helpers.postgres_fixtures", "tests.helpers.slack_fixtures")

pytestmark = pytest.mark.postgres

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
CLUSTER = "orders"
GAIN = Fact(kind=FactKind.GAIN, measure="largest_member_lag", before=900, after=300)
MOVE = {"topic": "t", "partition": 0, "from_member": "m1", "to_member": "m2"}


def settings(*rules: Rule, clusters: tuple[str, ...] = (CLUSTER,)) -> Settings:
    """Settings of some clusters with the default channel #kafka."""
    return Settings(
        clusters={c: ClusterSettings(bootstrap="b:9092") for c in clusters}, rules=rules
    )


def store(
    history: PostgresHistory, number: int, *rows: Mapping[str, Any], cluster: str = CLUSTER
) -> str:
    """A snapshot taken *number* minutes after the start, with metrics, candidates and this advice."""
    taken = START + timedelta(minutes=number)
    snapshot_id = f"{cluster}-{taken:%Y%m%dT%H%M%SZ}-{number:06x}"
    key = {"snapshot_id": snapshot_id, "cluster": cluster, "config_version": "v"}
    facts = {
        "started_at": taken.isoformat(),
        "finished_at": (taken + timedelta(seconds=5)).isoformat(),
    }
    manifest = Manifest(
        snapshot_id=snapshot_id,
        cluster=cluster,
        step="snapshot",
        schema_version=1,
        written_at=taken,
        rows={"groups": len(rows)},
        facts=facts | {"kafka_cluster_id": cluster},
    )
    history.store_snapshot(manifest, "v")
    groups = [
        key
        | {
            "group_id": row["group_id"],
            "group_type": "classic",
            "state": "Stable",
            "status": "OK",
            "assignor": "range",
            "partitions": 12,
            "findings": [],
        }
        for row in rows
    ]
    tables = {name: rows_to_table([], schema) for name, schema in METRICS.items()}
    tables["group_metrics"] = rows_to_table(groups, METRICS["group_metrics"])
    history.store_metrics(snapshot_id, tables)
    history.store_candidates(snapshot_id, candidates(key, rows))
    history.store_advice(
        snapshot_id, [record_of(AdviceRow, key | {"created_at": taken} | dict(row)) for row in rows]
    )
    return snapshot_id


def candidates(key: Mapping[str, Any], rows: tuple[Mapping[str, Any], ...]) -> pa.Table:
    """The live assignment and the advised one of each group."""
    counts = "most_partitions fewest_partitions racks_left_out moves newly_owned unowned"
    found = []
    for row in rows:
        one = dict(key) | {
            "group_id": row["group_id"],
            "deployment": "setting",
            "feasibility": "can run",
            "reason": "it can",
            "findings": [],
            **dict.fromkeys(counts.split(), 0),
        }
        live = {
            "strategy": "live",
            "position": 0,
            "largest_member_lag": 900,
            "drain_seconds": float("inf"),
            **row_of(forecast(120_000)),
        }
        other = {
            "strategy": "sticky",
            "position": 1,
            "largest_member_lag": 300,
            "moves": 4,
            "drain_seconds": 60.0,
            **row_of(forecast(300, restarts=6)),
        }
        found += [one | live, one | other]
    return rows_to_table(found, arrow_schema(CandidateColumns))


def advice(
    group: str, verdict: str = "switch", strategy: str | None = "sticky", seen: int = 2
) -> dict[str, Any]:
    """A row of advice."""
    switch = verdict == "switch"
    return {
        "group_id": group,
        "verdict": verdict,
        "strategy": strategy if switch else None,
        "reason": "largest member lag 900 -> 300 offsets (-67%)",
        "how": "set partition.assignment.strategy" if switch else None,
        "yardstick": None,
        "yardstick_reason": None,
        "facts": [GAIN],
        "seen": seen if switch else 0,
        "state": "confirmed" if switch else "withdrawn",
        "moves": [MOVE] if switch else [],
        "events": [],
        "checks": [],
    }


def rows_of(history: PostgresHistory) -> list[PendingAlert]:
    """The pending alerts."""
    return history.pending_alerts()


def step(history: PostgresHistory, minutes: float, outcome: str = "failed", **more: Any) -> None:
    """A run of a step, that many minutes after the start."""
    at = START + timedelta(minutes=minutes)
    row = {
        "cluster": CLUSTER,
        "snapshot_id": None,
        "step": "take_snapshot",
        "error": "No broker answered.",
    }
    row |= {"started_at": at, "finished_at": at + timedelta(seconds=9), "outcome": Outcome(outcome)}
    history.record_step(StepRun(**(row | more)))


def later(minutes: float) -> datetime:
    """That many minutes after the start."""
    return START + timedelta(minutes=minutes)


def test_a_digest_holds_what_postgres_knows(history: PostgresHistory) -> None:
    """Scores, moves, the beginning of the streak and the counts come from the tables into the message."""
    store(history, 0, advice("a", "stay"), advice("b", "stay"))
    won = {"strategy": "sticky", "seen": 1, "state": "proposed"}
    store(history, 5, advice("a", "stay") | won, advice("b", "stay"))
    run = store(history, 10, advice("a"), advice("b", "stay"))
    assert queue_advice(history, settings(), run) == 1
    [row] = rows_of(history)
    message = AlertMessage.from_json(row.message)
    [section] = message.sections
    text = "\n".join([message.summary, *section.lines])
    assert (
        "In 1 h: 120,000 behind (90,000 to 150,000) as it is, 300 (220 to 380) with sticky." in text
    )
    assert "Price: 6 restarts, about 3,600 records wait meanwhile; 4 of 12 partitions" in text
    assert "won in 2 snapshots in a row, since 2026-03-01 09:05:00 UTC" in text
    assert section.code == ("t-0: m1 -> m2", "and 3 more")
    assert (
        f"Snapshot {run}, read 2026-03-01 09:10:05 UTC; 2 groups: 1 stay, 1 switch."
        in message.footer
    )


def test_each_thing_is_told_once(history: PostgresHistory) -> None:
    """Over a series of snapshots, pending or sent: told, silent, withdrawn, silent, told again."""
    queued = []
    at_once = settings(Rule(policy=Policy(message_seconds=0)))
    for number, verdict in enumerate(["switch", "switch", "stay", "stay", "switch"]):
        queued.append(queue_advice(history, at_once, store(history, number, advice("a", verdict))))
        if number % 2:
            deliver(history, MemoryNotifier(), settings())
    assert queued == [1, 0, 1, 0, 1]


def test_a_run_queued_twice_at_once_is_one_alert(history: PostgresHistory) -> None:
    """Two processes in the same step: the unique key lets one alert through."""
    run = store(history, 0, advice("a"))
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: queue_advice(history, settings(), run), range(4)))
    assert sum(counts) == 1
    assert len(rows_of(history)) == 1


def test_an_older_snapshot_is_silent(history: PostgresHistory) -> None:
    """A backfill has its advice stored and nothing queued."""
    old = store(history, 0, advice("a"))
    store(history, 5, advice("b", "stay"))
    assert queue_advice(history, settings(), old) == 0
    assert rows_of(history) == []


def test_two_deliveries_at_once_send_one_message(history: PostgresHistory) -> None:
    """While one process is sending an alert, another leaves it alone; afterwards it is sent."""
    queue_advice(history, settings(), store(history, 0, advice("a")))
    slow, other = SlowNotifier(), MemoryNotifier()
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(deliver, history, slow, settings())
        assert slow.inside.wait(30)
        assert deliver(history, other, settings()) == DeliveryReport(busy=1)
        slow.go.set()
        assert sending.result(30) == DeliveryReport(sent=1)
    assert other.tried == []
    assert rows_of(history) == []


def test_a_failed_attempt_is_noted_and_may_be_repeated_at_once(history: PostgresHistory) -> None:
    """After a failure the alert is pending, with its error and the attempts, and goes out on the next call."""
    queue_advice(history, settings(), store(history, 0, advice("a")))
    with pytest.raises(NotifierError, match="1 of 1 alerts"):
        deliver(history, MemoryNotifier({"#kafka": refusal()}), settings())
    [row] = rows_of(history)
    assert row.attempts == 1
    slack = MemoryNotifier()
    assert deliver(history, slack, settings()).sent == 1
    assert rows_of(history) == []


def test_a_crash_between_sending_and_marking_doubles_nothing(
    history: PostgresHistory,
    slack_server: SlackServer,
) -> None:
    """A message that was posted, but whose row still says pending, is found in the channel and marked."""
    slack = SlackNotifier("xoxb-test", slack_server.base_url, pause=lambda seconds: None)
    queue_advice(history, settings(), store(history, 0, advice("a")))
    [row] = rows_of(history)
    posted = slack.send(AlertMessage.from_json(row.message), channel=row.channel, key=row.key)
    assert deliver(history, slack, settings()).sent == 1
    assert [m["ts"] for m in slack_server.workspace.messages] == [posted.timestamp]
    assert rows_of(history) == []


def test_slack_down_loses_nothing(
    history: PostgresHistory,
    slack_server: SlackServer,
) -> None:
    """While Slack fails the alert waits; once it is back it is posted, once."""
    slack = SlackNotifier("xoxb-test", slack_server.base_url, pause=lambda seconds: None)
    queue_advice(history, settings(), store(history, 0, advice("a")))
    slack_server.workspace.faults.extend([Fault(status=500)] * 3)
    with pytest.raises(NotifierError, match="HTTP status 500"):
        deliver(history, slack, settings())
    assert deliver(history, slack, settings()).sent == 1
    assert len(slack_server.workspace.messages) == 1


def test_an_incident_opens_once_and_closes_in_its_thread(history: PostgresHistory) -> None:
    """Failed once, unreachable, still unreachable, back: a message, which says so in the end, as does its thread."""
    slack = MemoryNotifier()
    store(history, 0, advice("a", "stay"))
    step(history, 0, "ok", error=None)
    queued = []
    for minutes, outcome in ((5, "failed"), (8, "failed"), (11, "failed"), (14, "ok")):
        step(history, minutes, outcome, error=None if outcome == "ok" else "No broker answered.")
        queued.append(queue_incidents(history, settings(), later(minutes + 1)))
        deliver(history, slack, settings())
    assert queued == [0, 1, 0, 2]
    assert slack.threads == [None, "1"]
    assert [m.title for _, _, m in slack.sent] == ["orders: the cluster can be read again"] * 2
    assert [key for _, key in slack.changes] == ["incident 1 closed"]
    assert slack.sent[1][2].summary.startswith("It lasted 9 min 51 s, from 2026-03-01 09:05:09 UTC")


def test_an_incident_is_opened_once_by_two_processes(history: PostgresHistory) -> None:
    """Two looks at the same moment leave one open incident and one alert."""
    step(history, 2)
    step(history, 5)
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: queue_incidents(history, settings(), later(6)), range(4)))
    assert sum(counts) == 1
    assert len(history.open_incidents()) == 1
    assert len(rows_of(history)) == 1


def test_an_unsent_opening_is_superseded_by_its_end(history: PostgresHistory) -> None:
    """An incident that came and went while Slack was down is one message."""
    step(history, 2)
    step(history, 5)
    queue_incidents(history, settings(), later(6))
    step(history, 8, "ok", error=None)
    queue_incidents(history, settings(), later(9))
    [row] = rows_of(history)
    assert row.key.endswith(" closed")
    assert row.standing is None


def test_silence_is_noticed(history: PostgresHistory) -> None:
    """A cluster without a new snapshot, and one that was never read, are late once their time is over."""
    store(history, 0, advice("a", "stay"))
    step(history, 0, "ok", error=None)
    two = settings(clusters=(CLUSTER, "never"))
    assert queue_incidents(history, two, later(14)) == 0
    assert queue_incidents(history, two, later(16)) == 2
    found = {(i.cluster, i.kind) for i in history.open_incidents()}
    assert found == {(CLUSTER, "snapshot late"), ("never", "snapshot late")}


def manifest_only(history: PostgresHistory, number: int) -> str:
    """A snapshot that went no further than its reading."""
    taken = later(number)
    snapshot_id = f"{CLUSTER}-{taken:%Y%m%dT%H%M%SZ}-{number:06x}"
    facts = {
        "started_at": taken.isoformat(),
        "finished_at": taken.isoformat(),
        "kafka_cluster_id": CLUSTER,
    }
    manifest = Manifest(
        snapshot_id=snapshot_id,
        cluster=CLUSTER,
        step="snapshot",
        schema_version=1,
        written_at=taken,
        rows={"groups": 1},
        facts=facts,
    )
    history.store_snapshot(manifest)
    return snapshot_id


def test_snapshots_without_advice_are_stuck_until_there_is_some(history: PostgresHistory) -> None:
    """Snapshots newer than the newest advice make one incident, which ends with the next advice."""
    store(history, 0, advice("a", "stay"))
    for number in (5, 10, 20):
        manifest_only(history, number)
    queue_incidents(history, settings(), later(21))
    [incident] = history.open_incidents()
    assert (incident.kind, incident.facts["snapshots"]) == ("advice stuck", 3)
    store(history, 21, advice("a", "stay"))
    queue_incidents(history, settings(), later(22))
    assert history.open_incidents() == []


def test_a_rejected_snapshot_is_told_with_its_reason(history: PostgresHistory) -> None:
    """Validation's verdict on the whole snapshot is an incident that quotes what failed; stuck it is not."""
    run = manifest_only(history, 0)
    failed = ValidationRow(
        snapshot_id=run,
        cluster=CLUSTER,
        stage="snapshot",
        group_id=None,
        expectation="brokers are known",
        severity="critical",
        success=False,
        unexpected_count=0,
        checked_count=0,
        reason="no broker was read",
    )
    history.store_validation(run, "snapshot", table_of(ValidationRow, [failed]))
    queue_incidents(history, settings(), later(14))
    [incident] = history.open_incidents()
    assert incident.kind == "snapshot rejected"
    assert incident.facts["error"] == "brokers are known: no broker was read"


def test_a_failing_step_counts_since_its_last_success(history: PostgresHistory) -> None:
    """Failures before the last good run are past; those after it are told with the newest error."""
    store(history, 0, advice("a", "stay"))
    for minutes, outcome, error in (
        (1, "failed", "old"),
        (2, "ok", None),
        (3, "failed", "x"),
        (4, "failed", "new"),
    ):
        step(history, minutes, outcome, step="advise", error=error)
    assert queue_incidents(history, settings(), later(7)) == 0
    assert queue_incidents(history, settings(), later(9)) == 1
    [incident] = history.open_incidents()
    [failing] = incident.facts["steps"]
    assert (failing["step"], failing["failures"], failing["error"]) == ("advise", 2, "new")


def test_a_step_without_a_cluster_is_told_once(history: PostgresHistory) -> None:
    """The daily upkeep serves all clusters; its failure is one incident, and ends with a success."""
    store(history, 0, advice("a", "stay"))
    step(history, 1, "failed", step="upkeep", cluster=None, error="disk full")
    assert queue_incidents(history, settings(), later(9)) == 1
    [incident] = history.open_incidents()
    assert incident.facts["steps"][0]["step"] == "upkeep"
    step(history, 10, "ok", step="upkeep", cluster=None)
    queue_incidents(history, settings(), later(11))
    assert history.open_incidents() == []


def test_alerts_that_wait_too_long_are_told_elsewhere(history: PostgresHistory) -> None:
    """A team's channel that takes nothing is told in the default channel, once."""
    rules = settings(Rule(groups="a", channel="#dead"))
    queue_advice(history, rules, store(history, 0, advice("a")))
    dead = MemoryNotifier({"#dead": refusal("#dead")})
    with pytest.raises(NotifierError):
        deliver(history, dead, rules)
    [row] = rows_of(history)
    waiting = row.created_at + timedelta(minutes=16)
    queue_incidents(history, rules, waiting)
    with pytest.raises(NotifierError):
        deliver(history, dead, rules)
    titles = [message.title for _, _, message in dead.sent]
    assert "orders: alerts do not arrive" in titles
    assert all(channel == "#kafka" for channel, _, _ in dead.sent)
