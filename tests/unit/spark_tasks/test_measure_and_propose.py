"""What Spark is asked to do in a run: what the lake lacks, and no more."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace

import pytest

from evenkeel.engine import pipeline, wiring
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import SnapshotNotFound
from evenkeel.engine.pipeline.compute_steps import BOTH, CANDIDATES, METRICS
from evenkeel.spark_tasks import job as mains
from evenkeel.spark_tasks import measure_and_propose as job
from tests.helpers.snapshots import group, make_snapshot, snapshot_id, store, topic

SETTINGS = Settings()
SNAPSHOTS = [
    make_snapshot(topics=[topic("t")], groups=[group("g", members=1, topics=["t"])], number=number)
    for number in range(3)
]


@cache
def computed(rows, one):
    """What a step makes of a snapshot, worked out once: whoever asks has the same snapshots."""
    lake = Recording()
    store(lake, *SNAPSHOTS)
    if rows == "metrics":
        return pipeline.compute_metrics(lake, SETTINGS, one)
    lake.write("metrics", one, computed("metrics", one), {})
    return pipeline.propose_candidates(lake, SETTINGS, one)


@pytest.fixture
def did(monkeypatch, tmp_path):
    """What was done, in order: the session, and of each pass the snapshot and the pattern."""
    lake, told = FileLake(tmp_path / "lake"), []
    store(lake, *SNAPSHOTS)
    monkeypatch.setattr(wiring, "lake", lambda settings: lake)

    @contextmanager
    def opened(*_):
        told.append("session")
        yield

    def making(what):
        def run(spark, lake, settings, one, pattern):
            told.append((what, one, pattern))
            for rows in what:
                lake.write(rows, one, computed(rows, one), pipeline.made_by(settings, pattern))

        return run

    monkeypatch.setattr(job, "opened", opened)
    monkeypatch.setattr(job, "RUNS", {what: making(what) for what in job.RUNS})
    return SimpleNamespace(told=told, lake=lake)


def of(number, what=BOTH, pattern="*"):
    """A pass over a snapshot."""
    return (what, snapshot_id(number), pattern)


def test_both_steps_in_one_pass_then_those_that_were_overtaken(did):
    """In one session; a superseded snapshot gets its metrics alone."""
    job.measure_and_propose(SETTINGS, snapshot_id(2), also=[snapshot_id(1), snapshot_id(0)])
    assert did.told == ["session", of(2), of(1, METRICS), of(0, METRICS)]


def test_what_is_in_the_lake_is_not_made_again(did):
    """Of metrics that are there only candidates are made; then there is nothing left to do."""
    job.measure_and_propose(SETTINGS, snapshot_id(1), also=[snapshot_id(2)])
    did.told.clear()
    for _ in range(2):
        job.measure_and_propose(SETTINGS, snapshot_id(2), also=[snapshot_id(2)])
    assert did.told == ["session", of(2, CANDIDATES)]


def test_other_rules_other_code_and_other_groups_are_no_reason_to_skip(did, monkeypatch):
    """What was made by the configuration of before, by older code or of some groups is made again, candidates too."""
    job.measure_and_propose(SETTINGS, snapshot_id(2))
    job.measure_and_propose(Settings(lookback=3), snapshot_id(2))
    job.measure_and_propose(Settings(lookback=3), snapshot_id(2), "g*")
    job.measure_and_propose(Settings(lookback=3), snapshot_id(2))
    made_by = pipeline.made_by(SETTINGS) | {"source": "of before"}
    did.lake.write("metrics", snapshot_id(2), computed("metrics", snapshot_id(2)), made_by)
    job.measure_and_propose(SETTINGS, snapshot_id(2))
    made = (of(2), of(2), of(2, pattern="g*"), of(2), of(2))
    assert did.told == [word for each in made for word in ("session", each)]


def test_metrics_that_are_made_anew_have_candidates_made_of_them(did):
    """Whoever measures some groups alone leaves candidates of before; the next run makes both."""
    job.measure_and_propose(SETTINGS, snapshot_id(2))
    job.RUNS[METRICS](None, did.lake, SETTINGS, snapshot_id(2), "g*")
    did.told.clear()
    job.measure_and_propose(SETTINGS, snapshot_id(2))
    assert did.told == ["session", of(2)]


def test_an_unknown_snapshot_is_said_before_spark_starts(did):
    """No seconds are spent on a session."""
    with pytest.raises(SnapshotNotFound):
        job.measure_and_propose(SETTINGS, snapshot_id(77))
    assert did.told == []


def test_an_overtaken_snapshot_that_fails_holds_nobody_up(did, capsys):
    """It is told in a line, and the next is measured."""
    job.measure_and_propose(SETTINGS, snapshot_id(2), also=[snapshot_id(9), snapshot_id(0)])
    assert did.told[-1] == of(0, METRICS)
    assert f"superseded snapshot {snapshot_id(9)}: " in capsys.readouterr().out


def test_what_nobody_expected_shows_names_as_text(monkeypatch, capsys):
    """A traceback and a line about a failure hold no escape, and no line of a name."""

    def fails(*_):
        raise RuntimeError("group a\x1b[31m\nFATAL b")

    monkeypatch.setattr(mains.signal, "signal", lambda *_: None)
    assert mains.ended(fails) == 1
    assert capsys.readouterr().err.endswith("RuntimeError: group a\\x1b[31m\n  | FATAL b\n")
    job._tell("group a\x1b[31m\nFATAL b")
    assert capsys.readouterr().out == "group a\\x1b[31m\\nFATAL b\n"
