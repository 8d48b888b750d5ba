"""
`python -m tests.benchmarks.candidates [--groups N] [--days D]`: how large it gets what strategies would have given.

A real Postgres gets samples of N groups with an answer of 13 strategies, more than any group has, and everything known;
the statements of `maintain_history` roll them up and expire them, by the default settings. Samples are half an hour
apart, for the sizes of hours and days do not hang on that; those of the last day are five minutes apart, and the
maintenance runs every hour. Nothing is asserted of a clock: exit status 1 when a goal of the issue is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime, timedelta

import psycopg

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline.maintain import expire_candidates
from tests.stage.postgres import throw_away_history

ASKED = 200e6
"""Bytes of 30 days of 1,000 groups."""

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
NAMES = [*ASSIGNORS][:13]

SNAPSHOTS = """
    INSERT INTO cluster VALUES ('prod', 'kafka-1', now()) ON CONFLICT DO NOTHING;
    INSERT INTO snapshot (
        snapshot_id, cluster, started_at, finished_at, partial, schema_version, written_at, measured_at, proposed_at
    )
    SELECT format('prod-%s-000000', to_char(at AT TIME ZONE 'UTC', 'YYYYMMDD"T"HH24MISS"Z"')), 'prod', at, at, false, 1,
        at, at, at
    FROM generate_series('{first}'::timestamptz, '{last}'::timestamptz - '{step}'::interval, '{step}') AS at
    ON CONFLICT DO NOTHING;
    INSERT INTO candidate_sample
    SELECT snapshot_id, format('group-%s-app', n), ARRAY[{names}], array_fill(true, ARRAY[{count}]), lag, later, share,
        bytes, moves
    FROM snapshot CROSS JOIN generate_series(1, {groups}) AS n
    CROSS JOIN LATERAL (
        SELECT array_agg(1e5 * random())::real[] AS lag, array_agg(1e6 * random())::real[] AS later,
            array_agg(random())::real[] AS share, array_agg(1e7 * random())::real[] AS bytes,
            array_agg((12 * random())::integer) AS moves
        FROM generate_series(n, n + {count} - 1)
    ) AS drawn
    WHERE started_at >= '{first}' AND started_at < '{last}'
    ON CONFLICT DO NOTHING;
"""


def fill(url: str, groups: int, days: int) -> None:
    """What is there before the last of those days is over, when most hours are kept."""
    end = datetime(2026, 11, 1, tzinfo=UTC)
    for back in range(days, 1, -1):
        day = end - back * DAY
        _drawn(url, groups, day, day + DAY, "30 minutes")
        _turn(url, day + DAY)
    # a day at once is more samples than there ever are
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM FULL candidate_sample")
    for hour in range(24):
        since = end - DAY + hour * HOUR
        _drawn(url, groups, since, since + HOUR, "5 minutes")
        if hour < 23:
            _turn(url, since + HOUR)


def _turn(url: str, now: datetime) -> None:
    """A turn of the maintenance, as far as it is about candidates; and autovacuum, behind it."""
    history, settings = PostgresHistory(url), Settings()
    for day in history.days_to_roll_up(now):
        history.roll_up(day, kept=now - settings.keep_days * DAY, before=now)
    expire_candidates(history, settings, now)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _drawn(url: str, groups: int, first: datetime, last: datetime, step: str) -> None:
    names = ", ".join(f"'{name}'" for name in NAMES)
    given = {"first": first, "last": last, "step": step, "groups": groups}
    script = SNAPSHOTS.format(names=names, count=len(NAMES), **given)
    with psycopg.connect(url) as connection:
        connection.execute(script.encode())


def main() -> int:
    """Fill, and print what it takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--days", type=int, default=30)
    asked = parser.parse_args()
    began, total = time.monotonic(), 0
    with throw_away_history() as url:
        fill(url, asked.groups, asked.days)
        print(f"filled in {time.monotonic() - began:,.0f} s, {len(NAMES)} strategies")
        with psycopg.connect(url) as connection:
            for table in ("candidate_sample", "candidate_hour", "candidate_day"):
                question = f"SELECT count(*), pg_total_relation_size('{table}') FROM {table}"
                rows, size = connection.execute(question.encode()).fetchall()[0]
                total += size
                print(f"{table:<18}{rows:>10,} rows {size / 1e6:>8,.1f} MB {size / rows:>8,.0f} B")
        print(
            f"{'all':<18}{total / 1e6:>23,.1f} MB, asked: {ASKED / 1e6:,.0f} for 30 days of 1,000"
        )
    return int(total > ASKED * asked.groups / 1000)


if __name__ == "__main__":
    sys.exit(main())
