"""
What of an observation somebody may be woken for: all that holds of a group, one function per cause.

The diagnosis says the first thing that is the matter with a group; here stands whatever holds beside it, with the same
facts. How long something must last to be told is another matter (`incidents.course`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType

import numpy as np

from evenkeel.engine.batch import GroupBatch, max_by
from evenkeel.engine.config import IncidentRules
from evenkeel.engine.facts import Fact, FactKind, fact
from evenkeel.engine.incidents.judged import Condition, Judged
from evenkeel.engine.incidents.traces import last_commit, last_members, silent_hosts, stuck_at
from evenkeel.engine.metrics.diagnosis.rules import RULES
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model import NONE, Cause, Diagnosis, Flags, Floats, LagBasis

NOBODY: Mapping[str, str] = MappingProxyType({})
"""No group is withheld."""

ON_THEIR_OWN = 2
"""In so many intervals commits went on without members: then somebody consumes who is none (`assign()`, Spark)."""

_RULES = dict(RULES)

LAG, DELAY, PRODUCTION = "total_lag", "delay_seconds", "production_per_second"

HOW_BAD: Mapping[Cause, tuple[str, ...]] = MappingProxyType(
    {
        Cause.NO_MEMBERS: (LAG, DELAY),
        Cause.LOSING_RECORDS: (LAG, PRODUCTION),
        Cause.SKIPPED_RECORDS: (LAG,),
        Cause.LOSS_AHEAD: (LAG, DELAY),
        Cause.STOPPED: (LAG,),
        Cause.SILENT_MEMBER: (LAG,),
        Cause.STUCK_PARTITION: (LAG,),
        Cause.BEHIND: (LAG, PRODUCTION),
        Cause.REBALANCING: (LAG, DELAY, PRODUCTION),
        Cause.TOO_FEW_MEMBERS: (LAG, DELAY),
        Cause.SLOW_MEMBER: (LAG, DELAY),
        Cause.HOT_PARTITION: (LAG, DELAY),
    }
)
"""What else of a group is said of a cause, by columns of `GroupMetrics`: what its own facts do not say."""


def judged_of(
    seen: Observation,
    rules: Sequence[IncidentRules],
    earlier: Sequence[GroupBatch] = (),
    withheld: Mapping[str, str] = NOBODY,
) -> list[Judged]:
    """
    (G) what a snapshot says of each group.

    Args:
        seen: What its numbers say.
        rules: (G) what the configuration says of the incidents of each.
        earlier: The earlier snapshots of them that the observation follows from, newest first.
        withheld: Why validation withholds a group, by its id.
    """
    batch = seen.batch
    bands = np.array([each.dead_band for each in rules], np.float64) * seen.evidence.objective
    late = _most_by(np.where(seen.counted, seen.delay, np.nan), batch) > bands
    return [
        Judged(group_id=header.group, diagnosis=diagnosed.diagnosis)
        if diagnosed.diagnosis is Diagnosis.KEEPS_UP and not slow and header.group not in withheld
        else _judged(Look(seen, number, rules[number], earlier, withheld), slow)
        for number, (header, diagnosed, slow) in enumerate(
            zip(batch.headers, seen.diagnoses, late.tolist(), strict=True)
        )
    ]


def _most_by(values: Floats, batch: GroupBatch) -> Floats:
    """(G) the largest of each group's known rows; 0 without any."""
    most: Floats = max_by(np.nan_to_num(values), batch.start, 0)
    return most


def _judged(look: Look, late: bool) -> Judged:
    conditions = tuple(look.with_numbers(each) for rule in CONDITIONS if (each := rule(look)))
    return Judged(
        group_id=look.header.group,
        diagnosis=look.diagnosis,
        conditions=conditions,
        known=look.known,
        recovering=late and not conditions,
    )


class Look:
    """One group of an observation, with what its conditions are decided by."""

    def __init__(
        self,
        seen: Observation,
        number: int,
        rules: IncidentRules,
        earlier: Sequence[GroupBatch],
        withheld: Mapping[str, str],
    ) -> None:
        self.seen, self.rules = seen, rules
        self.rows = seen.batch.rows(number)
        self.header = seen.batch.headers[number]
        self.diagnosis = seen.diagnoses[number].diagnosis
        self.group = seen.evidence.of_group(number)
        self.withheld = withheld.get(self.header.group)
        self.snapshots = [(seen.batch, number), *_snapshots(self.header.group, earlier)]
        """Now and before, newest first, as far as the group could be read: the samples of the observation."""

    @cached_property
    def lacks_members(self) -> bool:
        """Whether something is there to read, and nobody is there to read it."""
        return self.nobody and self.something_to_read and not self.consumes_alone

    @cached_property
    def nobody(self) -> bool:
        """Whether the group has no members."""
        return not self.group.names and not self.header.rebalancing

    @cached_property
    def arrivals(self) -> float | None:
        """Records/s that arrive in its partitions; None unknown."""
        known = self.seen.evidence.arrivals[self.rows][self.group.counted]
        return None if np.isnan(known).all() else float(np.nansum(known))

    @property
    def something_to_read(self) -> bool:
        """Whether records arrive, or, where that is not known, wait."""
        if self.arrivals is None:
            return bool((self.group.lag[self.group.counted] > 0).any())
        return self.arrivals > 0

    @cached_property
    def empty(self) -> list[bool]:
        """Whether it had no members, now and before."""
        return [
            not batch.members.counts[number] and not batch.headers[number].rebalancing
            for batch, number in self.snapshots
        ]

    @property
    def consumes_alone(self) -> bool:
        """Whether its commits go on though it has no members: somebody consumes who is none."""
        moved = self.seen.samples.moved[:, self.rows]
        alone = [
            bool((went & self.group.counted).any())
            for went, later, sooner in zip(moved, self.empty, self.empty[1:], strict=False)
            if later and sooner
        ]
        return sum(alone) >= ON_THEIR_OWN

    @cached_property
    def stopped(self) -> bool:
        """Whether nothing that waits is consumed: all of it stands still, and has for too long."""
        group = self.group
        alive = group.counted & ((group.lag > 0) & ~group.still | group.goes_on)
        return bool(group.still.any() and not alive.any())

    @cached_property
    def unread(self) -> Flags:
        """(n) partitions that should have been read, and of which the end or the commit could not be."""
        basis = self.seen.lag.basis.take(self.rows)
        unread: Flags = self.group.counted & (
            basis.equal(LagBasis.NO_END) | basis.equal(LagBasis.UNREAD)
        )
        return unread

    @property
    def known(self) -> bool:
        """
        Whether it can be judged.

        What is in doubt only because nothing was ever committed stays so, and is left out where anything else is known.
        """
        if self.header.error is not None or self.withheld is not None:
            return False
        never = self.seen.lag.basis.take(self.rows).equal(LagBasis.NO_COMMIT)
        judged = self.group.counted & ~never
        if self.group.counted.any() and not judged.any():
            return False
        return not (self.unread | (self.group.in_doubt & judged)).any()

    def delay(self, rows: Flags) -> float | None:
        """By how many seconds the worst of some partitions is behind; None unknown."""
        # where nobody is there, no commit is to be waited for
        delays = (self.group.age if self.nobody else self.group.delay)[rows]
        return None if np.isnan(delays).all() else float(np.nanmax(delays))

    def since(self, flags: Iterable[bool]) -> datetime | None:
        """When the oldest snapshot was taken in a row up to now of which something is true; None: only now."""
        oldest: datetime | None = None
        for (batch, number), flag in zip(self.snapshots[1:], list(flags)[1:], strict=False):
            if not flag:
                break
            oldest = batch.headers[number].taken_at
        return oldest

    def since_any(self, rows: Flags) -> datetime | None:
        """The same of samples: (S, n) of which some partition is so."""
        return self.since([bool(sample.any()) for sample in rows])

    def since_still(self, rows: Flags) -> datetime | None:
        """When the oldest commit of some partitions that stand still was made; None unknown."""
        samples = self.seen.samples
        at, moved = samples.at[:, self.rows][:, rows], samples.moved[:, self.rows][:, rows]
        went = np.argmax(moved, axis=0) + 1
        earliest = np.where(moved.any(axis=0), at[went, np.arange(len(went))], -np.inf)
        made = np.fmax(at[0] - self.group.age[rows], earliest)
        known = made[np.isfinite(made)]
        return datetime.fromtimestamp(float(known.min()), UTC) if len(known) else None

    def with_numbers(self, condition: Condition) -> Condition:
        """A condition, and how bad it is beside what its own facts say of that."""
        wanted = HOW_BAD.get(condition.cause, ())
        more = (_stated(measure, after=self._number(measure)) for measure in wanted)
        return replace(condition, facts=(*condition.facts, *more))

    def _number(self, measure: str) -> float | None:
        if measure == LAG:
            return self._lag
        return self.arrivals if measure == PRODUCTION else self._delay

    @cached_property
    def _lag(self) -> int | None:
        """Records that wait in all that counts; None unknown."""
        return self.seen.lag.for_people.take(self.rows).take(self.group.counted).total()

    @cached_property
    def _delay(self) -> float | None:
        """By how many seconds the worst of all that counts is behind; None unknown."""
        return self.delay(self.group.counted)

    def facts(self, diagnosis: Diagnosis) -> tuple[Fact, ...]:
        """What the rule of a diagnosis sees; nothing where it does not hold."""
        return tuple(_RULES[diagnosis](self.group))


def _snapshots(group: str, earlier: Sequence[GroupBatch]) -> Iterable[tuple[GroupBatch, int]]:
    for batch in earlier:
        number = batch.place.get(group, NONE)
        if number != NONE and batch.headers[number].error is None:
            yield batch, number


def _stated(measure: str, names: Sequence[str] = (), **known: float | str | None) -> Fact:
    return fact(FactKind.DIAGNOSIS, measure, names, **known)


def _no_members(look: Look) -> Condition | None:
    if not look.lacks_members:
        return None
    return Condition(
        cause=Cause.NO_MEMBERS,
        facts=(
            *look.facts(Diagnosis.NO_MEMBERS),
            *last_members(look.snapshots),
            *last_commit(look.seen.samples, look.rows, look.group.counted),
        ),
        amount=look.delay(look.group.counted),
        since=look.since(look.empty),
    )


def _losing_records(look: Look) -> Condition | None:
    facts = look.facts(Diagnosis.LOSING_RECORDS)
    if not facts or (look.nobody and not look.something_to_read):
        return None
    samples, rows = look.seen.samples, look.rows
    lost = (samples.begin[:, rows] > samples.committed[:, rows]) & look.group.counted
    return Condition(
        cause=Cause.LOSING_RECORDS,
        facts=facts,
        amount=facts[0].after,
        since=look.since_any(lost),
    )


def _skipped_records(look: Look) -> Condition | None:
    facts = look.facts(Diagnosis.SKIPPED_RECORDS)
    if not facts:
        return None
    return Condition(cause=Cause.SKIPPED_RECORDS, facts=facts, amount=facts[0].after)


def _loss_ahead(look: Look) -> Condition | None:
    left, group = look.seen.time_to_loss[look.rows], look.group
    soon = group.behind & ~(group.lost > 0) & (left < look.rules.loss_within_seconds)
    if not soon.any():
        return None
    names, least = group.partitions(soon), float(left[soon].min())
    ahead = _stated("loss_ahead", names, after=least, partitions=len(names))
    return Condition(cause=Cause.LOSS_AHEAD, facts=(ahead,))


def _stopped(look: Look) -> Condition | None:
    group = look.group
    if not look.stopped:
        return None
    stands = _stated(
        "stopped",
        before=look.arrivals,
        after=float(np.nanmax(group.age[group.still])),
        bound=len(group.names),
        partitions=int(group.still.sum()),
    )
    return Condition(
        cause=Cause.STOPPED,
        facts=(stands,),
        amount=look.delay(group.still),
        since=look.since_still(group.still),
    )


def _silent_member(look: Look) -> Condition | None:
    rows = look.group.still & ~look.group.stuck
    return _of_standing(look, Cause.SILENT_MEMBER, rows, silent_hosts(look.group))


def _stuck_partition(look: Look) -> Condition | None:
    where = stuck_at(look.group, look.seen.samples, look.rows)
    return _of_standing(look, Cause.STUCK_PARTITION, look.group.stuck, where)


def _of_standing(look: Look, cause: Cause, rows: Flags, where: Iterable[Fact]) -> Condition | None:
    """Partitions that stand still while others of the group do not, and where to look."""
    if look.stopped or not rows.any():
        return None
    return Condition(
        cause=cause,
        facts=(*look.facts(Diagnosis(cause.value)), *where),
        amount=look.delay(rows),
        since=look.since_still(rows),
    )


def _behind(look: Look) -> Condition | None:
    behind: Flags = look.seen.evidence.behind[:, look.rows] & look.group.counted
    # that nobody reads says so already, and by how much
    if not behind[0].any() or look.lacks_members:
        return None
    skewed = look.diagnosis is Diagnosis.SKEWED_LOAD
    return Condition(
        cause=Cause.BEHIND,
        facts=look.facts(look.diagnosis if skewed else Diagnosis.CATCHING_UP),
        amount=look.delay(behind[0]),
        since=look.since_any(behind),
    )


def _rebalancing(look: Look) -> Condition | None:
    facts = look.facts(Diagnosis.REBALANCING)
    if not facts:
        return None
    since = look.since(batch.headers[number].rebalancing for batch, number in look.snapshots)
    return Condition(cause=Cause.REBALANCING, facts=facts, since=since)


def _too_few_members(look: Look) -> Condition | None:
    # where a member is only known to keep up with what it gets, all together may do more
    return _of_capacity(look, Cause.TOO_FEW_MEMBERS) if look.group.firm.all() else None


def _slow_member(look: Look) -> Condition | None:
    return _of_capacity(look, Cause.SLOW_MEMBER)


def _hot_partition(look: Look) -> Condition | None:
    return _of_capacity(look, Cause.HOT_PARTITION)


def _of_capacity(look: Look, cause: Cause) -> Condition | None:
    """What members cannot do, in seconds by which that leaves the group behind."""
    behind = look.group.behind
    facts = look.facts(Diagnosis(cause.value)) if behind.any() else ()
    if not facts:
        return None
    return Condition(cause=cause, facts=facts, amount=look.delay(behind))


def _unreadable(look: Look) -> Condition | None:
    why = look.header.error or look.withheld
    if why is not None:
        return Condition(cause=Cause.UNREADABLE, facts=(_stated("unreadable", quote=why),))
    if not look.unread.any():
        return None
    names = look.group.partitions(look.unread)
    unread = _stated("partitions_unreadable", names, partitions=len(names))
    return Condition(cause=Cause.UNREADABLE, facts=(unread,))


CONDITIONS: tuple[Callable[[Look], Condition | None], ...] = (
    _no_members,
    _losing_records,
    _skipped_records,
    _loss_ahead,
    _stopped,
    _silent_member,
    _stuck_partition,
    _behind,
    _rebalancing,
    _too_few_members,
    _slow_member,
    _hot_partition,
    _unreadable,
)
"""In the order of `model.Cause`; that a group vanished no observation of it can say."""
