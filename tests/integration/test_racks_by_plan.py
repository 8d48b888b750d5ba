"""A group that reads most partitions from other racks is brought home by a plan, on real brokers in three racks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine.followers.kafka_python import PlanAssignor
from evenkeel.engine.model.arrays import NONE
from tests.helpers.commands import evenkeel
from tests.helpers.following import Consumers
from tests.helpers.kafka_stage import Stage, Watch
from tests.stage.kafka.brokers import RACKS
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.nightly, pytest.mark.kafka]

NODES = sorted(RACKS)
AT_HOME = 2
"""Of twelve partitions at first."""

SECONDS = 180
"""For the group to settle, on a busy machine; it takes some seconds on an idle one."""


def judged(stage: Stage, group: str) -> dict[str, Any]:
    """The group as `evenkeel advise` sees it now."""
    place = ("--bootstrap", stage.bootstrap, "--samples", "1", "--every", "0")
    return dict(json.loads(evenkeel("advise", *place, "--group", group, "--json")))


def share_of(stage: Stage, group: str) -> tuple[float | None, list[str]]:
    """How much of the group crosses racks, and which strategies it runs; of one that is not at rest, nothing."""
    if group not in {each["group_id"] for each in stage.admin.list_groups()}:
        return None, []
    # between the two rebalances of a cooperative change it is stable, too, but nobody has what moves
    owners = Watch(stage, group.removeprefix(stage.prefix)).look().group.partitions.owner.tolist()
    if len(owners) != 12 or NONE in owners:
        return None, []
    row = judged(stage, group)
    whole = row["state"] == "Stable" and row["members"] == len(NODES)
    running = [each["strategy"] for each in row["strategies"] if each["is_running"]]
    return (row["cross_rack_share"] if whole else None), running


def test_a_plan_brings_all_partitions_home(stage: Stage, tmp_path: Path) -> None:
    """From 83 % across racks to none by one restart; the next snapshot says which strategy's plan it follows."""
    places = [NODES[partition % 3] for partition in range(12)]
    topic, group = stage.topic("events", [1] * 12, on=places), f"{stage.prefix}group"
    plan = tmp_path / "plan.json"
    with Consumers.of(stage, "group", topic) as consumers:

        def start(node: int) -> None:
            """A member in the rack of a broker."""
            follower = PlanAssignor(plan=plan, group=group, rack=RACKS[node], timeout_seconds=25)
            consumers.start(f"in-{RACKS[node]}", [follower], static=False, enable_auto_commit=True)

        def restart_first() -> None:
            consumers.stop(f"in-{RACKS[NODES[0]]}")
            start(NODES[0])

        for node in NODES:
            start(node)
        wait_until(
            lambda: share_of(stage, group)[0] is not None, SECONDS, "the group", interval=0.5
        )
        given = ("--bootstrap", stage.bootstrap, "--out", str(plan))
        evenkeel("plan", "--group", group, *given, "--strategy", "live")
        away = json.loads(plan.read_text())
        owned = {entry["client_id"]: entry for entry in away["members"]}
        assert len(owned) == len(NODES)
        for number, node in enumerate(NODES):
            # everybody reads what lies in the next rack, the first two partitions of the first rack apart
            there = [p for p in range(12) if p % 3 == (number + 1) % 3]
            owned[f"in-{RACKS[node]}"]["partitions"] = {topic: there}
        lent = owned[f"in-{RACKS[NODES[2]]}"]["partitions"][topic][:AT_HOME]
        borrowed = owned[f"in-{RACKS[NODES[0]]}"]["partitions"][topic][:AT_HOME]
        owned[f"in-{RACKS[NODES[2]]}"]["partitions"][topic][:AT_HOME] = borrowed
        owned[f"in-{RACKS[NODES[0]]}"]["partitions"][topic][:AT_HOME] = lent
        plan.write_text(json.dumps(away))
        restart_first()
        wait_until(
            lambda: share_of(stage, group) == (10 / 12, []),
            SECONDS,
            "83 % across",
            interval=0.5,
        )
        evenkeel("plan", "--group", group, *given, "--strategy", "min_traffic")
        restart_first()
        wait_until(
            lambda: share_of(stage, group) == (0.0, ["min_traffic"]),
            SECONDS,
            "nothing across",
            interval=0.5,
        )
    wait_until(lambda: judged(stage, group)["members"] == 0, SECONDS, "all to have left")
