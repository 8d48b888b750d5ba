"""The replay of a live KIP-848 group is the target assignment that its coordinator then has, as members come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
from confluent_kafka import Consumer

from evenkeel.engine.assignors.kafka.protocol_names import SERVER_SIDE
from evenkeel.engine.config import Settings
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.groups import GroupSnapshot, Member, PartitionTable
from tests.helpers.kafka_stage import Stage, close, groups_with_targets
from tests.helpers.measuring import proposed
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.kafka_fixtures",)
pytestmark = pytest.mark.kafka

SIZES = {"many": 60, "more": 37, "few": 7}
"""Partitions per topic: so many that their numbers share buckets of the coordinator's sets."""

EQUAL = (("many", "more", "few"),) * 8
UNEQUAL = (
    ("many", "more", "few"),
    ("many",),
    ("more", "few"),
    ("many", "few"),
    ("few",),
    ("many", "more"),
    ("more",),
    ("many", "more", "few"),
)

COMING_AND_GOING = ("joins",) * 5 + ("leaves", "joins", "leaves", "leaves")
"""What happens one after the other: who leaves is the one that has been there longest."""

Owners = Mapping[tuple[str, int], str]
"""(topic, partition) -> id of the member that shall own it."""


class LiveGroup:
    """A KIP-848 group of real members, one joining or leaving at a time; it begins with one."""

    def __init__(
        self,
        stage: Stage,
        name: str,
        strategy: str,
        subscriptions: Sequence[Sequence[str]],
        racks: Sequence[str] = (),
    ) -> None:
        self.stage, self.name, self.strategy = stage, stage.prefix + name, strategy
        self.members: list[Consumer] = []
        self.subscriptions: list[Sequence[str]] = []
        self._coming = iter(subscriptions)
        self._racks = cycle(racks)
        self.join()

    def join(self) -> None:
        """One more member, in the next of the racks."""
        rack = next(self._racks, None)
        consumer = Consumer(
            {
                **({} if rack is None else {"client.rack": rack}),
                "bootstrap.servers": self.stage.bootstrap,
                "group.id": self.name,
                "group.protocol": "consumer",
                "group.remote.assignor": SERVER_SIDE[self.strategy],
                "log_level": 1,
            }
        )
        self.stage.ending.callback(close, consumer)
        topics = next(self._coming)
        consumer.subscribe([self.stage.prefix + name for name in topics])
        self.members.append(consumer)
        self.subscriptions.append(topics)

    def leave(self) -> None:
        """The member that has been there longest leaves."""
        self.subscriptions.pop(0)
        close(self.members.pop(0))

    def settled(self) -> GroupSnapshot:
        """
        The group once its coordinator has worked out the target of exactly these members, over all partitions.

        New topics come to a coordinator by and by; a target of some of them is soon followed by another one.
        """
        found: list[GroupSnapshot] = []
        partitions = sum(SIZES[topic] for topic in set().union(*self.subscriptions))

        def has_target() -> bool:
            for consumer in self.members:
                consumer.poll(0)
            topics = f"{self.stage.prefix}*"
            found[:] = groups_with_targets(self.stage.bootstrap, self.name, topics).values()
            complete = bool(found) and len(targets(found[0])) == partitions
            return complete and len(found[0].members) == len(self.members)

        wait_until(has_target, 180, f"{len(self.members)} members of {self.name}", interval=0.1)
        return found[0]


def keys_of(table: PartitionTable) -> list[tuple[str, int]]:
    """(topic, partition) of each row."""
    return list(zip(table.names, table.partition.tolist(), strict=True))


def targets(group: GroupSnapshot) -> Owners:
    """Who shall own what."""
    table = group.partitions
    owners = zip(keys_of(table), table.target_owner.tolist(), strict=True)
    return {key: group.members[owner].id for key, owner in owners if owner != NONE}


def orders(before: GroupSnapshot, after: GroupSnapshot) -> list[tuple[Member, ...]]:
    """
    In which orders the coordinator may have handed the members of *after* to its assignor.

    Members in one bucket of Java's map stay in that order, and it may decide a tie. Where the target is worked out as
    a member joins, that one comes last; where it is only later, since the last one is younger than
    `group.consumer.assignment.interval.ms` (1 s), the member stands where the coordinator lists it (Kafka 4.3).
    """
    known = {m.id for m in before.members}
    last = sorted(after.members, key=lambda m: m.id not in known)
    return [tuple(last), after.members]


def with_members(
    before: GroupSnapshot, after: GroupSnapshot, members: tuple[Member, ...]
) -> GroupSnapshot:
    """The group at rest with the *members* it has after, those new among them without anything yet."""
    place = {m.id: i for i, m in enumerate(members)}
    was, table, owners = before.partitions, after.partitions, targets(before)
    turns = dict(zip(keys_of(was), was.target_turn.tolist(), strict=True))
    target = [place.get(owners.get(key, ""), NONE) for key in keys_of(table)]
    turn = [turns.get(key, NONE) for key in keys_of(table)]
    return replace(
        after,
        state="Stable",
        members=members,
        partitions=replace(
            table,
            target_owner=np.array(target, np.int32),
            target_turn=np.array(turn, np.int32),
        ),
    )


def predicted(group: GroupSnapshot, strategy: str) -> Owners:
    """Who would own what after the strategy's next rebalance, by its candidate row."""
    (row,) = (r for r in proposed(Settings(), group, []) if r["strategy"] == strategy)
    moved = {(m["topic"], m["partition"]): m["to_member"] for m in row["moved"]}
    owners = {**targets(group), **moved}
    return {key: member for key, member in owners.items() if member is not None}


@pytest.fixture
def stage(stage: Stage) -> Stage:
    """With the topics."""
    for name, size in SIZES.items():
        stage.topic(name, [0] * size)
    return stage


def test_the_prediction_is_the_target_the_coordinator_then_has(stage: Stage) -> None:
    """Whoever joins or leaves, the new target is what the replay says beforehand, partition by partition."""
    live = [
        LiveGroup(stage, f"{strategy}-{len(set(subscriptions))}", strategy, subscriptions)
        for strategy in ("uniform", "range-server")
        for subscriptions in (EQUAL, UNEQUAL)
    ]
    compare_as_members_come_and_go(live)


def compare_as_members_come_and_go(live: Sequence[LiveGroup]) -> None:
    """Each new target of each group beside what the replay says beforehand."""
    before = {group.name: group.settled() for group in live}
    compared: Counter[str] = Counter()
    for what in COMING_AND_GOING:
        for group in live:
            group.join() if what == "joins" else group.leave()
        for group in live:
            after, was = group.settled(), before[group.name]
            before[group.name] = after
            # a target in between, as of topics that the coordinator came to know late, was seen by nobody
            if after.epoch != (was.epoch or 0) + 1:
                continue
            compared[group.name] += 1
            expected = [
                predicted(with_members(was, after, members), group.strategy)
                for members in orders(was, after)
            ]
            assert targets(after) in expected, f"{group.name}: {what}, {len(group.members)} then"
    least = len(COMING_AND_GOING) - 2
    assert {name: compared[name] for name in before if compared[name] < least} == {}
