"""A share group that falls behind, on real brokers: in `lag`, the report and Slack, and beside Kafka's own tool."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.cli.sources import SHORTEST, open_source
from evenkeel.engine.cli.top_state import TopState
from evenkeel.engine.cli.top_watch import Watch, see
from evenkeel.engine.config import load
from tests.helpers.group_tool import SHARE_COMMAND, described
from tests.helpers.kafka_session import ClusterInUse
from tests.helpers.kafka_stage import Stage, taken
from tests.helpers.top_screens import drawn
from tests.helpers.watching import UntilNow, slack_at
from tests.integration.cli.conftest import objects
from tests.stage.process import wait_until
from tests.stage.slack import SlackServer
from tests.stage.slack_workspace import as_seen, read_store
from tests.stage.workload.groups import GroupPlan
from tests.stage.workload.sharing import ShareMember, begin_at_the_first

pytest_plugins = ("tests.helpers.kafka_fixtures", "tests.helpers.slack_fixtures")
pytestmark = pytest.mark.kafka

MEMBERS, SNAPSHOTS = 2, 4
APART = 1.1
"""Seconds between snapshots: ids of the same second do not sort by time."""

CONFIG = """
[clusters.live]
bootstrap = "{bootstrap}"
groups = {{allow = ["{prefix}*"]}}
topics = {{allow = ["{prefix}*"]}}

[[rules]]
commit_interval_seconds = 1
lag_slo_seconds = 1
channel = "kafka"
incidents = {{behind_seconds = 0, capacity_seconds = 0}}
"""


@dataclass(frozen=True)
class Behind:
    """A share group with a backlog."""

    stage: Stage
    group: str
    topic: str
    members: list[ShareMember]


@pytest.fixture
def behind(kafka_cluster: ClusterInUse) -> Iterator[Behind]:
    """Two members that do one record a second each, with fifty in each of three partitions."""
    prefix = f"{kafka_cluster.prefix}backlog-"
    plan = GroupPlan("queue", "a backlog", "share", ("jobs",), MEMBERS, speed=1)
    with Stage.on(kafka_cluster.bootstrap, prefix) as stage:
        begin_at_the_first(stage.admin, prefix + plan.name)
        topic = stage.topic("jobs", [5, 5, 5])
        for _ in range(9):  # in writes of their own: a member gets a write as a whole
            stage.produce(topic, [5, 5, 5])
        members = [
            ShareMember(kafka_cluster.bootstrap, prefix, plan, n + 1) for n in range(MEMBERS)
        ]

        def acknowledged() -> bool:
            commits = taken(stage.bootstrap, prefix + "*").tables["commits"]
            return bool(commits["committed_offset"].known.any())

        # a member's first acknowledgement goes with its next poll
        wait_until(acknowledged, 120, "the members to work", interval=0.5)
        yield Behind(stage, prefix + plan.name, topic, members)
        end(members)


def end(members: list[ShareMember]) -> None:
    """Let members leave their group."""
    for member in members:
        member.ask_to_end()
    assert all(member.join(60) for member in members)


def test_a_backlog_shows_in_lag_report_and_slack(
    run, behind: Behind, slack_server: SlackServer, tmp_path: Path
) -> None:
    """The broker's lag, no owner, no strategy; the group's page; one message, which says how far behind it is."""
    asked = CONFIG.format(bootstrap=behind.stage.bootstrap, prefix=behind.stage.prefix)
    (tmp_path / "evenkeel.toml").write_text(asked)
    for number in range(SNAPSHOTS):
        time.sleep(APART * (number > 0))
        behind.stage.produce(behind.topic, [5, 5, 5])
        snapshot = run("snapshot", "take", "--cluster", "live", "--out", "lake")
        assert snapshot.exit_code == 0, snapshot.output

    rows = objects(run("lag", "--from", "lake", "--group", behind.group, "--json"))
    assert [row["partition"] for row in rows] == [0, 1, 2]
    assert {(row["type"], row["member"]) for row in rows} == {("share", None)}
    assert sum(row["lag"] for row in rows) > 100
    begun = [row for row in rows if row["committed"] is not None]
    assert {row["lag_basis"] for row in begun} == {"reported by broker"}
    assert all(row["lag"] <= row["end"] - row["committed"] for row in begun)
    # before its first acknowledgement a partition begins where the group's setting says
    assert {r["lag_basis"] for r in rows if r not in begun} <= {"no commit, reset to log start"}
    shown = run("lag", "--from", "lake", "--group", behind.group)
    told = " ".join(shown.stdout.split())
    assert "share, simple, 2 members, 3 partitions; records in flight: unknown" in told

    [advice] = objects(run("advise", "--from", "lake", "--group", behind.group, "--json"))
    assert advice["verdict"] == "not evaluated"
    assert "a share group has no assignment to improve" in advice["reason"]

    report = run("report", "--from", "lake", "--group", behind.group, "--out", "report.html")
    assert report.exit_code == 0, report.output
    page = (tmp_path / "report.html").read_text()
    assert f"<bdi>{behind.group}</bdi>" in page
    assert "<dd>share, simple" in page

    history, lake = MemoryHistory(), UntilNow(tmp_path / "lake")
    settings, notifier = load(tmp_path / "evenkeel.toml"), slack_at(slack_server.base_url)
    for snapshot_id in sorted(lake.snapshots("live", limit=SNAPSHOTS)):
        lake.now = snapshot_id
        pipeline.watch_groups(lake, history, notifier, settings, snapshot_id)
    seen = [as_seen(each) for each in read_store(tmp_path / "slack.jsonl")]
    assert any(behind.group in text and "behind" in text for text in seen), seen


def test_top_shows_it_live(run, behind: Behind) -> None:
    """Rates from the second snapshot on; partitions by start offsets and without owners, members without numbers."""
    watch = Watch(
        see(open_source(behind.stage.bootstrap, None, None), behind.group), behind.group, SHORTEST
    )
    time.sleep(APART)
    watch.look()
    assert watch.failure is None
    assert watch.seen.snapshots == 2
    told = drawn(watch, TopState(group=behind.group, is_open=True), width=160, height=30)
    assert told[3] == (
        f"Stable, share, simple, {MEMBERS} members, 3 partitions; records in flight: unknown, Kafka doesn't expose them"
    )
    for each in behind.members:
        [member] = (line.split() for line in told if line.startswith(each.client_id))
        assert [member[place] for place in (1, 3, 4, 5)] == ["?"] * 4
    [headings] = (line.split() for line in told if line.startswith("PARTITION"))
    assert "START" in headings
    partitions = [line.split() for line in told if line.startswith(f"{behind.topic}-")]
    assert [cells[-1] for cells in partitions] == ["-"] * 3
    begun = [row for row in watch.seen.partitions if row["committed"] is not None]
    assert begun
    assert any(row["consumption_per_second"] is not None for row in begun)


def test_start_offsets_and_lags_are_those_of_the_tool(run, behind: Behind) -> None:
    """Once nobody reads, `kafka-share-groups --describe` prints our numbers; it has none before an acknowledgement."""
    end(behind.members)
    printed = described(behind.stage.bootstrap, behind.group, command=SHARE_COMMAND)
    asked = ("lag", "--bootstrap", behind.stage.bootstrap, "--group", behind.group, "--json")
    ours = {(r["topic"], r["partition"]): r for r in objects(run(*asked))}
    assert len(printed) == 3
    for row in printed:
        mine = ours[row["TOPIC"], int(row["PARTITION"])]
        begun = mine["committed"] is not None
        numbers = (str(mine["committed"]), str(mine["lag"])) if begun else ("-", "-")
        assert numbers == (row["START-OFFSET"], row["LAG"])
    assert any(row["START-OFFSET"] != "-" for row in printed)
