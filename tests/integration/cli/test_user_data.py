"""
The two samples of the article on strategies (section 4) on real brokers: members that send a weight, or their rack.

A member of Java and one of Python, of which either leads; evenkeel's row of the strategy is what the group has.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine.cli.custom import load
from tests.helpers.following import SECONDS, Consumers
from tests.helpers.kafka_stage import Stage
from tests.helpers.notifying import Telling
from tests.integration.cli.conftest import objects
from tests.oracle.follower import FollowerGroupJvm
from tests.stage.process import wait_until
from tests.stage.workload.topics import Placement

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = pytest.mark.kafka

Owned = dict[str, list[int]]
"""Member -> partition numbers."""

WEIGHTED, LEADER_RACK = (
    str(Path(__file__).parents[2] / "data" / f"{name}_assignor.py")
    for name in ("weighted", "leader_rack")
)
WEIGHTS = {"java": {"weight": 1}, "python": {"weight": 2}}
BY_WEIGHT = {"java": [1, 4], "python": [0, 2, 3, 5]}
LEADERS = "aaabac"
"""The rack of each partition's leader, as a letter."""
BY_LEADER = {"java": [0, 1, 2, 4], "python": [3, 5]}
FIRST_ALONE = list(range(len(LEADERS)))


WEIGHT, RACK = (WEIGHTED, "Weighted", BY_WEIGHT), (LEADER_RACK, "LeaderRack", BY_LEADER)


@pytest.mark.parametrize(
    ("leader", "place", "java", "expected"),
    [
        pytest.param("java", *WEIGHT, id="weight, java leads"),
        pytest.param("python", *RACK, id="rack, python leads"),
        pytest.param("python", *WEIGHT, id="weight, python leads", marks=pytest.mark.nightly),
        pytest.param("java", *RACK, id="rack, java leads", marks=pytest.mark.nightly),
    ],
)
def test_what_members_send_decides_and_the_scoreboard_says_so(
    run: Any,
    members_jvm: FollowerGroupJvm,
    stage: Stage,
    leader: str,
    place: str,
    java: str,
    expected: Owned,
) -> None:
    """Weight 2 gets twice as many, partitions go to the rack of their leader; by counts alone another answer comes."""
    on = Placement.of(stage.admin)
    racks = {"java": {"rack": on.racks["a"]}, "python": {"rack": on.racks["b"]}}
    says = WEIGHTS if place == WEIGHTED else racks
    topic = stage.topic("t", [1] * len(LEADERS), [on.nodes[rack] for rack in LEADERS])
    strategy = load(place)
    with Consumers.of(stage, "g", topic) as python:
        ours = python.group

        def start(member: str) -> None:
            if member == "python":
                python.start(member, [Telling(strategy, says[member])], static=False)
                return
            settings = {
                "bootstrap.servers": stage.bootstrap,
                "group.id": ours,
                "client.id": member,
                "partition.assignment.strategy": f"io.evenkeel.TellingAssignor${java}",
                "heartbeat.interval.ms": "200",
                "telling.says": json.dumps(says[member]),
            }
            members_jvm.start(ours, settings, [topic])
            stage.ending.callback(members_jvm.stop, ours)

        def until(wanted: Owned) -> None:
            def owned() -> bool:
                of_java = [n for _, n in members_jvm.owned().get(ours, [])]
                return ({"java": of_java} if of_java else {}) | python.owned == wanted

            wait_until(owned, SECONDS, f"{ours} to own {wanted}")

        start(leader)  # who is first leads
        until({leader: FIRST_ALONE})
        start("python" if leader == "java" else "java")
        until(expected)
        rows = {}

        def seen() -> bool:
            asked = ("advise", "--bootstrap", stage.bootstrap, "--group", ours, "--strategy", place)
            [row] = objects(run(*asked, "--json"))
            rows.update({one["strategy"]: one for one in row["strategies"]})
            return bool(row["state"] == "Stable")

        wait_until(seen, SECONDS, f"{ours} to be seen")
        row = rows[strategy.name]
        told = ("feasibility", "is_running", "moves", "most_partitions", "reason")
        assert [row[name] for name in told] == ["available", True, 0, 4, "the current strategy"]
        assert rows["roundrobin"]["moves"] > 0
