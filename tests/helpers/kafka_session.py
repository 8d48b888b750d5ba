"""What the fixtures hand to tests, and how a test starts a workload of its own beside them."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.stage.kafka.brokers import KafkaCluster
from tests.stage.process import Process, spawn, wait_until

# Settling takes 10 s on an idle machine; others may be busy beside it.
SETTLE_SECONDS = 300


@dataclass(frozen=True)
class ClusterInUse:
    """The cluster of this session: where it is, and what may be done to it."""

    bootstrap: str
    prefix: str
    """Begins every topic and group that is created."""
    owned: bool
    """Whether it is ours alone, so that its brokers may be looked at as known."""
    directory: Path
    """For logs and state of what runs on it; also the marker of its processes."""
    brokers: KafkaCluster | None = None
    """The running brokers, if it is ours."""


@dataclass(frozen=True)
class RunningWorkload:
    """A settled workload, as its file of --once-settled tells."""

    bootstrap: str
    prefix: str
    groups: dict[str, dict[str, Any]]
    """By full group name: purpose, kind, topics, members, owned."""
    left_out: dict[str, str]
    """Why a group cannot be had on this machine or cluster."""
    process: Process
    directory: Path
    """Its logs, the plans that its members follow, and what it is asked for."""


def start_workload(cluster: ClusterInUse, prefix: str) -> Process:
    """Start the workload's process with this prefix; it settles by and by."""
    directory = cluster.directory / f"workload-{prefix}"
    argv = [sys.executable, "-m", "tests.stage", "workload", "--prefix", prefix]
    argv += ["--bootstrap", cluster.bootstrap, "--directory", str(directory)]
    argv += ["--once-settled", str(_settled_file(cluster, prefix))]
    # Found from wherever the tests are run.
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    log = directory / "workload.log"
    return spawn(argv, {"PYTHONPATH": paths}, log, "the workload", home=cluster.directory)


def await_settled(cluster: ClusterInUse, prefix: str, process: Process) -> RunningWorkload:
    """Wait until every group of a started workload has settled."""
    path = _settled_file(cluster, prefix)
    wait_until(path.exists, SETTLE_SECONDS, "the workload to settle", process=process)
    told = json.loads(path.read_text())
    return RunningWorkload(
        told["bootstrap"], prefix, told["groups"], told["left_out"], process, path.parent
    )


def _settled_file(cluster: ClusterInUse, prefix: str) -> Path:
    return cluster.directory / f"workload-{prefix}" / "settled.json"
