"""
The troubles of a group: all that hold of the rules of the diagnosis, so that the first of them is what it is diagnosed.

Of each is said how bad it is, since when, and what helps whoever is to act (`incidents.traces`). How long it must last
to be told is another matter (`incidents.course`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType

import numpy as np

from ..config import IncidentRules
from ..metrics.diagnosis.rules import RULES
from ..metrics.observe import Observation
from ..model.arrays import NONE, Flags, Floats
from ..model.batch import GroupBatch, max_by
from ..model.facts import Fact, FactKind, fact
from ..model.states import Diagnosis, LagBasis, TroubleKind
from .judgement import Judged, Trouble
from .traces import last_commit, last_members, silent_hosts, stuck_at

NOBODY: Mapping[str, str] = MappingProxyType({})
"""No group is withheld."""

ON_THEIR_OWN = 2
"""In so many intervals commits went on without members: then somebody consumes who is none (`assign()`, Spark)."""

LAG, DELAY, PRODUCTION = "total_lag", "delay_seconds", "production_per_second"

HOW_BAD: Mapping[TroubleKind, tuple[str, ...]] = MappingProxyType(
    {
        Diagnosis.NO_MEMBERS: (LAG, DELAY),
        Diagnosis.REBALANCING: (LAG, DELAY, PRODUCTION),
        Diagnosis.LOSING_RECORDS: (LAG, PRODUCTION),
        Diagnosis.SKIPPED_RECORDS: (LAG,),
        Diagnosis.LOSS_AHEAD: (LAG, DELAY),
        Diagnosis.STOPPED: (LAG,),
        Diagnosis.SILENT_MEMBER: (LAG,),
        Diagnosis.STUCK_PARTITION: (LAG,),
        Diagnosis.SLOW_MEMBER: (LAG, DELAY),
        Diagnosis.HOT_PARTITION: (LAG, DELAY),
        Diagnosis.TOO_FEW_MEMBERS: (LAG, DELAY),
        Diagnosis.SKEWED_LOAD: (LAG, PRODUCTION),
        Diagnosis.CATCHING_UP: (LAG, PRODUCTION),
    }
)
"""What else of a group is said of a trouble, by columns of `GroupMetrics`: what its own facts do not say."""


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
        else _judged(Circumstances(seen, number, rules[number], earlier, withheld), slow)
        for number, (header, diagnosed, slow) in enumerate(
            zip(batch.headers, seen.diagnoses, late.tolist(), strict=True)
        )
    ]


def _most_by(values: Floats, batch: GroupBatch) -> Floats:
    """(G) the largest of each group's known rows; 0 without any."""
    most: Floats = max_by(np.nan_to_num(values), batch.start, 0)
    return most


def _judged(look: Circumstances, late: bool) -> Judged:
    troubles = tuple(map(look.with_numbers, _troubles(look)))
    return Judged(
        group_id=look.header.group,
        diagnosis=look.diagnosis,
        troubles=troubles,
        known=look.known,
        recovering=late and not troubles,
    )


def _troubles(look: Circumstances) -> Iterator[Trouble]:
    """All that hold of the rules, in their order; what cannot be read says so itself."""
    if unreadable := _unreadable(look):
        yield unreadable
    for kind, rule in RULES:
        if (
            kind in TOLD
            and (facts := tuple(rule(look.group)))
            and (found := TOLD[kind](look, facts))
        ):
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

    def with_numbers(self, trouble: Trouble) -> Trouble:
        """A trouble, and how bad it is beside what its own facts say of that."""
        wanted = HOW_BAD.get(trouble.kind, ())
        more = (_stated(measure, after=self._number(measure)) for measure in wanted)
        return replace(trouble, facts=(*trouble.facts, *more))

    def _number(self, measure: str) -> float | None:
        if measure == LAG:
            return self._lag
        return self.group.arriving if measure == PRODUCTION else self._delay

    @cached_property
    def _lag(self) -> int | None:
        """Records that wait in all that counts; None unknown."""
        return self.seen.lag.for_people.take(self.rows).take(self.group.counted).total()

    @cached_property
    def _delay(self) -> float | None:
        """By how many seconds the worst of all that counts is behind; None unknown."""
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


def _no_members(look: Circumstances, facts: Facts) -> Trouble | None:
    if not look.lacks_members:
        return None
    return Trouble(
        kind=Diagnosis.NO_MEMBERS,
        facts=(
            *facts,
            *last_members(look.snapshots),
            *last_commit(look.seen.samples, look.rows, look.group.counted),
        ),
        amount=look.delay(look.group.counted),
        since=look.since(look.empty),
    )


def _rebalancing(look: Circumstances, facts: Facts) -> Trouble:
    since = look.since(batch.headers[number].rebalancing for batch, number in look.snapshots)
    return Trouble(kind=Diagnosis.REBALANCING, facts=facts, since=since)


def _losing_records(look: Circumstances, facts: Facts) -> Trouble | None:
    if look.nobody and not look.something_to_read:
        return None
    samples, rows = look.seen.samples, look.rows
    lost = (samples.begin[:, rows] > samples.committed[:, rows]) & look.group.counted
    return Trouble(
        kind=Diagnosis.LOSING_RECORDS,
        facts=facts,
        amount=facts[0].after,
        since=look.since_any(lost),
    )


def _skipped_records(look: Circumstances, facts: Facts) -> Trouble:
    return Trouble(kind=Diagnosis.SKIPPED_RECORDS, facts=facts, amount=facts[0].after)


def _loss_ahead(look: Circumstances, facts: Facts) -> Trouble:
    return Trouble(kind=Diagnosis.LOSS_AHEAD, facts=facts)


def _stopped(look: Circumstances, facts: Facts) -> Trouble:
    return _of_standing(look, Diagnosis.STOPPED, look.group.still, facts)


def _silent_member(look: Circumstances, facts: Facts) -> Trouble | None:
    rows = look.group.still & ~look.group.stuck
    where = (*facts, *silent_hosts(look.group))
    return None if look.group.stopped else _of_standing(look, Diagnosis.SILENT_MEMBER, rows, where)


def _stuck_partition(look: Circumstances, facts: Facts) -> Trouble | None:
    rows = look.group.stuck
    where = (*facts, *stuck_at(look.group, look.seen.samples, look.rows))
    return (
        None if look.group.stopped else _of_standing(look, Diagnosis.STUCK_PARTITION, rows, where)
    )


def _of_standing(look: Circumstances, kind: Diagnosis, rows: Flags, facts: Facts) -> Trouble:
    """Partitions that stand still; where all do that wait, neither member nor partition is told by itself."""
    return Trouble(kind=kind, facts=facts, amount=look.delay(rows), since=look.since_still(rows))


def _of_capacity(kind: Diagnosis) -> Told:
    """What members cannot do, in seconds by which that leaves the group behind."""

    def behind_by(look: Circumstances, facts: Facts) -> Trouble | None:
        behind = look.group.behind
        return Trouble(kind=kind, facts=facts, amount=look.delay(behind)) if behind.any() else None

    return behind_by


def _skewed_load(look: Circumstances, facts: Facts) -> Trouble | None:
    # of whom is slow, or has what is hot, that is said already
    if look.diagnosis is not Diagnosis.SKEWED_LOAD:
        return None
    return _of_capacity(Diagnosis.SKEWED_LOAD)(look, facts)


def _catching_up(look: Circumstances, facts: Facts) -> Trouble | None:
    # that nobody reads says so already, and by how much
    if look.lacks_members:
        return None
    behind: Flags = look.seen.evidence.behind[:, look.rows] & look.group.counted
    return Trouble(
        kind=Diagnosis.CATCHING_UP,
        facts=facts,
        amount=look.delay(behind[0]),
        since=look.since_any(behind),
    )


def _unreadable(look: Circumstances) -> Trouble | None:
    why = look.header.error or look.withheld
    if why is not None:
        return Trouble(kind=Diagnosis.UNKNOWN, facts=(_stated("unreadable", quote=why),))
    if not look.unread.any():
        return None
    names = look.group.partitions(look.unread)
    unread = _stated("partitions_unreadable", names, partitions=len(names))
    return Trouble(kind=Diagnosis.UNKNOWN, facts=(unread,))


Told = Callable[[Circumstances, Facts], Trouble | None]

TOLD: Mapping[Diagnosis, Told] = {
    Diagnosis.NO_MEMBERS: _no_members,
    Diagnosis.REBALANCING: _rebalancing,
    Diagnosis.LOSING_RECORDS: _losing_records,
    Diagnosis.SKIPPED_RECORDS: _skipped_records,
    Diagnosis.LOSS_AHEAD: _loss_ahead,
    Diagnosis.STOPPED: _stopped,
    Diagnosis.SILENT_MEMBER: _silent_member,
    Diagnosis.STUCK_PARTITION: _stuck_partition,
    Diagnosis.SLOW_MEMBER: _of_capacity(Diagnosis.SLOW_MEMBER),
    Diagnosis.HOT_PARTITION: _of_capacity(Diagnosis.HOT_PARTITION),
    Diagnosis.TOO_FEW_MEMBERS: _of_capacity(Diagnosis.TOO_FEW_MEMBERS),
    Diagnosis.SKEWED_LOAD: _skewed_load,
    Diagnosis.CATCHING_UP: _catching_up,
}
"""What a trouble is beside what its rule sees; None where nobody need act. The one left is in `vanished_groups`."""
