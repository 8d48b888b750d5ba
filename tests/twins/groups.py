"""A pair of twins on real brokers: paced members, what arrives, and a scaler."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.helpers.applied import ON, SECONDS, Members, do, runbook_of, way_of
from tests.helpers.kafka_stage import Stage, close
from tests.stage.workload.groups import GroupPlan, TopicPlan
from tests.stage.workload.members import Member, SteadyProducer
from tests.stage.workload.topics import Placement
from tests.twins.plan import MEMBERS, Pair

COMMIT_SECONDS = 1.0
"""From one commit to the next: few of them between two snapshots would make speeds look uneven."""


@dataclass
class PacedMember(Member):
    """A member that does so many records/s of what it reads, by the settings of its group."""

    group: PacedMembers = field(kw_only=True)
    settings: Mapping[str, str] = field(kw_only=True)

    @property
    def busy(self) -> bool:
        """Whether it has read something that it has not done."""
        return any(known.done < known.read for known in tuple(self._progress.values()))

    def speed(self) -> float:
        """By its number, and by what the others do."""
        return self.group.speed(self.number - 1)

    def _settings(self) -> dict[str, object]:
        own = super()._settings()
        del own["partition.assignment.strategy"]
        # all that waits is read at once: how fast it is done is another question
        return own | {"heartbeat.interval.ms": 1_000, **self.settings}

    def _lose(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Commit what is done, as clients do by themselves."""
        self._commit(consumer, asynchronous=False)
        super()._lose(consumer, partitions)

    def _close(self, consumer: Consumer) -> None:
        close(consumer)


class PacedMembers(Members):
    """A group of them."""

    client = "librdkafka"
    units = count = MEMBERS

    def __init__(self, stage: Stage, name: str, topic: str, pair: Pair) -> None:
        super().__init__(stage, name, {"partition.assignment.strategy": "range"}, topic=topic)
        self.pair = pair
        self.running: dict[int, PacedMember] = {}
        self.plan = GroupPlan(
            name=self.name,
            purpose="",
            kind="classic",
            topics=(topic,),
            members=MEMBERS,
            commit_seconds=COMMIT_SECONDS,
        )
        self._may_commit = Event()
        self._may_commit.set()

    def speed(self, number: int) -> float:
        """Records/s that a member does now."""
        others = [one for at, one in tuple(self.running.items()) if at != number]
        return self.pair.speed(number, sum(one.busy for one in others))

    def check(self) -> None:
        """Whether none has ended by itself."""
        ended = [one.client_id for one in self.running.values() if one.join(0)]
        assert not ended, f"ended: {ended}"

    def start(self, number: int) -> None:
        """In a thread of its own."""
        self.running[number] = PacedMember(
            bootstrap=self.stage.bootstrap,
            prefix="",
            plan=self.plan,
            number=number + 1,
            placement=Placement({}, {}),
            may_commit=self._may_commit,
            group=self,
            settings=dict(self.settings),
        )

    def stop(self, number: int) -> None:
        """It commits and leaves."""
        member = self.running.pop(number, None)
        if member is not None:
            member.ask_to_end()
            assert member.join(SECONDS), f"{member.client_id} does not end"

    def end(self) -> None:
        """All at once, a scaler's included."""
        for member in tuple(self.running.values()):
            member.ask_to_end()
        for number in tuple(self.running):
            self.stop(number)


class Twins:
    """Two groups on one topic; the first may switch."""

    def __init__(self, stage: Stage, pair: Pair) -> None:
        self.stage, self.pair = stage, pair
        # who has read something already begins with what arrives at once
        self.topic = stage.topic("topic", [10] * len(ON))
        self.groups = tuple(
            PacedMembers(stage, name, self.topic, pair) for name in ("goes", "stays")
        )
        self.switched_at: float | None = None
        self.switch_ended_at: float | None = None
        self.done = Event()

    @property
    def since_switch(self) -> float | None:
        """Seconds since the switch began, or would have; None: it did not."""
        return None if self.switched_at is None else time.time() - self.switched_at

    def start(self) -> None:
        """All members of both join."""
        for number in range(MEMBERS):
            for group in self.groups:
                group.start(number)

    def switch(self) -> None:
        """One group does what the runbook says; of a null pair none does anything."""
        goes, _ = self.groups
        if self.pair.strategy is not None:
            runbook = runbook_of(goes, self.pair.strategy)
            self.switched_at = time.time()
            do(goes, way_of(runbook, goes)["rounds"])
        else:
            self.switched_at = time.time()
        self.switch_ended_at = time.time()
        self.done.set()

    def scale(self, lags: Sequence[int | None]) -> None:
        """Let the scaler of each group see what its lag is."""
        since = self.since_switch
        if since is None or not self.done.is_set():
            return
        for group, lag in zip(self.groups, lags, strict=True):
            has = MEMBERS in group.running
            wants = self.pair.wants_more(since, lag or 0, has)
            if wants and not has:
                group.start(MEMBERS)
            elif has and not wants:
                group.stop(MEMBERS)


class Arrivals(SteadyProducer):
    """Writes what arrives at all pairs, in one thread."""

    def __init__(self, producer: Producer, twins: Sequence[Twins]) -> None:
        self._twins = {each.topic: each for each in twins}
        self.began = time.time()
        topics = [
            TopicPlan(name, ("",) * len(ON), (0.0,) * len(ON), (0,) * len(ON))
            for name in self._twins
        ]
        super().__init__(producer, "", topics)

    def _rates(self, topic: TopicPlan) -> Sequence[float]:
        twins = self._twins[topic.name]
        return twins.pair.rates(time.time() - self.began, twins.since_switch)


def ended(twins: Sequence[Twins]) -> None:
    """All members of all leave, those that do not are left to themselves."""
    every: list[Any] = [m for t in twins for g in t.groups for m in tuple(g.running.values())]
    for member in every:
        member.ask_to_end()
    for each in twins:
        for group in each.groups:
            with suppress(AssertionError):
                group.end()
