"""`migrate`, `query` and `doctor` on a real Postgres."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from evenkeel import sql
from evenkeel.engine import pipeline
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.postgres.connection import application_name
from evenkeel.engine.adapters.recording import Recording, open_recording
from evenkeel.engine.config import Rule, Settings, load
from evenkeel.engine.model.tables import Table
from evenkeel.engine.snapshots import SNAPSHOT, VALIDATION
from tests.helpers.sharing import behind, shared_snapshots
from tests.helpers.snapshots import group, make_snapshot, store, topic
from tests.integration.cli.conftest import objects
from tests.rebalances.truth import FOLDER

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres


@pytest.fixture
def filled(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A history that knows one snapshot of two groups, by the steps that fill it."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", database_url)
    lake = Recording()
    snapshot = make_snapshot(
        cluster="prod",
        topics=[topic("orders", 4)],
        groups=[group("orders-app", members=2, lag={"orders": 5}), group("other")],
    )
    store(lake, snapshot)
    bring(lake, PostgresHistory(database_url), Settings(), snapshot.snapshot_id)
    return snapshot.snapshot_id


def bring(lake: Recording, history: PostgresHistory, settings: Settings, taken: str) -> None:
    """Take a snapshot of the lake through the steps into Postgres."""
    history.store_snapshot(lake.manifest("snapshot", taken), settings.version)
    pipeline.record_metrics(lake, taken, pipeline.compute_metrics(lake, settings, taken))
    pipeline.record_validation(lake, history, taken, "metrics", Table.from_rows([], VALIDATION))


def test_migrate_brings_an_empty_database_to_the_schema_and_can_be_repeated(
    run, empty_database, monkeypatch
):
    """A dry run says what would happen and does nothing; a second run has nothing to do."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", empty_database)
    names = [file.stem for file in sorted((sql.MIGRATIONS / "versions").glob("*.py"))]
    for _ in range(2):
        dry = run("admin", "migrate", "--dry-run")
        assert dry.stdout.splitlines() == [f"would apply {name}" for name in names]
    assert run("admin", "migrate").stdout.splitlines() == [f"applied {name}" for name in names]
    assert run("admin", "migrate").stdout.startswith("nothing to apply")


def test_a_verb_names_its_database_sessions(run, filled):
    """After itself, with the family that it belongs to."""
    assert run("query", "groups").exit_code == 0
    assert application_name().startswith("evenkeel query, pid ")
    assert run("admin", "migrate").exit_code == 0
    assert application_name().startswith("evenkeel admin migrate, pid ")


def test_an_empty_database_is_told_to_migrate(run, empty_database, monkeypatch):
    """A query fails with exit code 5 and the command that helps; doctor says the same."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", empty_database)
    result = run("query", "groups")
    assert result.exit_code == 5
    assert "evenkeel admin migrate" in result.stderr
    checked = run("doctor")
    line = next(one for one in checked.stdout.splitlines() if "  history " in one)
    assert line.startswith("FAIL")
    assert "Run `evenkeel admin migrate`." in line


def test_a_query_tells_people_and_machines_the_same(run, filled):
    """The rows of the history, as a table and as objects."""
    rows = {row["group_id"]: row for row in objects(run("query", "groups", "--json"))}
    assert rows["orders-app"]["total_lag"] == 20
    text = run("query", "groups", "--param", "cluster=prod", "--wide").stdout
    line = next(one for one in text.splitlines() if " orders-app " in one)
    assert " 20 " in line


def test_a_pattern_of_groups_is_asked_group_by_group(run, filled):
    """Also where the query takes one group; a name that is nearly there is offered."""
    asked = ("query", "lag_history", "--param", "hours=1000000", "--json", "--param")
    assert [row["group_id"] for row in objects(run(*asked, "group=o*"))] == ["orders-app", "other"]
    rows = objects(run("query", "groups", "--param", "group=orders-*", "--json"))
    assert [row["group_id"] for row in rows] == ["orders-app"]
    result = run("query", "lag_history", "--param", "group=orders_app")
    assert (result.exit_code, "Did you mean orders-app?" in result.stderr) == (1, True)


def test_who_only_reads_asks_every_named_query(run, filled, reader_url, database_url, monkeypatch):
    """Rows or none, never an error, and the same as for the owner of the history."""
    for name, query in sql.queries().items():
        needed = [p.name for p in query.parameters if p.required]
        given = {"at": "2026-03-01T14:00Z"}
        asked = ("query", name, *(f"--param={p}={given.get(p, 'orders-app')}" for p in needed))
        monkeypatch.setenv("EVENKEEL_DATABASE_URL", database_url)
        owner = run(*asked)
        monkeypatch.setenv("EVENKEEL_DATABASE_URL", reader_url)
        reader = run(*asked)
        assert owner.exit_code in (0, 1), owner.stderr
        assert reader.exit_code == owner.exit_code, reader.stderr
        assert len(reader.stdout.splitlines()) == len(owner.stdout.splitlines()), name


def test_doctor_finds_the_history_up_to_date(run, filled):
    """OK, with where it is."""
    row = next(row for row in objects(run("doctor", "--json")) if row["name"] == "history")
    assert row["outcome"] == "OK"


def test_a_silence_is_listed_until_it_is_over(run, filled):
    """From the verb to the table that people read, and back by its number."""
    why = ("--reason", "moving", "--by", "ana")
    kept = run("silence", "--group", "orders-*", "--for", "2h", "--cluster", "pr?d", *why)
    assert kept.stdout.startswith("silence 1: no alerts about orders-* (1 group now) until ")
    (listed,) = objects(run("query", "silences", "--param", "cluster=prod", "--json"))
    assert (listed["state"], listed["groups"], listed["who"]) == ("holds", "orders-*", "ana")
    assert listed["covered_groups"] == 1
    assert "orders-*" in run("query", "silences").stdout
    assert run("silence", "--end", "1").stdout == "silence 1 for orders-* has ended\n"
    (listed,) = objects(run("query", "silences", "--json"))
    assert (listed["state"], listed["covered_groups"]) == ("over", None)
    assert run("ack", "--group", "orders-*", *why).exit_code == 1


def test_a_report_of_the_history(run, filled, tmp_path):
    """All groups, or those that match; what a lake would be asked for is not asked for as well."""
    result = run("report", "--database")
    assert result.exit_code == 0, result.stderr
    assert "written: evenkeel-report.html, 2 groups over 1 snapshot" in result.stderr
    page = (tmp_path / "evenkeel-report.html").read_text(encoding="utf-8")
    assert "history database" in page
    one = run("report", "--database", "--cluster", "prod", "--group", "o*app", "--out", "one.html")
    assert "written: one.html, 1 group over 1 snapshot" in one.stderr
    both = run("report", "--database", "--from", "lake")
    assert (both.exit_code, "exclude each other" in both.stderr) == (2, True)


def test_a_report_of_what_the_history_has_not(run, filled):
    """A group that is nearly called so is offered; clusters that there are, too."""
    wrong = run("report", "--database", "--group", "orders_app")
    assert (wrong.exit_code, "Did you mean orders-app?" in wrong.stderr) == (1, True)
    elsewhere = run("report", "--database", "--cluster", "dev")
    assert (elsewhere.exit_code, "it has prod" in elsewhere.stderr) == (2, True)


def test_a_report_of_an_empty_history(run, database_url, empty_database, monkeypatch):
    """One without a snapshot has nothing to show; one that is not migrated, or not there, cannot be used."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", database_url)
    result = run("report", "--database")
    assert (result.exit_code, "holds no snapshot" in result.stderr) == (1, True)
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", empty_database)
    result = run("report", "--database")
    assert (result.exit_code, "evenkeel admin migrate" in result.stderr) == (5, True)
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", "postgresql://me@127.0.0.1:1/nowhere")
    unreachable = run("report", "--database")
    assert unreachable.exit_code == run("query", "groups").exit_code == 5


def test_a_recorded_crash_loop_is_its_causes_its_cost_and_what_reduces_it(
    database_url: str, monkeypatch: pytest.MonkeyPatch, run: Any, tmp_path: Path
) -> None:
    """What real brokers and members did, through the steps into Postgres and out by the verb and the report."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", database_url)
    recording = open_recording(FOLDER / "crash-loop.evenkeel")
    history, lake = PostgresHistory(database_url), Recording()
    (tmp_path / "evenkeel.toml").write_text("[[rules]]\npolicy = {rebalance_seconds = 5}\n")
    settings = load(tmp_path / "evenkeel.toml")
    for taken in recording.snapshot_ids:
        manifest = recording.manifest("snapshot", taken)
        tables = {name: recording.read(name, [taken]) for name in SNAPSHOT}
        lake.write("snapshot", taken, tables, manifest.facts)
        bring(lake, history, settings, taken)

    shown = run("rebalances", "--group", "crash-loop-range", "--hours", "1000000")

    assert "crash loop" in shown.stdout.splitlines()[0]
    assert "static membership" in shown.stdout
    assert "cooperative rebalancing" in shown.stdout
    assert run("report", "--database", "--out", "stored.html").exit_code == 0
    again = ("--from", FOLDER / "crash-loop.evenkeel", "--out", "read.html")
    assert run("report", *again).exit_code == 0
    stored, read = (
        re.findall(r"<h3>Rebalances</h3>.*?</table>", (tmp_path / name).read_text(), re.DOTALL)
        for name in ("stored.html", "read.html")
    )
    assert stored == read
    assert len(stored) == 5
    assert all("<td>crash loop" in each for each in stored)
    assert run("rebalances", "--group", "quiet-range-2", "--hours", "1000000").exit_code == 1


def test_a_share_group_is_asked_like_any_other(
    database_url: str, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    """Lag, time lag and members; of owners nothing, and a member more is no rebalance. Nothing is acknowledged."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", database_url)
    history, lake = PostgresHistory(database_url), Recording()
    settings = Settings(rules=(Rule(commit_interval_seconds=10),))
    stands = behind(by=[0, 0, 0], does=[0, 0, 0])
    for snapshot in shared_snapshots(stands, members=[2, 2, 2, 2, 3]):
        store(lake, snapshot)
        bring(lake, history, settings, snapshot.snapshot_id)
    hours = ("--param", "hours=1000000")

    [row] = objects(run("query", "groups", "--json"))
    told = (row["group_type"], row["members"], row["partitions"], row["total_lag"])
    assert told == ("share", 3, 3, 36_000)
    assert row["diagnosis_reason"].startswith("none of its 3 members has acknowledged a record")
    [shown] = (line for line in run("query", "groups").stdout.splitlines() if "share" in line)
    assert "?" not in shown
    rows = objects(run("query", "lag_history", "--param", "group=g", *hours, "--json"))
    assert [each["total_lag"] for each in rows] == [0, 9_000, 18_000, 27_000, 36_000]
    assert [each["time_lag_seconds"] for each in rows] == [0, 300, 600, 900, 1200]
    assert {each["consumption_per_second"] for each in rows} == {None, 0}
    rows = objects(run("query", "worst_partitions", "--json"))
    assert {(r["lag"], r["member_id"], r["lag_basis"]) for r in rows} == {
        (12_000, None, "reported by broker")
    }
    rows = objects(run("query", "members", "--json"))
    assert {(r["partitions"], r["lag"], r["lag_share"]) for r in rows} == {(3, None, None)}
    [churn] = objects(run("query", "churn", *hours, "--json"))
    assert (churn["joins"], churn["moved"], churn["rebalancing"]) == (1, 0, 0)
    assert run("query", "rebalances", *hours).exit_code == 1
    report = run("report", "--database", "--group", "g")
    assert "written: evenkeel-report.html, 1 group over 5 snapshots" in report.stderr
