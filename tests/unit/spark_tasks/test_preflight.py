"""What must hold before a session is made, and what is said of what workers answered: one line, with the fix."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import pytest

from evenkeel.engine.model.environment import Environment, this_environment
from evenkeel.engine.model.errors import ConfigError, LakeError
from evenkeel.spark_tasks import probe
from evenkeel.spark_tasks.preflight import before, check_archive, check_master, verdict
from evenkeel.spark_tasks.spark_settings import ARCHIVE, MASTER, REMOTE, Place
from evenkeel.spark_tasks.workers import WorkerAnswer

HERE = Environment("3.11", "1.2.3", "aaaa")
GOOD = WorkerAnswer(
    {"host": "w1", "python": "3.11", "version": "1.2.3", "source": "aaaa", "lake": {"wrote": "f1"}},
    "",
)


def said(*answers, arrived=("f1",)):
    """The verdict on these answers."""
    return verdict(answers, arrived, "s3://b/lake", HERE, "./environment/bin/python")


def but(**told):
    """A good answer, but for this."""
    return replace(GOOD, report=GOOD.report | told)


def test_workers_with_everything_are_fine():
    """There is nothing to say."""
    assert said(GOOD, GOOD) is None


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (WorkerAnswer({}, "sh: 1: ./environment/bin/python: not found"), "cannot start Python as"),
        (but(python="3.12"), "runs Python 3.12, this process 3.11"),
        (but(missing="No module named 'numpy'"), "lacks a module: No module named 'numpy'"),
        (but(source="bbbb"), "runs evenkeel 1.2.3 (bbbb), this process 1.2.3 (aaaa)"),
    ],
)
def test_what_one_worker_lacks_is_said_before_what_follows_from_it(answer, words):
    """Interpreter and code come before the lake, which cannot be tried without them; one line each."""
    problem = said(GOOD, but(lake={"read_problem": "denied"}), answer)
    assert isinstance(problem, ConfigError)
    assert words in str(problem)
    assert "evenkeel admin pack" in str(problem) or "pack again" in str(problem)
    assert "\n" not in str(problem)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (but(lake={"read_problem": "denied"}), "(w1) cannot read lake s3://b/lake"),
        (but(lake={"write_problem": "denied"}), "(w1) cannot write lake s3://b/lake: denied"),
        (
            but(lake={"wrote": "f2"}),
            "files that a Spark worker (w1) writes to lake s3://b/lake are not",
        ),
    ],
)
def test_a_lake_that_one_worker_cannot_use_is_named(answer, words):
    """Reading, writing, and writing where nobody reads are three things."""
    problem = said(GOOD, answer)
    assert isinstance(problem, LakeError)
    assert words in str(problem)


def asked(lake, token="t", python=None):
    """What the probe prints in a process of its own."""
    words = json.dumps(
        {"python": python or this_environment().python, "lake": lake, "token": token}
    )
    command = [sys.executable, "-c", probe.PROBE, words]
    (line,) = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    assert line.startswith(probe.MARK)
    return json.loads(line[len(probe.MARK) :])


@pytest.mark.slow
def test_the_probe_answers_for_its_process(tmp_path):
    """It tells version and source, finds what was left in the lake, and what it writes is collected."""
    lake = str(tmp_path / "lake")
    probe.leave(lake, "t")
    told = asked(lake)
    here = this_environment()
    assert (here.version, here.source) == (told["version"], told["source"])
    assert told["lake"]["wrote"] in probe.collect(lake, "t")
    assert [] == list((tmp_path / "lake").iterdir())


@pytest.mark.slow
def test_the_probe_says_what_is_wrong_with_the_lake(tmp_path):
    """A folder without the driver's file is another lake."""
    assert "No such file" in asked(str(tmp_path))["lake"]["read_problem"]


def test_under_another_python_the_probe_only_tells_which(tmp_path):
    """Nothing of ours is imported where it could not even be read."""
    assert {"host", "folder", "python"} == asked(str(tmp_path), python="2.7").keys()


@pytest.fixture
def listening():
    """A port of this machine where somebody answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


@pytest.fixture
def silent():
    """A port of this machine where nobody does."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return server.getsockname()[1]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["spark://{}", "k8s://https://{}", "k8s://{}/path"])
def test_a_master_that_listens_is_there(listening, form):
    """Spark's and Kubernetes's forms of an address are understood."""
    check_master(form.format(f"127.0.0.1:{listening}"))


@pytest.mark.slow
def test_one_of_several_masters_suffices(listening, silent):
    """Masters that wait for the first to fail are listed with commas."""
    check_master(f"spark://127.0.0.1:{silent},127.0.0.1:{listening}")


@pytest.mark.slow
def test_a_silent_master_is_named_with_the_reason(silent):
    """The error holds the address, what the system said, and the variable."""
    with pytest.raises(ConfigError, match=rf"{silent}: Connection refused.*EVENKEEL_SPARK_MASTER"):
        check_master(f"spark://127.0.0.1:{silent}")


@pytest.mark.parametrize("master", ["host:7077", "mesos://host:5050", ""])
def test_what_is_no_master_is_refused_with_the_forms(master):
    """A value that Spark would only fail on later is refused at once."""
    with pytest.raises(ConfigError, match=r"not a Spark master.*spark://host:7077, yarn"):
        check_master(master)


def test_yarn_needs_its_configuration(monkeypatch):
    """Where YARN is, only its configuration tells."""
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="HADOOP_CONF_DIR"):
        check_master("yarn")
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/hadoop")
    check_master("yarn")


def test_an_archive_that_is_not_there_is_refused():
    """The error says how to make one."""
    with pytest.raises(ConfigError, match="evenkeel admin pack"):
        check_archive(Place.named({ARCHIVE: "/no/such.tar.gz"}))


def test_a_server_is_sent_a_file():
    """Where a cluster would fetch a URI by itself."""
    uri = {ARCHIVE: "hdfs://n/e.tar.gz"}
    check_archive(Place.named(uri | {MASTER: "yarn"}))
    with pytest.raises(ConfigError, match="Set it to a file"):
        check_archive(Place.named(uri | {REMOTE: "sc://host"}))


@pytest.mark.slow
def test_a_silent_server_is_named_at_once(silent):
    """The line has its address, what the system said and the variable, and no token."""
    server = Place.named({REMOTE: f"sc://127.0.0.1:{silent}/;token=hush"})
    said = rf"at sc://127.0.0.1:{silent} \(Connection ref.*{REMOTE}"
    with pytest.raises(ConfigError, match=said) as refused:
        before(server)
    assert "hush" not in str(refused.value)
