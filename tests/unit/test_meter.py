"""The meter of the benchmarks sees every process of a command, its memory and how it ended."""

from __future__ import annotations

import json
import subprocess
import sys

import psutil
import pytest

from tests.benchmarks.fleet.bench import METER

pytestmark = pytest.mark.nightly

BURN = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"


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
