"""The command line on real brokers with the workload's groups."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.cli.agent_tools import Snapshots, Tools
from tests.helpers.kafka_session import ClusterInUse, RunningWorkload
from tests.integration.cli.conftest import objects
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = pytest.mark.kafka


def named(workload: RunningWorkload, name: str) -> str:
    """A group of the workload by its plain name."""
    full = workload.prefix + name
    assert full in workload.groups
    return full


def test_advice_for_one_sick_group_now(run, workload, tmp_path):
    """Less across racks is found, confirmed by the samples, with its moves; the first of them knows no rates."""
    group = named(workload, "racks-avoidable")
    least = "least_saving_bytes_per_day = 1000, least_saving_records_per_day = 1000"
    soon = "confirm_evidence = 1.001"
    late = "lag_slo_seconds = 86400"  # members that a busy machine holds up are no reason here
    (tmp_path / "evenkeel.toml").write_text(f"[[rules]]\n{late}\npolicy = {{{least}, {soon}}}\n")
    sampled = ("--samples", "3", "--every", "5")  # enough is produced in between on a busy machine
    result = run("advise", "--bootstrap", workload.bootstrap, "--group", group, *sampled, "--json")
    [row] = objects(result)
    assert (row["verdict"], row["strategy"], row["seen"]) == ("switch", "min_traffic", 2)
    assert row["moves"]
    assert "cross-rack share" in row["reason"]
    assert "local run" in result.stderr


def test_a_snapshot_goes_into_a_lake_that_everything_reads(run, workload, tmp_path):
    """Snapshot, record and replay hand on the same groups."""
    taken = run(
        "snapshot", "take", "--bootstrap", workload.bootstrap, "--cluster", "live", "--out", "lake"
    )
    assert taken.exit_code == 0, taken.output
    snapshot_id, line = taken.stdout.splitlines()
    assert FileLake(tmp_path / "lake").snapshots("live") == [snapshot_id]
    assert line.endswith("complete")
    assert run("snapshot", "record", "--lake", "lake", "--out", "recording").exit_code == 0
    stored = objects(run("lag", "--from", "recording", "--json"))
    assert set(workload.groups) <= {row["group"] for row in stored} | {
        name for name, about in workload.groups.items() if not about["topics"]
    }
    assert {row["snapshot_id"] for row in stored} == {snapshot_id}
    assert objects(run("recording", "show", "recording", "--json"))[0]["snapshot_id"] == snapshot_id


def test_a_recording_of_a_live_cluster_knows_rates(run, workload):
    """Two samples are enough for offsets per second, and for advice without the cluster."""
    sampled = ("--samples", "2", "--every", "2")
    recorded = run(
        "snapshot", "record", "--bootstrap", workload.bootstrap, *sampled, "--out", "recording"
    )
    assert recorded.exit_code == 0, recorded.output
    group = named(workload, "slow-member")
    [row] = objects(run("advise", "--from", "recording", "--group", group, "--json"))
    assert row["production_per_second"] is not None
    assert [one["strategy"] for one in row["strategies"]][:3] == ["live", "range", "roundrobin"]


def test_an_agent_asks_again_and_one_snapshot_more_is_taken(run, workload, monkeypatch):
    """Over the same snapshots in memory: what the group receives is known by then."""
    monkeypatch.setattr("evenkeel.engine.cli.agent_tools.FRESH", 0)
    tools = Tools(Snapshots(workload.bootstrap, None, None, samples=2, every=2))
    group = named(workload, "slow-member")
    [first] = tools.list_groups(group)
    time.sleep(1)  # the names of snapshots tell whole seconds
    [then] = tools.explain_group(group)
    assert first["production_per_second"] is not None
    assert then["rates_since"] is not None
    assert then["snapshot_id"] > first["snapshot_id"]


def test_doctor_finds_the_cluster_healthy(run, kafka_cluster: ClusterInUse, workload):
    """Connection, versions, rights and racks, one OK line each."""
    rows = objects(run("doctor", "--bootstrap", kafka_cluster.bootstrap, "--json"))
    outcomes = {row["name"]: row["outcome"] for row in rows if row["cluster"]}
    names = ("kafka", "brokers", "racks", "versions", "rights", "groups", "topics")
    assert outcomes == dict.fromkeys(names, "OK")


def test_serve_knows_rates_of_a_live_cluster(workload):
    """As a process of its own, after two snapshots; SIGTERM ends it at once and well."""
    group = named(workload, "slow-member")
    options = ("--bootstrap", workload.bootstrap, "--cluster", "live", "--every", "5")
    command = Path(sys.executable).with_name("evenkeel")
    with subprocess.Popen(
        [command, "serve", *options, "--group", group, "--listen", "127.0.0.1:0"],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            url = process.stderr.readline().split()[1].rstrip(",")
            rate = f'evenkeel_group_incoming_offsets_per_second{{cluster="live",group="{group}"}}'
            wait_until(lambda: rate in urlopen(url).read().decode(), 60, "a rate", interval=0.5)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=20) == 0
