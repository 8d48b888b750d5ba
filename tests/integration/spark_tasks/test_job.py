"""The mains: results recorded, one line on failure, nothing left behind when they are ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from evenkeel.engine import wiring
from evenkeel.spark_tasks import (
    compute_metrics,
    job,
    measure_and_propose,
    preflight,
    propose_candidates,
    session,
)
from evenkeel.spark_tasks.spark_settings import MASTER
from tests.helpers.snapshots import snapshot_id
from tests.integration.spark_tasks.lakes import (
    NEWEST,
    SETTINGS,
    assert_as_plain,
    make_lake,
    measure_newest,
)

pytestmark = pytest.mark.spark


@pytest.fixture
def ports(monkeypatch, tmp_path, spark):
    """A lake and the test run's session behind the names that the mains use."""
    found = SimpleNamespace(lake=make_lake(tmp_path / "lake"))
    monkeypatch.setattr(wiring, "settings", lambda: SETTINGS)
    monkeypatch.setattr(wiring, "lake", lambda settings: found.lake)
    monkeypatch.setattr(job, "session", lambda name, lake: contextlib.nullcontext(spark))
    before = signal.getsignal(signal.SIGTERM)
    yield found
    signal.signal(signal.SIGTERM, before)


def test_both_steps_of_a_run_have_one_session(ports, monkeypatch, capsys):
    """Metrics and candidates are those of the plain steps; asked again, there is nothing to do, and no session."""
    asked = ["--snapshot-id", NEWEST]
    assert 0 == measure_and_propose.main(asked)
    assert_as_plain(ports.lake)
    monkeypatch.setattr(job, "session", None)
    assert 0 == measure_and_propose.main(asked)
    told = capsys.readouterr().out.splitlines()
    made = [line.partition(f" of {NEWEST}")[0] for line in told]
    assert made == ["metrics and candidates", "metrics", "candidates"]
    assert all("are in the lake" in line for line in told[1:])


def test_candidates_of_some_groups_reach_the_lake(ports):
    """A pattern restricts the run to the groups it matches."""
    measure_newest(ports.lake)
    assert 0 == propose_candidates.main(["--snapshot-id", NEWEST, "--groups", "ste*"])
    candidates = ports.lake.read("candidates", [NEWEST])
    assert {"steady"} == set(candidates["group_id"].to_pylist())


def test_an_unknown_snapshot_is_one_line_and_a_code(ports, capsys):
    """What is wrong is said in one line before Spark is asked anything."""
    unknown = snapshot_id(77)
    assert 4 == compute_metrics.main(["--snapshot-id", unknown])
    lines = capsys.readouterr().err.splitlines()
    assert 1 == len(lines)
    assert unknown in lines[0]


HELD = """
import contextlib, os, signal, sys
from types import SimpleNamespace
from evenkeel.engine import wiring
from evenkeel.spark_tasks.job import run_job

class Lake:
    manifest = staticmethod(lambda step, snapshot_id: None)

wiring.settings = lambda *_: SimpleNamespace(lake="lake")
wiring.lake = lambda settings: Lake

def hold(spark, *_):
    spark.sql("create temporary view v as select 1")
    spark.range(10).repartition(3).count()
    print("ready", os.listdir("."), os.listdir(os.environ["TMPDIR"]), flush=True)
    signal.pause()

sys.exit(run_job("held", hold, ["--snapshot-id", "x"]))
"""


def test_a_killed_step_leaves_nothing_behind(tmp_path):
    """Spark's files are in one scratch folder, gone when the process group is ended, never in the cwd."""
    cwd, scratch = tmp_path / "cwd", tmp_path / "scratch"
    cwd.mkdir()
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": os.getcwd()}
    step = subprocess.Popen(
        [sys.executable, "-c", HELD],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        ready = step.stdout.readline()
        assert ready.startswith("ready [] ['evenkeel-spark-")
        os.killpg(step.pid, signal.SIGTERM)
        step.wait(300)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(step.pid, signal.SIGKILL)
        step.stdout.close()
    assert 0 != step.returncode
    assert [] == [p.name for p in scratch.iterdir() if p.name.startswith("evenkeel-spark-")]


HUNGRY = """
import contextlib, os, resource
from types import SimpleNamespace
from evenkeel.engine import wiring
from evenkeel.spark_tasks import job

class Lake:
    manifest = staticmethod(lambda step, snapshot_id: None)

wiring.settings = lambda *_: SimpleNamespace(lake="lake")
wiring.lake = lambda settings: Lake

def limited(batches):
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    yield from [bytearray(4 << 30)]

def killed(batches):
    os.kill(os.getpid(), 9)
    yield from batches

def of_python(work):
    return lambda spark, *_: spark.range(1).mapInArrow(work, "id long").toArrow()

def of_java(spark, *_):
    spark.range(1).selectExpr("length(repeat('x', 900000000 + cast(id as int)))").toArrow()

with job.session("held", "lake") as spark:
    # one for all of them
    job.session = lambda *_: contextlib.nullcontext(spark)
    for run in (of_python(limited), of_python(killed), of_java):
        print("code", job.run_job("held", run, ["--snapshot-id", "x"]), flush=True)
"""


def test_memory_that_runs_out_is_one_line_with_the_setting(tmp_path):
    """A worker under a limit, one that is killed, and Java itself, which ends: each names what to set."""
    (tmp_path / "spark-defaults.conf").write_text("spark.driver.memory 480m\n")
    done = subprocess.run(
        [sys.executable, "-c", HUNGRY],
        env={**os.environ, "PYTHONPATH": os.getcwd(), "SPARK_CONF_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    said = [lines[n - 1] for n, line in enumerate(lines) if line == "code 2"]
    assert 3 == len(said), done.stdout
    of_worker, of_killed, of_java = said
    assert of_worker.startswith("a Python worker of Spark ran out of memory (Spark's Java has 480m")
    assert of_killed.startswith("a worker of Spark was killed")
    assert "Set EVENKEEL_SPARK_MASTER=local[1]" in of_killed
    assert of_java.startswith("Spark's Java ran out of memory (")
    assert of_java.endswith("Increase spark.driver.memory in spark-defaults.conf.")
    assert 0 == done.returncode


def test_without_java_the_step_says_what_to_install(tmp_path):
    """A machine without Java gets one line that names it, at once."""
    run = subprocess.run(
        [sys.executable, "-c", HELD],
        env={"PATH": str(tmp_path), "PYTHONPATH": os.getcwd(), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 2 == run.returncode
    assert f"{preflight.JAVA}\n" == run.stderr


def test_the_environment_names_another_master(monkeypatch):
    """A real cluster gets none of the options of local mode."""
    monkeypatch.setenv(MASTER, "spark://host:7077")
    monkeypatch.setattr(session.preflight, "before", lambda where: None)
    monkeypatch.setattr(session, "_ask", lambda where, spark, lake: None)
    builder = Builder()
    monkeypatch.setattr(session, "SparkSession", SimpleNamespace(builder=builder))
    with session.session("x", "lake"):
        pass
    assert "spark://host:7077" == builder.asked["master"]
    assert {*session.COMMON} == builder.asked.keys() - {"master", "name"}


class Builder:
    """Makes a session that only knows how to stop."""

    def __init__(self) -> None:
        self.asked = {}

    def master(self, master):
        """Note it."""
        return self.config("master", master)

    def appName(self, name):  # noqa: N802
        """Note it."""
        return self.config("name", name)

    def config(self, key, value):
        """Note it."""
        self.asked[key] = value
        return self

    def getOrCreate(self):  # noqa: N802
        """The session."""
        return SimpleNamespace(stop=lambda: None)
