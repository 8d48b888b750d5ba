"""What the port `Backfills` promises, of the fake and of Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pyarrow as pa

from evenkeel.engine.ports import History
from evenkeel.engine.records import (
    BackfilledCandidate,
    BackfilledGroup,
    BackfillRow,
    arrow_schema,
    rows_to_table,
)
from tests.helpers.history_rows import FIRST, fill

pytest_plugins = ("tests.helpers.postgres_fixtures",)

HOUR = timedelta(hours=1)
ROW = BackfillRow(
    cluster="demo",
    config_version="c0ffee",
    evenkeel_version="2.0",
    groups="*",
    since=FIRST,
    until=FIRST + 24 * HOUR,
    candidates_every_seconds=None,
    snapshots=2,
    done_snapshots=0,
    done_through=None,
    started_at=FIRST,
    finished_at=None,
)


def made(
    at: datetime, *groups: str, differs: bool = False, interval: float | None = None
) -> pa.Table:
    """Rows of some groups in a snapshot."""
    same = {"backfill_id": 0, "taken_at": at, "diagnosis": "keeps up", "status": "OK"}
    own = {"differs": differs, "commit_interval_seconds": interval}
    return rows_to_table(
        [same | own | {"group_id": name} for name in groups], arrow_schema(BackfilledGroup)
    )


def store(
    history: History, row: BackfillRow, moments: Sequence[datetime], *tables: pa.Table
) -> None:
    """Store what was made, without candidates."""
    none = arrow_schema(BackfilledCandidate).empty_table()
    history.store_backfilled(row, moments, pa.concat_tables(tables), none)


def test_a_backfill_is_found_by_its_rules(history: History) -> None:
    """There is one of each cluster, configuration and version; noted again, it keeps its number."""
    assert history.backfill_by_rules("demo", "c0ffee", "2.0") is None
    kept = history.keep_backfill(ROW)
    other = history.keep_backfill(replace(ROW, config_version="other"))
    assert kept.backfill_id != other.backfill_id
    further = replace(ROW, done_snapshots=1, done_through="demo-1", groups="a*")
    assert history.keep_backfill(further) == replace(further, backfill_id=kept.backfill_id)
    assert history.backfill_by_rules("demo", "c0ffee", "2.0") == replace(
        further, backfill_id=kept.backfill_id
    )
    assert history.backfill_by_rules("demo", "other", "2.0") == other


def test_what_is_stored_replaces_those_groups_in_those_snapshots(history: History) -> None:
    """Rows of other snapshots, other groups and other rules stay; how far it has come is noted with them."""
    later = FIRST + HOUR
    other = history.keep_backfill(replace(ROW, config_version="other"))
    for row in (ROW, other):
        store(
            history,
            row,
            [FIRST, later],
            made(FIRST, "a", "b", interval=5),
            made(later, "a", interval=5),
        )
    some = history.keep_backfill(replace(ROW, groups="a*"))
    store(
        history,
        replace(some, done_snapshots=1),
        [FIRST],
        made(FIRST, "a", differs=True, interval=9),
    )

    kept = history.backfill_by_rules("demo", "c0ffee", "2.0")
    assert kept is not None
    assert (kept.done_snapshots, kept.groups) == (1, "a*")
    assert kept.backfill_id is not None
    assert other.backfill_id is not None
    assert history.backfilled_intervals(kept.backfill_id, FIRST) == {"a": 9, "b": 5}
    assert history.backfilled_intervals(kept.backfill_id, later) == {"a": 5}
    assert history.backfilled_intervals(other.backfill_id, FIRST) == {"a": 5, "b": 5}
    outcome = history.backfill_outcome(replace(kept, groups="*"))
    assert (outcome.groups, outcome.differing) == (2, 1)
    assert history.backfill_outcome(replace(kept, groups="b*")).groups == 1
    assert history.backfill_outcome(other).differing == 0


def test_an_interval_that_nobody_knows_is_left_out(history: History) -> None:
    """Unknown is no number."""
    row = history.keep_backfill(ROW)
    store(history, row, [FIRST], made(FIRST, "a"))
    assert row.backfill_id is not None
    assert history.backfilled_intervals(row.backfill_id, FIRST) == {}


def test_what_groups_were_told_by_then(history: History) -> None:
    """The newest advice up to the snapshot; how far it had come is said of the one before."""
    first, second = fill(history, 0), fill(history, 5)
    moments = history.advised_between("demo", FIRST, FIRST + HOUR)
    assert moments == [first, second]
    assert history.advised_between("demo", FIRST, FIRST + timedelta(minutes=5)) == [first]
    assert history.advised_between("other", FIRST, FIRST + HOUR) == []
    for taken in (first, second):
        (known,) = history.advice_as_of("demo", taken, ["orders-app", "nobody"])
        assert known.group_id == "orders-app"
        assert known.judged
        assert known.course is None
    assert history.advice_as_of("demo", "demo-20200101T000000Z-000000", ["orders-app"]) == []
    assert history.advice_as_of("other", second, ["orders-app"]) == []
