"""
What wakes people, through the real DAGs: a real Airflow, a real history, a server that speaks Slack's API.

The cluster is a script, see `tests.helpers.scripted_cluster`; Spark is not needed for anything here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.helpers.dagbag import show_dags
from tests.helpers.local_pipeline import LocalPipeline, paused_airflow
from tests.helpers.scripted_cluster import GROUP, PLACE, Script
from tests.stage import slack
from tests.stage.process import wait_until
from tests.stage.slack_workspace import Json, Workspace, as_seen

pytest_plugins = ("tests.helpers.postgres_fixtures",)

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.postgres,
    pytest.mark.slow,
    # starting everything counts as part of the first test
    pytest.mark.timeout(1500),
]

RUN_SECONDS = 900
TOLD_SECONDS = 20.0
"""From the end of a snapshot to the message about one of its groups; on a busy machine, what that snapshot took."""

SCRIPTED = """
# in place of brokers, a script; what fails is tried again after a second
from datetime import timedelta
from evenkeel.dags import defaults
from evenkeel.engine import wiring
from tests.helpers.scripted_cluster import connect
wiring.cluster = connect
defaults.TASK["retry_delay"] = timedelta(seconds=1)

"""

CONFIG = """
slack_channel = "#team-orders"
# nobody works on these snapshots, and nobody is to be told so, however long all this takes
stale_after_seconds = 86400
[clusters.eu]
bootstrap = "b:9092"
[[rules]]
owner = "orders"
incidents = {resolve_after_seconds = 1}
"""


@dataclass(frozen=True, kw_only=True)
class Pipeline(LocalPipeline):
    """An Airflow with its DAGs paused but those that a test runs, and what its tasks use."""

    workspace: Workspace
    administrator_url: str

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.home / "evenkeel.toml"

    def script(self, **how: Any) -> None:
        """From now on the cluster is so."""
        place = self.home / "cluster.json"
        known = json.loads(place.read_text()) if place.exists() else {}
        Script(**known | how).write(place)

    def run(self, dag_id: str = "snapshot_offsets") -> str:
        """Run a DAG to its end; the state in which it ends."""
        run_id = self.api.trigger(dag_id)

        def ended() -> str | None:
            (state,) = [r["state"] for r in self.api.runs(dag_id) if r["dag_run_id"] == run_id]
            return state if state in ("success", "failed") else None

        return str(wait_until(ended, RUN_SECONDS, f"{dag_id} to end", interval=0.5))

    @property
    def said(self) -> list[Json]:
        """Everything in the channel as it is now, oldest first."""
        return list(json.loads(json.dumps(self.workspace.messages)))

    def since(self, before: int) -> list[tuple[str, bool]]:
        """
        First line of each message after so many, without how often and how long, and whether it is in the thread of the
        first of them.
        """
        new = self.said[before:]
        return [
            (
                re.sub(r", \d+ failed.*| for .*", "", _title(each)),
                each.get("thread_ts") == new[0]["ts"],
            )
            for each in new
        ]

    def history(self, *, takes_connections: bool) -> None:
        """Let the history be there, or not; Airflow's own database goes on."""
        name = psycopg.conninfo.conninfo_to_dict(self.url)["dbname"]
        with psycopg.connect(self.administrator_url, autocommit=True) as connection:
            statement = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
            connection.execute(
                statement.format(sql.Identifier(str(name)), sql.Literal(takes_connections))
            )


def _title(message: Json) -> str:
    """The first line, without its mark."""
    return re.sub("^:[a-z_]+: ", "", as_seen(message).splitlines()[0])


@pytest.fixture(scope="module")
def pipeline(
    module_database_url: str,
    module_empty_database: str,
    postgres_server: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pipeline]:
    """Everything runs; the group was well in two snapshots."""
    home = tmp_path_factory.mktemp("airflow")
    dags = show_dags(home / "dags")
    shown = dags / "evenkeel_dags.py"
    shown.write_text(SCRIPTED + shown.read_text())
    (home / "evenkeel.toml").write_text(CONFIG)
    with slack.running(Workspace(store=home / "slack.jsonl")) as server:
        connection = {
            "conn_type": "slack",
            "password": "xoxb-local",
            "extra": {"base_url": server.base_url},
        }
        known = {"snapshot_offsets", "watch_pipeline"}
        with paused_airflow(
            home,
            dags,
            history=module_database_url,
            empty_database=module_empty_database,
            known=known,
            environment={
                "AIRFLOW_CONN_EVENKEEL_SLACK": json.dumps(connection),
                "EVENKEEL_CONFIG": str(home / "evenkeel.toml"),
                PLACE: str(home / "cluster.json"),
            },
        ) as api:
            api.pause(known, paused=False)
            made = Pipeline(
                api=api,
                url=module_database_url,
                home=home,
                workspace=server.workspace,
                administrator_url=postgres_server.administrator_url,
            )
            made.script()
            assert [made.run(), made.run()] == ["success", "success"]
            yield made


def test_a_group_that_loses_its_members_is_told_within_two_snapshots(pipeline: Pipeline) -> None:
    """Seconds after the second one, with a link to the task; then resolved, in the message and in its thread."""
    before = len(pipeline.said)
    pipeline.script(members=0)
    pipeline.run()
    assert len(pipeline.said) == before
    pipeline.run()
    (opened,) = pipeline.said[before:]
    assert GROUP in _title(opened)
    assert "no active members" in as_seen(opened)
    assert "/tasks/watch_groups/mapped/0" in json.dumps(opened)
    (taken,) = pipeline.rows("select finished_at from snapshot order by started_at desc limit 1")
    notified_at = datetime.fromtimestamp(float(opened["ts"]), tz=UTC)
    seconds = (notified_at - taken["finished_at"]).total_seconds()
    newest, *_ = pipeline.api.runs("snapshot_offsets")
    asked_at = datetime.fromisoformat(newest["queued_at"])
    took = (taken["finished_at"] - asked_at).total_seconds()
    print(f"told {seconds:.1f} s after the end of the snapshot, which took {took:.1f} s")
    assert seconds < max(TOLD_SECONDS, took)
    pipeline.script(members=2)
    for _ in range(2):
        pipeline.run()
    first, *others = pipeline.said[before:]
    assert first["ts"] == opened["ts"]
    assert first["blocks"] != opened["blocks"]
    assert [each["thread_ts"] for each in others] == [opened["ts"]]
    (incident,) = pipeline.rows("select * from incident where group_id is not null")
    assert (incident["kind"], incident["owner"]) == ("no members", "orders")
    assert incident["closed_at"] is not None


def test_one_failed_run_is_no_unreachable_cluster(pipeline: Pipeline) -> None:
    """It takes two; a snapshot that was taken ends it, in the message and in its thread."""
    before = len(pipeline.said)
    pipeline.script(answers=False)
    assert pipeline.run() == "failed"
    pipeline.run("watch_pipeline")
    assert len(pipeline.said) == before
    pipeline.run()
    pipeline.run("watch_pipeline")
    assert pipeline.since(before) == [("eu: cluster unreachable", False)]
    pipeline.script(answers=True)
    assert pipeline.run() == "success"
    pipeline.run("watch_pipeline")
    over = "eu: resolved, cluster unreachable"
    assert pipeline.since(before) == [(over, False), (over, True)]


def test_a_history_that_is_away_is_told_once_and_made_up_for(pipeline: Pipeline) -> None:
    """Tasks fail one after the other; the first tells, the others are silent; afterwards the history knows them all."""
    before = len(pipeline.said)
    pipeline.history(takes_connections=False)
    try:
        assert [pipeline.run(), pipeline.run()] == ["failed", "failed"]
    finally:
        pipeline.history(takes_connections=True)
    assert pipeline.since(before) == [("evenkeel: history database unreachable", False)]
    assert "/tasks/take_snapshot/mapped/0" in json.dumps(pipeline.said[before])
    assert pipeline.run() == "success"
    pipeline.run("watch_pipeline")
    over = "evenkeel: resolved, history database unreachable"
    assert pipeline.since(before) == [(over, False), (over, True)]
    (incident,) = pipeline.rows("select * from incident where kind = 'history unreachable'")
    failed = pipeline.rows(
        "select * from step_run where step = 'take_snapshot' and outcome = 'failed'"
        " and started_at between %s and %s",
        incident["began_at"],
        incident["closed_at"],
    )
    assert len(failed) == 4
    assert len({row["link"] for row in failed}) == 2


def test_a_configuration_that_is_refused_is_told_once_and_made_up_for(pipeline: Pipeline) -> None:
    """No task can read it, not even its channel by the parser; it is told there all the same."""
    before = len(pipeline.said)
    pipeline.config.write_text(CONFIG + "\n[[rules\n")
    assert pipeline.run() == "failed"
    assert pipeline.since(before) == [("evenkeel: configuration refused", False)]
    pipeline.config.write_text(CONFIG)
    assert pipeline.run("watch_pipeline") == "success"
    over = "evenkeel: resolved, configuration refused"
    assert pipeline.since(before) == [(over, False), (over, True)]
    assert {each["channel"] for each in pipeline.said} == {
        pipeline.workspace.channels["team-orders"]
    }
    failed = pipeline.rows(
        "select * from step_run where step = 'list_clusters' and error like '%%TOML%%'"
    )
    assert len(failed) == 3
