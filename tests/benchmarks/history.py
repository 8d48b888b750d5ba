"""
`python -m tests.benchmarks.history [--groups N] [--days D]`: how large a history gets, and how fast it answers.

A real Postgres is filled with D days of N groups at five minutes, as the steps leave them: a sample of each group and
snapshot, advice, diagnoses and members from when to when, the newest hours whole; with their hours, and a year of days.
Then a snapshot of 10,000 groups is stored as the steps store one, every public view and every named query is asked as
people ask it, three times each, and what was read from end to end is noted. Nothing is asserted of a clock: exit
status 1 when a goal of the issue is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from evenkeel import sql
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.model.tables import TEXT, Table, column, concat, repeated
from evenkeel.engine.ports import Manifest
from evenkeel.engine.snapshots import new_snapshot_id
from tests.helpers import history_rows
from tests.stage.postgres import throw_away_history

CLUSTER, GROUP = "prod", "group-7"
LARGE = 10_000
"""Groups of the snapshot that is stored at the end."""

PARTITIONS, MEMBERS = 12, 4
"""Of each group."""

STRATEGIES = ("live", *(f"strategy-{number}" for number in range(13)))
ASKED = {"answer": 1.0, "load": 10.0, "bytes": 2e9}
"""Goals: seconds of an answer, seconds to store a snapshot of 10,000 groups, bytes of 30 days of 1,000 groups."""

OPEN_ENDED = """
    INSERT INTO cluster VALUES ('{cluster}', 'kafka-1', now());
    INSERT INTO consumer_group (cluster, group_id)
    SELECT '{cluster}', format('group-%s', n) FROM generate_series(1, {groups}) AS n;
    INSERT INTO snapshot (
        snapshot_id, cluster, started_at, finished_at, first_read_at, last_read_at, partial, requests, bytes_sent,
        bytes_received, group_count, unreadable_groups, schema_version, config_version, written_at, validated_at,
        rejected,
        measured_at, proposed_at, advised_at, adopted_at, claimed_by, rolled_up_at, checks, thinned_at
    )
    SELECT
        format('{cluster}-%s-%s', to_char(at AT TIME ZONE 'UTC', 'YYYYMMDD"T"HH24MISS"Z"'), lpad(to_hex(n), 6, '0')),
        '{cluster}', at, at + interval '9 s', at, at + interval '8 s', false,
        '{{"Metadata": 4, "ListOffsets": 60, "OffsetFetch": 90, "DescribeGroups": 90}}', 1000000, 9000000, {groups}, 0,
        1, md5('c'), at, at, false, at, at, at, at, format('scheduled__%s', at),
        CASE WHEN at < date_trunc('hour', now()) THEN at END, {groups} * 12, at
    FROM generate_series(now() - interval '{days} days', now() - interval '140 minutes', interval '5 minutes')
        WITH ORDINALITY AS taken (at, n);
    SELECT count(make_sample_day(started_at)) FROM snapshot;
    INSERT INTO step_run (cluster, snapshot_id, step, started_at, finished_at, outcome, link)
    SELECT cluster, snapshot_id, step, started_at, finished_at, 'ok',
        'https://airflow.example/dags/advise_assignments/runs/' || claimed_by
    FROM snapshot CROSS JOIN unnest(ARRAY[
        'snapshot', 'watch_groups', 'validate_snapshot', 'measure', 'propose', 'validate_candidates', 'advise', 'alert'
    ]) AS step ORDER BY started_at;
"""
"""Snapshots and the runs of their steps."""

SAMPLES = """
    INSERT INTO group_sample (
        group_number, members, taken_at, total_lag, largest_member_lag, lag_lower_bound, partitions,
        unknown_lag_partitions, lag_skew, delay_seconds, time_lag_seconds, production_per_second,
        consumption_per_second, cross_rack_bytes_per_second, cross_rack_cost_per_month, readable, compared, reassigned,
        status, state, diagnosis, currency, members_joined, members_restarted, partitions_moved, would_have_moved
    )
    SELECT
        group_number, {members}, started_at, lag, lag / 3, lag / 4, {partitions}, NULL, 1.2, random() * 30,
        random() * 40, 100 + random(), 100 + random(), 1e6 * random(), 40 * random(), true, true, false, NULL, NULL,
        CASE WHEN (group_number + hour) % 40 = 0 THEN 'skewed load' ELSE 'healthy' END, 'USD', NULL,
        CASE WHEN changed THEN {members} END, CASE WHEN changed THEN 3 END,
        CASE WHEN changed THEN '[{{"strategy": "range", "moves": 6}}, {{"strategy": "sticky", "moves": 3}}]'::jsonb END
    FROM (
        SELECT
            group_number, started_at, (random() * 100000)::bigint AS lag,
            extract(hour FROM started_at)::integer AS hour, random() < 0.002 AS changed
        FROM snapshot CROSS JOIN consumer_group
        WHERE started_at >= '{day}' AND started_at < '{day}'::timestamptz + interval '1 day'
        ORDER BY started_at, group_number
    ) AS drawn;
"""
"""A day of samples."""

SPANS = """
    INSERT INTO diagnosis_span (cluster, group_id, diagnosis, since, until, already_so)
    SELECT '{cluster}', format('group-%s', n), CASE WHEN i % 2 = 0 THEN 'healthy' ELSE 'skewed load' END,
        now() - make_interval(hours => (i + 1) * 12),
        CASE WHEN i > 0 THEN now() - make_interval(hours => i * 12) END, i = 60
    FROM generate_series(1, {groups}) AS n CROSS JOIN generate_series(0, 2 * {days}) AS i WHERE n % 10 = 0 OR i = 0;
    INSERT INTO member_span (cluster, group_id, member_id, identity, since, until)
    SELECT '{cluster}', format('group-%s', n), format('consumer-group-%s-%s-%s', n, m, md5(i::text)),
        format('consumer-group-%s-%s/10.0.0.%s', n, m, m), now() - make_interval(days => i + 1),
        CASE WHEN i > 0 THEN now() - make_interval(days => i) END
    FROM generate_series(1, {groups}) AS n CROSS JOIN generate_series(1, {members}) AS m
    CROSS JOIN generate_series(0, {days}) AS i;
    INSERT INTO advice (
        snapshot_id, cluster, group_id, verdict, strategy, reason, how, seen, config_version, created_at, facts, state,
        state_since, course, owner, since, until
    )
    SELECT
        snapshot_id, cluster, format('group-%s', n), CASE WHEN i % 3 = 0 THEN 'switch' ELSE 'stay' END, 'range',
        repeat('group-7-0 gets 727/s and does 600/s; ', 6), repeat('Put it first; ', 10), 3, md5('c'), started_at,
        (SELECT jsonb_agg(jsonb_build_object('kind', 'gain', 'measure', f, 'before', f, 'after', f * 2.7))
         FROM generate_series(1, 8) AS f),
        CASE i % 3 WHEN 0 THEN 'confirmed' ELSE 'proposed' END, started_at,
        '{{"strategy": "range", "seen": 3}}', 'team-a',
        started_at, CASE WHEN i > 0 THEN started_at + interval '8 hours' END
    FROM generate_series(1, {groups}) AS n
    CROSS JOIN generate_series(0, {days} * 3) AS i
    INNER JOIN (
        SELECT
            snapshot_id, cluster, started_at,
            row_number() OVER (ORDER BY started_at DESC) - 1 AS number FROM snapshot
    ) AS taken ON taken.number = i * 96
    WHERE n % 10 = 0 OR i = {days} * 3 - 1;
    INSERT INTO advice_event (advice_id, at, strategy, state, cause, facts, diagnosis)
    SELECT advice_id, created_at, 'range', state, reason, facts, 'skewed load' FROM advice;
    INSERT INTO advice_check (
        advice_id, strategy, adopted_at, after_seconds, measure, unit, low, expected, high, actual
    )
    SELECT advice_id, 'range', created_at, after, 'lag', 'offsets', 0, 1, 2, 1 FROM advice
    CROSS JOIN unnest(ARRAY[900, 3600, 86400]) AS after;
    INSERT INTO incident (
        cluster, group_id, key, kind, severity, began_at, opened_at, notified_at, last_seen_at, closed_at,
        summary, causes, owner
    )
    SELECT '{cluster}', format('group-%s', n), format('k-%s-%s', n, i), 'behind', 'warning',
        now() - make_interval(hours => 24 * i + 2), now() - make_interval(hours => 24 * i + 2),
        now() - make_interval(hours => 24 * i + 2), now() - make_interval(hours => 24 * i),
        CASE WHEN i > 0 THEN now() - make_interval(hours => 24 * i) END, repeat('20 min behind; ', 10), '[]', 'team-a'
    FROM generate_series(10, {groups}, 10) AS n CROSS JOIN generate_series(0, {days} - 1) AS i;
"""
"""One group in ten is in trouble twice a day; every member restarts once a day."""

PERIODS = """
    INSERT INTO {table}
    SELECT '{cluster}', format('group-%s', n), since, 12, 0, 3600, 12, 1, random() * 100000, 100000, 5, 12, 30,
        {members}, {members}, 12, 100, 12, 100,
        CASE WHEN n % 10 > 0 THEN '{{"healthy": 3600}}' ELSE '{{"healthy": 3300, "skewed load": 300}}' END::jsonb,
        3600, 1e9 * random(), random(), 'USD', 0, 12, 1, 0, 0, {members}, 3,
        CASE WHEN random() < 0.03 THEN '[{{"strategy": "range", "moves": 6, "changes": 1}}]' ELSE '[]' END::jsonb, 12,
        CASE
            WHEN n % 10 > 0 THEN '[{{"strategy": null, "won": 12, "advised": 0}}]'
            ELSE '[{{"strategy": null, "won": 10, "advised": 0}}, {{"strategy": "range", "won": 2, "advised": 1}}]'
        END::jsonb
    FROM generate_series(1, {groups}) AS n
    CROSS JOIN generate_series(
        date_trunc('day', now(), 'UTC') - interval '{days} days',
        date_trunc('{last}', now(), 'UTC') - interval '{step}',
        interval '{step}'
    ) AS since;
"""
"""Hours or days that are over."""

LATELY = "now() - interval '12 hours'"
VIEWS = {
    "group_status": ("true", f"group_id = '{GROUP}'"),
    "latest_lag": ("true",),
    "latest_advice": ("true",),
    "lag_history": (
        f"cluster = '{CLUSTER}' AND group_id = '{GROUP}'",
        "taken_at >= now() - interval '1 hour'",
    ),
    "group_lag_trend": (
        f"per = 'hour' AND group_id = '{GROUP}' AND since >= now() - interval '30 days'",
        f"per = 'hour' AND since >= {LATELY}",
        "per = 'day' AND since >= now() - interval '30 days'",
    ),
    "strategy_scoreboard": (f"group_id = '{GROUP}'", "is_live"),
    "strategy_wins": ("day >= now() - interval '7 days'", f"group_id = '{GROUP}'"),
    "rack_cost_daily": ("day >= now() - interval '30 days'", f"group_id = '{GROUP}'"),
    "churn_weekly": ("week >= now() - interval '14 days'", f"group_id = '{GROUP}'"),
    "advice_history": (f"group_id = '{GROUP}'", "since >= now() - interval '7 days'"),
    "advice_scorecard": (f"group_id = '{GROUP}'", "true"),
    "incident_history": ("is_open", "opened_at >= now() - interval '7 days'"),
    "validation_history": (f"taken_at >= {LATELY}",),
    "snapshot_health": (f"started_at >= {LATELY}",),
}
"""How people ask the views."""

MUST_SAY = {"group": GROUP, "cluster": CLUSTER, "config_version": "c0ffee", "strategy": "range"}
"""What is given to a query that has to be given something."""


@dataclass(frozen=True)
class Answer:
    """How long something took to answer, in s; its rows, and the tables it read from end to end with their rows."""

    asked: str
    seconds: float
    rows: int
    scanned: Mapping[str, int]


def fill(url: str, groups: int, days: int) -> None:
    """What the steps of those days leave; hours of all of them, days of a year."""
    sizes = {
        "groups": groups,
        "days": days,
        "cluster": CLUSTER,
        "members": MEMBERS,
        "partitions": PARTITIONS,
    }
    with psycopg.connect(url, autocommit=True) as connection:
        _each(connection, OPEN_ENDED.format(**sizes))
        first = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        for back in range(days, -1, -1):
            day = (first - timedelta(days=back)).isoformat()
            _each(connection, SAMPLES.format(day=day, **sizes))
        _each(connection, SPANS.format(**sizes))
        of_hours = sizes | {"table": "group_hour", "step": "1 hour", "last": "hour"}
        _each(connection, PERIODS.format(**of_hours))
        of_days = sizes | {"table": "group_day", "step": "24 hours", "last": "day", "days": 365}
        _each(connection, PERIODS.format(**of_days))


def _vacuum(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _each(connection: psycopg.Connection[Any], script: str) -> None:
    for statement in script.split(";\n"):
        if statement.strip():
            connection.execute(statement.encode())


@dataclass(frozen=True)
class Stored:
    """Tables of one snapshot as the steps have them, to be stored under the id of any."""

    checks: Table
    metrics: Mapping[str, Table]
    candidates: Table
    groups: Sequence[str]

    @classmethod
    def of(cls, groups: Sequence[str]) -> Stored:
        """With members, partitions and candidates for each group."""
        made = history_rows.metrics(
            new_snapshot_id(CLUSTER, history_rows.FIRST),
            {group: [7] * PARTITIONS for group in groups},
            facts=[
                {"kind": "gain", "measure": str(n), "before": 1.0, "after": 2.0} for n in range(6)
            ],
            diagnosis="healthy",
            subscribed_topics=["orders"],
        )
        member = made["member_metrics"]
        more = [
            member.replaced(
                member_id=column([f"consumer-{group}-{number}" for group in groups], TEXT)
            )
            for number in range(MEMBERS)
        ]
        made["member_metrics"] = concat(more)
        proposed = [
            history_rows.candidates(
                "prod-20260301T120000Z-000000", group, STRATEGIES, how="Put it first; " * 10
            )
            for group in groups
        ]
        found = [
            history_rows.validation(group, success=True, expectation=f"expectation {number}")
            for group in groups
            for number in range(6)
        ]
        return cls(history_rows.checks(*found), made, concat(proposed), groups)

    def store(self, history: PostgresHistory, taken: Manifest) -> None:
        """Through every step that stores."""
        own = taken.snapshot_id
        history.store_snapshot(taken, "c0ffee")
        history.store_validation(own, "snapshot", self.checks)
        history.store_metrics(
            own, {name: _under(table, own) for name, table in self.metrics.items()}
        )
        history.store_candidates(own, _under(self.candidates, own))
        plain: dict[str, Any] = {"events": [], "checks": [], "moves": [], "state": None}
        said = [
            history_rows.advice(own, group, verdict=Verdict.STAY, strategy=None, **plain)
            for group in self.groups
        ]
        history.store_advice(own, said)
        history.thin(CLUSTER, 1)


def _under(table: Table, snapshot_id: str) -> Table:
    return table.replaced(snapshot_id=repeated(snapshot_id, len(table)))


def _manifest(started: datetime) -> Manifest:
    number = (started - history_rows.FIRST).total_seconds() / 60
    return history_rows.manifest(number, CLUSTER)  # type: ignore[arg-type]  # minutes may be broken


def sizes(url: str) -> list[tuple[str, int]]:
    """Bytes of each table with its indices, the largest first; all days of samples are one."""
    question = """
        SELECT regexp_replace(relname, '_[0-9]{8}$', ''), sum(pg_total_relation_size(oid))::bigint FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace GROUP BY 1 ORDER BY 2 DESC"""
    with psycopg.connect(url) as connection:
        return connection.execute(question.encode()).fetchall()


def answers(url: str) -> Iterator[Answer]:
    """Every view and every query, asked three times: the middle time."""
    for view, several in VIEWS.items():
        for where in several:
            yield _asked(url, f"{view}: {where}", f"SELECT * FROM {view} WHERE {where}", {})
    for name, statement in sql.queries().items():
        given = {
            each.name: MUST_SAY.get(each.name) if each.required else each.default
            for each in statement.parameters
        }
        (code,) = statement.parts
        for each in sorted(given, key=len, reverse=True):
            code = code.replace(f":{each}", f"%({each})s")
        yield _asked(url, f"query {name}", code.replace("%'", "%%'").replace("::", "::"), given)


def _asked(url: str, asked: str, code: str, given: Mapping[str, Any]) -> Answer:
    took, rows = [], 0
    with psycopg.connect(url) as connection:
        for _ in range(3):
            began = time.perf_counter()
            rows = len(connection.execute(code.encode(), given or None).fetchall())
            took.append(time.perf_counter() - began)
        scanned = connection.execute(
            b"SELECT relname, seq_tup_read / 3 FROM pg_stat_xact_user_tables WHERE seq_tup_read > 30000 ORDER BY 2 DESC"
        ).fetchall()
    return Answer(asked, statistics.median(took), rows, dict(scanned))


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill, store, ask; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.history")
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--days", type=int, default=30)
    options = parser.parse_args(arguments)
    with throw_away_history() as url:
        history, missed = PostgresHistory(url), False
        began = time.perf_counter()
        fill(url, options.groups, options.days)
        usual = Stored.of([f"group-{number}" for number in range(1, options.groups + 1)])
        now = datetime.now(UTC).replace(microsecond=0)
        for back in range(26, -1, -1):
            usual.store(history, _manifest(now - timedelta(minutes=5 * (back + 1))))
            _vacuum(url)  # as autovacuum does in five minutes
        _say(f"filled in {time.perf_counter() - began:.0f} s")
        history.pack_samples(now)
        _vacuum(url)
        all_bytes = 0
        for table, size in sizes(url):
            all_bytes += size if table != "group_day" else 0
            if size > 1_000_000:
                _say(f"{table:24} {size / 1e6:10,.1f} MB")
        _say(f"{'all but a year of days':24} {all_bytes / 1e6:10,.1f} MB")
        missed |= all_bytes > ASKED["bytes"] * options.groups * options.days / 30_000
        for answer in answers(url):
            late = answer.seconds > ASKED["answer"]
            missed |= late
            noted = "".join(f"; reads {n:,} rows of {t}" for t, n in answer.scanned.items())
            _say(
                f"{answer.seconds:8.3f} s{' !' if late else '  '} {answer.rows:8,} rows  {answer.asked}{noted}"
            )
        large = Stored.of([f"large-{number}" for number in range(LARGE)])
        began = time.perf_counter()
        large.store(history, _manifest(now))
        seconds = time.perf_counter() - began
        _say(f"a snapshot of {LARGE:,} groups stored in {seconds:.1f} s")
        return int(missed or seconds > ASKED["load"])


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
