"""KIP-1263: a broker assigns a group once per interval; what evenkeel says holds with one second and with ten."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenkeel.engine.model.states import REBALANCING
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

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.timeout(1500)]

SLACK_SECONDS = 30
"""For a heartbeat to bring it about, and a look at it, on a busy machine."""


@pytest.fixture(params=[1, 10])
def interval_seconds(request: pytest.FixtureRequest) -> int:
    """The default, and a long one."""
    return int(request.param)


@pytest.fixture
def stage(interval_seconds: int, tmp_path: Path) -> Iterator[Stage]:
    """Brokers of the newest release with the interval, and the topics."""
    settings = {"group.consumer.assignment.interval.ms": str(1000 * interval_seconds)}
    with (
        own_brokers(tmp_path, version=NEWER_VERSION, settings=settings) as brokers,
        Stage.on(brokers.bootstrap, "evenkeel-test-interval-") as made,
    ):
        for name, size in SIZES.items():
            made.topic(name, [0] * size)
        yield made


def test_the_target_comes_after_the_interval_and_is_the_predicted_one(
    stage: Stage, interval_seconds: int
) -> None:
    """Until then the group is rebalancing, with an epoch ahead of its assignment's; then the replay was right."""
    live = LiveGroup(stage, "delayed", "uniform", EQUAL)
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
