"""
Two days of a small fleet, from simulated snapshots through the pipeline's own steps into a history.

The groups and what happens to them are chosen so that every question of `docs/reference/queries.md` has an answer. All
moments are fixed: the answers are the same whenever they are asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.postgres import PostgresHistory, PostgresShelf
from evenkeel.engine.adapters.postgres.reader import READER
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import ClusterSettings, Rule, Settings
from evenkeel.engine.model.tables import Table
from evenkeel.engine.pipeline.backfill import Question, rules_of
from evenkeel.engine.ports import Lake
from evenkeel.engine.snapshots import VALIDATION, split_snapshot_id
from tests.helpers.fluid.plan import (
    RACKS,
    Group,
    Member,
    Restart,
    Switch,
    Topic,
    Traffic,
    members,
    topics,
)
from tests.helpers.fluid.run import simulate
from tests.helpers.fluid.tables import snapshots
from tests.helpers.lake_snapshots import write_taken
from tests.helpers.memory import MemoryNotifier

CLUSTER = "example"
EVERY = 1800
"""Seconds from snapshot to snapshot."""

COUNT = 96
"""Snapshots: two days."""

HOUR = 3600.0
_RULES = (
    Rule(price_per_gb=0.02, currency="EUR", owner="platform"),
    Rule(groups="payments-*", owner="payments"),
    Rule(groups="search-*", owner="search"),
)
SETTINGS = Settings(clusters={CLUSTER: ClusterSettings(bootstrap="b:9092")}, rules=_RULES)


def _ranged(name: str, *changes: tuple[float, float], **other: object) -> Group:
    """
    Six topics of two partitions each, which `range` all gives to the first two of four members.

    At moments all traffic changes by a factor; from 84/s at each partition on, the two can do 100/s.
    """
    each = tuple((at, f"t{n}", None, factor) for at, factor in changes for n in range(6))
    return Group(
        name=name,
        topics=topics(6, 2, 84),
        members=members(4, 600),
        lists=("range", "roundrobin"),
        traffic=Traffic(changes=each, wander=0.03),
        **other,  # type: ignore[arg-type]
    )


def _groups() -> tuple[Group, ...]:
    return (
        _ranged(
            "payments-app", (5 * HOUR, 10 / 7), events=(Switch(at=14 * HOUR, to="roundrobin"),)
        ),
        _ranged("search-index", (40 * HOUR, 1.3)),
        _ranged("search-suggest", (5 * HOUR, 10 / 7), (16 * HOUR, 0.6)),
        Group(
            name="clicks-archive",
            topics=(Topic(name="t0", rates=(2000.0,) * 12, replicas=1, record_bytes=1000),),
            members=tuple(Member(capacity=16000, rack=RACKS[(m + 1) % 3]) for m in range(3)),
            strategy="roundrobin",
            lists=("roundrobin", "range"),
            traffic=Traffic(depth=0.4),
        ),
        Group(
            name="mail-sender",
            topics=topics(2, 8, 20),
            members=members(4, 200),
            lists=("range", "sticky"),
            events=tuple(
                Restart(at=3 * HOUR * n + (600 if n % 3 else -30), member=n % 4, down=60)
                for n in range(1, 16)
            ),
            pause=60,
        ),
        Group(
            name="audit-log",
            topics=topics(1, 6, 50),
            members=members(3, 300),
            lists=("range", "roundrobin"),
        ),
    )


LENIENT = Settings(
    clusters=SETTINGS.clusters, rules=(*_RULES, Rule(groups="search-*", lag_slo_seconds=3600))
)
"""The same, but for how far some groups may be behind: by this the days are judged again."""

DAYS = Question(
    cluster=CLUSTER,
    since=datetime(2026, 3, 2, tzinfo=UTC),
    until=datetime(2026, 3, 4, tzinfo=UTC),
)


def write(history: PostgresHistory, count: int = COUNT, lake: Lake | None = None) -> list[str]:
    """Fill a history, and a lake beside it; the ids of its snapshots, the oldest first."""
    lake = lake or Recording()
    ids = []
    for one in write_snapshots(lake, count):
        work(lake, history, SETTINGS, one)
        ids.append(one)
    return ids


def write_snapshots(lake: Lake, count: int = COUNT) -> Iterator[str]:
    """Write the snapshots alone, one after another; their ids."""
    for taken in snapshots(simulate(_groups(), count, every=EVERY), CLUSTER):
        yield from write_taken(lake, [taken])


def write_with_backfill(url: str, reader: str = READER) -> list[str]:
    """The same at an address, and its days judged again by other rules, for a role that may ask."""
    lake = Recording()
    ids = write(PostgresHistory(url), lake=lake)
    shelf = PostgresShelf(url, rules_of(LENIENT, DAYS.groups), reader=reader)
    pipeline.backfill(lake, shelf, LENIENT, DAYS)
    return ids


def work(lake: Lake, history: PostgresHistory, settings: Settings, taken: str) -> None:
    """All steps of the pipeline, on one snapshot of a lake; nobody is told."""
    well = Table.from_rows([], VALIDATION)
    pipeline.record_validation(lake, history, taken, "snapshot", well)
    now = split_snapshot_id(taken)[1] + timedelta(minutes=1)
    pipeline.watch_groups(lake, history, MemoryNotifier(), settings, taken, now=now)
    pipeline.record_metrics(lake, taken, pipeline.compute_metrics(lake, settings, taken))
    pipeline.record_validation(lake, history, taken, "metrics", well)
    pipeline.record_candidates(lake, taken, pipeline.propose_candidates(lake, settings, taken))
    pipeline.record_validation(lake, history, taken, "candidates", well)
    pipeline.advise(lake, history, settings, taken)
