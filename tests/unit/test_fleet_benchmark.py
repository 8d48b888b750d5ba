"""The arithmetic of the fleet's benchmark, and its meter; how long a run takes is not judged."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.benchmarks.fleet import __main__ as command
from tests.benchmarks.fleet import bench, report
from tests.benchmarks.fleet.bench import METER, Checkout, Place, measured
from tests.benchmarks.fleet.results import Run, StepTaken, exponent, growth, load, save
from tests.benchmarks.fleet.steps import STEPS
from tests.helpers.fleet import Shape

ROOT = Path(__file__).resolve().parents[2]
BURN = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"


def a_run(groups, seconds, failed=None, checkout="abc"):
    """A run of two steps that take the same."""
    steps = (
        StepTaken(
            step="one", wall_seconds=seconds, processor_seconds=2 * seconds, peak_mb=100.0, rows=7
        ),
        StepTaken(
            step="two",
            wall_seconds=seconds,
            processor_seconds=2 * seconds,
            peak_mb=300.0,
            failed=failed,
        ),
    )
    return Run(
        groups=groups,
        partitions=100 * groups,
        members=8 * groups,
        giant=False,
        seed=13,
        checkout=checkout,
        steps=steps,
    )


def test_the_exponent_is_the_slope_of_logarithms():
    """Linear is 1, quadratic 2, constant 0; 2.1 times for twice the size is 1.07."""
    assert exponent([(10, 3), (20, 6), (40, 12)]) == 1
    assert exponent([(10, 1), (100, 100)]) == 2
    assert exponent([(10, 5), (100, 5)]) == 0
    assert exponent([(100, 10), (200, 21)]) == 1.07
    assert exponent([(10, 5)]) is None
    assert exponent([(10, 5), (10, 6)]) is None


def test_growth_is_told_from_run_to_run():
    """The first run has none; one that failed tells nothing, and nothing is told from it."""
    runs = [a_run(100, 5), a_run(1000, 50), a_run(2000, 1, failed="no memory"), a_run(4000, 50)]

    assert growth(runs) == [None, 1.0, None, None]
    assert growth(runs[:1]) == [None]


def test_a_run_adds_its_steps_up():
    """Seconds are sums, memory is that of the step that took most."""
    run = a_run(300, 4)

    assert (run.wall_seconds, run.processor_seconds, run.peak_mb) == (8, 16, 300)
    assert run.failed is None
    assert a_run(300, 4, failed="no memory").failed == "two: no memory"


def test_what_is_saved_can_be_loaded(tmp_path):
    """A list of objects with the sums in them and the same figures for each step."""
    runs = [a_run(300, 4), a_run(1000, 9, failed="no memory")]
    save(runs, tmp_path / "runs.json")
    told = json.loads((tmp_path / "runs.json").read_text())

    assert load(tmp_path / "runs.json") == runs
    sums = {"groups", "partitions", "wall_seconds", "processor_seconds", "peak_mb", "steps"}
    assert sums <= told[0].keys()
    assert (told[0]["processor_seconds"], told[1]["failed"]) == (16, "two: no memory")
    of_step = {"step", "wall_seconds", "processor_seconds", "peak_mb", "rows", "failed"}
    assert all(of_step == step.keys() for one in told for step in one["steps"])


def test_tables_show_every_run_and_step():
    """A failed step stands there with its reason, one that did not run without numbers."""
    stopped = Run(
        **{
            name: getattr(a_run(1000, 9), name)
            for name in ("groups", "partitions", "members", "giant", "seed", "checkout")
        },
        steps=(StepTaken(step="one", failed="not run"),),
    )

    lines = list(report.cells([a_run(300, 4), a_run(3000, 40)]))
    assert lines[0] == ["300", "30,000", "abc", "8", "16", "300", "-", "-"]
    assert lines[1][-2:] == ["1.00", "-"]
    assert list(report.step_cells([stopped])) == [["1,000", "one", "-", "-", "-", "not run"]]
    text = report.markdown(report.HEADINGS, iter(lines))
    assert [line.count("|") for line in text.splitlines()] == [9, 9, 9, 9]


def test_a_picture_is_drawn(tmp_path):
    """Also where runs failed, and beside those of other code."""
    runs = [a_run(300, 4), a_run(1000, 9), a_run(3000, 20, failed="no memory")]

    report.picture(runs, [a_run(300, 8, checkout="old")], tmp_path / "fleet.png")

    assert (tmp_path / "fleet.png").read_bytes().startswith(b"\x89PNG")


def test_the_steps_are_those_of_the_dag():
    """Same names, same order; Spark's are started as its operator starts them."""
    source = (ROOT / "dags" / "advise_assignments.py").read_text(encoding="utf-8")
    chained = re.findall(r"^ +(?:>> )?(\w+)\((\w+|\"\w+\")\)$", source, re.MULTILINE)
    names = [argument.strip('"') if name == "spark" else name for name, argument in chained]

    assert names == [step.name for step in STEPS]
    spark = next(step for step in STEPS if step.spark)
    assert spark.command(Path("python"), "x") == [
        *("python", "-m", f"evenkeel.spark_tasks.{spark.name}", "--snapshot-id", "x")
    ]


def metered(tmp_path, *words, limit=60):
    """What `meter.py` says of a command."""
    result = tmp_path / "result.json"
    done = [sys.executable, str(METER), str(result), str(limit), *words]
    subprocess.run(done, check=True, capture_output=True)
    return json.loads(result.read_text())


def test_the_meter_counts_processes_that_outlive_their_parent(tmp_path):
    """A child nobody waits for costs processor seconds all the same, and is waited for."""
    orphan = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {BURN!r}])"

    found = metered(tmp_path, sys.executable, "-c", orphan)

    assert found["processor_seconds"] >= 0.3
    assert found["wall_seconds"] >= 0.3
    assert found["exit_code"] == 0


def test_the_meter_counts_processes_whose_parent_ignores_their_end(tmp_path):
    """The kernel forgets what these took; Spark's Python workers are such."""
    deaf = "import signal, subprocess, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    burns = BURN.replace("0.3", "1.5")
    deaf += f"subprocess.Popen([sys.executable, '-c', {burns!r}]).wait()"

    found = metered(tmp_path, sys.executable, "-c", deaf)

    assert 0.7 <= found["processor_seconds"] <= 5


def test_the_meter_sees_memory_and_how_it_ended(tmp_path):
    """The most there was, the exit code and the last line."""
    eats = "import time\nx = bytearray(60_000_000)\ntime.sleep(1.5)\nprint('full')\nraise SystemExit(3)"

    found = metered(tmp_path, sys.executable, "-c", eats)

    assert found["peak_mb"] > 60
    assert (found["exit_code"], found["last_line"]) == (3, "full")


def test_the_meter_cuts_off_what_takes_too_long(tmp_path):
    """With all its processes, and says so."""
    sleeps = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"

    found = metered(tmp_path, sys.executable, "-c", sleeps, limit=0.5)

    assert (found["exit_code"], found["last_line"]) == (124, "cut off after 0.5 s")
    assert found["wall_seconds"] < 30


def test_what_the_meter_runs_ends_with_it(tmp_path):
    """A run that is given up leaves nothing behind."""
    sleeps = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    words = [sys.executable, str(METER), str(tmp_path / "result.json"), "60"]
    meter = subprocess.Popen([*words, sys.executable, "-c", sleeps], stdout=subprocess.PIPE)
    child = psutil.Process(int(meter.stdout.readline()))

    meter.terminate()

    assert meter.wait(30) == 143
    assert psutil.wait_procs([child], timeout=30)[1] == []


ROWS = bench.Step.rows


class NoServer:
    """A database server that is never asked."""

    def database(self, name):
        """An address."""
        return f"postgresql:///{name}"

    def drop_database(self, name):
        """Nothing to drop."""

    drop_role = drop_database


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """A place where every step is a program that does nothing, but for those a test names."""
    scripts: dict[str, str] = {}
    monkeypatch.setattr(bench, "_migrate", lambda where, environment: None)
    monkeypatch.setattr(
        bench.Step,
        "command",
        lambda step, python, snapshot_id: [str(python), "-c", scripts.get(step.name, "")],
    )
    monkeypatch.setattr(bench.Step, "rows", lambda step, lake, snapshot_id: 5)
    told: list[str] = []
    where = Place(
        folder=tmp_path,
        server=NoServer(),
        checkout=Checkout(folder=ROOT, python=Path(sys.executable)),
        limit=60,
        tell=told.append,
    )
    return where, scripts, told


TINY = Shape(groups=20, mean=5, largest=20, snapshots=2)


def test_a_step_that_fails_is_shown_and_ends_the_run(stand_in):
    """With the last line it printed; those after it did not run."""
    where, scripts, told = stand_in
    scripts["propose_candidates"] = "print('no memory'); raise SystemExit(7)"

    found = measured(where, TINY)

    reasons = [step.failed for step in found.steps]
    assert reasons == [None, None, "no memory", "not run", "not run", "not run"]
    assert found.failed == "propose_candidates: no memory"
    assert [step.rows for step in found.steps] == [5, 5, None, None, None, None]
    assert any("failed: no memory" in line for line in told)


def test_what_loading_airflow_costs_is_left_out(stand_in):
    """A task tells it, and it is taken off both times."""
    where, scripts, _ = stand_in
    tell = "import os, json; told = dict(wall_seconds=0.25, processor_seconds=0.2)\n"
    tell += f"json.dump(told, open(os.environ['FLEET_LOADING'], 'w'))\n{BURN}"
    scripts["advise"] = tell

    found = {step.step: step for step in measured(where, TINY).steps}

    assert 0.1 <= found["advise"].processor_seconds
    assert not (where.folder / "loading.json").exists()
    assert not (where.folder / "lake").exists()


def test_rows_are_those_of_the_newest_snapshot(stand_in, monkeypatch):
    """Its id is handed to each step, and its manifests tell the rows."""
    where, _, _ = stand_in
    monkeypatch.setattr(bench.Step, "rows", ROWS)

    run = measured(where, TINY)

    assert (run.groups, run.partitions, run.giant) == (20, 100, False)
    assert run.steps[0].rows > 2 * 100
    assert run.steps[1].rows == 0


def test_runs_that_are_there_are_shown_without_measuring(tmp_path, capsys):
    """Beside those of other code, as tables of the README."""
    save([a_run(300, 4)], tmp_path / "new.json")
    save([a_run(300, 40, checkout="old")], tmp_path / "old.json")
    files = ["--load", str(tmp_path / "new.json"), "--before", str(tmp_path / "old.json")]

    assert command.main([*files, "--markdown"]) == 0

    shown = capsys.readouterr().out
    assert "| 300 | 30,000 | old | 80 | 160 | 300 | - | - |" in shown
    assert "| 300 | 30,000 | abc | 8 | 16 | 300 | - | - |" in shown
