"""
Why a group rebalanced, from its members, epochs, subscriptions and commits in consecutive snapshots.

Kafka keeps no record of rebalances. What two snapshots differ in tells most causes, and the snapshots before tell
whether a change is one of many:

| cause | evidence |
| --- | --- |
| crash loop | a member (by instance id, client id, or client id and host) joined 3 times or more |
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
`max.poll.interval.ms` expired from one that was suspended: both leave after their commits stopped, and return. A
process that crashes often, leaves cleanly each time and stays away for long looks like one that a scaler adds and
removes.

`rebalance_timeline` has what consecutive snapshots show.

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

from ..model.arrays import NONE, Flags, Floats
from ..model.batch import count_by
from ..model.facts import Fact, finding
from ..model.states import RebalanceCause
from .rebalance_timeline import Timeline
from .rebalances import Rebalances
from .samples import Samples

RETURNS = 3
"""Joins of one member in the lookback that make a crash loop."""

MANY = 5
"""The same if half of the members or more join again and again: fewer may be one deploy after the other."""

REVERSALS = 2
"""Changes of direction of the number of members that make a scaler flapping."""

REPLACED, SHARE = 2, 3
"""A deploy replaces at least so many members, and one in so many unless all within `SHARE` consecutive intervals."""


@dataclass(frozen=True, slots=True)
class Why:
    """
    The cause of the rebalances of an interval.

    Attributes:
        cause: The most specific cause.
        names: Members that it is about.
        times: Joins of a crash loop, changes of direction of a flapping scaler, replaced members of a deploy.
        of: Members before a deploy, else the fewest in the lookback.
        topics: Topics that it is about.
    """

    cause: RebalanceCause
    names: tuple[str, ...] = ()
    times: int | None = None
    of: int | None = None
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Caused:
    """
    The rebalances of a group between its preceding snapshot and the newest one.

    Attributes:
        why: The cause.
        number: How many rebalances there were at least.
        by_epoch: Whether epochs or generations count them.
        missed: How many of them left no trace in the members; None unknown.
        since: Start of the preceding snapshot.
        joined, left, restarted: Names of members.
        stuck_seconds: Seconds without commits before a timeout, by the name of the member.
        seconds: Length of the interval.
        was, moved: (n) of the group's partitions, whether they had an owner before, and another one after.
        released, handed: (n) whether their dynamic owner left, and whether a member that stayed gave them to another.
        failed_seconds: (n) for how long their owner had been silent when it was removed; 0 elsewhere. What a snapshot
            saw of it lasted as long again, but at most for half of the interval.
        of_restarted: (n) whether their owner restarted.
        static: Whether all restarted members are static.
        moving: Whether the group is still rebalancing, so that its assignment is unknown.
        assignor: The assignor in use when it was at rest last; None unknown.
    """

    why: Why
    number: int
    by_epoch: bool
    missed: int | None
    since: datetime
    joined: tuple[str, ...]
    left: tuple[str, ...]
    restarted: tuple[str, ...]
    stuck_seconds: Mapping[str, float]
    seconds: float
    was: Flags
    moved: Flags
    released: Flags
    handed: Flags
    failed_seconds: Floats
    of_restarted: Flags
    static: bool
    moving: bool
    assignor: str | None

    @property
    def cause(self) -> RebalanceCause:
        """The most specific cause."""
        return self.why.cause


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

    def __init__(self, rebalances: Rebalances, samples: Samples) -> None:
        """
        Args:
            rebalances: Members that came and went, with the groups and their earlier samples.
            samples: Offsets, times and owners of their partitions.
        """
        self.rebalances, self.past, self.samples = rebalances, rebalances.past, samples

    @cached_property
    def looked_at(self) -> list[int]:
        """The groups that may have rebalanced in the lookback."""
        batch = self.past.now
        hot = batch.rebalancing.copy()
        hot |= self.rebalances.changed.any(axis=0)
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
        sizes = count_by(batch.partitions.assignable, batch.start)
        for old, of_group in zip(self.past.earlier, self.past.of_group, strict=True):
            there = np.flatnonzero(of_group != NONE)
            before = of_group[there]
            then = count_by(old.partitions.assignable, old.start)[before]
            hot[there] |= (then != sizes[there]) & (then > 0) & (sizes[there] > 0)
            hot[there] |= (old.epochs[before] != batch.epochs[there]).astype(np.bool_)
        return hot

    @cached_property
    def _timelines(self) -> dict[int, ExplainedTimeline]:
        return {
            group: ExplainedTimeline(self.past, self.samples, group) for group in self.looked_at
        }

    @cached_property
    def newest(self) -> dict[int, Caused]:
        """
        The rebalances between the preceding snapshot and the newest one, by the number of the group.

        None of a share group: its members stop for nobody and give up nothing.
        """
        headers = self.past.now.headers
        found = (
            (group, each.newest)
            for group, each in self._timelines.items()
            if not headers[group].shares_partitions
        )
        return {group: caused for group, caused in found if caused is not None}

    @cached_property
    def repeated(self) -> dict[int, Repeated]:
        """Crash loops and flapping scalers, by the number of the group."""
        found = ((group, each.repeated) for group, each in self._timelines.items())
        return {group: repeated for group, repeated in found if repeated is not None}

    @cached_property
    def deploying(self) -> set[int]:
        """The groups whose members are being replaced, each once."""
        return {group for group, each in self._timelines.items() if each.deploying}


class ExplainedTimeline(Timeline):
    """Why one group rebalanced."""

    @cached_property
    def newest(self) -> Caused | None:
        """The rebalances since the preceding snapshot; None without any."""
        if len(self.looks) < 2:
            return None
        now, then, change = self.looks[0], self.looks[1], self.changes[0]
        rest = self.at_rest(1)
        was, moved = self.moved(rest)
        advanced = self.advanced()
        grown = self.topics(0)
        seen = self.seen(0)
        if not (change.any or advanced or moved.any() or now.moving or any(grown)):
            return None
        # one that a snapshot found under way was counted there
        begun = not then.moving and bool(moved.any())
        number = advanced if advanced is not None else max(seen, int(begun))
        if number == 0 and not change.any and any(grown):
            number = int(advanced is None)
        why = self._cause(0)
        if why.cause is RebalanceCause.UNKNOWN and len(self.looks) > 2:
            # cooperative members rejoin, and members of the consumer protocol reconcile, after the change itself
            why = self._cause(1)
        seconds = (now.taken_at - then.taken_at).total_seconds()
        silent = [known + min(known, seconds / 2) for known in change.stuck.values()]
        released = self.of([id for id in change.gone if id not in then.static], rest) != NONE
        # what members have while the group rebalances is unknown, so this goes back to where it was at rest
        before = self.looks[rest]
        taken = self.of([*(now.names.keys() - before.names.keys() - now.static)], 0) != NONE
        left = self.of([*(before.names.keys() - now.names.keys())], rest) != NONE
        back = set(change.restarted)
        old_ids = [id for id in change.gone if then.names[id] in back]
        of_restarted = self.of(old_ids, rest) != NONE
        return Caused(
            why=why,
            number=number,
            by_epoch=advanced is not None,
            missed=None if advanced is None else max(0, advanced - seen),
            since=then.taken_at,
            joined=tuple(n for id in change.came if (n := now.names[id]) not in back),
            left=tuple(n for id in change.gone if (n := then.names[id]) not in back),
            restarted=change.restarted,
            stuck_seconds={then.names[id]: s for id, s in change.stuck.items()},
            seconds=seconds,
            was=was,
            moved=moved,
            released=released,
            handed=was & (taken | (moved & ~left & (self.owners(0) != NONE))),
            failed_seconds=np.array([*silent, 0.0])[self.of(change.stuck, rest)],
            of_restarted=of_restarted,
            static=bool(old_ids) and all(id in then.static for id in old_ids),
            moving=now.moving,
            assignor=self.looks[self.at_rest(0)].assignor,
        )

    def _cause(self, at: int) -> Why:
        """The cause of an interval."""
        now, then, change = self.looks[at], self.looks[at + 1], self.changes[at]
        if change.any and (again := self.repeated) is not None:
            return Why(again.cause, again.names, times=again.times, of=again.of)
        others, more = self.topics(at)
        if others and len(change.restarted) < REPLACED:
            return Why(RebalanceCause.SUBSCRIPTION_CHANGED, topics=others)
        if change.any and (replaced := self._replaced):
            before = len(self.looks[-1].names)
            return Why(RebalanceCause.DEPLOY, replaced, times=len(replaced), of=before)
        if others:
            return Why(RebalanceCause.SUBSCRIPTION_CHANGED, topics=others)
        if more:
            return Why(RebalanceCause.PARTITIONS_ADDED, topics=more)
        if None not in (now.coordinator, then.coordinator) and now.coordinator != then.coordinator:
            return Why(RebalanceCause.COORDINATOR_MOVED)
        if change.any:
            return self._of_members(at)
        if now.epoch != then.epoch and (back := self._back_with_their_id(at)):
            return Why(RebalanceCause.POLL_TIMEOUT, back)
        return Why(RebalanceCause.UNKNOWN)

    def _of_members(self, at: int) -> Why:
        """The cause of an interval in which members came or went, and nothing else happened."""
        now, then, change = self.looks[at], self.looks[at + 1], self.changes[at]
        came = tuple(now.names[id] for id in change.came)
        timed_out_before = self._timed_out(at)
        returned = tuple(name for name in came if name in timed_out_before)
        if returned:
            return Why(RebalanceCause.POLL_TIMEOUT, returned)
        timed_out = tuple(then.names[id] for id in change.stuck)
        if timed_out:
            back = tuple(name for name in timed_out if name in now.names.values())
            # a process that restarts joins again before its old member expires
            if back and not self._twice(at + 1, back):
                return Why(RebalanceCause.POLL_TIMEOUT, back)
            return Why(RebalanceCause.SESSION_TIMEOUT, timed_out)
        before = {name for look in self.looks[at + 1 :] for name in look.names.values()}
        again = tuple(name for name in came if name in before)
        if again:
            return Why(RebalanceCause.MEMBER_RESTARTED, again)
        if len(change.came) > len(change.gone):
            return Why(RebalanceCause.MEMBERS_ADDED, came)
        gone = tuple(then.names[id] for id in change.gone)
        if came:
            return Why(RebalanceCause.MEMBER_RESTARTED, came)
        return Why(RebalanceCause.MEMBERS_REMOVED, gone)

    def _back_with_their_id(self, at: int) -> tuple[str, ...]:
        """
        Names of members that committed nothing before an interval with rebalances, and are still in the group.

        A member of the consumer protocol leaves when it polls again, and returns at once under the same id.
        """
        names = self.looks[at + 1].names
        return tuple(names[id] for id in self.stopped(at + 1))

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
        loopers = tuple(sorted(name for name, times in joins.items() if times >= RETURNS))
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
            flapping = tuple(sorted({self.name(id) for id in brief}))
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
    why = caused.why
    facts = [
        finding(
            why.cause.measure,
            why.names or why.topics,
            before=caused.number,
            after=why.times,
            bound=why.of,
            partitions=None if caused.moving else int(caused.moved.sum()),
        )
    ]
    for name, seconds in caused.stuck_seconds.items():
        facts.append(finding("stopped_before_leaving", [name], after=seconds))
    if caused.missed:
        facts.append(finding("rebalances_unseen", after=caused.missed))
    return facts


def _reversals(counts: Sequence[int]) -> int:
    """How often a course of numbers changes its direction: 3, 5, 5, 3, 5 does twice."""
    steps = [after > before for before, after in pairwise(counts) if before != after]
    return sum(one != other for one, other in pairwise(steps))
