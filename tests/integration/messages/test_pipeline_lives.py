"""The exact list of calls that Slack gets over the life of each thing that can be wrong with a cluster's pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from evenkeel.engine import pipeline as steps
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.config import ClusterSettings, Rule, Settings
from evenkeel.engine.messages.wording.pipelines import PIPELINES
from evenkeel.engine.model.errors import NotifierError
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from evenkeel.engine.model.states import IncidentKind
from evenkeel.engine.ports import Manifest, Posting
from evenkeel.engine.records import Outcome, StepRun
from evenkeel.engine.snapshots import METRICS, rows_to_table
from tests.helpers.slack_calls import LATER, RecordedWorkspace, key_of
from tests.helpers.watching import slack_at
from tests.stage import slack
from tests.stage.slack_workspace import Fault

pytest_plugins = ("tests.helpers.postgres_fixtures",)

pytestmark = pytest.mark.postgres

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
CLUSTER = "eu"
TEAM = "#team-orders"
SETTINGS = Settings(
    clusters={CLUSTER: ClusterSettings(bootstrap="b:9092")},
    late_after_seconds=600,
    rules=(Rule(groups="orders-*", channel=TEAM),),
)
OPENED = "chat.postMessage opened"
CHANGED = "chat.update opened"
CLOSED = "chat.postMessage resolved thread in the thread of opened, broadcast"


@dataclass
class Pipeline:
    """A history, a workspace, and what happens to a pipeline, by minutes from the start."""

    history: PostgresHistory
    workspace: RecordedWorkspace
    base_url: str
    database_url: str

    def watch(self, minutes: float) -> None:
        """The step that notices, at that moment; what cannot be delivered stays."""
        notifier = slack_at(self.base_url)
        with suppress(NotifierError):
            steps.watch(self.history, notifier, SETTINGS, later(minutes))

    def snapshot(self, minutes: float) -> None:
        """One that was taken then, with its advice."""
        taken = later(minutes)
        snapshot_id = f"{CLUSTER}-{taken:%Y%m%dT%H%M%SZ}-000000"
        moments = {"started_at": taken.isoformat(), "finished_at": taken.isoformat()}
        self.history.store_snapshot(
            Manifest(
                snapshot_id=snapshot_id,
                cluster=CLUSTER,
                step="snapshot",
                schema_version=1,
                written_at=taken,
                rows={"groups": 0},
                facts=moments | {"kafka_cluster_id": "id", "problems": []},
            ),
            "v",
        )
        tables = {name: rows_to_table([], schema) for name, schema in METRICS.items()}
        self.history.store_metrics(snapshot_id, tables)
        self.history.store_advice(snapshot_id, [])

    def step(self, name: str, minutes: float, *, ok: bool = False) -> None:
        """A run of a step that ended then."""
        at = later(minutes)
        self.history.record_step(
            StepRun(
                cluster=CLUSTER,
                snapshot_id=None,
                step=name,
                started_at=at,
                finished_at=at,
                outcome=Outcome.OK if ok else Outcome.FAILED,
                error=None if ok else "No broker answered.",
                link=f"https://airflow.example/runs/{minutes}",
            )
        )

    def unsent(self, key: str, channel: str) -> None:
        """An alert that was made at the start and could not be delivered."""
        message = AlertMessage(
            kind=MessageKind.ADVICE, severity=Severity.INFO, at=START, title="t", summary="s"
        )
        posting = Posting(key=key, channel=channel, message=message)
        self.history.enqueue_alert(posting, cluster=CLUSTER)
        with psycopg.connect(self.database_url) as connection:
            connection.execute("UPDATE alert SET created_at = %s WHERE key = %s", (START, key))

    @property
    def calls(self) -> list[str]:
        """What was changed in the workspace, about the one incident there was."""
        keys = [call.key for call in self.workspace.writes if call.key.endswith(" opened")]
        incident = keys[0].removeprefix("incident ").removesuffix(" opened")
        return [call.about(incident) for call in self.workspace.writes]


def later(minutes: float) -> datetime:
    """So long after the start."""
    return START + timedelta(minutes=minutes)


@pytest.fixture
def pipeline(history: PostgresHistory, database_url: str) -> Iterator[Pipeline]:
    """A pipeline that nothing was told of yet."""
    workspace = RecordedWorkspace(clock=lambda: LATER)
    with slack.running(workspace) as server:
        yield Pipeline(history, workspace, server.base_url, database_url)


def _unreachable(pipeline: Pipeline) -> None:
    pipeline.snapshot(0)
    for minutes in (1, 2, 3):
        pipeline.step("take_snapshot", minutes)
        pipeline.watch(minutes)
    pipeline.step("take_snapshot", 4, ok=True)
    pipeline.snapshot(4)
    pipeline.watch(4)


def _unsent(pipeline: Pipeline) -> None:
    pipeline.snapshot(9)
    pipeline.unsent("advice", TEAM)
    # what goes to the team is refused, twice; what goes to the default channel is not
    pipeline.workspace.channels.pop("team-orders")
    for minutes in (11, 12):
        pipeline.watch(minutes)
    pipeline.workspace.channels["team-orders"] = "C0ORDERS01"
    for minutes in (13, 14):
        pipeline.watch(minutes)


LIVES: dict[IncidentKind, Callable[[Pipeline], None]] = {
    IncidentKind.UNREACHABLE: _unreachable,
    IncidentKind.UNSENT: _unsent,
}
"""One that runs of a step show, and one that keeps itself from being told; the port's contract has the others."""

CALLS: dict[IncidentKind, Sequence[str]] = {
    IncidentKind.UNREACHABLE: (OPENED, CHANGED, CLOSED),
    IncidentKind.UNSENT: (OPENED, "chat.postMessage advice", CHANGED, CLOSED),
}


@pytest.mark.parametrize("kind", LIVES, ids=lambda kind: kind.name.lower())
def test_a_pipeline_is_told_of_in_exactly_these_calls(
    pipeline: Pipeline, kind: IncidentKind
) -> None:
    """
    Once when it is wrong, however often it is looked at meanwhile; when it is over it says so, and so does its thread.
    """
    LIVES[kind](pipeline)
    assert pipeline.calls == list(CALLS[kind])
    parent, *lines = (m["text"] for m in pipeline.workspace.messages if key_of(m) != "advice")
    assert [parent] == lines
    assert f": {PIPELINES[kind].over}: It lasted " in parent
    assert pipeline.history.query("open_incidents") == []


def test_what_arrived_without_an_answer_is_answered_by_its_end(pipeline: Pipeline) -> None:
    """An opening that Slack kept though no answer came is found when it is over, which is said in its thread."""
    kept, blind = Fault(drop=True, stored=True), Fault("conversations.history", drop=True)
    pipeline.workspace.faults.extend([kept, blind, blind])
    pipeline.snapshot(0)
    pipeline.watch(12)
    assert pipeline.calls == [OPENED]
    assert len(pipeline.history.pending_alerts()) == 1
    pipeline.snapshot(13)
    pipeline.watch(13)
    assert pipeline.calls == [OPENED, CHANGED, CLOSED]
