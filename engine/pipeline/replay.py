"""Simulates strategies for measured groups, many groups at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..advice.next_change import Changes, members_tried
from ..advice.scoring import Judge
from ..assignors import RACKED, every, is_ours, takes_user_data
from ..assignors.interface import Assignor, GroupSpec, together
from ..assignors.interface.rejoin import telling
from ..assignors.kafka.protocol_names import with_racks
from ..assignors.kit.settle import Settled, settle, settle_many
from ..assignors.promises.ask import NoAnswer
from ..config import Settings
from ..model.arrays import NONE, Indices, parts_within
from ..model.assignments import Assignment, Candidate, Deployment
from ..model.errors import Infeasible
from ..model.facts import Fact, FactKind, of_kind, reason
from ..model.figures import NextChange, Score
from ..model.groups import GroupSnapshot
from .asked_group import AskedGroup, Seen
from .candidate_forecasts import with_forecasts
from .candidate_rows import refusal
from .member_data import answers_of, assign_of, takes_many
from .membership_changes import by_setting
from .stored_metrics import Measured, MeasuredGroup

AT_ONCE = 50_000
"""Most partitions and members of groups that are asked together: what is worked out of them fits into caches."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Replayed:
    """A group as strategies see it, with one candidate per strategy in the order of the table."""

    spec: GroupSpec
    candidates: Sequence[Candidate]


def replay_group(
    settings: Settings,
    measured_group: MeasuredGroup,
    *,
    ask_next_change: bool = True,
    live_only: bool = False,
    only: Collection[str] | None = None,
    coming: Collection[str] = frozenset(),
    named: str | None = None,
    also: Sequence[Assignor] = (),
    priced: bool = True,
) -> Replayed:
    """
    Simulate strategies for a measured group of consumers that is not blocked.

    Args:
        settings: The configuration.
        measured_group: The group and its metrics.
        ask_next_change: As for `propose_group`.
        live_only: As for `propose_group`.
        only: Names of the strategies; None for all.
        coming: Ids of members that join now, without owned partitions.
        named: As for `propose_group`.
        also: Additional strategies for this group.
        priced: Whether forecasts include what the switch costs.
    """
    asked = AskedGroup(
        settings=settings,
        measured_group=measured_group,
        live_only=live_only,
        only=only,
        coming=coming,
        named=named,
    )
    return replay_groups([asked], ask_next_change=ask_next_change, also=also, priced=priced)[0]


def replay_groups(
    groups: Sequence[AskedGroup],
    *,
    ask_next_change: bool = True,
    also: Sequence[Assignor] = (),
    priced: bool = True,
) -> list[Replayed]:
    """As `replay_group`, for many groups."""
    sizes = [len(each.group.partitions) + each.group.member_counts.members for each in groups]
    for part in parts_within(sizes, AT_ONCE):
        some = groups[part]
        batch = _Batch(some, ask_next_change=ask_next_change)
        for strategy in (*_table(), *also):
            batch.ask(strategy, [n for n, each in enumerate(some) if each.is_asked(strategy)])
    ahead = with_forecasts([each.unforecast(priced=priced) for each in groups])
    return [
        Replayed(spec=each.spec, candidates=each.finished(candidates))
        for each, candidates in zip(groups, ahead, strict=True)
    ]


def _table() -> Iterator[Assignor]:
    """Every strategy; behind each what it would be once members sent their racks."""
    for strategy in every().values():
        yield strategy
        if (told := RACKED.get(with_racks(strategy.name))) is not None:
            yield told


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """A group that a strategy is asked about: its number in the batch, and what the strategy sees."""

    number: int
    seen: Seen


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Said:
    """What a group has in the end with a strategy that saw it so, and its score."""

    seen: Seen
    settled: Settled
    score: Score


class _Batch:
    """Groups that strategies are asked about together; what strategies share of them is worked out once."""

    def __init__(self, groups: Sequence[AskedGroup], *, ask_next_change: bool) -> None:
        self.groups, self.ask_next_change = groups, ask_next_change
        self._joined: dict[tuple[int, ...], GroupSpec] = {}
        self._silent: dict[int, GroupSpec] = {}
        self._judges: dict[tuple[int, ...], Judge] = {}
        self._changes: dict[tuple[int, ...], Changes] = {}

    def ask(self, strategy: Assignor, numbers: Sequence[int]) -> None:
        """Add the candidate of a strategy to some of the groups."""
        told = RACKED.get(strategy.name) is strategy
        ready, none = list[_Asking](), dict[int, Candidate]()
        for number in numbers:
            asked = self.groups[number]
            if (why := asked.too_far(strategy)) is not None:
                none[number] = asked.never(strategy, why)
                continue
            try:
                ready.append(_Asking(number=number, seen=asked.seen_by(strategy)))
            except Infeasible as problem:
                how = asked.feasibilities.of(strategy.name, strategy.deployment).how
                none[number] = asked.never(strategy, refusal(problem), how)
        answers = dict[int, _Said]()
        for one, said in zip(ready, self._answers(strategy, ready), strict=True):
            asked, judgment = self.groups[one.number], one.seen.judgment
            if isinstance(said, Fact):
                none[one.number] = asked.never(strategy, said, judgment.how)
            elif not told or asked.says_more(
                strategy.name, judgment.feasibility, said.settled.assignment
            ):
                answers[one.number] = said
        changes = self._next_changes(strategy, answers)
        for number, said in answers.items():
            asked = self.groups[number]
            asked.candidates.append(_candidate(asked, strategy, said, changes.get(number)))
        for number, refused in none.items():
            asked = self.groups[number]
            if not told or asked.says_more(refused.strategy, refused.feasibility, None):
                asked.candidates.append(refused)

    def _answers(self, strategy: Assignor, ready: Sequence[_Asking]) -> list[_Said | Fact]:
        """What a strategy has for each group, or why it has nothing; groups that it sees as they are, at once."""
        found: dict[int, Settled | Fact] = {}
        many = takes_many(strategy)
        alike = [one for one in ready if many and self._is_plain(one)]
        if alike:
            found.update(self._settled_at_once(strategy, alike))
        for one in ready:
            if one.number not in found:
                found[one.number] = _settled_alone(strategy, one.seen)
        scores = self._scores({n: each for n, each in found.items() if isinstance(each, Settled)})
        return [
            each
            if isinstance(each, Fact)
            else _Said(seen=one.seen, settled=each, score=scores[one.number])
            for one, each in ((one, found[one.number]) for one in ready)
        ]

    def _is_plain(self, one: _Asking) -> bool:
        asked = self.groups[one.number]
        return one.seen.whole is asked.joining or one.seen.whole is asked.reading

    def _settled_at_once(
        self, strategy: Assignor, ready: Sequence[_Asking]
    ) -> Iterator[tuple[int, Settled | Fact]]:
        whole = self._together([one.seen.whole for one in ready])
        reports = np.array([one.seen.continues for one in ready])[whole.group_of_member]
        for place, one in enumerate(ready):
            if one.seen.silent and one.seen.continues:
                own = slice(*whole.member_start[place : place + 2].tolist())
                reports[own] = one.seen.reports
        if reports.any():
            seen = telling(whole, reports)
        else:
            seen = self._silent.setdefault(id(whole), telling(whole, reports))
        settled = settle_many(answers_of(strategy), seen)
        counts = (settled.rounds.tolist(), settled.waited.tolist())
        for one, answer, rounds, waited in zip(
            ready, settled.answers.apart(seen), *counts, strict=True
        ):
            if isinstance(answer, Infeasible):
                yield one.number, refusal(answer)
            else:
                yield one.number, Settled(assignment=answer, rounds=rounds, waited=waited)

    def _scores(self, settled: Mapping[int, Settled]) -> dict[int, Score]:
        """The scores of the answers, by the number of the group."""
        if not settled:
            return {}
        numbers = sorted(settled)
        if tuple(numbers) not in self._judges:
            judges = [self.groups[number].judge for number in numbers]
            self._judges[tuple(numbers)] = Judge.together(judges)
        judge = self._judges[tuple(numbers)]
        owners = [settled[number].assignment.owner for number in numbers]
        return dict(zip(numbers, judge.scores(_joined(owners, judge.group)), strict=True))

    def _together(self, groups: Sequence[GroupSpec]) -> GroupSpec:
        key = tuple(map(id, groups))
        if key not in self._joined:
            self._joined[key] = together(groups)
        return self._joined[key]

    @cached_property
    def _tried(self) -> list[int]:
        """(groups) of how many members of each the leave is simulated."""
        tried: list[int] = members_tried(
            self._together([each.joining for each in self.groups])
        ).tolist()
        return tried

    def _next_changes(
        self, strategy: Assignor, answers: Mapping[int, _Said]
    ) -> dict[int, NextChange]:
        """What a strategy would move next, of the groups that run it or could by a setting."""
        if not self.ask_next_change or takes_user_data(strategy):
            return {}
        asked = [n for n, said in answers.items() if _has_next_change(strategy, said.seen)]
        one_by_one = not takes_many(strategy)
        found: dict[int, NextChange] = {}
        for tried in dict.fromkeys(self._tried[number] for number in asked):
            some = [number for number in asked if self._tried[number] == tried]
            for part in [[number] for number in some] if one_by_one else [some]:
                found.update(self._changes_of(strategy, part, answers))
        return found

    def _changes_of(
        self, strategy: Assignor, numbers: Sequence[int], answers: Mapping[int, _Said]
    ) -> Iterator[tuple[int, NextChange]]:
        some, ours = [self.groups[number] for number in numbers], is_ours(strategy)
        key = (ours, *numbers)
        if key not in self._changes:
            groups = [each.joining if ours else each.configured for each in some]
            self._changes[key] = Changes(self._together(groups))
        changes = self._changes[key]
        owners, silent = list[Indices](), list[int]()
        for number, first in zip(numbers, changes.group.member_start.tolist(), strict=False):
            said = answers[number]
            owners.append(said.settled.assignment.owner)
            if quiet := said.seen.judgment.reporting_nothing:
                names = self.groups[number].joining.members
                silent += [first + place for place, name in enumerate(names) if name in quiet]
        owner = _joined(owners, changes.group)
        try:
            found = changes.of(answers_of(strategy), owner, np.array(silent, np.int64))
        except NoAnswer:
            return
        for number, change in zip(numbers, found, strict=True):
            if isinstance(change, NextChange):
                yield number, change


def _settled_alone(strategy: Assignor, seen: Seen) -> Settled | Fact:
    try:
        return settle(assign_of(strategy), seen.group)
    except Infeasible as problem:
        return refusal(problem)
    except NoAnswer as problem:
        return reason("failed", quote=problem.message)


def _joined(owners: Sequence[Indices], groups: GroupSpec) -> Indices:
    """Owners of groups behind each other, each one's members counted from 0 before."""
    owner = np.concatenate(owners)
    first = groups.member_start[groups.group_of]
    return np.where(owner == NONE, NONE, owner + first).astype(np.int32)


@lru_cache(maxsize=1 << 10)
def _replay(remembers: bool, rounds: int, waited: int) -> tuple[Fact, ...]:
    """How a strategy was replayed; most groups of a fleet are alike in this."""
    measure = "next_rebalance" if remembers else "fresh_assignment"
    return (Fact(kind=FactKind.REPLAY, measure=measure, after=rounds, partitions=waited),)


def _candidate(
    asked: AskedGroup, strategy: Assignor, said: _Said, change: NextChange | None
) -> Candidate:
    seen, settled = said.seen, said.settled
    judgment, assignment = seen.judgment, settled.assignment
    return Candidate(
        strategy=strategy.name,
        deployment=judgment.deployment or strategy.deployment,
        feasibility=judgment.feasibility,
        reason=judgment.reason + of_kind(seen.said, FactKind.REASON),
        how=judgment.how,
        is_running=asked.feasibilities.runs(strategy.name),
        replay=_replay(seen.remembers, settled.rounds, settled.waited),
        assignment=assignment,
        score=said.score,
        next_change=change,
        findings=assignment.findings + of_kind(seen.said, FactKind.FINDING),
        proof=assignment.proof,
    )


def _has_next_change(strategy: Assignor, seen: Seen) -> bool:
    """
    Whether a strategy is asked what it would move next: the group runs it, or a setting could make it run.

    No others, because every answer takes a while, and none that cannot be asked: who can tell what members of a changed
    group would send a custom strategy as user data?
    """
    # a plan does not answer to a change by itself, its fallback does
    by_plan = seen.judgment.deployment is Deployment.PLAN
    passive = by_plan or strategy.deployment is Deployment.LIVE
    # what is asked of a changed group is Kafka's own class
    passive = passive or any(each.kind is FactKind.REASON for each in seen.said)
    return by_setting(seen.judgment, strategy.deployment) and not passive


def settled_of(
    settings: Settings,
    group: GroupSnapshot,
    measured: Measured,
    strategy: Assignor,
    coming: Collection[str] = frozenset(),
) -> Settled:
    """
    The final assignment of a strategy for a measured group, without figures.

    Raises:
        Infeasible: The strategy cannot run on this group.
        NoAnswer: It gave no valid result.
    """
    assign, seen = asked(settings, group, measured, strategy, coming)
    return settle(assign, seen)


Asked = tuple[Callable[[GroupSpec], Assignment], GroupSpec]
"""A strategy's function, and the group that it is asked about."""


def asked(
    settings: Settings,
    group: GroupSnapshot,
    measured: Measured,
    strategy: Assignor,
    coming: Collection[str] = frozenset(),
) -> Asked:
    """
    The input that `replay_group` gives a strategy for a measured group.

    Raises:
        Infeasible: The strategy cannot run on this group.
    """
    one = AskedGroup(
        settings=settings,
        measured_group=MeasuredGroup(group=group, measured=measured, withheld=None),
        coming=coming,
    )
    return assign_of(strategy), one.seen_by(strategy).group
