"""Every view, query and statement against a real Postgres."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from evenkeel import sql
from evenkeel.engine.adapters.postgres import PostgresHistory, PostgresShelf
from evenkeel.engine.model.assignments import AdviceState
from evenkeel.engine.model.errors import InputError
from evenkeel.engine.model.states import PauseBasis, RebalanceCause, Remedy
from evenkeel.engine.model.tables import Table
from evenkeel.engine.records import CandidateRow, RebalanceRow, RemedyCost, schema_of, table_of
from evenkeel.engine.snapshots import METRICS, split_snapshot_id
from tests.helpers.history_rows import FIRST, advice, candidates, fill, manifest, metrics
from tests.helpers.silenced import silence

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

WIDE: dict[str, Any] = {"hours": 10**7}
"""Looks back to the fixed moments of the test data."""

YESTERDAY = {"days": 1, "until": FIRST - timedelta(days=1)}
"""A period with one before it."""


def ask(history: PostgresHistory, name: str, **given: object) -> list[dict[str, Any]]:
    """A query with its defaults, about the group or strategy of the test data where one is needed."""
    parameters = {p.name for p in sql.queries()[name].parameters}
    early = {"days": 10**5, "since": FIRST - timedelta(days=30)}
    wide = YESTERDAY if name == "worse_groups" else WIDE | early
    given |= {k: v for k, v in wide.items() if k in parameters}
    required = [p.name for p in sql.queries()[name].parameters if p.required]
    about = {"group": "orders-app", "strategy": "range", "at": FIRST}
    return history.query(name, **given, **{one: about[one] for one in required})


CROSSING = {
    "cross_rack_bytes_per_second": 1e6,
    "cross_rack_cost_per_month": 720.0,
    "currency": "EUR",
}


def measured(
    history: PostgresHistory, number: int, cluster: str = "demo", lag: int = 5, **columns: Any
) -> str:
    """A snapshot in which the group of the test data has this lag, with its metrics alone; its id."""
    taken = manifest(number, cluster)
    history.store_snapshot(taken)
    tables = metrics(taken.snapshot_id, {"orders-app": [lag]}, **columns)
    history.store_metrics(taken.snapshot_id, {**tables, "rebalances": deployed(taken.snapshot_id)})
    return taken.snapshot_id


def deployed(snapshot_id: str) -> Table:
    """The group of the test data rebalanced in a deploy."""
    cluster, taken_at = split_snapshot_id(snapshot_id)
    saved = RemedyCost(remedy=Remedy.COOPERATIVE, partition_seconds=2.0, delayed_records=None)
    row = RebalanceRow(
        snapshot_id=snapshot_id,
        cluster=cluster,
        group_id="orders-app",
        config_version="c0ffee",
        since=taken_at - timedelta(minutes=5),
        until=taken_at,
        cause=RebalanceCause.DEPLOY,
        rebalances=2,
        counted_by_epoch=False,
        unseen_rebalances=None,
        joined=(),
        left_members=(),
        restarted=("c@h",),
        partitions_moved=0,
        partition_seconds=10.0,
        delayed_records=None,
        pause_seconds=5.0,
        pause_basis=PauseBasis.USUAL,
        with_remedy=(saved,),
        facts=(),
    )
    return table_of(RebalanceRow, [row])


@pytest.fixture(scope="module")
def filled(module_database_url: str) -> PostgresHistory:
    """A history that no test may change: two clusters, two days, an incident, a failed step; and other rules."""
    history = PostgresHistory(module_database_url)
    shelf = PostgresShelf(module_database_url, "rules_x")
    shelf.make("other rules")
    for cluster in ("demo", "other"):
        measured(shelf, -1440, cluster, diagnosis="hot partition")
        measured(history, -2890, cluster, diagnosis="healthy")
        measured(history, -2880, cluster, diagnosis="healthy", **CROSSING)
        measured(history, -1440, cluster, diagnosis="skewed load")
    fill(history, 0, "demo")
    fill(history, 1, "demo")
    fill(history, 0, "other")
    with psycopg.connect(module_database_url) as connection:
        for cluster in ("demo", "other"):
            connection.execute(
                "INSERT INTO incident (cluster, kind, severity, opened_at, last_seen_at)"
                " VALUES (%s, 'late', 'warning', now(), now())",
                [cluster],
            )
            connection.execute(
                "INSERT INTO alert (key, cluster, kind, channel, message) VALUES (%s, %s, 'late', '#c', '{}')",
                [f"late {cluster}", cluster],
            )
            history.add_silence(silence(cluster=cluster))
            connection.execute(
                "INSERT INTO step_run (cluster, step, started_at, finished_at, outcome, error)"
                " VALUES (%s, 'advise', now(), now(), 'failed', 'no')",
                [cluster],
            )
    return history


def test_nothing_of_an_empty_history_has_rows(history: PostgresHistory, database_url: str) -> None:
    """Before the first snapshot every query and view runs and answers with nothing."""
    assert [name for name in sql.queries() if ask(history, name)] == []
    with psycopg.connect(database_url) as connection:
        for name in sql.views():
            assert connection.execute(f"SELECT * FROM {name}".encode()).fetchall() == []


@pytest.mark.parametrize("name", sorted(sql.queries()))
def test_a_query_has_rows_of_every_cluster_or_of_the_one_asked_for(
    filled: PostgresHistory, name: str
) -> None:
    """A filled history answers about all its clusters, and with a cluster named about no other."""
    assert {row["cluster"] for row in ask(filled, name)} == {"demo", "other"}
    assert {row["cluster"] for row in ask(filled, name, cluster="demo")} == {"demo"}


@pytest.mark.parametrize("name", list(sql.views()))
def test_a_view_has_rows_of_every_cluster(
    filled: PostgresHistory, module_database_url: str, name: str
) -> None:
    """Each view shows all clusters, also to a program that knows nothing of evenkeel."""
    with psycopg.connect(module_database_url) as connection:
        rows = connection.execute(f"SELECT DISTINCT cluster FROM {name}".encode()).fetchall()
    assert sorted(rows) == [("demo",), ("other",)]


@pytest.mark.parametrize("name", sorted(sql.statements()))
def test_every_statement_fits_the_schema(module_database_url: str, name: str) -> None:
    """Postgres can plan every part of every statement: no misspelt table, column or type."""
    staged = {
        "staged_group_metrics": "group_metrics",
        "staged_member_metrics": "member_metrics",
        "staged_partition_metrics": "partition_latest",
        "staged_candidates": "candidate",
    }
    with psycopg.connect(module_database_url) as connection:
        for temporary, table in staged.items():
            connection.execute(f"CREATE TEMPORARY TABLE {temporary} (LIKE {table})".encode())
        for part in sql.statements()[name].parts:
            numbered = part
            for number, parameter in enumerate(sorted(sql.bound(part)), start=1):
                numbered = re.sub(rf"(?<![:\w]):{parameter}\b", f"${number}", numbered)
            assert connection.execute(f"EXPLAIN (GENERIC_PLAN) {numbered}".encode()).fetchall()


def test_groups_are_sorted_with_the_worst_first(
    history: PostgresHistory, database_url: str
) -> None:
    """
    Incidents, critical ones first, then trouble, then what could not be read or judged, then what is fine; the larger
    lag first; a pattern selects.
    """
    taken = manifest()
    history.store_snapshot(taken)
    told: dict[str, tuple[str, int | None]] = {
        "idle": ("OK", 1),
        "busy": ("OK", 9),
        "unjudged": ("UNKNOWN", None),
        "new": ("UNKNOWN", 70),
        "broken": ("UNKNOWN", None),
        "behind": ("WARN", 2),
        "halted": ("STALL", 3),
        "stuck": ("STOP", 5),
        "rewound": ("REWIND", 0),
    }
    tables = metrics(taken.snapshot_id, {name: [lag or 0] for name, (_, lag) in told.items()})
    rows = [
        row
        | dict(zip(("status", "total_lag"), told[row["group_id"]], strict=True))
        | ({"error": "not authorized"} if row["group_id"] == "broken" else {})
        for row in tables["group_metrics"].to_pylist()
    ]
    tables["group_metrics"] = Table.from_rows(rows, METRICS["group_metrics"])
    history.store_metrics(taken.snapshot_id, tables)
    assert [row["group_id"] for row in history.query("groups")] == [
        *("rewound", "stuck", "halted", "behind"),
        *("broken", "new", "unjudged"),
        *("busy", "idle"),
    ]
    assert [row["group_id"] for row in history.query("groups", pattern="%u%y")] == ["busy"]

    with psycopg.connect(database_url) as connection:
        for name, severity in (("busy", "warning"), ("idle", "critical"), ("halted", "warning")):
            connection.execute(
                "INSERT INTO incident (cluster, group_id, kind, severity, began_at, opened_at, last_seen_at)"
                " VALUES ('demo', %s, 'slow member', %s, now() - interval '1 hour', now(), now())",
                [name, severity],
            )
    rows = history.query("groups")
    assert [row["group_id"] for row in rows][:5] == ["idle", "halted", "busy", "rewound", "stuck"]
    assert {row["incident"] for row in rows[:3]} == {"slow member"}
    assert all(row["lasting_seconds"] == pytest.approx(3600, abs=1) for row in rows[:3])
    assert (rows[3]["incident"], rows[3]["lasting_seconds"]) == (None, None)


def test_groups_tell_what_is_found_about_racks_of_the_live_assignment(
    history: PostgresHistory,
) -> None:
    """What candidates say of the live assignment stands beside what metrics say of the group, once there are any."""
    taken = manifest()
    history.store_snapshot(taken)
    tables = metrics(taken.snapshot_id, {"g": [1]})
    rows = [row | {"findings": ["odd"]} for row in tables["group_metrics"].to_pylist()]
    tables["group_metrics"] = Table.from_rows(rows, METRICS["group_metrics"])
    history.store_metrics(taken.snapshot_id, tables)
    assert [row["findings"] for row in history.query("groups")] == [["odd"]]
    history.store_candidates(
        taken.snapshot_id, candidates(taken.snapshot_id, "g", findings=["racks"])
    )
    assert [row["findings"] for row in history.query("groups")] == [["odd", "racks"]]


def test_a_limit_may_come_as_text(filled: PostgresHistory) -> None:
    """A command line gives text, and the query takes it as the type it describes."""
    assert len(filled.query("worst_partitions", limit="2")) == 2


def test_a_value_of_the_wrong_type_is_the_callers_error(filled: PostgresHistory) -> None:
    """What cannot be read as the parameter's type is named, not shown as a database failure."""
    with pytest.raises(InputError, match=r"worst_partitions: .*integer.*\"many\""):
        filled.query("worst_partitions", limit="many")


def test_rows_have_plain_values(filled: PostgresHistory) -> None:
    """No row has a value of a kind that JSON does not know, but for moments: a Decimal, say."""
    for name in sql.queries():
        for row in ask(filled, name):
            for value in row.values():
                assert type(value).__name__ in [
                    "NoneType",
                    "str",
                    "int",
                    "float",
                    "bool",
                    "datetime",
                    "list",
                    "dict",
                ]


def observed(
    history: PostgresHistory,
    number: int,
    members: dict[str, str],
    group: str = "app",
    cluster: str = "demo",
    **columns: Any,
) -> str:
    """A snapshot of one group with these members: identity by member id. Returns its id."""
    taken = manifest(number, cluster)
    history.store_snapshot(taken)
    tables = metrics(taken.snapshot_id, {group: [0]}, **columns)
    row = tables["member_metrics"].to_pylist()[0]
    rows = [row | {"member_id": one, "identity": who} for one, who in members.items()]
    tables["member_metrics"] = Table.from_rows(rows, METRICS["member_metrics"])
    history.store_metrics(taken.snapshot_id, tables)
    return taken.snapshot_id


COUNTED = ("compared", "changed", "joins", "leaves", "restarts")


def test_churn_counts_who_came_and_went(history: PostgresHistory) -> None:
    """By identity from one snapshot at rest to the next; what lies between, rebalancing or unread, is passed over."""
    observed(history, 0, {"a1": "a", "b1": "b"})
    observed(history, 1, {"a1": "a", "b1": "b"})
    observed(history, 2, {}, state="PreparingRebalance")
    observed(history, 3, {}, error="not authorised")
    observed(history, 4, {"a2": "a", "c1": "c"})
    observed(history, 5, {}, state="Empty")

    (row,) = history.query("churn", **WIDE)
    assert (row["snapshots"], row["rebalancing"], row["unreadable"]) == (6, 1, 1)
    assert row["rebalancing_share"] == 1 / 5
    assert [row[name] for name in COUNTED] == [3, 2, 1, 3, 1]
    assert (row["who_joined"], row["who_left"], row["who_restarted"]) == (
        ["c"],
        ["a", "b", "c"],
        ["a"],
    )
    assert (row["until"] - row["since"]).total_seconds() == 300


def test_churn_tells_members_of_one_identity_apart(history: PostgresHistory) -> None:
    """Of three threads with one client id one stays, one restarts and one leaves."""
    observed(history, 0, {"x1": "x", "x2": "x", "x3": "x"})
    observed(history, 1, {"x1": "x", "x4": "x"})

    (row,) = history.query("churn", **WIDE)
    assert [row[name] for name in COUNTED] == [1, 1, 0, 1, 1]


def test_churn_is_unknown_where_no_two_snapshots_can_be_compared(history: PostgresHistory) -> None:
    """One snapshot at rest says nothing of who came; none that could be read says nothing at all."""
    observed(history, 0, {"a1": "a"})
    observed(history, 1, {}, state="Reconciling")
    observed(history, 0, {}, "dark", "other", error="not authorised")

    rows = {row["group_id"]: row for row in history.query("churn", **WIDE)}
    assert [rows["app"][name] for name in COUNTED] == [0, None, None, None, None]
    assert rows["app"]["rebalancing_share"] == 0.5
    assert rows["app"]["who_joined"] is None
    assert rows["dark"]["rebalancing_share"] is None


def test_churn_keeps_groups_of_one_name_apart_and_the_most_restless_first(
    history: PostgresHistory,
) -> None:
    """Clusters may have a group of one name; one that rebalances comes first, then one whose members change."""
    for number, members in enumerate([{"a1": "a"}, {"a1": "a"}]):
        observed(history, number, members, cluster="calm")
        observed(history, number, members if number else {"z1": "z"}, cluster="changed")
        observed(history, number, members, cluster="moving", state="Assigning")

    rows = history.query("churn", **WIDE)
    assert [row["cluster"] for row in rows] == ["moving", "changed", "calm"]
    assert [row["joins"] for row in rows] == [None, 1, 0]
    assert [r["cluster"] for r in history.query("churn", group="app", cluster="calm", **WIDE)] == [
        "calm"
    ]
    assert history.query("churn", group="nobody", **WIDE) == []
    hours = (datetime.now(UTC) - FIRST) / timedelta(hours=1)
    assert len(history.query("churn", hours=hours + 0.1)) == 3
    assert history.query("churn", hours=hours - 0.1) == []


def test_membership_changes_sum_what_moved_and_would_have(history: PostgresHistory) -> None:
    """By strategy over all changes; one that could not be replayed on a change says on how many it could."""
    quiet = {"members_joined": 0, "members_left": 0, "members_restarted": 0, "partitions_moved": 0}
    observed(history, 0, {"a1": "a"})
    observed(history, 1, {"a1": "a"}, **quiet)
    for number, sticky in enumerate((1, 2), 2):
        would = [{"strategy": "sticky", "moves": sticky}]
        would += [{"strategy": "range", "moves": 5}] if number == 2 else []
        change = {"members_joined": 1, "partitions_moved": 4, "would_have_moved": would}
        observed(history, number, {f"a{number}": "a"}, **(quiet | change))

    rows = history.query("membership_changes", **WIDE)
    names = ("strategy", "compared", "changed", "joins", "leaves", "moved", "would_have_moved")
    assert [[row[name] for name in (*names, "replayed_of")] for row in rows] == [
        ["sticky", 3, 2, 2, 0, 8, 3, 2],
        ["range", 3, 2, 2, 0, 8, 5, 1],
    ]


def test_the_scoreboard_tells_what_last_weeks_changes_would_have_moved(
    history: PostgresHistory,
) -> None:
    """Beside each strategy that was replayed; changes of more than a week ago are left out."""
    change = {"members_joined": 1, "members_left": 0, "members_restarted": 0, "partitions_moved": 4}
    would = [{"strategy": "range", "moves": 3}]
    now = int((datetime.now(UTC) - FIRST) / timedelta(minutes=1))
    ids = [
        observed(history, number, {"a1": "a"}, **change, would_have_moved=would)
        for number in (0, now - 2, now - 1)
    ]
    history.store_candidates(ids[-1], candidates(ids[-1], "app"))

    rows = history.query("scoreboard", group="app")
    names = ("last_week_changes", "last_week_moved", "last_week_would_have_moved")
    assert {row["strategy"]: [row[name] for name in names] for row in rows} == {
        "live": [None, None, None],
        "range": [2, 8, 6],
    }


def test_snapshot_health_counts_groups_that_could_not_be_read(history: PostgresHistory) -> None:
    """As the manifest notes it; one from before it was noted leaves it unknown."""
    history.store_snapshot(manifest(0))
    history.store_snapshot(manifest(1, unreadable_groups=2))
    history.store_snapshot(manifest(2, unreadable_groups=0))

    counted = [row["unreadable_groups"] for row in history.query("snapshot_health")]
    assert counted == [0, 2, None]


def priced(history: PostgresHistory, group: str, **costs: tuple[str, float | None]) -> list[Any]:
    """The newest snapshot of a group whose strategies can or cannot run, at these costs a month; its candidates."""
    taken = manifest(0)
    history.store_snapshot(taken)
    rows = candidates(taken.snapshot_id, group, list(costs)).to_pylist()
    for row in rows:
        row["feasibility"], cost = costs[row["strategy"]]
        row["cross_rack_cost_per_month"] = cost
        row["cross_rack_bytes_per_second"] = None if cost is None else cost * 1000
        row["currency"] = "EUR"
        row["racks_left_out"] = 2 if row["strategy"] == "fair" else 1
    history.store_candidates(taken.snapshot_id, Table.from_rows(rows, schema_of(CandidateRow)))
    return history.query("cross_rack_cost", group=group)


CHEAPEST = ("cheapest_strategy", "cross_rack_cost_per_month", "cheapest_cost_per_month")


def test_the_cheapest_strategy_that_could_run_stands_beside_what_is_paid_now(
    history: PostgresHistory,
) -> None:
    """
    A undeployable does not count, however cheap, nor what more members of unknown racks would read; the saving has its
    currency.
    """
    (row,) = priced(
        history,
        "app",
        live=("available", 50.0),
        range=("needs restart", 20.0),
        sticky=("available", 30.0),
        fair=("available", 0.0),
        balanced=("not deployable here", 1.0),
    )
    assert [row[name] for name in CHEAPEST] == ["range", 50.0, 20.0]
    assert (row["saved_per_month"], row["currency"]) == (30.0, "EUR")


@pytest.mark.parametrize("paid", [10.0, None])
def test_nothing_cheaper_or_nothing_known_is_nothing_said(
    history: PostgresHistory, paid: float | None
) -> None:
    """A strategy at the same cost saves nothing; an unknown cost is compared with none."""
    (row,) = priced(history, "app", live=("available", paid), range=("available", 10.0))
    assert [row[name] for name in CHEAPEST] == [None, paid, None]
    assert row["saved_per_month"] is None


def test_a_group_got_worse_that_kept_up_less_of_its_time(history: PostgresHistory) -> None:
    """Held against as many days before; of one that is only looked at now, or got better, nothing is said."""
    for number, lag, diagnosis in (
        (-2890, 1, "healthy"),
        (-2880, 3, "healthy"),
        (-1440, 50, "skewed load"),
        (-1430, 70, "healthy"),
    ):
        measured(history, number, lag=lag, diagnosis=diagnosis, delay_seconds=lag)

    (row,) = history.query("worse_groups", **YESTERDAY)
    shares = (row["unhealthy_before_share"], row["unhealthy_now_share"])
    assert shares == (0, pytest.approx(3600 / 4200))
    assert row["diagnosis"] == "skewed load"
    assert (row["mean_lag_before"], row["mean_lag_now"]) == (2, 60)
    assert row["highest_delay_now_seconds"] == 70
    assert history.query("worse_groups", days=1, until=FIRST) == []
    assert history.query("worse_groups", days=1, until=FIRST - timedelta(days=2)) == []


def test_the_coming_hour_is_shown_as_it_went_a_day_and_a_week_ago(history: PostgresHistory) -> None:
    """Its highest lag, and nothing of the hour before it; a week without snapshots is unknown."""
    for number, lag in (
        (-1441, 900),
        (-1440, 800),
        (-1439, 12),
        (-1400, 70),
        (-1380, 50),
        (-1379, 900),
        (0, 5),
    ):
        measured(history, number, lag=lag, production_per_second=lag / 10)

    (row,) = history.query("same_hour")

    assert (row["total_lag"], row["yesterday_highest_lag"]) == (5, 70)
    assert row["yesterday_production_per_second"] == pytest.approx((1.2 + 7 + 5) / 3)
    assert row["last_week_highest_lag"] is row["last_week_production_per_second"] is None


def test_what_crossed_racks_is_summed_by_day_or_cluster(history: PostgresHistory) -> None:
    """The time of which it is not known is left out and told: it is not taken for 0."""
    measured(history, 0)
    measured(history, 10, **CROSSING)
    measured(history, 20)

    (row,) = history.query("rack_cost_daily", until=FIRST + timedelta(hours=1))
    assert (row["cross_rack_gigabytes"], row["known_share"]) == (0.6, 0.5)
    assert (row["cross_rack_cost"], row["currency"]) == (pytest.approx(720 / 4320), "EUR")
    (total,) = history.query("rack_cost_daily", per="cluster", until=FIRST + timedelta(hours=1))
    assert total == row | {"group_id": None}


def test_advice_is_counted_by_group_and_owner(history: PostgresHistory) -> None:
    """Each state that it reached in the period, once; whose group it was then."""
    for number, state in enumerate(("confirmed", "withdrawn", "confirmed", "adopted")):
        taken = manifest(number)
        history.store_snapshot(taken)
        row = advice(taken.snapshot_id, "orders-app", owner="web", checks=[])
        event = replace(row.events[0], state=AdviceState(state))
        history.store_advice(taken.snapshot_id, [replace(row, events=(event,))])

    until = FIRST + timedelta(minutes=2)
    (row,) = history.query("advice_totals", until=until)
    names = ("group_id", "owner", "confirmed", "adopted", "withdrawn", "last_event_at")
    assert [row[name] for name in names] == ["orders-app", "web", 2, 0, 1, until]
    (row,) = history.query("advice_totals", per="owner", hours=10**7)
    assert [row[name] for name in names[:4]] == [None, "web", 2, 1]


def test_open_switches_are_summed_without_what_is_unknown(history: PostgresHistory) -> None:
    """What each saves, restarts included; a group that is advised to stay saves nothing."""
    taken = manifest()
    history.store_snapshot(taken)
    tables = []
    for group, gain in {"a": 50.0, "b": None}.items():
        rows = candidates(taken.snapshot_id, group).to_pylist()
        for row in rows:
            is_live = row["strategy"] == "live"
            row["forecast_gain_expected"] = None if is_live else gain
            row["cross_rack_cost_per_month"], row["currency"] = (9.0 if is_live else 4.0), "EUR"
        tables += rows
    history.store_candidates(taken.snapshot_id, Table.from_rows(tables, schema_of(CandidateRow)))
    told = [advice(taken.snapshot_id, group) for group in ("a", "b")]
    told.append(advice(taken.snapshot_id, "c", verdict="stay", strategy=None))
    history.store_advice(taken.snapshot_id, told)

    rows = history.query("open_switches")
    names = ("group_id", "strategy", "switches", "saved_offset_seconds", "saved_per_month")
    assert [[row[name] for name in names] for row in rows] == [
        ["a", "range", 1, 50, 5],
        ["b", "range", 1, None, 5],
        [None, None, 2, 50, 10],
    ]
    assert {row["currency"] for row in rows} == {"EUR"}


def test_members_with_the_most_lag_of_all_groups(history: PostgresHistory) -> None:
    """So many of them, with their share of what their group owns; without lag there is no share."""
    taken = manifest()
    history.store_snapshot(taken)
    history.store_metrics(
        taken.snapshot_id, metrics(taken.snapshot_id, {"a": [2], "b": [9], "c": [None], "d": [0]})
    )

    rows = history.query("members", most="2")
    assert [(row["group_id"], row["lag"], row["lag_share"]) for row in rows] == [
        ("b", 9, 1),
        ("a", 2, 1),
    ]
    shares = {row["group_id"]: row["lag_share"] for row in history.query("members")}
    assert shares == {"a": 1, "b": 1, "c": None, "d": None}


def test_churn_says_what_rebalances_held_up(history: PostgresHistory) -> None:
    """What arrived until the next snapshot; unknown where a rebalance fell between two, 0 where nobody came or went."""
    rates = {"production_per_second": 2.0}
    for number, (state, moved) in enumerate((("Stable", None), ("Assigning", None), ("Stable", 4))):
        joined = None if moved is None else 0
        told = {"state": state, "partitions_moved": moved, "members_joined": joined}
        observed(history, number, {"a1": "a"}, "busy", **told, **rates)
        observed(history, number, {f"b{number}": "b"}, "between", "other", **rates)
        observed(history, number, {"c1": "c"}, "calm", "third", **rates)

    rows = {row["group_id"]: row for row in history.query("churn", hours=10**7)}
    assert (rows["busy"]["held_up_offsets"], rows["busy"]["moved"]) == (120, 4)
    assert rows["between"]["held_up_offsets"] is None
    assert rows["calm"]["held_up_offsets"] == 0


def test_a_period_ends_when_it_is_told_to(history: PostgresHistory) -> None:
    """What came later is not in it."""
    for number in range(3):
        measured(history, number, lag=number)

    until = FIRST + timedelta(minutes=1)
    asked = {"group": "orders-app", "hours": 1, "until": until}
    assert [row["total_lag"] for row in history.query("lag_history", **asked)] == [0, 1]
