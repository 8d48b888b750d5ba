"""Both Spark steps in one application: a process that works on the first and waits for the second."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.integration.spark_tasks.lakes import NEWEST, make_lake
from tests.stage.process import wait_until

pytestmark = pytest.mark.spark

PROCESS = ("-m", "evenkeel.spark_tasks.shared", "--socket")
ASKED = ["--snapshot-id", NEWEST]

STARTED = "Setting Spark log level"
"""What Spark prints once when an application starts."""


@pytest.fixture
def place() -> Iterator[Path]:
    """A socket's path; it must be short."""
    with TemporaryDirectory(prefix="evenkeel-") as folder:
        yield Path(folder) / "s.sock"


def test_the_second_step_runs_in_the_application_of_the_first(tmp_path: Path, place: Path) -> None:
    """Both leave what the plain steps compute; Spark starts once, and ends with the second."""
    lake = make_lake(tmp_path / "lake")
    process = subprocess.Popen(
        [sys.executable, *PROCESS, str(place), *["--wait", "120", "compute_metrics"], *ASKED],
        env={**os.environ, "EVENKEEL_LAKE": str(tmp_path / "lake"), "PYTHONPATH": os.getcwd()},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        first = process.stdout.read().splitlines()
        assert first[-1] == "exit 0", first
        assert sum(STARTED in line for line in first) == 1
        assert lake.manifest("metrics", NEWEST)
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(str(place))
            request = {"step": "propose_candidates", "arguments": ASKED}
            asking.sendall(json.dumps(request | {"last": True}).encode() + b"\n")
            second = asking.makefile().read().splitlines()
        assert second[-1] == "exit 0", second
        assert not any(STARTED in line for line in second)
        groups = set(lake.read("candidates", [NEWEST])["group_id"].to_pylist())
        assert groups == set(lake.read("groups", [NEWEST])["group_id"].to_pylist())
        assert process.wait(300) == 0
        wait_until(lambda: not list(place.parent.iterdir()), 120, "the socket to go")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
