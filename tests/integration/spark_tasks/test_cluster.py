"""
The Spark steps on a standalone cluster: a master, two workers, the packed environment, a lake on S3.

What a cluster lacks is one line before any work.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.cli import worker_archive as archive
from tests.helpers.s3_server import SECRET, s3_server
from tests.helpers.spark_cluster import StandaloneCluster, standalone_cluster
from tests.integration.spark_tasks.lakes import (
    NEWEST,
    SETTINGS,
    assert_as_plain,
    make_lake,
    measure_newest,
    variables,
)
from tests.stage.process import free_ports, wait_until

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

STEP = "evenkeel.spark_tasks"


@dataclass(frozen=True)
class Site:
    """A cluster, the archive for its workers, and how a step of ours is told of both and of the lake."""

    cluster: StandaloneCluster
    archive: Path
    lake: FileLake
    s3: dict[str, str]

    @property
    def settings(self) -> dict[str, str]:
        """Environment variables of a step."""
        archive = {"EVENKEEL_SPARK_ARCHIVE": str(self.archive)}
        return {**self.s3, **variables(self.lake.path), **archive}

    def step(self, name: str, **more: str):
        """Run a step on the newest snapshot, to its end."""
        words = ["--snapshot-id", NEWEST]
        return self.cluster.run(f"{STEP}.{name}", *words, **self.settings | more)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Everything, started once."""
    folder = tmp_path_factory.mktemp("cluster")
    packed = folder / "environment.tar.gz"
    # groups this small compile nothing
    archive.write(packed, archive.content(without=["numba"]))
    with s3_server(folder) as s3, pytest.MonkeyPatch.context() as patch:
        bucket = s3.pop("BUCKET")
        for name, value in s3.items():
            patch.setenv(name, value)
        lake = make_lake(f"s3://{bucket}/lake")
        with standalone_cluster(folder / "spark") as cluster:
            yield Site(cluster, packed, lake, s3)


@dataclass(frozen=True)
class Flow:
    """What a run printed, and which applications the master saw."""

    lines: list[str]
    applications: set[str]


@pytest.fixture(scope="module")
def flow(site):
    """Both steps, as the DAG runs them."""
    before = site.cluster.applications()
    done = site.step("measure_and_propose")
    assert 0 == done.returncode, done.stdout + done.stderr
    assert SECRET not in done.stdout + done.stderr
    return Flow(done.stdout.splitlines(), site.cluster.applications() - before)


def test_the_rows_are_those_of_the_plain_form(site, flow):
    """Metrics and candidates that workers made of a lake on S3 equal those of the plain steps."""
    assert_as_plain(site.lake)


def test_a_run_says_what_the_cluster_is_has_and_did(site, flow):
    """One application, environment, lake, steps and tasks are in its output, a line each; and no credentials."""
    (application,) = flow.applications
    about, asked, *steps_done, did = flow.lines
    at = re.escape(site.cluster.url)
    assert re.match(rf"Spark application {application} on {at}, Spark 4", about)
    # on a busy machine one may come after the questions
    assert re.match(r"(1 executor|2 executors) on 1 host have Python 3\.", asked)
    assert f"lake {site.lake.path} is read and written" in asked
    assert [line.split(":")[0] for line in steps_done] == [
        f"metrics and candidates of {NEWEST}",
    ]
    assert re.match(r"the cluster completed \d+ tasks? on \d executors?", did)
    assert not list(probes(site))


def probes(site):
    """What the questions left in the lake."""
    from pyarrow import fs

    files, root = fs.FileSystem.from_uri(site.lake.path)
    return [one for one in files.get_file_info(fs.FileSelector(root)) if "_probe" in one.base_name]


def test_a_killed_worker_loses_nothing(site, tmp_path):
    """A worker that dies while its executor computes is missed by nobody: the rows are those of the plain form."""
    lake = make_lake(tmp_path / "lake")  # a path that all share
    measure_newest(lake)
    words, given = ["--snapshot-id", NEWEST], site.settings | {"EVENKEEL_LAKE": str(lake.path)}
    # executors of an application that has ended may take a while to go
    wait_until(lambda: not site.cluster.executor_at_work(), 120, "earlier executors to end")
    step = site.cluster.start(f"{STEP}.propose_candidates", *words, **given)
    try:
        victim = wait_until(
            site.cluster.executor_at_work, 500, "an executor at work", interval=0.01
        )
        site.cluster.kill(victim)
        said, _ = step.communicate(timeout=500)
    finally:
        step.kill()
        site.cluster.start_worker()
    assert 0 == step.returncode, said
    happened = site.cluster.events(re.search(r"app-\S+", said)[0])
    ends = [
        e["Task End Reason"]["Reason"] for e in happened if e["Event"] == "SparkListenerTaskEnd"
    ]
    assert "ExecutorLostFailure" in ends
    expected = pipeline.propose_candidates(lake, SETTINGS, NEWEST)["candidates"].to_pylist()
    assert expected == lake.read("candidates", [NEWEST]).to_pylist()
    site.cluster.await_workers(2)


ASK = """
import json, sys
from evenkeel.engine.model.errors import EvenkeelError
from evenkeel.spark_tasks.spark_settings import Place
from evenkeel.spark_tasks.preflight import ask
from evenkeel.spark_tasks.session import session

with session("evenkeel questions", sys.argv[1]) as spark:
    packed = spark.sparkContext.pythonExec
    for name, (python, lake) in json.loads(sys.argv[2]).items():
        spark.sparkContext.pythonExec = python or packed
        try:
            answer = ask(Place.named(), spark, lake)
        except EvenkeelError as problem:
            answer = type(problem).__name__ + ": " + str(problem)
        print(json.dumps([name, answer]))
"""
ELSEWHERE = "/proc/self/cwd/lake"
"""A path under which each process has a folder of its own."""


@pytest.fixture(scope="module")
def refusals(site, tmp_path_factory):
    """What is said of workers that lack something, by what they lack; asked in one application."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / "lake").mkdir()
    lake = site.lake.path
    asked = {
        "nothing": ("", lake),
        "code": ("python3", lake),
        "version": (str(disguised(folder / "python", "3.99")), lake),
        "python": ("/no/such/python", lake),
        "lake": ("", ELSEWHERE),
    }
    done = site.cluster.run_code(ASK, lake, json.dumps(asked), folder, **site.settings)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert [] == list((folder / "lake").iterdir())
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))


def disguised(place: Path, version: str) -> Path:
    """An interpreter that takes itself for another version."""
    place.mkdir()
    mask = f"import sys; sys.version_info = ({version.replace('.', ', ')}, 0, 'final', 0)"
    (place / "sitecustomize.py").write_text(mask)
    launcher = place / "python"
    launcher.write_text(f'#!/bin/sh\nPYTHONPATH={place} exec {sys.executable} "$@"\n')
    launcher.chmod(0o755)
    return launcher


OURS = f"{sys.version_info[0]}.{sys.version_info[1]}"
REFUSALS = {
    "nothing": r"(1 executor|2 executors) on 1 host have Python 3\.",
    "code": r"ConfigError: a Spark worker \(.*lacks a module: No module named 'evenkeel'\."
    " Create an archive with `evenkeel admin pack`",
    "version": f"ConfigError: .*runs Python 3.99, this process {OURS}; both need the same version",
    "python": "ConfigError: Spark's workers cannot start Python as /no/such/python: .*not found",
    "lake": rf"LakeError: a Spark worker \(.*cannot read lake {ELSEWHERE} as this process does: ",
}


@pytest.mark.parametrize("lacking", REFUSALS)
def test_what_workers_lack_is_named(refusals, lacking):
    """Code, a Python of our version, any Python, the lake: one line before any work, with the way to it."""
    assert re.match(REFUSALS[lacking], refusals[lacking])


def test_a_master_that_is_not_there_is_named_before_java_starts(site):
    """Nobody waits for a JVM to find out that there is no master: one line is all that is printed."""
    (port,) = free_ports(1)
    nobody = f"spark://127.0.0.1:{port}"
    done = site.step("compute_metrics", EVENKEEL_SPARK_MASTER=nobody)
    assert 2 == done.returncode
    assert "" == done.stdout
    (line,) = done.stderr.splitlines()
    assert f"no Spark master answers at {nobody} (127.0.0.1:{port}: Connection refused)" in line
