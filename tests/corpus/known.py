"""What the stage knows of its own groups, as `truth` writes it down."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np

from tests.corpus.truth import Arrivals, Event, Group, Member, Pair, Topic, Trouble, moment
from tests.stage.chaos.run import Struck
from tests.stage.workload.groups import GROUPS, RACK_LETTERS, TOPICS, GroupPlan
from tests.stage.workload.streams_app import INSTANCES
from tests.twins.groups import COMMIT_SECONDS, PacedMembers, Twins
from tests.twins.plan import INTERVAL, MEMBERS
from tests.twins.run import Lived, lag_of

STREAMS_COMMIT_SECONDS = 5.0
"""As `CountingApp.java` has it."""

OWNERS = {"range": (0, 0, 1, 1, 2, 2), "roundrobin": (0, 1, 2, 0, 1, 2)}
"""The member of each partition of a pair's topic."""


def workload_groups(names: Collection[str], began: datetime) -> list[Group]:
    """The groups of the demo that could be had."""
    return [_group(plan, began) for plan in GROUPS if plan.name in names]


def _group(plan: GroupPlan, began: datetime) -> Group:
    streams = plan.kind.startswith("streams")
    live = plan.kind in ("classic", "consumer")
    commits = STREAMS_COMMIT_SECONDS if streams else plan.commit_seconds
    return Group(
        group=plan.name,
        purpose=plan.purpose,
        protocol=plan.kind,
        assignor=("evenkeel-plan" if plan.follows else plan.assignor)
        if plan.kind == "classic"
        else None,
        auto_offset_reset="earliest" if live or streams else None,
        commit_seconds=commits if streams or (live and plan.commits) else None,
        topics=plan.topics,
        members=[
            Member(
                client_id=f"{plan.name}-{number}",
                rack=f"rack-{RACK_LETTERS[(number - 1) % 3]}" if plan.racks else None,
                static=plan.static,
                records_per_second=plan.speed,
            )
            for number in range(1, (INSTANCES if streams else plan.members) + 1)
        ],
        troubles=[*_troubles(plan, moment(began))],
    )


def _troubles(plan: GroupPlan, at: str) -> Iterator[Trouble]:
    if plan.kind == "empty":
        yield Trouble(what="no members", at=at)
    elif plan.kind == "rebalancing":
        yield Trouble(what="rebalancing", at=at)
    elif plan.kind == "classic" and not plan.commits:
        yield Trouble(what="no commits", at=at)
    elif plan.slow_member is not None:
        member = f"{plan.name}-{plan.slow_member}"
        yield Trouble(what="slow member", at=at, member=member, committed_share=plan.slow_share)
    elif plan.speed is not None:
        # range gives the first member the busy partition of each topic
        yield Trouble(what="skewed load", at=at, member=f"{plan.name}-1")
    elif plan.slow_partition is not None:
        share = plan.slow_share
        where = plan.slow_partition
        yield Trouble(what="hot partition", at=at, partition=where, committed_share=share)


def workload_topics(began: datetime) -> list[Topic]:
    """What the demo's producer writes, all the time."""
    return [Topic(topic=each.name, arrivals=[_arrivals(began, each.rates)]) for each in TOPICS]


def _arrivals(at: datetime, rates: Sequence[float]) -> Arrivals:
    return Arrivals(at=moment(at), records_per_second=[round(rate, 3) for rate in rates])


def blows(struck: Sequence[Struck]) -> list[Event]:
    """What was done to the parts of a demo."""
    return [
        Event(
            at=moment(each.began),
            until=moment(each.ended) if each.ended and _lasts(each) else None,
            on=each.blow.part,
            what=each.blow.how,
        )
        for each in struck
    ]


def _lasts(struck: Struck) -> bool:
    """Whether it was over when it was let go on; tasks and Spark steps are never started again by the storm."""
    part, how = struck.blow.part, struck.blow.how
    return how != "keeps it and the sender dies" and (part, how) not in (
        ("task", "is killed"),
        ("spark", "is killed"),
    )


class KnownPair:
    """A pair of twins once it has lived."""

    def __init__(self, twins: Twins, lived: Lived, seconds: float) -> None:
        self.twins, self.pair, self.lived = twins, twins.pair, lived
        assert twins.switched_at is not None
        assert twins.switch_ended_at is not None
        self.began, self.switch_at = lived.began, twins.switched_at
        self.switch_until = twins.switch_ended_at
        self.until = self.switch_at + seconds

    @property
    def groups(self) -> list[Group]:
        """Both."""
        return [self._group(group) for group in self.twins.groups]

    def _group(self, group: PacedMembers) -> Group:
        goes = group is self.twins.groups[0] and self.pair.strategy is not None
        does = f"switches to {self.pair.strategy}" if goes else "stays"
        return Group(
            group=group.name,
            purpose=f"{self.pair.kind}; {does}",
            protocol="classic",
            assignor="range",
            auto_offset_reset="earliest",
            commit_seconds=COMMIT_SECONDS,
            topics=[group.topic],
            members=[
                Member(
                    client_id=f"{group.name}-{number + 1}",
                    records_per_second=round(self.pair.speed(number, 0), 2),
                    slowed_share=self.pair.contention,
                )
                for number in range(MEMBERS)
            ],
            troubles=[*self._troubles(group, goes)],
        )

    def _rates(self, at: float) -> list[float]:
        since = at - self.switch_at
        return [*self.pair.rates(at - self.began, since if since >= 0 else None)]

    def _troubles(self, group: PacedMembers, goes: bool) -> Iterator[Trouble]:
        """Of each stretch in which neither traffic nor owners change, its mean arrivals over its members' speeds."""
        turns = {self.began, self.switch_at, self.until}
        turns |= {self.switch_until} if goes else set()
        if self.pair.moves_after is not None:
            turns.add(self.switch_at + self.pair.moves_after)
        edges = sorted(turns)
        last: Trouble | None = None
        for at, until in pairwise(edges):
            switched = goes and at >= self.switch_until
            owner = OWNERS[self.pair.strategy or "range"] if switched else OWNERS["range"]
            rates = np.mean([self._rates(t) for t in np.arange(at, until, 1.0)], axis=0)
            loads = np.bincount(owner, rates)
            can = np.array([self.pair.speed(n, MEMBERS - 1) for n in range(MEMBERS)])
            what, member = None, None
            if rates.sum() > can.sum():
                what = "under-provisioned"
            elif (loads > can).any():
                what, member = "skewed load", f"{group.name}-{int(np.argmax(loads / can)) + 1}"
            if last is not None and (last.what, last.member) != (what, member):
                yield Trouble(what=last.what, member=last.member, at=last.at, until=_told(at))
                last = None
            if what is not None and last is None:
                last = Trouble(what=what, member=member, at=_told(at))
        if last is not None:
            yield last

    @property
    def topic(self) -> Topic:
        """What was written to it: a value for each interval, and one more where something changes."""
        turns = {*np.arange(self.began, self.until, INTERVAL), self.switch_at}
        if self.pair.moves_after is not None:
            turns.add(self.switch_at + self.pair.moves_after)
        return Topic(
            topic=self.twins.topic,
            arrivals=[_arrivals(_at(t), self._rates(float(t))) for t in sorted(turns)],
        )

    @property
    def events(self) -> list[Event]:
        """The switch, and what happens to the traffic of both."""
        topic, found = self.twins.topic, list[Event]()
        if self.pair.strategy is not None:
            when = (_told(self.switch_at), _told(self.switch_until))
            on, what = self.twins.groups[0].name, f"switches to {self.pair.strategy}"
            found.append(Event(at=when[0], until=when[1], on=on, what=what))
        if self.pair.factor != 1:
            what = f"traffic x {self.pair.factor:g}"
            found.append(Event(at=_told(self.switch_at), until=None, on=topic, what=what))
        if self.pair.moves_after is not None:
            at = _told(self.switch_at + self.pair.moves_after)
            found.append(Event(at=at, until=None, on=topic, what="a hot key moves"))
        return found

    @property
    def measured(self) -> Pair:
        """How far both were behind, by nothing but offsets."""
        goes, stays = (group.name for group in self.twins.groups)
        moments = sorted({seen.taken_at.timestamp() for seen in self.lived.seen[goes]})
        first = max(at for at in moments if at <= self.switch_at)
        last = max(at for at in moments if at <= self.until)
        return Pair(
            pair=self.pair.name,
            kind=str(self.pair.kind),
            goes=goes,
            stays=stays,
            strategy=self.pair.strategy,
            switch_at=_told(self.switch_at),
            switch_until=_told(self.switch_until),
            seconds=round(last - first, 1),
            lag_goes=self._lag(goes, first, last),
            lag_stays=self._lag(stays, first, last),
        )

    def _lag(self, group: str, first: float, last: float) -> float:
        known = [
            (seen.taken_at.timestamp(), lag)
            for seen in self.lived.seen[group]
            if first <= seen.taken_at.timestamp() <= last and (lag := lag_of(seen)) is not None
        ]
        moments, lags = np.array(known).T
        return round(float(np.trapezoid(lags, moments)), 1)


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)


def _told(seconds: float) -> str:
    return moment(_at(seconds))
