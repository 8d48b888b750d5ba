"""The local cluster and its workload leave nothing behind."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kafka.admin import KafkaAdminClient

from tests.helpers.kafka_session import (
    ClusterInUse,
    await_settled,
    start_workload,
)
from tests.stage.kafka.brokers import RACKS
from tests.stage.kafka.spreading import topics_anywhere
from tests.stage.process import (
    marked_processes,
    spawn,
    stop,
    sweep,
    wait_until,
)
from tests.stage.workload import topics

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.nightly, pytest.mark.kafka]

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def admin(kafka_cluster: ClusterInUse) -> Iterator[KafkaAdminClient]:
    """A reader of the session's cluster."""
    with closing(_reader(kafka_cluster.bootstrap)) as client:
        yield client


def _reader(bootstrap: str) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=bootstrap.split(","))


def _states(admin: KafkaAdminClient, prefix: str) -> dict[str, str]:
    """State by group name without the prefix."""
    found = ((group["group_id"], group["group_state"]) for group in admin.list_groups())
    return {name.removeprefix(prefix): state for name, state in found if name.startswith(prefix)}


def test_a_killed_parent_leaves_no_process(tmp_path: Path) -> None:
    """SIGKILL of the process that started the brokers ends the brokers."""
    argv = [sys.executable, "-m", "tests.stage", "brokers", str(tmp_path / "brokers")]
    log = tmp_path / "parent.log"
    parent = spawn(argv, {"PYTHONPATH": str(ROOT)}, log, "the parent", home=tmp_path)
    try:
        wait_until(lambda: "127.0.0.1" in log.read_text(), 500, "the brokers", process=parent)
        assert len(marked_processes(tmp_path)) == 1 + len(RACKS)
        os.kill(parent.pid, signal.SIGKILL)
        wait_until(lambda: not marked_processes(tmp_path), 60, "the brokers to end")
    finally:
        sweep(tmp_path)


@pytest.mark.slow
def test_workload_leaves_its_groups_and_can_be_removed(
    kafka_cluster: ClusterInUse, admin: KafkaAdminClient
) -> None:
    """After SIGTERM it ends by itself and every group is empty; removal leaves no topic and no group."""
    prefix = f"{kafka_cluster.prefix}leaving-"
    process = start_workload(kafka_cluster, prefix)
    try:
        await_settled(kafka_cluster, prefix, process)
    finally:
        stop(process, grace=120)
    assert process.popen.returncode == 0
    assert set(_states(admin, prefix).values()) == {"Empty"}
    topics.remove(admin, prefix)
    assert _states(admin, prefix) == {}
    assert not any(topic.startswith(prefix) for topic in topics_anywhere(admin))
