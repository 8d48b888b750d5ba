"""
The Spark steps on a standalone cluster: a master, two workers, the packed environment, a lake on S3.

What a cluster lacks is one line before any work.
"""

from __future__ import annotations

import json
import os
import re
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from evenkeel.engine import steps
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.cli import archive
from evenkeel.engine.datasets import METRICS
from tests.helpers.s3_server import SECRET, s3_server
from tests.helpers.spark_cluster import StandaloneCluster, standalone_cluster
from tests.integration.spark_tasks.lakes import NEWEST, SETTINGS, make_lake
from tests.stage.process import checkout_home, free_ports, wait_until

pytestmark = pytest.mark.spark

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
        rules = [rule.model_dump(mode="json", exclude_unset=True) for rule in SETTINGS.rules]
        return {
            **self.s3,
            "EVENKEEL_LAKE": self.lake.path,
            "EVENKEEL_LOOKBACK": str(SETTINGS.lookback),
            "EVENKEEL_RULES": json.dumps(rules),
            "EVENKEEL_SPARK_ARCHIVE": str(self.archive),
        }

    def step(self, name: str, **more: str):
        """Run a step on the newest snapshot, to its end."""
        words = ["--snapshot-id", NEWEST]
        return self.cluster.run(f"{STEP}.{name}", *words, **self.settings | more)

    def asked(self, **more: str):
        """Run the questions that precede a step; an empty value takes a setting away."""
        given = {k: v for k, v in (self.settings | more).items() if v}
        return self.cluster.run(f"{STEP}.preflight", **given)


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


@pytest.fixture(scope="module")
def flow(site):
    """What both steps printed, one after the other, as the DAG runs them."""
    done = [site.step("compute_metrics"), site.step("propose_candidates")]
    for each in done:
        assert 0 == each.returncode, each.stdout + each.stderr
    return done


def test_the_rows_are_those_of_the_plain_form(site, flow):
    """Metrics and candidates that workers made of a lake on S3 equal those of the plain steps."""
    expected = steps.compute_metrics(site.lake, SETTINGS, NEWEST)
    expected |= steps.propose_candidates(site.lake, SETTINGS, NEWEST)
    assert {*METRICS, "candidates"} == set(expected)
    for name, table in expected.items():
        assert table.to_pylist() == site.lake.read(name, [NEWEST]).to_pylist()


def test_a_step_says_what_the_cluster_is_has_and_did(site, flow):
    """Application, environment, lake and tasks are in its output, and no credentials."""
    for each in flow:
        lines = each.stdout.splitlines()
        assert re.match(
            rf"Spark application app-\S+ on {re.escape(site.cluster.url)}, Spark 4", lines[0]
        )
        assert lines[1].startswith("2 executors on 1 hosts have Python 3.")
        assert f"lake {site.lake.path} is read and written" in lines[1]
        assert re.match(r"the cluster did \d+ tasks on 2 executors$", lines[-1])
        assert SECRET not in each.stdout + each.stderr
    assert not list(probes(site))


def probes(site):
    """What the questions left in the lake."""
    from pyarrow import fs

    files, root = fs.FileSystem.from_uri(site.lake.path)
    return [one for one in files.get_file_info(fs.FileSelector(root)) if "_probe" in one.base_name]


def test_a_killed_worker_loses_nothing(site, flow):
    """A worker that dies while its executor computes is missed by nobody: the rows are the same."""
    before = {name: site.lake.read(name, [NEWEST]).to_pylist() for name in METRICS}
    module, words = f"{STEP}.compute_metrics", ["--snapshot-id", NEWEST]
    step = site.cluster.start(module, *words, **site.settings)
    try:
        victim = wait_until(
            site.cluster.executor_at_work, 300, "an executor at work", interval=0.01
        )
        site.cluster.kill(victim)
        said, _ = step.communicate(timeout=300)
    finally:
        step.kill()
        site.cluster.start_worker()
    assert 0 == step.returncode, said
    application = re.search(r"app-\S+", said)[0]
    happened = site.cluster.events(application)
    removed = [e for e in happened if e["Event"] == "SparkListenerExecutorRemoved"]
    assert removed, said
    lost = [e for e in happened if e["Event"] == "SparkListenerTaskEnd"]
    assert "ExecutorLostFailure" in {e["Task End Reason"]["Reason"] for e in lost}
    assert before == {name: site.lake.read(name, [NEWEST]).to_pylist() for name in METRICS}
    site.cluster.await_workers(2)


def only_line(done):
    """The one line of ours that a refusal is."""
    assert done.returncode != 0, done.stdout
    return done.stderr.splitlines()[-1]


def test_workers_without_our_code_are_named(site):
    """Without an archive the workers' own Python lacks evenkeel: one line, with the way to it."""
    line = only_line(site.asked(EVENKEEL_SPARK_ARCHIVE="", PYSPARK_PYTHON="python3"))
    assert "a Spark worker" in line
    assert "No module named 'evenkeel'" in line
    assert "`evenkeel pack`" in line


def test_another_python_is_named(site, tmp_path):
    """Workers with another minor version are refused by both versions."""
    line = only_line(site.asked(EVENKEEL_SPARK_ARCHIVE=str(disguised(tmp_path, "3.99"))))
    assert "runs Python 3.99, this process 3.1" in line


def disguised(folder: Path, version: str) -> Path:
    """An archive whose interpreter takes itself for another version."""
    major, minor = version.split(".")
    inside = folder / "inside"
    (inside / "bin").mkdir(parents=True)
    (inside / "lib").mkdir()
    mask = f"import sys; sys.version_info = ({major}, {minor}, 0, 'final', 0)"
    (inside / "lib" / "sitecustomize.py").write_text(mask)
    launcher = inside / "bin" / "python"
    launcher.write_text(archive.launcher())
    launcher.chmod(0o755)
    packed = folder / "other.tar.gz"
    with tarfile.open(packed, "w:gz") as made:
        made.add(inside, ".")
    return packed


def test_workers_without_python_are_named(site):
    """An interpreter that is not there is named with what the worker's shell says."""
    line = only_line(site.asked(EVENKEEL_SPARK_ARCHIVE="", PYSPARK_PYTHON="/no/such/python"))
    assert "cannot start Python as /no/such/python" in line
    assert "not found" in line


def test_a_lake_that_workers_cannot_see_is_named(site, tmp_path, monkeypatch):
    """A path that leads elsewhere on a worker is said before any work."""
    (tmp_path / "lake").mkdir()
    monkeypatch.chdir(tmp_path)
    # each process has a folder of its own under this name
    own = "/proc/self/cwd/lake"
    done = site.asked(
        EVENKEEL_LAKE=own, PYTHONPATH=os.pathsep.join([str(checkout_home().parent / ".src")])
    )
    line = only_line(done)
    assert 4 == done.returncode
    assert f"cannot read lake {own} as this process does: No such file or directory" in line
    assert [] == list((tmp_path / "lake").iterdir())


def test_a_master_that_is_not_there_is_named_before_java_starts(site):
    """Nobody waits for a JVM to find out that there is no master."""
    (port,) = free_ports(1)
    nobody = f"spark://127.0.0.1:{port}"
    done = site.asked(EVENKEEL_SPARK_MASTER=nobody)
    assert [only_line(done)] == done.stderr.splitlines()
    assert (
        f"no Spark master answers at {nobody} (127.0.0.1:{port}: Connection refused)" in done.stderr
    )
