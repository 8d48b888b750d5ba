"""
The whole flow, with every part real: brokers with a workload, Airflow, Spark, Postgres, and a
server that speaks Slack's API.

It goes the way of `CLUSTER=host:port make demo`, so that is tested, too. The schedule takes the
first snapshot; the test asks for the others, instead of waiting for them.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from psycopg import sql
from typer.testing import CliRunner

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.cli import app
from evenkeel.engine.model.text import report_place
from tests.helpers import airflow_pages, cookbook
from tests.helpers.browser import BROWSER, browser
from tests.helpers.commands import evenkeel
from tests.helpers.dagbag import packages_of_a_user
from tests.helpers.kafka_session import ClusterInUse, RunningWorkload
from tests.stage import demo, report
from tests.stage.airflow import AirflowApi
from tests.stage.process import wait_until
from tests.stage.services import Demo
from tests.stage.slack_workspace import as_seen, read_store
from tests.stage.supervisor import read_state
from tests.stage.workload.run import restart

pytest_plugins = ("tests.helpers.kafka_fixtures",)

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.kafka,
    pytest.mark.postgres,
    pytest.mark.slow,
    pytest.mark.spark,
    # starting everything counts as part of the first test
    pytest.mark.timeout(1500),
]

WHOLE = "advise_assignments"
RUN_SECONDS = 900
SNAPSHOTS = 3
EXAMPLE_SECONDS = 900
RESTART_SECONDS = 240

# What steps leave for a snapshot, and columns that count rows or tell when one was written.
TABLES = (
    "advice",
    "advice_move",
    "candidate",
    "group_metrics",
    "member_metrics",
    "partition_worst",
    "validation",
)
BOOKKEEPING = {"validation_id", "candidate_id", "written_at", "partition_worst_id"}


@dataclass(frozen=True)
class Flow:
    """A demo that has advised on three snapshots."""

    demo: Demo
    state: dict[str, Any]
    survivors: list[list[str]]
    """Processes that outlived a start whose daemon was killed half way, once it was stopped."""

    @property
    def api(self) -> AirflowApi:
        """Its Airflow."""
        return demo.api_of(self.state)

    def rows(self, statement: str, *parameters: Any) -> list[dict[str, Any]]:
        """What its history holds."""
        url = self.state["database_url"]
        with psycopg.connect(url, row_factory=psycopg.rows.dict_row) as connection:
            return connection.execute(statement.encode(), parameters).fetchall()

    def left_by(self, snapshot_id: str) -> dict[str, list[str]]:
        """All rows of a snapshot, table by table, in an order of their own."""
        found = {}
        for table in TABLES:
            where = "snapshot_id = %s"
            if table == "advice_move":
                where = "advice_id in (select advice_id from advice where snapshot_id = %s)"
            query = sql.SQL(f"select * from {{}} where {where}").format(sql.Identifier(table))
            rows = self.rows(query.as_string(), snapshot_id)
            kept = [{k: v for k, v in row.items() if k not in BOOKKEEPING} for row in rows]
            found[table] = sorted(map(repr, kept))
        return found

    def events(self, group: str) -> list[tuple[str, str]]:
        """The states that the advice of a group has reached, with the cause, oldest first."""
        url = self.state["database_url"]
        rows = PostgresHistory(url).query("advice_events", group=group)
        return [(row["state"], row["cause"]) for row in reversed(rows)]

    def across(self, group: str) -> float:
        """How much of a group crosses racks, by the newest snapshot."""
        (row,) = self.rows("select cross_rack_share from latest_lag where group_id = %s", group)
        return float(row["cross_rack_share"])

    def await_run(self, dag_id: str, run_id: str) -> str:
        """The state in which a run ends."""

        def ended() -> str | None:
            (state,) = [r["state"] for r in self.api.runs(dag_id) if r["dag_run_id"] == run_id]
            return state if state in ("success", "failed") else None

        return str(wait_until(ended, RUN_SECONDS, f"{dag_id} {run_id} to end", interval=1))


@pytest.fixture(scope="module")
def flow(
    kafka_cluster: ClusterInUse,
    workload: RunningWorkload,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Flow]:
    """Everything started, after a first attempt that was killed; three snapshots advised on."""
    ours = Demo(tmp_path_factory.mktemp("flow") / "demo", kafka_cluster.bootstrap)
    ours.home.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENKEEL_SCHEDULE", "24h")
        # what Airflow's tasks and Spark's workers import is ours, whatever a user has on the path
        patch.setenv("PYTHONPATH", str(packages_of_a_user(tmp_path_factory.mktemp("user"))))
        try:
            survivors = killed_half_way(ours)
            demo.bring_up(ours, demo.Progress())
            for wanted in range(1, SNAPSHOTS):
                state = demo.await_advice(ours, demo.Progress(), wanted)
                demo.api_of(state).trigger("snapshot_offsets", cluster=ours.name)
            yield Flow(ours, demo.await_advice(ours, demo.Progress(), SNAPSHOTS), survivors)
        finally:
            demo.stop(ours)
    assert processes_of(ours) == []


def killed_half_way(ours: Demo) -> list[list[str]]:
    """Kill the daemon while its services start, and stop what is left; what survives that."""
    demo.launch(ours)

    def half_way() -> dict[str, Any] | None:
        state = read_state(ours.state)
        assert state is not None
        assert not state["error"]
        return state if state["services"].get("metadata", {}).get("state") == "starting" else None

    os.kill(wait_until(half_way, 120, "Postgres to be there")["pid"], signal.SIGKILL)
    demo.stop(ours)
    return processes_of(ours)


def processes_of(ours: Demo) -> list[list[str]]:
    """The command lines of all processes that have to do with a demo."""
    return [each.cmdline() for each in psutil.process_iter() if _belongs(each, ours.home)]


def _belongs(process: psutil.Process, home: Path) -> bool:
    try:
        words = [*process.cmdline(), process.environ().get("EVENKEEL_HOME", "")]
    except (psutil.Error, OSError):
        return False
    return any(str(home) in word for word in words)


def test_every_group_of_the_cluster_has_its_advice(flow: Flow, workload: RunningWorkload) -> None:
    """Each group of the workload ends with metrics and an advice that says why."""
    told = {r["group_id"]: r for r in flow.rows("select * from latest_advice")}
    measured = {r["group_id"] for r in flow.rows("select group_id from latest_lag")}
    assert workload.groups.keys() <= told.keys()
    assert told.keys() <= measured
    assert all(row["reason"] for row in told.values())
    prefix = workload.prefix
    assert told[f"{prefix}keeps-rebalancing"]["verdict"] == "not evaluated"
    assert "confirmed" in [state for state, _ in flow.events(f"{prefix}racks-avoidable")]
    assert told[f"{prefix}balanced"]["verdict"] == "stay"
    assert told[f"{prefix}streams-classic"]["verdict"] != "not evaluated"


def test_each_snapshot_has_a_run_of_its_own(flow: Flow) -> None:
    """The runs' partition keys are the snapshots' ids."""
    taken = {row["snapshot_id"] for row in flow.rows("select snapshot_id from snapshot")}
    runs = [r for r in flow.api.runs(WHOLE) if r["run_type"] == "asset_triggered"]
    assert {run["partition_key"] for run in runs} == taken
    assert len(runs) == len(taken) >= SNAPSHOTS


def test_slack_hears_of_the_new_advice_once(flow: Flow, workload: RunningWorkload) -> None:
    """One message names a group that should switch, a digest also in its thread, and to what."""
    name = f"{workload.prefix}racks-avoidable"
    told = [each for each in read_store(flow.demo.messages) if name in as_seen(each)]
    (first, *more) = told
    assert "thread_ts" not in first, list(map(as_seen, told))
    assert [each["thread_ts"] for each in more] in ([], [first["ts"]]), list(map(as_seen, told))
    assert any("min_traffic" in as_seen(each) for each in told)


def test_every_step_is_noted(flow: Flow) -> None:
    """Each step of each snapshot has a note that it went well."""
    notes = flow.rows("select * from step_run where snapshot_id is not null")
    taken = {row["snapshot_id"] for row in flow.rows("select snapshot_id from snapshot")}
    steps = {"watch_groups", "validate_snapshot", "compute_metrics", "propose_candidates"}
    steps |= {"validate_candidates", "advise", "alert"}
    assert {(n["snapshot_id"], n["step"]) for n in notes} == set(product(taken, steps))
    assert {(n["outcome"], n["error"]) for n in notes} == {("ok", None)}


def test_a_second_run_leaves_the_same_rows(flow: Flow) -> None:
    """Run by hand over a snapshot that has its advice, the flow changes no row and says nothing."""
    (row,) = flow.rows("select snapshot_id from snapshot order by started_at desc limit 1")
    before, messages = flow.left_by(row["snapshot_id"]), read_store(flow.demo.messages)
    run_id = flow.api.trigger(WHOLE, snapshot_id=row["snapshot_id"])
    assert flow.await_run(WHOLE, run_id) == "success"
    assert flow.left_by(row["snapshot_id"]) == before
    assert read_store(flow.demo.messages) == messages
    # once the racks are home, nobody may have to move anything
    assert {table for table, rows in before.items() if not rows} <= {"advice_move"}


def test_the_report_shows_it_all(flow: Flow, capfd: pytest.CaptureFixture[str]) -> None:
    """The demo prints the groups, the messages, five answers, the login and how to stop."""
    report.show(flow.demo, flow.state)
    shown = capfd.readouterr().out
    expected = [
        "racks-avoidable",
        "$ evenkeel query open_incidents",
        "$ evenkeel query worst_partitions",
        "$ evenkeel query scoreboard",
    ]
    expected += [
        "$ evenkeel query snapshot_health",
        "$ evenkeel readiness",
        flow.state["airflow_password"],
        "make stop",
    ]
    assert [text for text in expected if text not in shown] == []


def test_the_pages_are_for_who_is_logged_in(flow: Flow, workload: RunningWorkload) -> None:
    """Airflow has the plugin without an error, and shows its groups to nobody whom it does not know."""
    home = f"{flow.state['airflow_url']}/evenkeel/"
    status, document = airflow_pages.asked(home)
    assert (status, workload.prefix in document) == (401, False)
    assert airflow_pages.asked(home, "forged")[0] in (401, 403)
    status, document = airflow_pages.asked(home, flow.api.token)
    assert status == 200
    assert [name for name in workload.groups if f"<bdi>{name}</bdi>" not in document] == []
    plugins = {each["name"]: each for each in flow.api.call("GET", "plugins")["plugins"]}
    assert [view["url_route"] for view in plugins["evenkeel"]["external_views"]] == ["evenkeel"]
    assert flow.api.call("GET", "plugins/importErrors")["import_errors"] == []


def test_every_message_leads_to_its_page(flow: Flow) -> None:
    """What Slack was told links to a page inside Airflow's navigation, which is there."""
    told = [as_seen(message) for message in read_store(flow.demo.messages)]
    links = [re.findall(r"<(http\S+)\|report>", each) for each in told]
    inside = f"{flow.state['airflow_url']}/plugin/evenkeel/"
    assert all(len(each) == 1 and each[0].startswith(inside) for each in links)
    for (link,) in links:
        framed = f"{flow.state['airflow_url']}/{link.removeprefix(inside)}"
        assert airflow_pages.asked(framed, flow.api.token)[0] == 200


@pytest.mark.nightly
@pytest.mark.skipif(BROWSER is None, reason="no browser is installed: make browser")
@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_a_page_is_seen_inside_airflow(
    flow: Flow, workload: RunningWorkload, tmp_path: Path, width: int, theme: str
) -> None:
    """In its navigation, in the theme that was chosen there, no wider than a phone; nothing else is asked for."""
    airflow, name = flow.state["airflow_url"], f"{workload.prefix}racks-avoidable"
    place = report_place(flow.demo.name, name)
    link = f"{airflow}/plugin/evenkeel/evenkeel/{place}"
    with browser(tmp_path) as pipe:
        seen = airflow_pages.looked_at(pipe, airflow, link, flow.api.token, width, theme=theme)
    assert (seen.groups[0], seen.console, seen.elsewhere) == (name, [], [])
    assert seen.overflow <= 0
    assert seen.background == {"light": "rgb(251, 250, 247)", "dark": "rgb(20, 24, 28)"}[theme]
    assert seen.navigation == ["evenkeel"]


def test_every_command_of_the_cookbook_prints_what_the_readme_shows(flow: Flow) -> None:
    """Of the example that the demo makes beside everything else; the demo's own history knows nothing of it."""
    url = flow.state["example_url"]
    wait_until(lambda: is_there(url), EXAMPLE_SECONDS, "the example to be made", interval=1)
    shown = {each.command: cookbook.kept()[each.command]["rows"] for each in cookbook.EXAMPLES}
    assert {each.command: cookbook.printed(each, url) for each in cookbook.EXAMPLES} == shown
    assert [r["cluster"] for r in flow.rows("select cluster from cluster")] == [flow.demo.name]


def is_there(database_url: str) -> bool:
    """Whether a database can be connected to."""
    try:
        psycopg.connect(database_url).close()
    except psycopg.OperationalError:
        return False
    return True


def test_who_only_reads_finds_the_same_groups(flow: Flow) -> None:
    """The address that the demo prints for that."""
    owner, reader = (PostgresHistory(flow.state[f"{who}_url"]) for who in ("database", "reader"))
    ours, theirs = ({r["group_id"] for r in one.query("groups")} for one in (owner, reader))
    assert theirs == ours != set()


def test_it_creates_nothing_on_a_cluster_that_is_not_its_own(
    flow: Flow, kafka_cluster: ClusterInUse
) -> None:
    """Only our own brokers get a workload; the demo that was given an address has none."""
    services = flow.state["services"]
    assert ("workload" in services, flow.state["bootstrap"]) == (False, kafka_cluster.bootstrap)
    assert not (flow.demo.home / "kafka").exists()


def test_a_killed_start_leaves_no_process_and_can_be_repeated(flow: Flow) -> None:
    """What a daemon that was killed half way had started is gone, and the next start worked."""
    assert flow.survivors == []


def test_a_plan_brings_the_racks_home_and_the_next_snapshot_says_verified(
    flow: Flow, workload: RunningWorkload
) -> None:
    """A plan and a restart of one member, as the demo says: from 83 % across racks to none."""
    group = f"{workload.prefix}racks-avoidable"
    plan = Path(workload.groups[group]["plan"])
    asked = ["plan", "--group", group, "--strategy", "min_traffic", "--out", str(plan)]
    taken, before = len(flow.rows("select from snapshot")), flow.across(group)
    try:
        evenkeel(*asked, "--bootstrap", flow.state["bootstrap"])
        restart(workload.directory, group)
        wait_until(
            lambda: is_at_home(flow.state["bootstrap"], group),
            RESTART_SECONDS,
            "nothing to cross racks",
            interval=1,
        )
        flow.api.trigger("snapshot_offsets", cluster=flow.demo.name)
        demo.await_advice(flow.demo, demo.Progress(), taken + 1)
    finally:
        plan.unlink(missing_ok=True)
        restart(workload.directory, group)
    assert (before, flow.across(group)) == (10 / 12, 0)
    assert flow.events(group)[-2:] == [
        ("adopted", "the group runs min_traffic now, with another assignment"),
        ("verified", "reads across racks 0% (83% before)"),
    ]
    (at,) = flow.rows("select max(started_at) as newest from snapshot")
    (said,) = flow.rows("select * from advice_history where group_id = %s and until is null", group)
    assert (said["state"], said["event"], said["since"]) == ("verified", "verified", at["newest"])


def is_at_home(bootstrap: str, group: str) -> bool:
    """Whether nothing of a group crosses racks now; unknown, as while it rebalances, is no."""
    asked = ["advise", "--bootstrap", bootstrap, "--group", group, "--samples", "1", "--json"]
    result = CliRunner().invoke(app, asked)
    return result.exit_code == 0 and json.loads(result.stdout)["cross_rack_share"] == 0
