"""
Why a group rebalanced, from its members, epochs, subscriptions and commits in consecutive snapshots.

Kafka keeps no record of rebalances. What two snapshots differ in tells most causes, and the snapshots before tell
whether a change is one of many:

| cause | evidence |
| --- | --- |
| crash loop | a member (by instance id, client id, or client id and host) joined 3 times or more in the lookback |
| scaler flapping | members that come and go together: the number of members rose and fell twice or more |
| deploy | new members replace 2 or more of those at the beginning of the lookback, each once |
| subscription changed | the group subscribes to other topics |
| partitions added | a subscribed topic was created or has more partitions |
| coordinator moved | another broker coordinates the group |
| poll timeout | a member had lag and no commits, left, and returned, under KIP-848 with the same id |
| session timeout | the same, and it did not return |
| member restarted | a member returned with another member id |
| members added, members removed | the others |
| unknown | the epoch, the assignment or the state shows a rebalance, and nothing else changed |

**Number of rebalances.** A KIP-848 group has an epoch, and members of sticky strategies tell their generation: the
difference counts all rebalances in between. Otherwise each dynamic member that joined or left counts as one, which is
too many if several joined at once, and too few if a member came and went between two snapshots.

**What it does not do**: distinguish a process that crashes from one that a scheduler restarts, or a member whose
`max.poll.interval.ms` expired from one that was suspended: both leave after their commits stopped and return. A scaler
that adds and removes one member under one name looks like a crash loop.

Source: KIP-345 (static members), KIP-848 (epochs), KIP-62 (poll and session timeouts).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..model.arrays import NONE, Flags, Floats, Indices
from ..model.batch import GroupBatch, count_by
from ..model.facts import Fact, finding
from ..model.states import RebalanceCause
from .past import Past
from .rebalances import marks_of
from .samples import Samples

RETURNS = 3
"""Joins of one member in the lookback that make a crash loop."""

MANY = 5
"""The same if half of the members or more join again and again: fewer may be one deploy after the other."""

REVERSALS = 2
"""Changes of direction of the number of members that make a scaler flapping."""

HALF = 0.5
"""A member that committed less than this share of its incoming records, while the others did more, had stopped."""

REPLACED, SHARE = 2, 3
"""A deploy replaces at least so many members, and one in so many unless all within `SHARE` consecutive intervals."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Look:
    """
    A group in one of its snapshots.

    Attributes:
        taken_at: Start of the snapshot.
        moving: Whether the group was rebalancing.
        epoch: Group epoch, or the newest generation that a member tells; None unknown.
        coordinator: Id of the broker that coordinates it; None unknown.
        names: Member id -> name that survives restarts.
        static: Ids of members with an instance id.
        topics: Subscribed topics -> number of their partitions, 0 if they do not exist; None if a member tells no
            subscription.
    """

    taken_at: datetime
    moving: bool
    epoch: int | None
    coordinator: int | None
    names: Mapping[str, str]
    static: frozenset[str]
    topics: Mapping[str, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    What changed between two consecutive snapshots.

    Attributes:
        came, gone: Member ids.
        restarted: Names of members that returned with another id, or are in the group twice.
        stuck: Those of *gone* whose partitions had lag and no commits in the interval before -> for how many seconds.
    """

    came: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    restarted: tuple[str, ...] = ()
    stuck: Mapping[str, float]

    @property
    def any(self) -> bool:
        """Whether members came or went."""
        return bool(self.came or self.gone)


@dataclass(frozen=True, kw_only=True, eq=False)
class Caused:
    """
    The rebalances of a group between its preceding snapshot and the newest one.

    Attributes:
        cause: The most specific cause.
        number: How many rebalances there were at least.
        by_epoch: Whether epochs or generations count them.
        missed: How many of them left no trace in the members; None unknown.
        since: Start of the preceding snapshot.
        joined, left, restarted: Names of members.
        names: Members that the cause is about.
        times: Joins of a crash loop, changes of direction of a flapping scaler, replaced members of a deploy.
        of: Members before a deploy, else the fewest in the lookback.
        topics: Topics that the cause is about.
        stuck_seconds: Seconds without commits before a timeout, by the name of the member.
        was, moved: (n) of the group's partitions, whether they had an owner before, and another one after.
        of_gone: (n) partitions whose owner left without a commit in the interval before; seconds, 0 elsewhere.
        of_restarted: (n) whether their owner restarted.
        static: Whether all restarted members are static.
        moving: Whether the group is still rebalancing, so that its assignment is unknown.
    """

    cause: RebalanceCause
    number: int
    by_epoch: bool
    missed: int | None
    since: datetime
    joined: tuple[str, ...]
    left: tuple[str, ...]
    restarted: tuple[str, ...]
    names: tuple[str, ...]
    times: int | None = None
    of: int | None = None
    topics: tuple[str, ...] = ()
    stuck_seconds: Mapping[str, float]
    was: Flags
    moved: Flags
    of_gone: Floats
    of_restarted: Flags
    static: bool
    moving: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """
    A crash loop or a flapping scaler in the lookback.

    Attributes:
        cause: Which of the two.
        names: Members.
        times: Joins of the member with the most, or changes of direction of the number of members.
        of: Fewest members.
        seconds: Length of the lookback.
    """

    cause: RebalanceCause
    names: tuple[str, ...]
    times: int
    of: int
    seconds: float


class RebalanceCauses:
    """The rebalances of the groups of a batch, and why they happened."""

    def __init__(self, past: Past, samples: Samples) -> None:
        """
        Args:
            past: The groups and their earlier samples.
            samples: Offsets, times and owners of their partitions.
        """
        self.past, self.samples = past, samples

    @cached_property
    def looked_at(self) -> list[int]:
        """The groups that may have rebalanced in the lookback."""
        batch = self.past.now
        hot = batch.flags(lambda header: header.rebalancing)
        marks = marks_of(batch.members)[:, 1]
        known = {}
        for old, of_group in zip(self.past.earlier, self.past.of_group, strict=True):
            if id(old.members) not in known:
                known[id(old.members)] = marks_of(old.members)[:, 1]
            there = np.flatnonzero(of_group != NONE)
            before = known[id(old.members)][of_group[there]]
            hot[there] |= before != marks[there]
        owner = self.samples.owner
        if len(owner) > 1:
            had = (owner[1:] != NONE).any(axis=1) if owner.shape[1] else np.zeros(0, np.bool_)
            for at in np.flatnonzero(had).tolist():
                differs = (owner[at] != owner[at + 1]) & (owner[at + 1] != NONE)
                hot |= count_by(differs, batch.start) > 0
        hot |= self._advanced()
        return [int(group) for group in np.flatnonzero(hot)]

    def _advanced(self) -> Flags:
        """(G) whether the epoch of a group is another than in an earlier snapshot, or its topics have grown."""
        batch = self.past.now
        hot = np.zeros(len(batch), np.bool_)
        epochs = [header.epoch for header in batch.headers]
        sizes = count_by(batch.partitions.assignable, batch.start)
        for old, of_group in zip(self.past.earlier, self.past.of_group, strict=True):
            there = np.flatnonzero(of_group != NONE)
            before = of_group[there]
            then = count_by(old.partitions.assignable, old.start)[before]
            hot[there] |= (then != sizes[there]) & (then > 0) & (sizes[there] > 0)
            for now, number in zip(there.tolist(), before.tolist(), strict=True):
                hot[now] |= old.headers[number].epoch != epochs[now]
        return hot

    @cached_property
    def _courses(self) -> dict[int, Course]:
        return {group: Course(self.past, self.samples, group) for group in self.looked_at}

    @cached_property
    def newest(self) -> dict[int, Caused]:
        """
        The rebalances between the preceding snapshot and the newest one, by the number of the group.

        None of a share group: its members stop for nobody and give up nothing.
        """
        headers = self.past.now.headers
        found = (
            (group, each.newest)
            for group, each in self._courses.items()
            if not headers[group].shares_partitions
        )
        return {group: caused for group, caused in found if caused is not None}

    @cached_property
    def repeated(self) -> dict[int, Repeated]:
        """Crash loops and flapping scalers, by the number of the group."""
        found = ((group, each.repeated) for group, each in self._courses.items())
        return {group: repeated for group, repeated in found if repeated is not None}

    @cached_property
    def deploying(self) -> set[int]:
        """The groups whose members are being replaced, each once."""
        return {group for group, each in self._courses.items() if each.deploying}


class Course:
    """One group over the lookback: snapshot 0 is the newest."""

    def __init__(self, past: Past, samples: Samples, group: int) -> None:
        self.past, self.samples, self.group = past, samples, group
        places = [(past.now, group), *past.snapshots_of(group)]
        self.rows = past.now.rows(group)
        self._places = places
        named = _named_by_client(places)
        self.looks = [_look(batch, number, named) for batch, number in places]

    @cached_property
    def changes(self) -> list[Change]:
        """What changed in each interval, the newest first."""
        return [self._change(at) for at in range(len(self.looks) - 1)]

    def _change(self, at: int) -> Change:
        now, then = self.looks[at], self.looks[at + 1]
        came = tuple(id for id in now.names if id not in then.names)
        gone = tuple(id for id in then.names if id not in now.names)
        before = Counter(then.names.values())
        back = [now.names[id] for id in came if before[now.names[id]]]
        stuck = {id: seconds for id in gone if (seconds := self._stuck(id, at + 1)) > 0}
        return Change(came=came, gone=gone, restarted=tuple(dict.fromkeys(back)), stuck=stuck)

    def _owned(self, member: str, at: int) -> Flags:
        """(n) the partitions of a member in a snapshot."""
        batch, number = self._places[at]
        own = batch.members_of(number)
        ids = batch.members.ids[own]
        if member not in ids:
            return np.zeros(self.rows.stop - self.rows.start, np.bool_)
        mine: Flags = self._owners(at) == own.start + list(ids).index(member)
        return mine

    def _owners(self, at: int) -> Indices:
        """(n) owners in a snapshot, numbered as in its own batch."""
        if at == 0:
            return self.past.now.partitions.owner[self.rows]
        owners: Indices = self.past.owners[at - 1, self.rows]
        return owners

    def _stuck(self, member: str, at: int) -> float:
        """Seconds up to snapshot *at* for which a member committed nothing though its partitions had lag."""
        samples, mine = self.samples, self._owned(member, at)
        behind = samples.committed[at, self.rows] < samples.end[at, self.rows]
        seconds = 0.0
        for interval in range(at, len(self.looks) - 1):
            if not (mine & behind).any() or (mine & ~self._owned(member, interval + 1)).any():
                break
            share, others = self._share(interval, mine), self._share(interval, ~mine)
            if share is None or share >= HALF or (others is not None and others < HALF):
                break
            lasted = float(np.nanmax(samples.seconds[interval, self.rows][mine], initial=0.0))
            seconds += (1 - share) * lasted
            if share > 0:
                break
        return seconds

    def _share(self, interval: int, rows: Flags) -> float | None:
        """Committed over incoming records of some partitions in an interval; None if nothing came, or unknown."""
        arrived = float(self.samples.arrived[interval, self.rows][rows].sum())
        consumed = float(self.samples.consumed[interval, self.rows][rows].sum())
        return consumed / arrived if arrived > 0 and not np.isnan(consumed) else None

    @cached_property
    def newest(self) -> Caused | None:
        """The rebalances since the preceding snapshot; None without any."""
        if len(self.looks) < 2:
            return None
        now, then, change = self.looks[0], self.looks[1], self.changes[0]
        rest = self._at_rest(1)
        was, moved = self._moved(rest)
        advanced = self._advanced()
        grown = self._topics(0)
        seen = sum(id not in now.static for id in change.came)
        seen += sum(id not in then.static for id in change.gone)
        if not (change.any or advanced or moved.any() or now.moving or any(grown)):
            return None
        # one that a snapshot found under way was counted there
        begun = not then.moving and (bool(moved.any()) or now.moving)
        number = advanced if advanced is not None else max(seen, int(begun))
        if number == 0 and not change.any and any(grown):
            number = int(advanced is None)
        cause, names, times, of, topics = self._cause(0)
        if cause is RebalanceCause.UNKNOWN and len(self.looks) > 2:
            # cooperative members rejoin, and members of the consumer protocol reconcile, after the change itself
            cause, names, times, of, topics = self._cause(1)
        gone_without = np.zeros(len(was))
        for id, seconds in change.stuck.items():
            gone_without[self._owned(id, rest)] = seconds
        back = set(change.restarted)
        of_restarted = np.zeros(len(was), np.bool_)
        old_ids = [id for id in change.gone if then.names[id] in back]
        for id in old_ids:
            of_restarted |= self._owned(id, rest)
        return Caused(
            cause=cause,
            number=number,
            by_epoch=advanced is not None,
            missed=None if advanced is None else max(0, advanced - seen),
            since=then.taken_at,
            joined=tuple(n for id in change.came if (n := now.names[id]) not in back),
            left=tuple(n for id in change.gone if (n := then.names[id]) not in back),
            restarted=change.restarted,
            names=names,
            times=times,
            of=of,
            topics=topics,
            stuck_seconds={then.names[id]: s for id, s in change.stuck.items()},
            was=was,
            moved=moved,
            of_gone=gone_without,
            of_restarted=of_restarted,
            static=bool(old_ids) and all(id in then.static for id in old_ids),
            moving=now.moving,
        )

    def _at_rest(self, at: int) -> int:
        """The newest snapshot from *at* on back in which members tell what they have; without one, *at*."""
        told = (
            place for place in range(at, len(self.looks)) if self.looks[place].topics is not None
        )
        return next(told, at)

    def _advanced(self) -> int | None:
        """By how much the epoch rose since it was known last; None unknown."""
        epochs = [look.epoch for look in self.looks]
        now, before = epochs[0], next((one for one in epochs[1:] if one is not None), None)
        if now is None or before is None or now < before:
            return None  # lower: the group was deleted and created again
        return now - before

    def _moved(self, rest: int) -> tuple[Flags, Flags]:
        """(n) partitions with an owner in an earlier snapshot, and those of them with another owner now."""
        was: Flags = self._owners(rest) != NONE
        if self.looks[0].moving and not (self._owners(0) != NONE).any():
            return was, np.zeros_like(was)
        owner = self.samples.owner[:, self.rows]
        moved: Flags = was & (owner[0] != owner[rest])
        return was, moved

    def _topics(self, at: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Topics that the group began or ceased to subscribe to, and those with more partitions."""
        now, then = self.looks[at].topics, self.looks[self._at_rest(at + 1)].topics
        if not now or not then:
            return (), ()
        others = tuple(sorted(now.keys() ^ then.keys()))
        grown = tuple(name for name in sorted(now.keys() & then.keys()) if now[name] > then[name])
        return others, grown

    def _cause(
        self, at: int
    ) -> tuple[RebalanceCause, tuple[str, ...], int | None, int | None, tuple[str, ...]]:
        """The cause of an interval: with names, how often, of how many, and topics."""
        now, then, change = self.looks[at], self.looks[at + 1], self.changes[at]
        if change.any and (again := self.repeated) is not None:
            return again.cause, again.names, again.times, again.of, ()
        others, more = self._topics(at)
        if others and len(change.restarted) < REPLACED:
            return RebalanceCause.SUBSCRIPTION_CHANGED, (), None, None, others
        if change.any and (replaced := self._replaced):
            return RebalanceCause.DEPLOY, replaced, len(replaced), len(self.looks[-1].names), ()
        if others:
            return RebalanceCause.SUBSCRIPTION_CHANGED, (), None, None, others
        if more:
            return RebalanceCause.PARTITIONS_ADDED, (), None, None, more
        if None not in (now.coordinator, then.coordinator) and now.coordinator != then.coordinator:
            return RebalanceCause.COORDINATOR_MOVED, (), None, None, ()
        if change.any:
            cause, names = self._of_members(at)
            return cause, names, None, None, ()
        if now.epoch != then.epoch and (back := self._back_with_their_id(at)):
            return RebalanceCause.POLL_TIMEOUT, back, None, None, ()
        return RebalanceCause.UNKNOWN, (), None, None, ()

    def _of_members(self, at: int) -> tuple[RebalanceCause, tuple[str, ...]]:
        now, then, change = self.looks[at], self.looks[at + 1], self.changes[at]
        came = tuple(now.names[id] for id in change.came)
        timed_out_before = self._timed_out(at)
        returned = tuple(name for name in came if name in timed_out_before)
        if returned:
            return RebalanceCause.POLL_TIMEOUT, returned
        timed_out = tuple(then.names[id] for id in change.stuck)
        if timed_out:
            back = tuple(name for name in timed_out if name in now.names.values())
            # a process that restarts joins again before its old member expires
            if back and not self._twice(at + 1, back):
                return RebalanceCause.POLL_TIMEOUT, back
            return RebalanceCause.SESSION_TIMEOUT, timed_out
        before = {name for look in self.looks[at + 1 :] for name in look.names.values()}
        again = tuple(name for name in came if name in before)
        if again:
            return RebalanceCause.MEMBER_RESTARTED, again
        if len(change.came) > len(change.gone):
            return RebalanceCause.MEMBERS_ADDED, came
        gone = tuple(then.names[id] for id in change.gone)
        if came:
            return RebalanceCause.MEMBER_RESTARTED, came
        return RebalanceCause.MEMBERS_REMOVED, gone

    def _back_with_their_id(self, at: int) -> tuple[str, ...]:
        """
        Names of members that committed nothing before an interval with rebalances, and are still in the group.

        A member of the consumer protocol leaves when it polls again, and returns at once under the same id.
        """
        names = self.looks[at + 1].names
        return tuple(name for id, name in names.items() if self._stuck(id, at + 1) > 0)

    def _twice(self, at: int, names: Sequence[str]) -> bool:
        """Whether a name stood for two members in a snapshot."""
        counts = Counter(self.looks[at].names.values())
        return any(counts[name] > 1 for name in names)

    def _timed_out(self, interval: int) -> set[str]:
        """Names of members that left without commits before an interval, and were away when it began."""
        there = self.looks[interval + 1].names.values()
        left = (
            self.looks[at + 1].names[id]
            for at, change in enumerate(self.changes[interval + 1 :], interval + 1)
            for id in change.stuck
        )
        return {name for name in left if name not in there}

    @property
    def deploying(self) -> bool:
        """Whether new members have replaced others within the newest two intervals, each once."""
        lately = any(change.any for change in self.changes[:2])
        return lately and self.repeated is None and bool(self._replaced)

    @cached_property
    def repeated(self) -> Repeated | None:
        """A crash loop or a flapping scaler in the lookback; None without one."""
        names = Counter(self.looks[-1].names.values())
        joins = Counter(
            name
            for at, change in enumerate(self.changes)
            for name in {self.looks[at].names[id] for id in change.came}
            if names[name] < 2  # a name that members share says nothing of one
        )
        loopers = tuple(name for name, times in joins.items() if times >= RETURNS)
        if 2 * len(loopers) >= len(self.looks[0].names) > 1 and max(joins.values()) < MANY:
            loopers = ()
        if loopers and not self._away_together(loopers):
            return self._repeated(
                RebalanceCause.CRASH_LOOP, loopers, max(joins[name] for name in loopers)
            )
        turns = _reversals([len(look.names) for look in reversed(self.looks)])
        came = {id for change in self.changes for id in change.came}
        # a member that stopped before it left was not removed by a scaler
        left = {id for change in self.changes for id in change.gone if id not in change.stuck}
        brief = came & left
        stay = sum(all(id in look.names for look in self.looks) for id in self.looks[-1].names)
        if turns >= REVERSALS and brief and 2 * stay >= len(self.looks[-1].names) > 0:
            flapping = tuple(sorted({self._name(id) for id in brief}))
            return self._repeated(RebalanceCause.SCALER_FLAPPING, flapping, turns)
        return None

    def _repeated(self, cause: RebalanceCause, names: tuple[str, ...], times: int) -> Repeated:
        return Repeated(
            cause=cause,
            names=names,
            times=times,
            of=min(len(look.names) for look in self.looks),
            seconds=(self.looks[0].taken_at - self.looks[-1].taken_at).total_seconds(),
        )

    def _name(self, member: str) -> str:
        return next(look.names[member] for look in self.looks if member in look.names)

    def _away_together(self, names: Sequence[str]) -> bool:
        """
        Whether members that join again and again left cleanly, were mostly all there or all away, and often away.

        A process that crashes leaves its member behind until its session expires, and is soon back.
        """
        there = [Counter(look.names.values()) for look in self.looks]
        counts = [sum(count[name] for name in names) for count in there]
        since = max(place for place, count in enumerate(counts) if count)
        counts = counts[: since + 1]
        stuck = {
            self.looks[at + 1].names[id]
            for at, change in enumerate(self.changes)
            for id in change.stuck
        }
        whole = sum(count in (0, len(names)) for count in counts)
        away = sum(count == 0 for count in counts)
        return not stuck & {*names} and 2 * whole > len(counts) and 3 * away >= len(counts)

    @cached_property
    def _replaced(self) -> tuple[str, ...]:
        """Members of the oldest snapshot that new ones replace, if that looks like a deploy."""
        oldest, now = self.looks[-1], self.looks[0]
        old = [id for id in oldest.names if id not in now.names]
        new = [id for id in now.names if id not in oldest.names]
        came = {id for change in self.changes for id in change.came}
        brief = came - now.names.keys()
        replaced = min(len(old), len(new))
        if replaced < REPLACED or 10 * len(brief) > replaced:
            return ()
        if len(now.names) < len(oldest.names) - max(1, len(oldest.names) // 4):
            return ()
        at = [place for place, change in enumerate(self.changes) if change.any]
        close = max(at) - min(at) < SHARE
        if not close and SHARE * replaced < len(oldest.names):
            return ()
        return tuple(oldest.names[id] for id in old[:replaced])


def evidence(caused: Caused) -> list[Fact]:
    """What happened and what shows it: the cause, stopped members, and rebalances that left no other trace."""
    facts = [
        finding(
            caused.cause.measure,
            caused.names or caused.topics,
            before=caused.number,
            after=caused.times,
            bound=caused.of,
            partitions=None if caused.moving else int(caused.moved.sum()),
        )
    ]
    for name, seconds in caused.stuck_seconds.items():
        facts.append(finding("stopped_before_leaving", [name], after=seconds))
    if caused.missed:
        facts.append(finding("rebalances_unseen", after=caused.missed))
    return facts


def _look(batch: GroupBatch, number: int, by_client: bool) -> Look:
    header, own, members = batch.headers[number], batch.members_of(number), batch.members
    ids, instances = members.ids[own], members.instance_ids[own]
    names = members.client_ids[own] if by_client else members.identities[own]
    told = [one for one in members.generations[own] if one is not None]
    topics = None
    if members.subscription_known[own].all() and batch.topics[number]:
        rows, table = batch.rows(number), batch.partitions
        chosen = table.topic[rows][table.assignable[rows]]
        places, counts = np.unique(chosen, return_counts=True)
        sizes = zip((table.topics[t] for t in places.tolist()), counts.tolist(), strict=True)
        topics = {**dict.fromkeys(batch.topics[number], 0), **dict(sizes)}
    return Look(
        taken_at=header.taken_at,
        moving=header.rebalancing,
        epoch=header.epoch if header.epoch is not None else max(told, default=None),
        coordinator=header.coordinator_id,
        names={
            id: instance or name for id, instance, name in zip(ids, instances, names, strict=True)
        },
        static=frozenset(
            id for id, instance in zip(ids, instances, strict=True) if instance is not None
        ),
        topics=topics,
    )


def _named_by_client(places: Sequence[tuple[GroupBatch, int]]) -> bool:
    """Whether client ids tell members apart, so that they are names that survive a change of host."""
    listed = [batch.members.client_ids[batch.members_of(number)] for batch, number in places]
    different = {name for clients in listed for name in clients}
    return all(different) and len(different) >= max(map(len, listed))


def _reversals(counts: Sequence[int]) -> int:
    """How often a course of numbers changes its direction: 3, 5, 5, 3, 5 does twice."""
    steps = [after > before for before, after in pairwise(counts) if before != after]
    return sum(one != other for one, other in pairwise(steps))
