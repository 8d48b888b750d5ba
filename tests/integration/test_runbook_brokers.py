"""What `evenkeel runbook` prints for our assignor, followed to the letter on brokers that do not have it at first."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine.assignors.kafka.protocol_names import BROKER_SETTING
from tests.helpers.applied import (
    Java,
    Librdkafka,
    Members,
    across,
    closing_members,
    do,
    runbook_of,
    settled,
    way_of,
)
from tests.helpers.kafka_stage import Stage
from tests.helpers.own_brokers import own_brokers
from tests.oracle.follower import FollowerGroupJvm, server_assignor_jar
from tests.stage.kafka.brokers import RACKS, KafkaCluster
from tests.stage.kafka.jars import resolve_jars
from tests.stage.process import wait_until

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.timeout(1200)]

LISTED = re.compile(rf"{re.escape(BROKER_SETTING)}=([\w.,]+\w)")

NOT_THERE = "The assignor or its version range is not supported by the consumer group"
"""What librdkafka says of UNSUPPORTED_ASSIGNOR."""


class Operator:
    """Who has brokers, the folder of their jars, and what the runbook says."""

    def __init__(self, brokers: KafkaCluster, libs: Path) -> None:
        self.brokers, self.libs = brokers, libs
        self.listed = ""

    def bring(self, steps: list[str]) -> None:
        """The jar, the setting, a rolling restart, as they are told in this order."""
        _, jar, listing, restart = steps
        assert "EvenkeelServer*.java" in jar
        assert "`libs` of every broker" in jar
        made = server_assignor_jar()
        shutil.copy(made, self.libs / made.name)
        (self.listed,) = LISTED.findall(listing)
        self._restart(restart)

    def take_back(self, steps: list[str]) -> None:
        """Out of the setting, a rolling restart."""
        taking, restart = steps
        assert f"remove it from {BROKER_SETTING} of every broker" in taking
        self.listed = ",".join(one for one in self.listed.split(",") if "evenkeel" not in one)
        self._restart(restart)

    def _restart(self, told: str) -> None:
        assert told == "Restart the brokers one by one."
        for node in RACKS:
            self.brokers.set(node, BROKER_SETTING, self.listed)
            self.brokers.restart(node)


@pytest.fixture
def operator(compiler: None, tmp_path: Path) -> Iterator[Operator]:
    """Three brokers as Kafka comes."""
    libs = tmp_path / "libs"
    libs.mkdir()
    for jar in resolve_jars().glob("*.jar"):
        (libs / jar.name).symlink_to(jar)
    with own_brokers(tmp_path, jars=libs) as brokers:
        yield Operator(brokers, libs)


def refused(stage: Stage, name: str) -> str:
    """What a member is told that asks for our assignor now."""
    settings = {"group.protocol": "consumer", "group.remote.assignor": "evenkeel-racks"}
    asking = Librdkafka(stage, name, settings)
    asking.start(0)
    wait_until(lambda: asking.troubles, 120, f"{name} to be refused")
    asking.end()
    return asking.troubles[0]


def test_our_assignor_comes_to_the_brokers_and_goes_again(
    operator: Operator, members_jvm: FollowerGroupJvm
) -> None:
    """
    Brokers, members, and back in the opposite order; a group of the new protocol and one of the classic go together.

    Nobody is refused, who is not before the brokers have it, or after; all that is read has a reader after each round.
    """
    racks = [*RACKS.values()][::-1]
    with Stage.on(operator.brokers.bootstrap, "evenkeel-test-kit-") as stage, ExitStack() as ending:
        asking = {"group.protocol": "consumer", "group.remote.assignor": "uniform"}
        newer: Members = Java(stage, "newer", asking, members_jvm, racks)
        classic: Members = Librdkafka(
            stage, "classic", {"partition.assignment.strategy": "range"}, racks
        )
        for members, runs in ((newer, "uniform"), (classic, "range")):
            ending.enter_context(closing_members(members))
            settled(members, runs)
        assert NOT_THERE in refused(stage, "too-early")
        runbooks: dict[Members, dict[str, Any]] = {
            members: runbook_of(members, "racks-server") for members in (newer, classic)
        }
        assert runbooks[newer]["on_brokers"] == runbooks[classic]["on_brokers"]
        operator.bring(runbooks[newer]["on_brokers"])
        stage.reconnect()
        for members, runbook in runbooks.items():
            settled(members, runbook["runs"])
            do(members, way_of(runbook, members)["rounds"])
            assert not any(across(members))
        there = runbook_of(newer, "racks-server")
        assert (there["there_already"], there["on_brokers"]) == (True, [])
        for members, runbook in runbooks.items():
            do(members, way_of(runbook, members)["back"])
            across(members)
        operator.take_back(runbooks[newer]["off_brokers"])
        stage.reconnect()
        for members, runbook in runbooks.items():
            settled(members, runbook["runs"])
            across(members)
            members.check()
        assert NOT_THERE in refused(stage, "too-late")
