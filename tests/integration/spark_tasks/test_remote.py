"""
The Spark steps on a Spark Connect server: a process with a token and its own environment, a lake on S3, no Java here.

What a server lacks is one line before any work; `test_cluster` has what is said of workers.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass

import pytest
from pyspark.sql.connect.client.reattach import ExecutePlanResponseReattachableIterator

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.model.errors import ConfigError
from evenkeel.spark_tasks import preflight
from evenkeel.spark_tasks.session import session
from evenkeel.spark_tasks.spark_settings import ARCHIVE, CREDENTIALS, REMOTE
from tests.helpers.s3_server import KEY, SECRET, s3_server
from tests.helpers.spark_connect import TOKEN, ConnectServer, connect_server
from tests.integration.spark_tasks.lakes import NEWEST, assert_as_plain, make_lake, variables
from tests.stage.process import wait_until

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.timeout(1200)]


BARE = getattr(sys, "_base_executable", sys.executable)
"""The interpreter that our environment was made with; it has none of our packages."""


@dataclass(frozen=True)
class Site:
    """A server, and a lake on S3."""

    server: ConnectServer
    lake: FileLake
    s3: dict[str, str]

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run a step on the newest snapshot, to its end, where there is no Java."""
        return subprocess.run(
            [sys.executable, "-m", f"evenkeel.spark_tasks.{name}", "--snapshot-id", NEWEST],
            env={
                **self.s3,
                **variables(self.lake.path),
                "PATH": "/no/programs",
                REMOTE: self.server.url,
            },
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Everything, started once; the server has credentials for S3 and learns from a step where that is."""
    folder = tmp_path_factory.mktemp("connect")
    with s3_server(folder) as s3, pytest.MonkeyPatch.context() as patch:
        bucket = s3.pop("BUCKET")
        known = {name: s3[name] for name in CREDENTIALS if name in s3}
        with connect_server(folder / "spark", known) as server:
            for name, value in s3.items():
                patch.setenv(name, value)
            yield Site(server, make_lake(f"s3://{bucket}/lake"), s3)


@pytest.fixture(scope="module")
def flow(site):
    """What both steps printed, as the DAG runs them."""
    done = site.step("measure_and_propose")
    assert 0 == done.returncode, done.stdout + done.stderr
    return done


def test_the_rows_are_those_of_the_plain_form(site, flow):
    """Metrics and candidates that the server's workers made of a lake on S3 equal those of the plain steps."""
    assert_as_plain(site.lake)


def test_a_run_says_which_server_and_session_it_used(site, flow):
    """One session for both steps, what the server's workers have, and how long the steps took."""
    about, workers, *steps_done = flow.stdout.splitlines()
    assert re.fullmatch(
        rf"Spark Connect server {site.server.address}, session [0-9a-f-]{{36}}, Spark 4\S+", about
    )
    assert re.match(r"2 tasks on 1 host have Python 3\.", workers)
    assert f"lake {site.lake.path} is read and written" in workers
    assert [line.split(":")[0] for line in steps_done] == [
        f"metrics and candidates of {NEWEST}",
    ]
    assert "" == flow.stderr


def test_nobody_hears_a_secret(site, flow, ask, monkeypatch):
    """Neither the token nor what opens the lake is in what a step or the server says, even of a query it was sent."""
    # a server that has not heard that a query is over writes all of it when the session ends
    monkeypatch.setattr(ExecutePlanResponseReattachableIterator, "_release_all", lambda query: None)
    before = len(site.server.log)
    with pytest.raises(ConfigError):
        ask("exit 1 #")
    wait_until(
        lambda: "AWS_ENDPOINT_URL" in site.server.log[before:],
        120,
        "the server to write what travels with a task",
        interval=0.2,
    )
    heard = flow.stdout + flow.stderr + site.server.log
    for secret in (TOKEN, KEY, SECRET):
        assert secret not in heard


@pytest.fixture
def ask(site, monkeypatch, tmp_path):
    """Make a session here, with a token and an archive whose `bin/python` is this program."""
    monkeypatch.setenv("EVENKEEL_SPARK_PATIENCE", "600")

    def opened(program=None, *, token=TOKEN, lake=None):
        monkeypatch.setenv(REMOTE, f"{site.server.address}/;token={token}")
        if program is not None:
            monkeypatch.setenv(ARCHIVE, str(packed(tmp_path / "small.tar.gz", program)))
        with session("evenkeel questions", lake or str(tmp_path / "lake")) as spark:
            return spark.range(3).count()

    return opened


def packed(place, program):
    """An archive as small as can be."""
    launcher = f'#!/bin/sh\n{program} "$@"\n'.encode()
    about = tarfile.TarInfo("bin/python")
    about.size, about.mode = len(launcher), 0o755
    with tarfile.open(place, "w:gz") as archive:
        archive.addfile(about, io.BytesIO(launcher))
    return place


def test_an_archive_is_sent_to_the_workers(ask, tmp_path):
    """Workers run the interpreter of the archive, not the server's own."""
    trace = tmp_path / "trace"
    assert 3 == ask(f"echo here >> {trace}; exec {sys.executable}")
    assert trace.read_text()


def test_workers_without_our_code_are_named(ask):
    """A worker's Python lacks what a step needs: one line, with both ways to it."""
    with pytest.raises(ConfigError) as refused:
        ask(f"exec {BARE}")
    line = str(refused.value)
    assert "lacks a module: No module named '" in line
    assert "or set EVENKEEL_SPARK_ARCHIVE to the path of the archive" in line
    assert "\n" not in line


def test_what_an_archive_says_that_finds_no_python_is_said(ask):
    """The archive's program may run, and find no Python of our version on the server's machines."""
    with pytest.raises(ConfigError, match=r"/environment/bin/python: there is no Python here\. St"):
        ask("echo there is no Python here >&2; exit 127 #")


def test_another_version_of_spark_is_named(ask, monkeypatch):
    """What the server says of itself is compared with the client's version."""
    monkeypatch.setattr(preflight.pyspark, "__version__", "5.1.2")
    with pytest.raises(ConfigError, match=r"runs Spark 4\.\S+, this process 5\.1\.2; both need"):
        ask()


def test_a_wrong_token_is_refused_without_saying_it(ask, site):
    """The line has the server's address and its word, not the token."""
    with pytest.raises(ConfigError, match=f"{site.server.address} refuses: Invalid") as refused:
        ask(token="evenkeel-test-other")
    assert "evenkeel-test-other" not in repr(refused.value) + str(refused.value)
