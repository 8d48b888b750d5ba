"""KIP-1263: a broker assigns a group once per interval; what evenkeel says holds with one second and with ten."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka.admin import ConfigResource

from evenkeel.engine.model.coordinators import ASSIGNMENT_SETTING, OF_BROKERS
from evenkeel.engine.model.states import REBALANCING
from tests.helpers.commands import evenkeel
from tests.helpers.kafka_stage import Stage, taken
from tests.helpers.own_brokers import own_brokers
from tests.integration.test_target_assignments import (
    EQUAL,
    SIZES,
    LiveGroup,
    orders,
    predicted,
    targets,
    with_members,
)
from tests.stage.kafka.jars import NEWER_VERSION
from tests.stage.process import wait_until

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.timeout(1500)]

SLACK_SECONDS = 30
"""For a heartbeat to bring it about, and a look at it, on a busy machine."""


DELAYED = "delayed"
"""The group."""


@pytest.fixture(params=["1 of the brokers", "10 of the brokers", "10 of the group"])
def interval(request: pytest.FixtureRequest) -> str:
    """The default, and a long one of all groups or one."""
    return str(request.param)


@pytest.fixture
def interval_seconds(interval: str) -> int:
    """As a number."""
    return int(interval.split()[0])


@pytest.fixture
def stage(interval: str, interval_seconds: int, tmp_path: Path) -> Iterator[Stage]:
    """Brokers of the newest release, with the interval or a group that has it, and the topics."""
    milliseconds = str(1000 * interval_seconds)
    of_group = interval.endswith("group")
    settings = {} if of_group else {ASSIGNMENT_SETTING: milliseconds}
    with (
        own_brokers(tmp_path, version=NEWER_VERSION, settings=settings) as brokers,
        Stage.on(brokers.bootstrap, "evenkeel-test-interval-") as made,
    ):
        for name, size in SIZES.items():
            made.topic(name, [0] * size)
        if of_group:
            own = {ASSIGNMENT_SETTING.removeprefix(OF_BROKERS): milliseconds}
            made.admin.alter_configs([ConfigResource("GROUP", made.prefix + DELAYED, own)])
        yield made


def test_the_target_comes_after_the_interval_and_is_the_predicted_one(
    stage: Stage, interval_seconds: int
) -> None:
    """Until then the group is rebalancing, with an epoch ahead of its assignment's; then the replay was right."""
    live = LiveGroup(stage, DELAYED, "uniform", EQUAL)
    live.settled()
    live.join()
    before = live.settled()
    live.join()
    began, waiting = time.monotonic(), set[str]()
    while True:
        for consumer in live.members:
            consumer.poll(0)
        (row,) = taken(stage.bootstrap, live.name).tables["groups"].to_pylist()
        if row["epoch"] == before.epoch:
            began = time.monotonic()  # it has yet to join
            continue
        if row["epoch"] == row["assignment_epoch"]:
            break
        waiting.add(row["state"])
    took = time.monotonic() - began
    after = live.settled()

    assert after.epoch == (before.epoch or 0) + 1
    assert waiting <= {"Assigning"} < REBALANCING
    assert took <= interval_seconds + SLACK_SECONDS
    if interval_seconds > 1:
        assert waiting
    expected = [
        predicted(with_members(before, after, members), live.strategy)
        for members in orders(before, after)
    ]
    assert targets(after) in expected


def test_what_is_said_of_a_member_that_leaves_is_the_target_after_the_interval(
    stage: Stage, interval: str, interval_seconds: int
) -> None:
    """`whatif` has the assignment, and says that its forecasts leave out the time; `runbook` names the interval."""
    live = LiveGroup(stage, DELAYED, "uniform", EQUAL)
    for _ in range(2):
        live.settled()
        live.join()
    live.settled()

    def has_it() -> bool:
        for consumer in live.members:
            consumer.poll(0)
        (row,) = taken(stage.bootstrap, live.name).tables["groups"].to_pylist()
        return bool(row["state"] == "Stable")

    wait_until(has_it, 180, "members to have what the target gives them")
    place = ("--group", live.name, "--bootstrap", stage.bootstrap, "--json")
    without = ("--without", live.members[0].memberid(), "--strategy", "uniform")
    *_, told = map(json.loads, evenkeel("whatif", *place, *without).splitlines())
    assert "forecasts leave out the time of a rebalance" in " ".join(told["assumed"])
    live.leave()
    owners = {
        (topic, partition): member
        for member, pairs in told["assignment"].items()
        for topic, partition in pairs
    }
    assert targets(live.settled()) == owners

    runbook = json.loads(evenkeel("runbook", *place, "--strategy", "range-server"))
    whose = interval.removeprefix(f"{interval_seconds} of ")
    setting = ASSIGNMENT_SETTING if whose == "the brokers" else "consumer.assignment.interval.ms"
    said = f"at most once per {interval_seconds} s ({setting} of {whose}; KIP-1263)"
    assert any(said in each for each in runbook["notes"])
