"""
Advice on real brokers, to groups whose members consume at a known speed.

A group whose assignment is to blame is told another strategy, gets it, and what comes is what was forecast. A group
with a member that is slow hears its name, and of no switch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from evenkeel.engine.config import Policy, Rule, Settings
from evenkeel.engine.metrics.forecast import HORIZON_SECONDS, STEPS
from evenkeel.engine.model.assignments import AdviceState
from evenkeel.engine.model.moments import utc_now
from tests.helpers.kafka_session import ClusterInUse
from tests.helpers.paced_groups import Looked, PacedGroup, PlainPipeline, paced
from tests.stage.process import wait_until
from tests.stage.workload.groups import GROUPS_BY_NAME, TOPICS_BY_NAME

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(900)]

EVERY_SECONDS = 20.0
AHEAD = timedelta(seconds=HORIZON_SECONDS / STEPS)
"""One step of a forecast: five minutes."""

BUSY = (1_000, 60, 60, 60)
"""Records that the busy partition of each topic is behind at first: more than can be drained in that time."""

LOPSIDED = replace(GROUPS_BY_NAME["skewed-load"], name="lopsided", commit_seconds=0.5)
SLOW = replace(GROUPS_BY_NAME["slow-member"], name="slow", slow_member=None, commit_seconds=0.5)
TOPICS = (
    TOPICS_BY_NAME["clicks"],
    *(replace(TOPICS_BY_NAME[name], backlog=BUSY) for name in LOPSIDED.topics),
)


@dataclass(frozen=True)
class Scene:
    """The groups, and what the pipeline says of them."""

    lopsided: PacedGroup
    pipeline: PlainPipeline


@pytest.fixture(scope="module")
def scene(kafka_cluster: ClusterInUse) -> Iterator[Scene]:
    """Ten records a second come to a member that does six; two to one that does one, where its peers do six."""
    prefix = f"{kafka_cluster.prefix}advised-"
    quick = Policy(confirm_seconds=EVERY_SECONDS, confirm_wins=2, confirm_of=3)
    listed = tuple(LOPSIDED.assignor.split(","))
    settings = Settings(
        rules=(
            Rule(objective_seconds=5, commit_interval_seconds=2, policy=quick),
            # its records wait for their turn in a member's queue for up to a quarter of a minute
            Rule(groups="*lopsided", assignors=listed, objective_seconds=30),
        )
    )
    groups = {LOPSIDED: (6, 6, 6), SLOW: (6, 6, 1)}
    with paced(kafka_cluster.bootstrap, prefix, TOPICS, groups) as made:
        yield Scene(made["lopsided"], PlainPipeline(kafka_cluster.bootstrap, prefix, settings))


def test_a_slow_member_gets_its_name_and_no_switch(scene: Scene) -> None:
    """As many partitions as its peers have, and a sixth of their speed: no assignment is better for it."""

    def named(look: Looked) -> bool:
        return look.metrics["slow"]["diagnosis"] == "slow member"

    found = scene.pipeline.until(named, "the diagnosis", within=120, every=EVERY_SECONDS)
    [fact] = [one for one in found.metrics["slow"]["facts"] if one["measure"] == "slow_member"]
    assert fact["subjects"] == [f"{scene.pipeline.prefix}slow-3"]
    assert fact["after"] == pytest.approx(1, rel=0.1)
    assert {look.advice["slow"].verdict for look in scene.pipeline.looks} == {"stay"}


def test_a_lopsided_group_gets_what_it_was_promised(scene: Scene) -> None:
    """Advised, restarted as advised, and five minutes later as far behind as was said."""
    pipeline = scene.pipeline

    def advised(look: Looked) -> bool:
        return look.advice["lopsided"].verdict == "switch"

    found = pipeline.until(advised, "the advice", within=180, every=EVERY_SECONDS)
    told = found.advice["lopsided"]
    assert found.metrics["lopsided"]["diagnosis"] == "skewed load"
    assert told.strategy is not None
    bands = pipeline.ahead("lopsided", ["live", told.strategy])

    scene.lopsided.stop()
    scene.lopsided.start(replace(LOPSIDED, assignor=told.strategy, owned=(4, 4, 4)))
    due = found.taken_at + AHEAD
    wait_until(
        lambda: utc_now() >= due or not pipeline.look(),
        400,
        "what comes",
        interval=EVERY_SECONDS,
    )
    came = pipeline.look()

    low, _, high = bands[told.strategy]
    assert low <= came.metrics["lopsided"]["total_lag"] <= high < bands["live"][0]
    later = [look.advice["lopsided"] for look in pipeline.looks[pipeline.looks.index(found) + 1 :]]
    assert "switch" not in {advice.verdict for advice in later}
    assert later[-1].state is AdviceState.TAKEN_UP
    assert came.metrics["lopsided"]["diagnosis"] in ("catching up", "keeps up")
    assert {look.advice["slow"].verdict for look in pipeline.looks} == {"stay"}
