"""The server-side assignor keeps KIP-848 groups in their racks or to a plan, on brokers of its own that run it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from evenkeel.engine.followers.plan import read_plan
from evenkeel.engine.model import GroupSnapshot, utc_now
from tests.helpers.commands import evenkeel
from tests.helpers.kafka_stage import Stage, Watch, close
from tests.integration.test_target_assignments import (
    EQUAL,
    SIZES,
    UNEQUAL,
    LiveGroup,
    compare_as_members_come_and_go,
)
from tests.oracle.follower import server_assignor_jar
from tests.oracle.jvm import NO_COMPILER
from tests.stage.kafka.brokers import RACKS, KafkaCluster
from tests.stage.kafka.jars import resolve_jars
from tests.stage.process import find_java, has_compiler, sweep, wait_until

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.timeout(1200)]

SECONDS = 300
"""For a group to settle, on a busy machine; a static member that leaves is waited for for its session."""

Owned = dict[str, set[int]]
"""Rack of each member -> partitions of the one topic."""

LOCAL = {"rack-a": {1, 3}, "rack-b": {2, 5}, "rack-c": {0, 4}}
"""What the rack of each member holds of the topic of `racked`."""


class WithAssignor(KafkaCluster):
    """Brokers that have the assignor on their class path, first in their list, and one folder of plans."""

    @property
    def plans(self) -> Path:
        """The folder; it comes with the first plan."""
        return self.directory / "plans"

    def _write_properties(self, node_id: int) -> None:
        super()._write_properties(node_id)
        with self._properties_path(node_id).open("a") as file:
            file.write(
                "group.consumer.assignors=io.evenkeel.EvenkeelServerAssignor,uniform,range\n"
                f"evenkeel.plans={self.plans}\n"
                "group.consumer.session.timeout.ms=20000\n"
                "group.consumer.min.session.timeout.ms=20000\n"
            )


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WithAssignor]:
    """Three of them, in three racks."""
    if not has_compiler(find_java()[0]):
        pytest.skip(NO_COMPILER)
    folder = tmp_path_factory.mktemp("server-assignor")
    jars = folder / "jars"
    jars.mkdir()
    for jar in [*resolve_jars().glob("*.jar"), server_assignor_jar()]:
        (jars / jar.name).symlink_to(jar)
    try:
        with WithAssignor(folder / "brokers", home=folder, jars=jars, throw_away=True) as running:
            yield running
    finally:
        sweep(folder)


class Group:
    """A group of one member in each rack, that asks for the assignor by name or for none."""

    def __init__(
        self, stage: Stage, name: str, topic: str, *, static: bool = False, **settings: str
    ) -> None:
        self.stage, self.name, self.topic, self.settings = stage, name, topic, settings
        self.static = static
        self.members: dict[str, Consumer] = {}

    def join(self, rack: str) -> None:
        """A member comes; the instance id of a static one is its rack."""
        own = {"group.instance.id": rack} if self.static else {}
        self.members[rack] = self._consumer(self.topic, {"client.rack": rack, **own})

    def _consumer(self, topic: str, own: dict[str, str]) -> Consumer:
        usual = {
            "bootstrap.servers": self.stage.bootstrap,
            "group.id": self.stage.prefix + self.name,
            "group.protocol": "consumer",
            "log_level": 1,
        }
        consumer = Consumer({**usual, **self.settings, **own})
        self.stage.ending.callback(close, consumer)
        consumer.subscribe([topic])
        return consumer

    def leave(self, rack: str) -> None:
        """A member goes; a static one only once its session ends."""
        self.members.pop(rack).close()

    def change(self) -> None:
        """One more member comes and goes, for a topic that is not there: nothing but a reason to assign anew."""
        with closing(self._consumer(f"{self.stage.prefix}nothing", {})):
            self._until_members(len(self.members) + 1)
        self._until_members(len(self.members))

    def _until_members(self, count: int) -> None:
        wait_until(
            lambda: len(self.seen().members) == count, SECONDS, f"{count} members", interval=0.2
        )

    def seen(self) -> GroupSnapshot:
        """The group as evenkeel reads it; its members go on meanwhile."""
        for consumer in self.members.values():
            consumer.poll(0.05)
        return Watch(self.stage, self.name).look().group

    def targets(self) -> Owned:
        """What the broker means each to have, as evenkeel reads it."""
        group = self.seen()
        owner = group.partitions.target_owner.tolist()
        return {
            str(member.rack): {p for p, place in enumerate(owner) if place == number}
            for number, member in enumerate(group.members)
        }

    def until(self, expected: Callable[[Owned], bool], what: str) -> Owned:
        """Wait for who owns what, and for the coordinator to have heard so of every member."""
        owned: Owned = {}

        def reached() -> bool:
            for rack, consumer in self.members.items():
                consumer.poll(0.05)
                owned[rack] = {one.partition for one in consumer.assignment()}
            as_expected = expected({rack: owned[rack] for rack in self.members})
            return as_expected and self.seen().state == "Stable"

        wait_until(reached, SECONDS, what)
        return {rack: owned[rack] for rack in self.members}


def racked(stage: Stage) -> str:
    """A topic of which each rack holds two partitions."""
    return stage.topic("racked", [0] * 6, on=[3, 1, 2, 1, 3, 2])


@pytest.mark.parametrize("settings", [{"group.remote.assignor": "evenkeel-racks"}, {}])
def test_members_get_what_their_rack_holds(brokers: KafkaCluster, settings: dict[str, str]) -> None:
    """As members leave and come: counts even, and nobody gives up a partition of the own rack for another."""
    name = "asked-for" if settings else "default"
    with Stage.on(brokers.bootstrap, f"evenkeel-test-{name}-") as stage:
        topic = racked(stage)
        group = Group(stage, name, topic, **settings)
        for rack in RACKS.values():
            group.join(rack)
        group.until(lambda owned: owned == LOCAL, "each rack to have its own")
        group.leave("rack-c")
        owned = group.until(lambda owned: [len(own) for own in owned.values()] == [3, 3], "halves")
        assert all(LOCAL[rack] < own for rack, own in owned.items())
        group.join("rack-c")
        group.until(lambda owned: owned == LOCAL, "each rack to have its own again")


def test_the_replay_is_the_target_the_coordinator_then_has(brokers: KafkaCluster) -> None:
    """Whoever joins or leaves, of equal and of different subscriptions, partition by partition."""
    with Stage.on(brokers.bootstrap, "evenkeel-test-replayed-") as stage:
        for name, size in SIZES.items():
            stage.topic(name, [0] * size, on=[1 + number % 7 % 3 for number in range(size)])
        compare_as_members_come_and_go(
            [
                LiveGroup(stage, name, "racks-server", subscriptions, list(RACKS.values()))
                for name, subscriptions in (("equal", EQUAL), ("unequal", UNEQUAL))
            ]
        )


@pytest.mark.parametrize(
    ("asked", "runs", "feasibility"),
    [("evenkeel-racks", "racks-server", "can run"), ("uniform", "uniform", "could run")],
)
def test_it_is_known_what_runs_and_what_brokers_have(
    brokers: KafkaCluster, asked: str, runs: str, feasibility: str
) -> None:
    """`evenkeel advise` names the strategy, with an answer; who runs another is told that members may ask for it."""
    with Stage.on(brokers.bootstrap, f"evenkeel-test-known-{asked}-") as stage:
        group = Group(stage, "app", racked(stage), **{"group.remote.assignor": asked})
        for rack in RACKS.values():
            group.join(rack)
        group.until(lambda owned: [len(own) for own in owned.values()] == [2] * 3, "an even group")
        given = ("--bootstrap", stage.bootstrap, "--group", stage.prefix + group.name)
        told = json.loads(evenkeel("advise", *given, "--samples", "1", "--json"))
        rows = {row["strategy"]: row for row in told["strategies"]}
        assert [name for name, row in rows.items() if row["is_running"]] == [runs]
        ours = rows["racks-server"]
        assert (ours["feasibility"], ours["cross_rack_share"]) == (feasibility, 0)


@pytest.fixture
def planned(brokers: WithAssignor) -> Iterator[tuple[Stage, Group, Path]]:
    """A group of three static members that have what their rack holds, and where its plan goes."""
    with to_be_planned(brokers, static=True) as found:
        yield found


@contextmanager
def to_be_planned(brokers: WithAssignor, *, static: bool) -> Iterator[tuple[Stage, Group, Path]]:
    """A group whose members have what their rack holds, and where its plan goes."""
    brokers.plans.mkdir(exist_ok=True)
    path = brokers.plans / "app.json"
    with Stage.on(brokers.bootstrap, f"evenkeel-test-planned-{static}-") as stage:
        group = Group(stage, "app", racked(stage), static=static)
        for rack in RACKS.values():
            group.join(rack)
        group.until(lambda owned: owned == LOCAL, "each rack to have its own")
        try:
            yield stage, group, path
        finally:
            path.unlink(missing_ok=True)


def plan_for(stage: Stage, group: Group, path: Path) -> Owned:
    """Write what `roundrobin` would give, which is nowhere near the racks; who shall have what by it."""
    given = (stage.prefix + group.name, "--bootstrap", stage.bootstrap, "--strategy", "roundrobin")
    evenkeel("plan", *given, "--out", str(path))
    plan = read_plan(path.read_bytes())
    rack_of = {member.id: str(member.rack) for member in group.seen().members}
    wanted = {
        rack_of[str(one.member_id)]: {number for _, number in one.pairs} for one in plan.members
    }
    assert wanted != LOCAL
    return wanted


def until_targets(group: Group, wanted: Owned, what: str) -> None:
    """Let the group change until the broker means its members to have this, and they have it."""

    def reached() -> bool:
        group.change()
        return group.targets() == wanted

    wait_until(reached, SECONDS, what)
    group.until(lambda owned: owned == wanted, what)


def test_a_group_follows_a_plan_through_restarts_and_a_member_that_leaves(
    planned: tuple[Stage, Group, Path],
) -> None:
    """From the next change on; each member is known after a restart, and the part of one that is gone is shared."""
    stage, group, path = planned
    wanted = plan_for(stage, group, path)
    assert group.targets() == LOCAL
    until_targets(group, wanted, "the plan")
    before = {member.instance_id: member.id for member in group.seen().members}
    for rack in RACKS.values():
        group.leave(rack)
        group.join(rack)
        group.until(lambda owned: owned == wanted, f"{rack} to have its part again")
    assert all(before[one.instance_id] != one.id for one in group.seen().members)
    group.change()
    assert group.targets() == wanted
    group.leave("rack-b")
    owned = group.until(lambda owned: sum(map(len, owned.values())) == 6, "all to be owned")
    assert all(wanted[rack] <= own for rack, own in owned.items())
    group.join("rack-b")
    group.until(lambda owned: owned == wanted, "the plan again")


def test_a_plan_that_is_over_or_broken_is_not_followed(planned: tuple[Stage, Group, Path]) -> None:
    """From the next change on racks decide, and a new plan is followed again."""
    stage, group, path = planned
    until_targets(group, plan_for(stage, group, path), "the plan")
    over = utc_now() + timedelta(seconds=8)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(json.loads(path.read_text()) | {"valid_until": over.isoformat()}))
    partial.replace(path)
    until_targets(group, LOCAL, "the end of the plan")
    assert utc_now() >= over
    until_targets(group, plan_for(stage, group, path), "a new plan")
    path.write_text(path.read_text()[:-20])
    until_targets(group, LOCAL, "the racks")


def test_members_without_instance_id_are_known_until_they_restart(brokers: WithAssignor) -> None:
    """By their member ids; who has restarted gets a share as one that is new, the others what is theirs by the plan."""
    with to_be_planned(brokers, static=False) as (stage, group, path):
        wanted = plan_for(stage, group, path)
        until_targets(group, wanted, "the plan")
        group.leave("rack-c")
        halves = group.until(lambda owned: [len(own) for own in owned.values()] == [3, 3], "halves")
        assert all(wanted[rack] < own for rack, own in halves.items())
        group.join("rack-c")
        owned = group.until(
            lambda owned: owned["rack-c"] != set() and owned == group.targets(),
            "a share for whom the plan does not know any more",
        )
        others = {"rack-a", "rack-b"}
        for rack in others:
            (other,) = others - {rack}
            assert not owned[rack] & wanted[other]
        group.change()
        assert group.targets() == owned
