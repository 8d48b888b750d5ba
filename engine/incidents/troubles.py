"""
The troubles of a group: all that hold of the rules of the diagnosis, so that the first of them is what it is diagnosed.

Of each is said how bad it is, since when, and what helps whoever is to act (`incidents.details`). How long it must last
to be told is another matter (`incidents.lifecycle`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from types import MappingProxyType

import numpy as np

from ..config import IncidentRules
from ..metrics.diagnosis.rules import RULES
from ..metrics.observe import Observation
from ..model.arrays import NONE, Flags
from ..model.batch import GroupBatch, max_by
from ..model.facts import Fact, FactKind, fact
from ..model.states import CAPACITY, STANDING, Diagnosis, LagBasis
from .details import (
    RatesThenAndNow,
    changed_rates,
    last_commit,
    last_members,
    open_transactions,
    retention,
    retention_used,
    silent_hosts,
    stuck_at,
)
from .evaluation import Judged, Trouble
from .kinds import KINDS, LAG, OTHER, PRODUCTION

NOBODY: Mapping[str, str] = MappingProxyType({})
"""No group is withheld."""

SAFE: Mapping[str, Fact] = MappingProxyType({})
"""No group has stores that would be lost with one rack."""

BY_DEPLOY = frozenset({Diagnosis.REBALANCING, Diagnosis.CATCHING_UP})
"""What a deploy brings, and ends with it."""

ON_THEIR_OWN = 2
"""In so many intervals commits went on without members: then somebody consumes who is none (`assign()`, Spark)."""


def judged_of(
    seen: Observation,
    rules: Sequence[IncidentRules],
    earlier: Sequence[GroupBatch] = (),
    withheld: Mapping[str, str] = NOBODY,
    at_risk: Mapping[str, Fact] = SAFE,
) -> list[Judged]:
    """
    (G) what a snapshot says of each group.

    Args:
        seen: What its numbers say.
        rules: (G) what the configuration says of the incidents of each.
        earlier: The earlier snapshots of them that the observation follows from, newest first.
        withheld: Why validation withholds a group, by its id.
        at_risk: Of which stores of a group one rack has all copies, by its id: `streams.store_copies` tells it.
    """
    batch = seen.batch
    bands = np.array([each.hysteresis for each in rules], np.float64) * seen.evidence.objective
    delays = np.nan_to_num(np.where(seen.counted, seen.delay, np.nan))
    late = max_by(delays, batch.start, 0) > bands
    rates = cache(lambda: RatesThenAndNow(seen.samples, batch.start))
    return [
        Judged(group_id=header.group, diagnosis=diagnosed.diagnosis)
        if diagnosed.diagnosis is Diagnosis.HEALTHY
        and not slow
        and header.group not in withheld
        and header.group not in at_risk
        else _judged(
            Circumstances(seen, number, rules[number], earlier, withheld),
            slow,
            at_risk.get(header.group),
            rates,
        )
        for number, (header, diagnosed, slow) in enumerate(
            zip(batch.headers, seen.diagnoses, late.tolist(), strict=True)
        )
    ]


def _judged(
    look: Circumstances, late: bool, at_risk: Fact | None, rates: Callable[[], RatesThenAndNow]
) -> Judged:
    told = [*_troubles(look)]
    if at_risk is not None:
        kind = Diagnosis.STORE_IN_ONE_RACK
        told.append(Trouble(kind=kind, facts=(at_risk,), amount=at_risk.after))
    troubles = tuple(map(look.with_numbers, told))
    return Judged(
        group_id=look.header.group,
        diagnosis=look.diagnosis,
        troubles=troubles,
        known=look.known,
        recovering=late and not any(each.kind not in STANDING for each in troubles),
        changed=tuple(changed_rates(look.group, look.number, rates())) if troubles else (),
    )


def _troubles(look: Circumstances) -> Iterator[Trouble]:
    """All that hold of the rules, in their order; what cannot be read says so itself."""
    if unreadable := _unreadable(look):
        yield unreadable
    for kind, rule, needs in RULES:
        if kind in KINDS and (facts := look.group.facts_of(rule, needs)):
            told = TOLD.get(kind, _behind_by if kind in CAPACITY else _plain)
            if (found := told(look, kind, facts)) and not look.explained(kind):
                yield found


class Circumstances:
    """One group of an observation, with what its troubles are decided by."""

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
        self.number, self._earlier = number, earlier

    @cached_property
    def snapshots(self) -> list[tuple[GroupBatch, int]]:
        """Now and before, newest first, as far as the group could be read: the samples of the observation."""
        now = (self.seen.batch, self.number)
        return [now, *_snapshots(self.header.group, self._earlier)]

    def explained(self, kind: Diagnosis) -> bool:
        """Whether a deploy explains a problem: it is part of it, and ends with it."""
        return kind in BY_DEPLOY and self.group.deploying

    @cached_property
    def lacks_members(self) -> bool:
        """Whether something is there to read, and nobody is there to read it."""
        return self.group.nobody and self.something_to_read and not self.consumes_alone

    @property
    def something_to_read(self) -> bool:
        """Whether records arrive, or, where that is not known, wait."""
        if self.group.arriving is None:
            return bool((self.group.lag[self.group.counted] > 0).any())
        return self.group.arriving > 0

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
        delays, waits = self.seen.behind_by[self.rows][rows], ~(self.group.lag[rows] <= 0)
        unknown = np.isnan(delays)
        if unknown.all():
            return None
        latest = float(np.nanmax(delays))
        return None if latest <= 0 and (unknown & waits).any() else latest

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

    def retention(self, lost: Fact) -> Iterator[Fact]:
        """How long the topic keeps records that loses them."""
        return retention(self.group, self.seen.batch.partitions, self.rows, lost)

    def with_numbers(self, trouble: Trouble) -> Trouble:
        """A trouble, and how bad it is beside what its own facts say of that."""
        wanted = KINDS.get(trouble.kind, OTHER).numbers
        more = (_stated(measure, after=self._number_of(measure)) for measure in wanted)
        used = self.retention_used if LAG in wanted else ()
        return replace(trouble, facts=(*trouble.facts, *more, *used))

    @cached_property
    def retention_used(self) -> Facts:
        """How much of a topic's retention is used, if half of it is."""
        return tuple(retention_used(self.group))

    def _number_of(self, measure: str) -> float | None:
        """Of all that counts what waits, by how many seconds the worst is behind, or what arrives; None unknown."""
        if measure == PRODUCTION:
            return self.group.arriving
        return self._lag if measure == LAG else self._delay

    @cached_property
    def _lag(self) -> int | None:
        return self.seen.lag.for_people.take(self.rows).take(self.group.counted).total()

    @cached_property
    def _delay(self) -> float | None:
        return self.delay(self.group.counted)


def _snapshots(group: str, earlier: Sequence[GroupBatch]) -> Iterable[tuple[GroupBatch, int]]:
    for batch in earlier:
        number = batch.place.get(group, NONE)
        if number != NONE and batch.headers[number].error is None:
            yield batch, number


def _stated(measure: str, names: Sequence[str] = (), **known: float | str | None) -> Fact:
    return fact(FactKind.DIAGNOSIS, measure, names, **known)


Facts = tuple[Fact, ...]
"""What the rule of a trouble sees."""


def _plain(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble:
    return Trouble(kind=kind, facts=facts)


def _no_members(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble | None:
    if not look.lacks_members:
        return None
    return Trouble(
        kind=kind,
        facts=(
            *facts,
            *last_members(look.snapshots),
            *last_commit(look.seen.samples, look.rows, look.group.counted, facts[0].quote),
        ),
        amount=look.delay(look.group.counted),
        since=look.since(look.empty),
    )


def _rebalancing(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble:
    since = look.since(batch.headers[number].rebalancing for batch, number in look.snapshots)
    return Trouble(kind=kind, facts=facts, since=since)


def _losing_records(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble | None:
    if look.group.nobody and not look.something_to_read:
        return None
    samples, rows = look.seen.samples, look.rows
    lost = (samples.begin[:, rows] > samples.committed[:, rows]) & look.group.counted
    # commits that retention pushes on stand above the log start, and stood below the one after them
    lost[1:] |= (samples.begin[:-1, rows] > samples.committed[1:, rows]) & look.group.evicted
    lost[0] |= look.group.evicted
    return Trouble(
        kind=kind,
        facts=(*facts, *look.retention(facts[0])),
        amount=facts[0].after,
        since=look.since_any(lost),
    )


def _soon_losing(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble:
    return Trouble(kind=kind, facts=(*facts, *look.retention(facts[0])))


def _skipped_records(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble:
    return Trouble(kind=kind, facts=facts, amount=facts[0].after)


def _hanging(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble:
    """An open transaction, with the offset at which it began."""
    group, waited = look.group, facts[0].after or 0.0
    now = float(np.nanmax(look.seen.samples.at[0, look.rows][group.held]))
    return Trouble(
        kind=kind,
        facts=(*facts, *open_transactions(group, look.seen.batch.partitions, look.rows)),
        amount=waited,
        since=datetime.fromtimestamp(now - waited, UTC),
    )


def _standing(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble | None:
    """Partitions that stand still; where all do that wait, neither member nor partition is told by itself."""
    group, rows = look.group, look.group.still
    if group.stopped and kind is not Diagnosis.GROUP_NOT_COMMITTING:
        return None
    if kind is Diagnosis.MEMBER_NOT_COMMITTING:
        rows, facts = group.still & ~group.stuck, (*facts, *silent_hosts(group))
    elif kind is Diagnosis.STUCK_PARTITION:
        rows, facts = group.stuck, (*facts, *stuck_at(group, look.seen.samples, look.rows))
    return Trouble(kind=kind, facts=facts, amount=look.delay(rows), since=look.since_still(rows))


def _unassigned(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble:
    """Partitions that nobody owns, by how far the group is behind in them."""
    waited = facts[0].after
    since = None if waited is None else look.header.taken_at - timedelta(seconds=waited)
    return Trouble(kind=kind, facts=facts, amount=look.delay(look.group.unassigned), since=since)


def _behind_by(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble | None:
    """What members cannot do, in seconds by which that leaves the group behind."""
    behind = look.group.behind
    return Trouble(kind=kind, facts=facts, amount=look.delay(behind)) if behind.any() else None


def _skewed_load(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble | None:
    # of whom is slow, or has what is hot, that is said already
    return _behind_by(look, kind, facts) if look.diagnosis is kind else None


def _catching_up(look: Circumstances, kind: Diagnosis, facts: Facts) -> Trouble | None:
    # that nobody reads says so already, and by how much
    if look.lacks_members:
        return None
    behind: Flags = look.seen.evidence.behind[:, look.rows] & look.group.counted
    behind = behind & ~look.group.helpless
    amount, since = look.delay(behind[0]), look.since_any(behind)
    return Trouble(kind=kind, facts=facts, amount=amount, since=since)


def _unreadable(look: Circumstances) -> Trouble | None:
    why = look.header.error or look.withheld
    if why is not None:
        return Trouble(kind=Diagnosis.UNKNOWN, facts=(_stated("unreadable", quote=why),))
    if not look.unread.any():
        return None
    names = look.group.partitions(look.unread)
    unread = _stated("partitions_unreadable", names, partitions=len(names))
    return Trouble(kind=Diagnosis.UNKNOWN, facts=(unread,))


TOLD: Mapping[Diagnosis, Callable[[Circumstances, Diagnosis, Facts], Trouble | None]] = {
    Diagnosis.NO_MEMBERS: _no_members,
    Diagnosis.REBALANCING: _rebalancing,
    Diagnosis.DATA_LOSS: _losing_records,
    Diagnosis.OFFSETS_SKIPPED: _skipped_records,
    Diagnosis.DATA_LOSS_IMMINENT: _soon_losing,
    Diagnosis.UNASSIGNED_PARTITIONS: _unassigned,
    Diagnosis.HANGING_TRANSACTION: _hanging,
    Diagnosis.GROUP_NOT_COMMITTING: _standing,
    Diagnosis.MEMBER_NOT_COMMITTING: _standing,
    Diagnosis.STUCK_PARTITION: _standing,
    Diagnosis.SKEWED_LOAD: _skewed_load,
    Diagnosis.CATCHING_UP: _catching_up,
}
"""What a trouble is beside what its rule sees, where that is more; None where nobody need act."""
