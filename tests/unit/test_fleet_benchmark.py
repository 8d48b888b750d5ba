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
from tests.benchmarks.fleet.bench import METER, Checkout, Place, measured, of_step
from tests.benchmarks.fleet.results import Run, StepTaken, exponent, growth, load, save
from tests.benchmarks.fleet.steps import STEPS, Step
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
    """Same names, same order."""
    source = (ROOT / "dags" / "advise_assignments.py").read_text(encoding="utf-8")
    chain = source[source.index("    validated >> meas") : source.index(" >> alerted")]
    names = re.findall(r"valid\w+|measured|advise", chain)

    short = {"validate_snapshot": "validated", "measure_and_propose": "measured"}
    assert [*names, "alert"] == [short.get(step.name, step.name) for step in STEPS]


def metered(tmp_path, *words, limit=60):
    """What `meter.py` says of a command."""
    result = tmp_path / "result.json"
    command = [sys.executable, str(METER), str(result), str(limit), *words]
    subprocess.run(command, check=True, capture_output=True)
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
    """A place where every step does nothing, but for those a test gives a script."""
    scripts: dict[str, str] = {}
    task = tmp_path / "task.py"
    task.write_text(
        "import json, os, sys, time\n"
        f"exec(json.load(open({str(tmp_path / 'scripts.json')!r})).get(sys.argv[2], ''))\n"
    )
    monkeypatch.setattr(bench, "TASK", task)
    monkeypatch.setattr(bench, "_before", lambda where, what, snapshot_id, environment: None)
    told: list[str] = []
    where = Place(
        folder=tmp_path,
        server=NoServer(),
        checkout=Checkout(folder=ROOT, python=Path(sys.executable)),
        limit=60,
        tell=told.append,
    )

    def run():
        (tmp_path / "scripts.json").write_text(json.dumps(scripts))
        return measured(where, TINY)

    return run, scripts, told


TINY = Shape(groups=20, mean=5, largest=20, snapshots=2)


def test_a_step_that_fails_is_shown_and_ends_the_run(stand_in):
    """With the last line it printed; those after it did not run."""
    run, scripts, told = stand_in
    scripts["measure_and_propose"] = "print('no memory'); raise SystemExit(7)"

    found = run()

    reasons = [step.failed for step in found.steps]
    assert reasons == [None, "no memory", "not run", "not run", "not run"]
    assert found.failed == "measure_and_propose: no memory"
    assert [step.wall_seconds is None for step in found.steps] == [False] * 2 + [True] * 3
    assert any("failed: no memory" in line for line in told)


def test_a_step_that_says_nothing_has_its_code(stand_in):
    """Where it printed no line to be shown."""
    run, scripts, _ = stand_in
    scripts["advise"] = "raise SystemExit(7)"

    assert [step.failed for step in run().steps][-2:] == ["it ended with code 7", "not run"]


def test_what_loading_airflow_costs_is_left_out():
    """It is taken off, both times."""
    found = {"exit_code": 0, "last_line": "", "wall_seconds": 10.0, "processor_seconds": 20.0}
    loading = {"wall_seconds": 1, "processor_seconds": 2}

    taken = of_step(Step(name="one"), found | {"peak_mb": 5.0}, loading, lambda step: 5)

    assert (taken.wall_seconds, taken.processor_seconds, taken.peak_mb) == (9, 18, 5)
    assert (taken.rows, taken.failed) == (5, None)


def test_a_step_sees_nothing_of_the_users_own(stand_in, monkeypatch):
    """Neither their configuration nor their path, which could lead to other code than is measured."""
    run, scripts, _ = stand_in
    for name in ("EVENKEEL_LOOKBACK", "PYTHONPATH", "AIRFLOW__CORE__FERNET_KEY"):
        monkeypatch.setenv(name, "1")
    scripts["advise"] = (
        "for name in ('EVENKEEL_LOOKBACK', 'PYTHONPATH', 'AIRFLOW__CORE__FERNET_KEY'):\n"
        "    assert name not in os.environ, name"
    )

    assert run().failed is None


def test_rows_are_those_of_the_newest_snapshot(stand_in):
    """By the manifests in the lake, which is gone afterwards."""
    run, _, _ = stand_in

    found = run()

    assert (found.groups, found.partitions, found.giant) == (20, 100, False)
    assert found.steps[0].rows > 2 * 100
    assert found.steps[1].rows == 0


def test_runs_that_are_there_are_shown_without_measuring(tmp_path, capsys):
    """Beside those of other code, as tables of the README."""
    save([a_run(300, 4)], tmp_path / "new.json")
    save([a_run(300, 40, checkout="old")], tmp_path / "old.json")
    files = ["--load", str(tmp_path / "new.json"), "--before", str(tmp_path / "old.json")]

    assert command.main([*files, "--markdown"]) == 0

    shown = capsys.readouterr().out
    assert "| 300 | 30,000 | old | 80 | 160 | 300 | - | - |" in shown
    assert "| 300 | 30,000 | abc | 8 | 16 | 300 | - | - |" in shown
