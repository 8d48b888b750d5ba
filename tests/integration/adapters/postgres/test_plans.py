"""How Postgres goes about what is asked of the views: history is never read from end to end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from evenkeel import sql

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = [pytest.mark.nightly, pytest.mark.postgres]

HISTORY = {
    *(
        "group_metrics",
        "member_metrics",
        "partition_block",
        "partition_worst",
        "candidate",
        "validation",
    ),
    *("advice", "advice_move", "advice_event", "advice_check", "group_hour", "group_day"),
    *("member_span", "candidate_hour", "candidate_day"),
}

_NOW = datetime.now(UTC)
_MIDNIGHT = _NOW.replace(hour=0, minute=0, second=0, microsecond=0)
LATELY = f"(now() - interval '{_NOW - _MIDNIGHT + timedelta(hours=1)}')"
"""
Stands for now(): eleven in the evening before. That day has samples of many snapshots; the few of a day that has just
begun Postgres rightly reads from end to end.
"""

# in the order in which the steps store them: an index by snapshot finds neighbors
SEED = """
    INSERT INTO cluster SELECT 'demo', 'kafka', now();
    INSERT INTO snapshot (
        snapshot_id, cluster, started_at, finished_at, partial, schema_version, written_at,
        measured_at, proposed_at, advised_at, rolled_up_at
    )
    SELECT format('demo-%s', to_char(at, 'YYYYMMDDHH24MISS')), 'demo', at, at, false, 1, at, at, at, at,
        CASE WHEN at < now() - interval '1 hour' THEN at END
    FROM generate_series(now() - interval '99 hours', now(), interval '1 hour') AS times (at);
    INSERT INTO group_metrics (
        snapshot_id, cluster, group_id, config_version, group_type, state, status, findings, total_lag
    )
    SELECT snapshot_id, 'demo', format('group-%s', n), 'c', 'classic', 'Stable', 'OK', '{}', n
    FROM snapshot CROSS JOIN generate_series(1, 500) AS n ORDER BY snapshot_id, n;
    INSERT INTO consumer_group (cluster, group_id)
    SELECT 'demo', format('group-%s', n) FROM generate_series(1, 500) AS n;
    SELECT make_sample_day(started_at) FROM snapshot;
    INSERT INTO group_sample (group_number, taken_at, readable, compared, reassigned, status, state, total_lag)
    SELECT group_number, started_at, true, false, false, 'OK', 'Stable', 7 FROM snapshot CROSS JOIN consumer_group
    ORDER BY started_at, group_number;
    INSERT INTO member_span (cluster, group_id, member_id, identity, since)
    SELECT cluster, group_id, format('m-%s', n), 'm', now() - interval '99 hours' FROM consumer_group
    CROSS JOIN generate_series(1, 100) AS n;
    INSERT INTO member_metrics (
        snapshot_id, cluster, group_id, config_version, member_id, identity, client_id, client_host, partitions
    )
    SELECT snapshot_id, 'demo', group_id, 'c', 'm', 'm', 'm', 'h', 1 FROM group_metrics
    ORDER BY snapshot_id;
    INSERT INTO candidate (
        snapshot_id, cluster, group_id, config_version, strategy, position, deployment, feasibility, reason, findings
    )
    SELECT snapshot_id, 'demo', group_id, 'c', 'range', 1, 'setting', 'available', 'it can', '{}' FROM group_metrics
    ORDER BY snapshot_id;
    INSERT INTO advice (snapshot_id, cluster, group_id, verdict, reason, config_version, created_at, since, until)
    SELECT snapshot_id, 'demo', group_id, 'stay', 'it is well', 'c', now(), started_at, started_at + interval '1 hour'
    FROM group_metrics INNER JOIN snapshot USING (snapshot_id)
    ORDER BY snapshot_id;
    INSERT INTO advice_move (advice_id, topic, partition) SELECT advice_id, 'orders', 0 FROM advice;
    INSERT INTO advice_event (advice_id, at, strategy, state, cause, facts)
    SELECT advice_id, created_at, 'range', 'proposed', 'it wins', '[]' FROM advice;
    INSERT INTO advice_check (
        advice_id, strategy, adopted_at, after_seconds, measure, unit, low, expected, high
    )
    SELECT advice_id, 'range', created_at, 900, 'lag', 'offsets', 0, 1, 2 FROM advice;
    INSERT INTO validation (snapshot_id, cluster, stage, group_id, expectation, severity, success)
    SELECT snapshot_id, 'demo', 'metrics', group_id, 'lag', 'critical', true FROM group_metrics
    ORDER BY snapshot_id;
"""

ROLLUP = """
    INSERT INTO {table} (
        cluster, group_id, since, snapshots, unreadable_snapshots, covered_seconds, known_lag_snapshots,
        known_production_snapshots, known_consumption_snapshots, diagnosis_seconds, cross_rack_seconds,
        rebalancing_snapshots, compared_snapshots, changed_snapshots, would_have_moved, advised_snapshots, wins
    )
    SELECT 'demo', format('group-%s', n), date_bin('{step}', now(), '2000-01-01 00:00:00+00') - i * interval '{step}',
        1, 0, 300, 0, 0, 0, '{{}}', 0, 0, 0, 0, '[]', 0, '[]'
    FROM generate_series(1, 500) AS n CROSS JOIN generate_series(2, 101) AS i;
"""

OF_STRATEGIES = """
    INSERT INTO {table} SELECT
        'demo', format('group-%s', n), date_bin('{step}', now(), '2000-01-01 00:00:00+00') - i * interval '{step}',
        ARRAY['live', 'range'], ARRAY[1, 1], ARRAY[1, 1], a, a, a, a, a, a, a, a, a, a, a, a, a
    FROM generate_series(1, 500) AS n CROSS JOIN generate_series(2, 101) AS i CROSS JOIN (SELECT ARRAY[1, 2] AS a);
"""


@pytest.fixture(scope="module")
def seeded(module_database_url: str) -> str:
    """A history of 50,000 rows in each of the large tables."""
    with psycopg.connect(module_database_url) as connection:
        connection.execute(SEED.replace("now()", LATELY).encode())
        for table, step in (("group_hour", "1 hour"), ("group_day", "24 hours")):
            rollup = ROLLUP.format(table=table, step=step).replace("now()", LATELY)
            connection.execute(rollup.encode())
        for table, step in (("candidate_hour", "1 hour"), ("candidate_day", "24 hours")):
            rollup = OF_STRATEGIES.format(table=table, step=step).replace("now()", LATELY)
            connection.execute(rollup.encode())
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        connection.execute("ANALYZE")
    return module_database_url


GROUP = "cluster = 'demo' AND group_id = 'group-7'"

ASKED = {
    "latest_lag": ("true", GROUP),
    "group_status": ("true", GROUP),
    "strategy_scoreboard": ("true", GROUP),
    "latest_advice": ("true", GROUP),
    "lag_history": (GROUP, f"{GROUP} AND taken_at >= now() - interval '12 hours'"),
    "group_lag_trend": (
        f"per = 'hour' AND {GROUP}",
        f"per = 'day' AND {GROUP}",
        "per = 'hour' AND since >= now() - interval '12 hours'",
        "per = 'day' AND since >= now() - interval '7 days'",
    ),
    "strategy_wins": (GROUP, "day >= now() - interval '7 days'"),
    "strategy_history": (
        f"per = 'day' AND {GROUP}",
        "per = 'hour' AND since >= now() - interval '12 hours'",
        "per = 'day' AND since >= now() - interval '7 days'",
    ),
    "rack_cost_daily": (GROUP, "day >= now() - interval '7 days'"),
    "churn_weekly": (GROUP, "week >= now() - interval '14 days'"),
    "advice_history": (GROUP, "cluster = 'demo' AND taken_at >= now() - interval '90 minutes'"),
    "advice_scorecard": (GROUP,),
    "incident_history": (GROUP,),
    "validation_history": ("cluster = 'demo' AND taken_at >= now() - interval '90 minutes'",),
    "snapshot_health": ("cluster = 'demo' AND started_at >= now() - interval '12 hours'",),
}
"""How views are asked: of one group, or of all groups lately."""


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A plan and all below it."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


@pytest.mark.parametrize(
    ("view", "where"), [(view, where) for view, several in ASKED.items() for where in several]
)
def test_no_view_reads_a_history_table_from_end_to_end(seeded: str, view: str, where: str) -> None:
    """Each goes by an index, as typical filters are."""
    scans = {name for name, kind in read(seeded, view, where) if kind == "Seq Scan"}
    assert scans & HISTORY == set()
    assert not any(name.startswith("group_sample_") for name in scans)


def test_days_that_are_not_asked_for_are_not_opened(seeded: str) -> None:
    """Of the samples of all groups only those of the last two days are looked at, wherever these lie."""
    where = "taken_at >= now() - interval '12 hours'"
    days = {
        name for name, _ in read(seeded, "lag_history", where) if name.startswith("group_sample_")
    }
    assert 1 <= len(days) <= 2


@pytest.mark.parametrize("name", ["worst_groups", "worse_groups"])
def test_a_query_of_a_week_reads_no_older_hours_or_days(seeded: str, name: str) -> None:
    """Of the rolled-up rows of all groups only those of its period, by the index of their start."""
    (code,) = sql.queries()[name].parts
    given = {p.name: p.default or "null" for p in sql.queries()[name].parameters}
    for parameter, value in given.items():
        code = re.sub(rf"(?<![:\w]):{parameter}\b", value, code)
    scans = {table for table, kind in explained(seeded, code) if kind == "Seq Scan"}
    assert scans & {"group_hour", "group_day"} == set()


def read(url: str, view: str, where: str) -> list[tuple[str, str]]:
    """The tables that a view is answered from, each with how it is read."""
    return explained(url, f"SELECT * FROM {view} WHERE {where}")


def explained(url: str, question: str) -> list[tuple[str, str]]:
    """The tables that a question is answered from, each with how it is read."""
    with psycopg.connect(url) as connection:
        lately = question.replace("now()", LATELY)
        (found,) = connection.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {lately}".encode()
        ).fetchall()
    return [
        (each["Relation Name"], each["Node Type"])
        for each in nodes(found[0][0]["Plan"])
        if "Relation Name" in each and each["Actual Loops"]
    ]
