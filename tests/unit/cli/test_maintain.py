"""`evenkeel admin maintain`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.snapshots import SNAPSHOT
from tests.helpers.snapshots import EVERY, FIRST, make_snapshot, paths_of, store, topic


@pytest.fixture
def now(monkeypatch):
    """96 days after the first snapshot, at three in the afternoon."""
    moment = FIRST + timedelta(days=96, hours=3)
    monkeypatch.setattr("evenkeel.engine.model.moments.utc_now", lambda: moment)
    return moment


def test_finished_days_become_few_files_and_old_ones_go(run, now, tmp_path, monkeypatch):
    """It says of the lake and the history what it did, and finds nothing to do a second time."""
    day = timedelta(days=1) // EVERY
    lake = FileLake(tmp_path / "own")
    snapshots = [
        make_snapshot(topics=[topic("t")], number=n) for n in (95 * day, 95 * day + 1, 96 * day)
    ]
    kept = store(lake, *snapshots)
    store(lake, make_snapshot(topics=[topic("t")]))
    monkeypatch.setenv("EVENKEEL_LAKE", str(tmp_path / "own"))

    said = run("admin", "maintain").stdout.splitlines()
    assert said == [
        f"lake {tmp_path}/own: 1 snapshots older than 90 days removed, 0 older than 5 days thinned out",
        # nobody is in a group there, so three datasets have no row and no file
        f"lake {tmp_path}/own: 1 days brought from 10 files into 2, 0 unused files removed",
        "history: none is configured",
    ]
    assert lake.snapshots("test", limit=9) == kept[::-1]
    again = run("admin", "maintain", "--lake", tmp_path / "own")
    assert "0 days brought from 0 files into 0" in again.stdout
    assert again.stdout.endswith("history: left as it is\n")
    for one in snapshots:
        for name in SNAPSHOT:
            assert lake.read(name, [one.snapshot_id]).equals(one.tables[name])


def test_it_may_be_told_to_do_a_little_at_a_time(run, now, tmp_path):
    """Beside the result people see what is done, and what is left when the minutes are over."""
    lake = FileLake(tmp_path / "own")
    number = 95 * (timedelta(days=1) // EVERY)
    store(lake, *(make_snapshot(topics=[topic("t")], number=n) for n in (number, number + 1)))
    result = run("admin", "maintain", "--lake", tmp_path / "own", "--minutes", 0)
    assert result.stderr.splitlines() == [
        "1 of 5: brokers of test, 2026-06-04, 2 files into 1",
        "compacted 1 of 5 datasets of 2026-06-04; the rest next time",
    ]
    assert "1 days brought from 2 files into 1" in result.stdout


def test_a_lake_that_is_damaged_is_one_line(run, now, tmp_path):
    """With what to do about it, and the exit code of the lake."""
    lake = FileLake(tmp_path / "own")
    number = 95 * (timedelta(days=1) // EVERY)
    (only,) = store(lake, make_snapshot(topics=[topic("t")], number=number))
    paths_of(lake, "brokers", only)[0].write_bytes(b"PAR1")
    result = run("admin", "maintain", "--lake", tmp_path / "own")
    assert result.exit_code == 4
    assert "brokers of test, 2026-06-04" in result.stderr
    assert "No data is lost" in result.stderr
