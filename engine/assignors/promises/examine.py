"""What a strategy breaks over many groups, each promise with the smallest group found that shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...model.assignments import Assignment
from ...model.errors import Infeasible
from ..interface import USUAL_PROMISES, Assignor, GroupSpec, Promise
from .ask import NoAnswer, ask
from .groups import DATA, sketches
from .promises import Violation, check, orders
from .shrink import shrink
from .sketch import Sketch

Lists = Mapping[str, Sequence[tuple[str, int]]]
"""Member -> what it gets."""

Fault = tuple[Promise | None, str | None]
"""What was broken: the promise, or what was raised instead of an answer."""

EVERY = frozenset(Promise)


@dataclass(frozen=True, kw_only=True)
class PromiseOutcome:
    """
    How one promise fared.

    Attributes:
        promise: None is what goes without saying: there is an answer, and it fits the group.
        promised: Whether the strategy makes it; what it does not promise is looked at all the same.
        checked: Groups on which it was looked at: those with an answer.
        broken: Groups that showed a violation.
        violation: The violation in the smallest group found; None when kept, or not promised.
        smallest: That group.
        answers: What the strategy answers there, by how the group was listed; nothing where it gives no answer.
        means: What it is, where it is neither a promise nor the answer itself.
    """

    promise: Promise | None
    promised: bool
    checked: int
    broken: int
    violation: Violation | None = None
    smallest: Sketch | None = None
    answers: Mapping[str, Lists] = field(default_factory=dict)
    means: str | None = None


@dataclass(frozen=True, kw_only=True)
class Examined:
    """
    What came out.

    Attributes:
        groups: How many groups were asked about; *answered* got an assignment.
        infeasible: How many it says it cannot run on, and *reason* the first time why.
        flawed: How many answers list findings; what these give to whom is not held against them.
        outcomes: The answer itself first, one for each kind of failure, then promise by promise.
    """

    groups: int
    answered: int
    infeasible: int
    reason: str | None
    flawed: int
    outcomes: tuple[PromiseOutcome, ...]

    @property
    def broken(self) -> list[PromiseOutcome]:
        """What was promised and not kept."""
        return [one for one in self.outcomes if one.promised and one.broken]


def examine(
    assignor: Assignor,
    *,
    groups: int = 300,
    seed: int = 0,
    data: Sequence[Mapping[str, Any]] | None = None,
    sent: bool = False,
) -> Examined:
    """
    Ask a strategy about random groups.

    Args:
        assignor: The strategy; an instance, not the class.
        groups: How many.
        seed: Another seed, other groups.
        data: What members' configuration is drawn from; None: from the class's *sample_user_data*, else `DATA`.
        sent: Whether every member has sent user data, drawn from the same; then it must show in some answer.
    """
    tally = _Tally()
    drawn = getattr(assignor, "sample_user_data", DATA) if data is None else data
    for sketch in sketches(groups, seed=seed, data=drawn, sent=sent):
        tally.count(assignor, sketch)
    promises = getattr(assignor, "promises", USUAL_PROMISES)
    faults: list[Fault] = [fault for fault in tally.first if fault[0] is None] or [(None, None)]
    faults += [(promise, None) for promise in Promise]
    return Examined(
        groups=groups,
        answered=tally.answered,
        infeasible=len(tally.reasons),
        reason=tally.reasons[0] if tally.reasons else None,
        flawed=tally.flawed,
        outcomes=tuple(
            _outcome(
                assignor,
                fault,
                promised=fault[0] is None or fault[0] in promises,
                checked=groups - (0 if fault[0] is None else tally.failed),
                broken=tally.broken[fault],
                start=tally.first.get(fault),
            )
            for fault in faults
        )
        + ((_heeding(tally.exchanged, tally.heeded),) if tally.exchanged else ()),
    )


def _heeding(exchanged: int, heeded: int) -> PromiseOutcome:
    """Whether a strategy that needs what members sent looks at it: not in every group that shows, but in some."""
    what = "no answer changed when members exchanged what they sent: does it read group.user_data?"
    return PromiseOutcome(
        promise=None,
        promised=True,
        checked=heeded or exchanged,
        broken=0 if heeded else exchanged,
        violation=None if heeded else Violation(promise=None, what=what),
        means="what members sent shows in some of its answers",
    )


class _Tally:
    """What was seen over all groups."""

    def __init__(self) -> None:
        self.first: dict[Fault, tuple[Sketch, Violation]] = {}
        self.broken: Counter[Fault] = Counter()
        self.reasons: list[str] = []
        self.answered = self.flawed = self.failed = 0
        self.exchanged = self.heeded = 0

    def count(self, assignor: Assignor, sketch: Sketch) -> None:
        """Ask about one group, and keep the smallest that shows a fault."""
        group = sketch.spec()
        faults: dict[Fault, Violation] = {}
        for violation in check(assignor, group, promises=EVERY):
            faults.setdefault((violation.promise, violation.error), violation)
        for fault, violation in faults.items():
            self.broken[fault] += 1
            if fault not in self.first or sketch.size < self.first[fault][0].size:
                self.first[fault] = sketch, violation
        if any(promise is None for promise, _ in faults):
            self.failed += 1
            return
        answer = _answer(assignor, group)
        if isinstance(answer, Infeasible):
            self.reasons.append(str(answer))
        elif answer is not None:
            self.answered += 1
            self.flawed += bool(answer.findings)
            if any(member.sent is not None for member in sketch.members):
                self._exchange(assignor, group, answer)

    def _exchange(self, assignor: Assignor, group: GroupSpec, answer: Assignment) -> None:
        """Ask again with what each member sent at the next one's place."""
        other = replace(group, user_data=(*group.user_data[1:], *group.user_data[:1]))
        if other.user_data != group.user_data:
            again = _answer(assignor, other)
            same = isinstance(again, Assignment) and group.lists(again) == group.lists(answer)
            self.exchanged += 1
            self.heeded += not same


def _outcome(
    assignor: Assignor,
    fault: Fault,
    *,
    promised: bool,
    checked: int,
    broken: int,
    start: tuple[Sketch, Violation] | None,
) -> PromiseOutcome:
    promise = fault[0]
    if start is None or not promised:
        return PromiseOutcome(promise=promise, promised=promised, checked=checked, broken=broken)

    smallest, violation = shrink(*start, _looking_for(assignor, fault, start[0]))
    return PromiseOutcome(
        promise=promise,
        promised=True,
        checked=checked,
        broken=broken,
        violation=violation,
        smallest=smallest,
        answers=_answers(assignor, smallest, promise),
    )


def _looking_for(
    assignor: Assignor, fault: Fault, start: Sketch
) -> Callable[[Sketch], Violation | None]:
    """What looks for a fault in a group, with no more checks than it takes to show it in *start*."""

    def look(sketch: Sketch, promises: Collection[Promise]) -> Violation | None:
        found = check(assignor, sketch.spec(), promises=promises)
        return next((v for v in found if (v.promise, v.error) == fault), None)

    promises: Collection[Promise] = EVERY
    if fault[0] is not None:
        promises = [fault[0]]
    elif look(start, [Promise.COMPLETE]):
        promises = [Promise.COMPLETE]
    return lambda sketch: look(sketch, promises)


def _answers(assignor: Assignor, sketch: Sketch, promise: Promise | None) -> dict[str, Lists]:
    """What it answers to a group; where answers differ from each other, the other one too."""
    group = sketch.spec()
    listings = {"": group}
    if promise is Promise.REPEATABLE:
        listings["asked again"] = group
    if promise is Promise.ORDER_FREE:
        listings |= {f"listed {how}": other for how, other in orders(group).items()}
    answers: dict[str, Lists] = {}
    for how, listing in listings.items():
        answer = _answer(assignor, listing)
        if isinstance(answer, Assignment):
            lists = listing.lists(answer)
            if lists not in answers.values():
                answers[how] = lists
    return answers


def _answer(assignor: Assignor, group: GroupSpec) -> Assignment | Infeasible | None:
    try:
        return ask(assignor, group)
    except NoAnswer:
        return None
