"""
Advice on real brokers, to groups whose members consume at a known speed.

A group whose assignment is to blame is told another strategy, gets it, and what comes is what was forecast. A group
with a member that is slow hears its name, and of no switch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from kafka.admin import KafkaAdminClient

from evenkeel.engine import pipeline, wiring
from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.config import ClusterSettings, Filter, Policy, Rule, Settings
from evenkeel.engine.metrics.forecast import (
    HORIZON_SECONDS,
    STEPS,
    AssignmentBatch,
    ForecastInput,
    load_of,
    outlooks,
)
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model.arrays import Floats, Indices
from evenkeel.engine.model.assignments import AdviceState, Move
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.tables import Table
from evenkeel.engine.pipeline.measure import observe_group
from evenkeel.engine.pipeline.propose import moves_of
from evenkeel.engine.ports import Lake
from evenkeel.engine.records import AdviceRow
from evenkeel.engine.snapshots import VALIDATION, split_snapshot_id
from tests.helpers.kafka_session import ClusterInUse
from tests.helpers.kafka_stage import Stage
from tests.helpers.memory import MemoryHistory
from tests.stage.process import wait_until
from tests.stage.workload import settling, topics
from tests.stage.workload.groups import GROUPS_BY_NAME, TOPICS_BY_NAME, GroupPlan, TopicPlan
from tests.stage.workload.members import Member, SteadyProducer, make_producer
from tests.stage.workload.topics import Placement

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

CLUSTER = "test"


@dataclass(kw_only=True)
class PacedGroup:
    """A group whose members consume no faster than their plan says; it can be stopped and started otherwise."""

    bootstrap: str
    prefix: str
    admin: KafkaAdminClient
    speeds: Sequence[int]
    """Records a second of each member."""
    members: list[Member] = field(default_factory=list)

    def start(self, plan: GroupPlan) -> None:
        """Start all members and wait until they own what the plan says."""
        placement, go = Placement.of(self.admin), threading.Event()
        go.set()
        self.members = [
            Member(self.bootstrap, self.prefix, replace(plan, speed=speed), n, placement, go)
            for n, speed in enumerate(self.speeds, start=1)
        ]
        name = self.prefix + plan.name
        wait_until(
            lambda: settling.shape_is_right(
                plan, settling.states(self.admin).get(name), self.members
            ),
            180,
            f"the members of {name}",
        )

    def stop(self) -> None:
        """Let all members leave."""
        for member in self.members:
            member.ask_to_end()
        assert all([member.join(60) for member in self.members])
        self.members = []


@contextmanager
def paced(
    bootstrap: str,
    prefix: str,
    written: Sequence[TopicPlan],
    groups: Mapping[GroupPlan, Sequence[int]],
) -> Iterator[dict[str, PacedGroup]]:
    """
    The groups on their topics, to which records come at their rates; nothing is left of them afterwards.

    Args:
        bootstrap: The brokers.
        prefix: Goes before all names.
        written: The topics.
        groups: The groups, and the speed of each member.
    """
    with ExitStack() as ending:
        admin = ending.enter_context(Stage.on(bootstrap, prefix)).admin
        topics.create_topics(admin, prefix, Placement.of(admin), written)
        producer = make_producer(bootstrap, prefix)
        topics.fill(admin, producer, prefix, written)
        steady = SteadyProducer(producer, prefix, written)
        ending.callback(steady.stop, 5.0)
        made = {}
        for plan, speeds in groups.items():
            topics.seed_commits(admin, prefix, plan)
            made[plan.name] = PacedGroup(
                bootstrap=bootstrap, prefix=prefix, admin=admin, speeds=speeds
            )
            ending.callback(made[plan.name].stop)
            made[plan.name].start(plan)
        yield made


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What one snapshot of a cluster said: advice and metrics by the names of groups, without the prefix."""

    snapshot_id: str
    taken_at: datetime
    advice: Mapping[str, AdviceRow]
    metrics: Mapping[str, Mapping[str, Any]]


class PlainPipeline:
    """The pipeline's steps over snapshots of real brokers, with lake and history in memory."""

    def __init__(self, bootstrap: str, prefix: str, settings: Settings) -> None:
        only = Filter(allow=(f"{prefix}*",))
        cluster = ClusterSettings(bootstrap=bootstrap, groups=only, topics=only)
        self.settings = settings.model_copy(update={"clusters": {CLUSTER: cluster}})
        self.prefix = prefix
        self.lake: Lake = wiring.scratch()
        self.history = MemoryHistory()
        self.looks: list[Looked] = []

    def look(self) -> Looked:
        """Take a snapshot and go through all steps with it."""
        lake, history, settings = self.lake, self.history, self.settings
        with closing(KafkaClusterReader(CLUSTER, settings.cluster(CLUSTER))) as reader:
            taken = pipeline.take_snapshot(reader, lake, history, settings, CLUSTER)
        well = Table.from_rows([], VALIDATION)
        pipeline.record_validation(lake, history, taken, "snapshot", well)
        tables = pipeline.compute_metrics(lake, settings, taken)
        pipeline.record_metrics(lake, taken, tables)
        pipeline.record_candidates(lake, taken, pipeline.propose_candidates(lake, settings, taken))
        for stage in ("metrics", "candidates"):
            pipeline.record_validation(lake, history, taken, stage, well)
        rows = pipeline.advise(lake, history, settings, taken)
        metrics = tables["group_metrics"].to_pylist()
        looked = Looked(
            snapshot_id=taken,
            taken_at=split_snapshot_id(taken)[1],
            advice={row.group_id.removeprefix(self.prefix): row for row in rows},
            metrics={row["group_id"].removeprefix(self.prefix): row for row in metrics},
        )
        self.looks.append(looked)
        # for whoever has to find out why a test failed
        for name, advice in looked.advice.items():
            row = looked.metrics[name]
            told = (row["total_lag"], row["diagnosis"], row["diagnosis_reason"])
            print(taken, name, *told, advice.verdict, advice.state, advice.reason, sep=" | ")
        return looked

    def until(
        self, so: Callable[[Looked], Any], what: str, *, within: float, every: float
    ) -> Looked:
        """The newest look if something is so in it; else look every so many seconds until it is."""
        if not (self.looks and so(self.looks[-1])):
            wait_until(lambda: so(self.look()), within, what, interval=every)
        return self.looks[-1]

    def ahead(self, group: str, strategies: Sequence[str]) -> dict[str, Floats]:
        """
        What is forecast of a group's lag one step ahead, by the newest snapshot.

        Returns:
            Low, expected and high in offsets, by strategy; `live` is the assignment it has.
        """
        newest = self.looks[-1].snapshot_id
        [one] = pipeline.groups_with_past(self.lake, self.settings, newest, self.prefix + group)
        seen = observe_group(self.settings, one.group, one.earlier)
        load = load_of(seen, 0)
        assert load is not None
        name = self.prefix + group
        moves = moves_of(self.lake, self.settings, newest, {name: strategies})[name]
        owners = [moved_owners(seen, load.owner, moves.get(each, ())) for each in strategies]
        lag = outlooks(AssignmentBatch([ForecastInput(load=load, owners=owners)])).lag
        return {name: lag[place, 0] for place, name in enumerate(strategies)}


def moved_owners(seen: Observation, owner: Indices, moves: Iterable[Move]) -> Indices:
    """(n) owners of a single group's partitions after these moves."""
    table, ids = seen.batch.partitions, list(seen.batch.members.ids)
    names = [table.topics[topic] for topic in table.topic.tolist()]
    to = {(move.topic, move.partition): ids.index(str(move.to_member)) for move in moves}
    keys = zip(names, table.partition.tolist(), strict=True)
    return np.array([to.get(key, old) for key, old in zip(keys, owner.tolist(), strict=True)])


@dataclass(frozen=True)
class Scene:
    """The groups, and what the pipeline says of them."""

    lopsided: PacedGroup
    pipeline: PlainPipeline


@pytest.fixture(scope="module")
def scene(kafka_cluster: ClusterInUse) -> Iterator[Scene]:
    """Ten records a second come to a member that does six; two to one that does one, where its peers do six."""
    prefix = f"{kafka_cluster.prefix}advised-"
    quick = Policy(confirm_evidence=1.001)
    listed = tuple(LOPSIDED.assignor.split(","))
    settings = Settings(
        rules=(
            Rule(lag_slo_seconds=5, commit_interval_seconds=2, policy=quick),
            # its records wait for their turn in a member's queue for up to a quarter of a minute
            Rule(groups="*lopsided", assignors=listed, lag_slo_seconds=30),
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
    assert later[-1].state is AdviceState.ADOPTED
    assert came.metrics["lopsided"]["diagnosis"] in ("catching up", "healthy")
    assert {look.advice["slow"].verdict for look in pipeline.looks} == {"stay"}
