"""The command line on real brokers with the workload's groups."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import pytest
from kafka.admin import KafkaAdminClient

from evenkeel.engine.adapters.lake import FileLake
from tests.helpers.kafka_session import ClusterInUse, RunningWorkload
from tests.integration.cli.conftest import objects

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = pytest.mark.kafka

KEYS = ("group", "topic", "partition", "begin", "end", "committed", "lag", "member")


def named(workload: RunningWorkload, name: str) -> str:
    """A group of the workload by its plain name."""
    full = workload.prefix + name
    assert full in workload.groups
    return full


def test_lag_shows_every_group_with_the_owners_it_settled_on(run, workload):
    """Each group's partitions are there once, dealt out as its members hold them."""
    rows = objects(run("lag", "--bootstrap", workload.bootstrap, "--json"))
    assert all(set(KEYS) <= row.keys() for row in rows)
    keys = [(row["group"], row["topic"], row["partition"]) for row in rows]
    assert keys == sorted(set(keys))
    for name, about in workload.groups.items():
        if about["owned"]:
            own = [row["member"] for row in rows if row["group"] == name and row["member"]]
            counts = sorted(Counter(own).values(), reverse=True)
            assert counts == [n for n in about["owned"] if n], name


def test_lag_of_a_group_at_rest_is_what_the_brokers_say(run, workload):
    """Commits of a group without members do not move: they agree exactly, and the lag follows."""
    group = named(workload, "empty-with-commits")
    with closing(KafkaAdminClient(bootstrap_servers=workload.bootstrap.split(","))) as admin:
        commits = admin.list_group_offsets({group: None})[group]
    rows = objects(run("lag", "--bootstrap", workload.bootstrap, "--group", group, "--json"))
    told = {(row["topic"], row["partition"]): row["committed"] for row in rows}
    assert told == {(key.topic, key.partition): value.offset for key, value in commits.items()}
    assert all(row["lag"] == row["end"] - row["committed"] for row in rows)
    assert {row["member"] for row in rows} == {None}


def test_lag_of_a_group_that_never_committed_is_unknown(run, workload):
    """Null with the reason, and a question mark with a legend for people."""
    group = named(workload, "never-committed")
    rows = objects(run("lag", "--bootstrap", workload.bootstrap, "--group", group, "--json"))
    assert {(row["committed"], row["lag"]) for row in rows} == {(None, None)}
    assert all(row["member"] for row in rows)
    text = run("lag", "--bootstrap", workload.bootstrap, "--group", group).stdout
    assert text.splitlines()[-1] == "? unknown   - none"


def test_advice_for_one_sick_group_now(run, workload, tmp_path):
    """Less across racks is found, confirmed by the samples, with its moves; the first of them knows no rates."""
    group = named(workload, "racks-avoidable")
    least = "least_saving_bytes_per_day = 1000, least_saving_records_per_day = 1000"
    soon = "confirm_wins = 2, confirm_seconds = 1"
    late = "objective_seconds = 86400"  # members that a busy machine holds up are no reason here
    (tmp_path / "evenkeel.toml").write_text(f"[[rules]]\n{late}\npolicy = {{{least}, {soon}}}\n")
    sampled = ("--samples", "3", "--every", "5")  # enough is produced in between on a busy machine
    result = run("advise", "--bootstrap", workload.bootstrap, "--group", group, *sampled, "--json")
    [row] = objects(result)
    assert (row["verdict"], row["strategy"], row["seen"]) == ("switch", "min_traffic", 2)
    assert row["moves"]
    assert "cross-rack share" in row["reason"]
    assert "plain form" in result.stderr


def test_advice_is_not_given_while_a_group_rebalances(run, workload):
    """The row is there, with why it is not judged."""
    group = named(workload, "keeps-rebalancing")
    alone = ("--samples", "1", "--json")
    [row] = objects(run("advise", "--bootstrap", workload.bootstrap, "--group", group, *alone))
    assert row["verdict"] == "not judged"
    assert row["reason"].startswith("rebalancing")


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
    assert (
        objects(run("snapshot", "replay", "recording", "--json"))[0]["snapshot_id"] == snapshot_id
    )


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


def test_doctor_finds_the_cluster_healthy(run, kafka_cluster: ClusterInUse, workload):
    """Connection, versions, rights and racks, one OK line each."""
    rows = objects(run("doctor", "--bootstrap", kafka_cluster.bootstrap, "--json"))
    outcomes = {row["name"]: row["outcome"] for row in rows if row["cluster"]}
    names = ("kafka", "brokers", "racks", "versions", "rights", "groups", "topics")
    assert outcomes == dict.fromkeys(names, "OK")


def test_a_group_that_lost_rack_awareness_is_told_so(run, workload):
    """All its members tell racks, and the broker that assigns (KIP-848) looks at none."""
    group = named(workload, "racks-ignored")
    alone = ("--samples", "1", "--json")
    [row] = objects(run("advise", "--bootstrap", workload.bootstrap, "--group", group, *alone))
    (live,) = (one for one in row["strategies"] if one["strategy"] == "live")
    assert "lost_rack_awareness" in {fact["measure"] for fact in live["facts"]}, live["facts"]
