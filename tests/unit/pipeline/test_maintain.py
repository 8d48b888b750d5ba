"""The daily step."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import HistoryError, LakeError
from evenkeel.engine.pipeline.maintain import MaintenanceReport, expire_candidates, maintain
from tests.helpers.memory import MemoryHistory
from tests.helpers.snapshots import EVERY, FIRST, group, make_snapshot, snapshot_id, store, topic


def test_what_is_old_goes_and_what_is_over_is_compacted(tmp_path: Path) -> None:
    """From both places; a day is left alone until three hours after its end, when nobody is at it any more."""
    lake, history = FileLake(tmp_path / "lake"), MemoryHistory()
    settings = Settings(keep_days=2)
    per_day = timedelta(days=1) // EVERY
    for number in (0, 3 * per_day, 3 * per_day + 1):
        store(lake, taken := make_snapshot(topics=[topic("t")], number=number))
        history.store_snapshot(lake.manifest("snapshot", taken.snapshot_id), settings.version)
    midnight = (FIRST + timedelta(days=4)).replace(hour=0)

    did = maintain(lake, history, settings, midnight + timedelta(hours=2))
    assert did == MaintenanceReport(lake=1, history=1)
    did = maintain(lake, history, settings, midnight + timedelta(hours=3))
    assert did == MaintenanceReport(days=1, files=10, into=2)
    did = maintain(lake, None, settings, midnight + timedelta(days=9))
    assert did == MaintenanceReport(lake=2)
    assert not list(tmp_path.rglob("*.parquet"))


def test_days_that_are_not_whole_any_more_keep_a_snapshot_per_hour(tmp_path: Path) -> None:
    """Once none of theirs waits for advice; what is kept is read as before."""
    lake, history = FileLake(tmp_path / "lake"), MemoryHistory()
    settings = Settings(keep_whole_days=2)
    taken = [make_snapshot(topics=[topic("t")], number=number) for number in range(14)]
    ids = store(lake, *taken)
    for one in ids:
        history.store_snapshot(lake.manifest("snapshot", one), settings.version)
    rows = lake.read("partitions", [ids[12]])
    later = (FIRST + timedelta(days=3)).replace(hour=0)

    assert maintain(lake, history, settings, later).thinned == 0
    assert lake.snapshots("test", limit=99) == ids[::-1]
    for one in ids:
        history.store_advice(one, [])
    assert maintain(lake, history, settings, later - timedelta(seconds=1)).thinned == 0
    assert maintain(lake, history, settings, later).thinned == 12
    # nobody is in a group there
    assert len(list(tmp_path.rglob("*.parquet"))) == 2

    assert lake.snapshots("test", limit=99) == [ids[12], ids[0]]
    assert lake.read("partitions", [ids[12]]).equals(rows)
    assert maintain(lake, history, settings, later) == MaintenanceReport()


def test_a_clock_that_is_ahead_expires_nothing(tmp_path: Path) -> None:
    """An hour after what the history's clock says is close enough; a month is a clock that is wrong."""
    lake, history = FileLake(tmp_path / "lake"), MemoryHistory(lambda: FIRST + EVERY)
    store(lake, taken := make_snapshot(topics=[topic("t")]))
    history.store_snapshot(lake.manifest("snapshot", taken.snapshot_id))
    settings = Settings(keep_days=2)

    with pytest.raises(HistoryError, match="30 d ahead of the history database's: nothing is "):
        maintain(lake, history, settings, FIRST + EVERY + timedelta(days=30))
    maintain(lake, history, settings, FIRST + EVERY + timedelta(hours=1))

    assert lake.snapshots(taken.cluster) == [taken.snapshot_id]
    assert history.missing_snapshots([taken.snapshot_id]) == []


def test_what_strategies_would_have_given_goes_by_settings_of_its_own() -> None:
    """Samples after the hours of detail, hours by whole days, and days never before their hours."""
    told: list[dict[str, datetime]] = []

    class Noting(MemoryHistory):
        def expire_candidates(self, *, samples: datetime, hours: datetime, days: datetime) -> None:
            told.append({"samples": samples, "hours": hours, "days": days})

    given = {"keep_detail_hours": 2, "keep_candidate_hourly_days": 3}
    now = FIRST.replace(hour=10, minute=17)
    for daily in (5, 1):
        settings = Settings(keep_candidate_daily_days=daily, **given)
        expire_candidates(Noting(), settings, now)
    day = now.replace(hour=0, minute=0)
    samples, hours = now - timedelta(hours=2), day - timedelta(days=3)
    assert told == [
        {"samples": samples, "hours": hours, "days": day - timedelta(days=5)},
        {"samples": samples, "hours": hours, "days": hours},
    ]


def two_days(folder: Path) -> tuple[FileLake, datetime]:
    """A lake of two days, and a moment after them."""
    lake, per_day = FileLake(folder / "lake"), timedelta(days=1) // EVERY
    groups = [group("g", members=1, lag={"t": [0]})]
    for number in (0, 1, per_day, per_day + 1):
        store(lake, make_snapshot(topics=[topic("t")], groups=groups, number=number))
    return lake, FIRST + timedelta(days=5)


def test_a_turn_ends_between_two_datasets_and_the_next_goes_on(tmp_path: Path) -> None:
    """The smallest budget does one dataset of a day each time, and says how many are left until none is."""
    lake, now = two_days(tmp_path)
    said: list[str] = []
    turns = []
    while not turns or turns[-1].left:
        turns.append(maintain(lake, None, Settings(), now, budget=timedelta(0), tell=said.append))
    assert [did.left for did in turns] == [*range(9, -1, -1)]
    assert {(did.days, did.files, did.into) for did in turns} == {(1, 2, 1)}
    assert said[:2] == [
        "1 of 10: brokers of test, 2026-03-01, 2 files into 1",
        "compacted 1 of 10 datasets of 2026-03-01 to 2026-03-02; the rest next time",
    ]
    assert said[-2] == "compacted 1 of 2 datasets of 2026-03-02; the rest next time"
    assert said[-1] == "1 of 1: commits of test, 2026-03-02, 2 files into 1"
    assert maintain(lake, None, Settings(), now) == MaintenanceReport()


def test_what_is_damaged_takes_no_turn_from_the_others(tmp_path: Path) -> None:
    """It is said each time, and is an error only once all the rest is done."""
    lake, now = two_days(tmp_path)
    (damaged,) = (tmp_path / "lake/brokers/cluster=test/day=2026-03-01").glob(f"{snapshot_id(0)}.*")
    damaged.write_bytes(b"PAR1")
    said: list[str] = []
    did = maintain(lake, None, Settings(), now, budget=timedelta(0), tell=said.append)
    assert (did.left, did.files) == (8, 2)
    assert said[1].startswith("not compacted: brokers of test, 2026-03-01: lake ")
    with pytest.raises(LakeError, match="compacted completely: brokers of test, 2026-03-01"):
        maintain(lake, None, Settings(), now)
    assert len(list(tmp_path.rglob("*.parquet"))) == 2 + 9
