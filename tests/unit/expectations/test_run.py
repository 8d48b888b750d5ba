"""How expectations are run: heavy things late, quietly, and a fault of ours said as such."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import great_expectations as gx
import great_expectations.expectations as gxe
import pytest

from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import EvenkeelError, SnapshotNotFound
from evenkeel.engine.model.tables import INT64, TEXT, Table, column
from evenkeel.expectations import run as runner
from evenkeel.expectations.frames import Frame
from evenkeel.expectations.run import check, validate_candidates, validate_snapshot
from evenkeel.expectations.suite import expect
from tests.helpers.snapshots import group, make_snapshot, snapshot_id, store

pytestmark = pytest.mark.slow


def test_importing_the_runner_loads_nothing_heavy():
    """Great Expectations and pandas are loaded when something is validated, not before."""
    heavy = "{'great_expectations', 'pandas', 'pyspark'}"
    code = f"import sys, evenkeel.expectations.run; print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == run.stdout.strip()


def test_a_run_prints_nothing(capfd):
    """No progress bars, no log lines: an Airflow log is for what matters."""
    lake = Recording()
    [name] = store(lake, make_snapshot(groups=[group("unreadable", error="timeout"), group("a")]))
    validate_snapshot(lake, Settings(), name)
    assert ("", "") == tuple(capfd.readouterr())


def test_of_all_frames_only_the_newest_is_kept(monkeypatch):
    """One context sees them all, and memory does not grow with their number."""
    made, alive = [], []

    class Watched:
        def __init__(self, table):
            self.table = table

        def to_pandas(self):
            gc.collect()
            alive.append(sum(frame() is not None for frame in made))
            frame = self.table.to_pandas()
            made.append(weakref.ref(frame))
            return frame

    narrow = runner._narrow
    monkeypatch.setattr(runner, "_narrow", lambda *asked: Watched(narrow(*asked)))
    table = Table({"c": column([1], INT64)})
    there = expect(gxe.ExpectColumnValuesToNotBeNull, "It is there.", "gone", column="c")
    rows = check(
        {name: Frame(name=name, table=table) for name in "abcd"},
        {name: gx.ExpectationSuite(name, [there]) for name in "abcd"},
    )
    assert [row["success"] for row in rows] == [True] * 4
    assert alive == [0, 1, 1, 1]


def test_an_expectation_that_cannot_be_evaluated_is_our_fault():
    """It is an error with its name, not a verdict on the data."""
    table = Table({"group_id": column(["a"], TEXT)})
    missing = expect(gxe.ExpectColumnValuesToNotBeNull, "It is there.", "gone", column="nowhere")
    suite = gx.ExpectationSuite(name="x", expectations=[missing])
    with pytest.raises(
        EvenkeelError, match=r"'x: It is there\.' could not be evaluated: .*nowhere"
    ):
        check({"x": Frame(name="x", table=table)}, {"x": suite})


@pytest.mark.parametrize("validate", [validate_snapshot, validate_candidates])
def test_what_is_not_there_cannot_be_validated(validate):
    """A snapshot the lake does not hold is the lake's error."""
    with pytest.raises(SnapshotNotFound):
        validate(Recording(), Settings(), snapshot_id())
