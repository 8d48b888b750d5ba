"""Where Java has no compiler, the classic Streams group is there all the same, from its recording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.snapshots import groups_of
from tests.helpers.kafka_session import SETTLE_SECONDS, ClusterInUse
from tests.helpers.kafka_stage import taken
from tests.stage.kafka.spreading import topics_anywhere
from tests.stage.process import wait_until
from tests.stage.workload import topics
from tests.stage.workload.run import Workload
from tests.stage.workload.settling import states
from tests.stage.workload.streams_app import NO_COMPILER

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.slow]

NAME = "streams-classic"


@pytest.fixture
def workload(kafka_cluster: ClusterInUse, tmp_path: Path) -> Iterator[Workload]:
    """A settled workload as on a machine without a compiler, removed at the end."""
    prefix = f"{kafka_cluster.prefix}played-"
    with Workload(kafka_cluster.bootstrap, prefix, tmp_path, compiler=False) as workload:
        wait_until(lambda: _settled(workload), SETTLE_SECONDS, "the workload to settle")
        yield workload
    with closing(KafkaAdminClient(bootstrap_servers=kafka_cluster.bootstrap.split(","))) as admin:
        name = prefix + NAME
        # a member that is late goes on leaving after the workload has ended
        wait_until(lambda: states(admin)[name] == "Empty", 120, f"{name} to be empty", interval=0.2)
        topics.remove(admin, prefix)
        assert not any(topic.startswith(prefix) for topic in topics_anywhere(admin))


def _settled(workload: Workload) -> bool:
    """Whether every group is in its state, at one look after each was."""
    with suppress(KafkaError):
        return not workload.unsettled() and workload.as_intended()
    return False


def _group(snapshot: ClusterSnapshot, name: str) -> GroupSnapshot:
    groups = groups_of(snapshot.tables, snapshot.started_at)
    return next(group for group in groups if group.group == name)


def test_a_recorded_application_stands_in_where_none_can_be_run(workload: Workload) -> None:
    """It reads as a real one: stable, 4 members in 2 processes and racks, all tasks once, a lag."""
    assert workload.left_out == {"streams-kip1071": NO_COMPILER}
    snapshot = taken(workload.bootstrap, f"{workload.prefix}*")
    group = _group(snapshot, workload.prefix + NAME)
    assert (group.state, group.type, group.assignor) == ("Stable", "classic", "stream")
    assert (group.error, snapshot.problems) == (None, ())
    members = [
        member
        for member in snapshot.tables["members"].to_pylist()
        if member["group_id"] == workload.prefix + NAME
    ]
    assert len(members) == 4
    assert {(m["rack"], m["client_tags"]) for m in members} == {
        ("rack-a", '{"zone": "rack-a"}'),
        ("rack-b", '{"zone": "rack-b"}'),
    }
    assert len({(m["process_id"], m["rack"]) for m in members}) == 2
    active = [task for member in members for task in member["active_tasks"]]
    assert sorted(active) == [f"{s}_{p}" for s in (0, 1) for p in range(6)]
    assert all(member["standby_tasks"] for member in members)
    assert -1 not in group.partitions.owner.tolist()
    commits = _group(snapshot, workload.prefix + NAME).partitions.committed.tolist()
    assert len(commits) == 12
    wait_until(lambda: _lags(workload), 120, "a commit behind the end of every partition read")


def _lags(workload: Workload) -> bool:
    rows = _group(
        taken(workload.bootstrap, f"{workload.prefix}*"), workload.prefix + NAME
    ).partitions
    pairs = zip(rows.committed.tolist(), rows.end.tolist(), strict=True)
    gaps = [None if committed is None else end - committed for committed, end in pairs]
    return None not in gaps and min(gaps) >= 0 and sum(gaps) > 0
