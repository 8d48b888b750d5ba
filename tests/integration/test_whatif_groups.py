"""What `whatif --without` says of a group is what its members then get: Java's consumers, on real brokers."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from evenkeel.engine.config import Settings
from evenkeel.engine.followers.plan import FALLBACKS, NAME, Plan, PlannedMember, read_plan
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.pipeline.whatif import Leaves, following_of, outcomes, suppose
from tests.helpers.kafka_session import ClusterInUse
from tests.helpers.kafka_stage import Stage, groups_with_targets
from tests.helpers.measuring import seen
from tests.oracle.follower import FollowerGroupJvm
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = [pytest.mark.kafka, pytest.mark.timeout(1200)]

SIZES = {"one": 1, "few": 3, "some": 5, "many": 8, "more": 12}
"""Partitions per topic; each on a broker of its own."""

RACKS = ("rack-a", "rack-b", "rack-c")
CLASSES = {
    "range": "Range",
    "roundrobin": "RoundRobin",
    "sticky": "Sticky",
    "cooperative-sticky": "CooperativeSticky",
}
"""Kafka's client-side assignors; `uniform` is a broker's, and plans are followed by a class of ours."""

OFTEN = ("cooperative-sticky", "uniform", NAME)
"""A class of Kafka's that goes by what members had, a broker's assignor, and plans; the others are for the night."""

FOLLOWER = "io.evenkeel.EvenkeelPlanAssignor"
HOST = "127.0.0.1"
"""As the brokers see every member."""

Lists = Mapping[str, list[tuple[str, int]]]
"""Member id -> its partitions, sorted."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A member: its client id, topics without the prefix, and what else its client is told."""

    client: str
    topics: list[str]
    settings: Mapping[str, str]


class Live:
    """Groups of one strategy whose members are Java's consumers."""

    def __init__(
        self, jvm: FollowerGroupJvm, stage: Stage, strategy: str, count: int, folder: Path
    ) -> None:
        self.jvm, self.stage, self.strategy, self.folder = jvm, stage, strategy, folder
        chance = random.Random(strategy)
        self.members = {f"{stage.prefix}g{n:02}": self._drawn(chance) for n in range(count)}
        self.leaving = {
            name: chance.choice([one for one in own if self._goes_soon(one)]).client
            for name, own in self.members.items()
        }
        for name, members in self.members.items():
            self.plan_file(name).write_text(self._plan(chance, name, members).to_json())

    def plan_file(self, group: str) -> Path:
        """What a group follows, where it follows plans."""
        return self.folder / f"{group}.json"

    def _plan(self, chance: random.Random, group: str, members: list[Planned]) -> Plan:
        """Anything goes to anybody who subscribes to it."""
        given: dict[str, dict[str, tuple[int, ...]]] = {one.client: {} for one in members}
        for topic, size in SIZES.items():
            for number in range(size):
                takers = [one.client for one in members if topic in one.topics]
                if takers:
                    own = given[chance.choice(takers)]
                    own[self.stage.prefix + topic] = (
                        *own.get(self.stage.prefix + topic, ()),
                        number,
                    )
        return Plan(
            group=group,
            members=tuple(
                PlannedMember(
                    partitions=given[one.client],
                    instance_id=one.settings.get("group.instance.id"),
                    client_id=one.client,
                    host=HOST,
                )
                for one in members
            ),
            made_at=utc_now(),
            valid_until=utc_now() + timedelta(days=1),
            fallback=chance.choice(FALLBACKS),
            strategy="balanced",
        )

    def _drawn(self, chance: random.Random) -> list[Planned]:
        """Two to four members, alike or not; some with racks, some static."""
        alike = chance.random() < 0.5
        racked, static = chance.random() < 0.5, chance.random() < 0.3
        usual = chance.sample([*SIZES], chance.randint(1, 3))
        members = []
        for number in range(chance.randint(2, 4)):
            topics = usual if alike else chance.sample([*SIZES], chance.randint(1, 3))
            settings = {}
            if racked:
                settings["client.rack"] = chance.choice(RACKS)
            if static and number and chance.random() < 0.7:
                settings["group.instance.id"] = f"i{9 - number}"
            members.append(Planned(client=f"c{number}", topics=topics, settings=settings))
        return members

    def _goes_soon(self, member: Planned) -> bool:
        """Whether nobody has to wait for the end of its session, which is the broker's to say in KIP-848 groups."""
        return self.strategy != "uniform" or "group.instance.id" not in member.settings

    def start(self) -> None:
        """All members join."""
        for name, members in self.members.items():
            for member in members:
                settings = {
                    "bootstrap.servers": self.stage.bootstrap,
                    "group.id": name,
                    "client.id": member.client,
                    **member.settings,
                    **self._settings(name),
                }
                topics = [self.stage.prefix + topic for topic in member.topics]
                self.jvm.start(f"{name} {member.client}", settings, topics)

    def _settings(self, group: str) -> Mapping[str, str]:
        if self.strategy == "uniform":
            return {"group.protocol": "consumer", "group.remote.assignor": "uniform"}
        stock = f"org.apache.kafka.clients.consumer.{CLASSES.get(self.strategy)}Assignor"
        assignor = FOLLOWER if self.strategy == NAME else stock
        return {
            "evenkeel.plan": str(self.plan_file(group)),
            "partition.assignment.strategy": assignor,
            "heartbeat.interval.ms": "300",
            "session.timeout.ms": "20000",
            "evenkeel.plan.timeout.ms": "15000",
        }

    def leave(self) -> None:
        """Of each group one member goes; a static one is missed when its session ends."""
        self.jvm.stop(*(f"{name} {client}" for name, client in self.leaving.items()))
        for name, client in self.leaving.items():
            self.members[name] = [one for one in self.members[name] if one.client != client]

    def stop(self) -> None:
        """All members go."""
        every = ((name, member) for name, own in self.members.items() for member in own)
        self.jvm.stop(*(f"{name} {member.client}" for name, member in every))

    def at_rest(self) -> dict[str, GroupSnapshot]:
        """The groups, once each has exactly its members, and these own all there is."""
        found: dict[str, GroupSnapshot] = {}

        def so() -> bool:
            found.clear()
            found.update(groups_with_targets(self.stage.bootstrap, f"{self.stage.prefix}*"))
            return all(name in found and self._rests(found[name]) for name in self.members)

        wait_until(so, 250, f"groups that run {self.strategy} to be at rest", interval=0.5)
        self.jvm.owned()  # nobody failed, nobody got what another had
        return found

    def _rests(self, group: GroupSnapshot) -> bool:
        table = group.partitions
        here = sorted(member.client_id for member in group.members)
        return (
            group.state == "Stable"
            and here == sorted(member.client for member in self.members[group.group])
            and bool((table.owner[table.assignable] != NONE).all())
            and (self.strategy != "uniform" or bool((table.owner == table.target_owner).all()))
        )


def owned(group: GroupSnapshot) -> Lists:
    """Who owns what."""
    table = group.partitions
    lists: dict[str, list[tuple[str, int]]] = {member.id: [] for member in group.members}
    for topic, number, owner in zip(
        table.names, table.partition.tolist(), table.owner.tolist(), strict=True
    ):
        if owner != NONE:
            lists[group.members[owner].id].append((topic, number))
    return {member: sorted(pairs) for member, pairs in lists.items()}


def foreseen(group: GroupSnapshot, client: str, strategy: str, file: Path) -> Lists:
    """Who would own what without that member; a plan by the default fallback need not be known for that."""
    plan = read_plan(file.read_text())
    following = following_of(group, None if plan.fallback == FALLBACKS[0] else plan)
    [member] = [one.id for one in group.members if one.client_id == client]
    supposed = suppose(seen(group), [Leaves(member=member)])
    [outcome] = outcomes(Settings(), supposed, [strategy], following)
    assert outcome.lists is not None, outcome.candidate.reason
    return {name: sorted(pairs) for name, pairs in outcome.lists.items()}


@pytest.mark.parametrize("count", [5, pytest.param(20, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    "strategy",
    [
        *OFTEN,
        *(pytest.param(one, marks=pytest.mark.nightly) for one in CLASSES if one not in OFTEN),
    ],
)
def test_without_a_member_the_others_get_what_was_said(
    kafka_cluster: ClusterInUse,
    members_jvm: FollowerGroupJvm,
    strategy: str,
    count: int,
    tmp_path: Path,
) -> None:
    """Random groups, partition by partition, whatever racks, subscriptions, plans and static members."""
    with Stage.on(kafka_cluster.bootstrap, f"{kafka_cluster.prefix}whatif-{strategy}-") as stage:
        chance = random.Random(1)
        for name, partitions in SIZES.items():
            stage.topic(
                name, [0] * partitions, on=[chance.randint(1, 3) for _ in range(partitions)]
            )
        live = Live(members_jvm, stage, strategy, count, tmp_path)
        live.start()
        try:
            before = live.at_rest()
            said = {
                n: foreseen(g, live.leaving[n], strategy, live.plan_file(n))
                for n, g in before.items()
            }
            live.leave()
            after = live.at_rest()
        finally:
            live.stop()
    came = {name: owned(group) for name, group in after.items()}
    assert len(said) == len(came) == count
    assert {name: (said[name], came[name]) for name in said if said[name] != came[name]} == {}
