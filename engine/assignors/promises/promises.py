"""
One check per promise: what a strategy breaks on one group.

`check` asks a strategy about one group and lists what it broke; an empty list is a pass for that
group, so run it over many. It is asked on copies of its own each time: a strategy that spoils its input
spoils nothing else. What a strategy promises stands in its *promises*, else `USUAL_PROMISES` hold.
`Infeasible` is an answer, any other exception a violation. An answer that lists findings owns up: what
it gives to whom is not held against it, because an answer with findings is never advised.

>>> from evenkeel.engine.assignors.interface import spec
>>> from evenkeel.engine.assignors import ASSIGNORS
>>> group = spec({"C0": ["t"], "C1": ["t"]}, {"t": 3})
>>> check(ASSIGNORS["range"], group)
[]
>>> check(ASSIGNORS["live"], group, promises={Promise.COMPLETE})
[Violation(promise=<Promise.COMPLETE: '...'>, what='3 of 3 partitions without owner, first t-0')]
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ...model.arrays import NONE, Column, Indices, Ints
from ...model.assignments import Assignment
from ...model.errors import Infeasible
from ...model.text import several
from ..interface import USUAL_PROMISES, Answer, Assignor, GroupSpec, Promise, shape_problem
from ..interface.parts import arranged
from .ask import NoAnswer, ask, copied, first_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """
    A promise that was broken (None: there was no proper answer at all) and how, in numbers.

    Where the strategy raised something, *error* is the name of its class and *where* the line it arose in.
    """

    promise: Promise | None
    what: str
    error: str | None = field(default=None, compare=False, repr=False)
    where: str | None = field(default=None, compare=False, repr=False)


def check(
    assignor: Assignor, group: GroupSpec, *, promises: Collection[Promise] | None = None
) -> list[Violation]:
    """
    What a strategy breaks on one group, in the order of `Promise`.

    Args:
        assignor: The strategy; an instance, not the class.
        group: Any group. It is not changed.
        promises: What to hold it to, instead of what it says itself.
    """
    if wrong := shape_problem(assignor):
        return [Violation(promise=None, what=wrong[0])]
    promised = getattr(assignor, "promises", USUAL_PROMISES) if promises is None else promises
    violations: list[Violation] = []
    try:
        answer = ask(assignor, group)
        for promise in Promise:
            if promise in promised:
                found = _broken(promise, assignor, group, answer)
                violations += [Violation(promise=promise, what=what) for what in found]
    except NoAnswer as problem:
        raised = problem.__cause__
        error, where = (type(raised).__name__, _arose(raised)) if raised else (None, None)
        violations.append(Violation(promise=None, what=str(problem), error=error, where=where))
    return violations


def _broken(
    promise: Promise, assignor: Assignor, group: GroupSpec, answer: Answer
) -> Iterator[str]:
    if promise in _OF_STRATEGIES:
        yield from _OF_STRATEGIES[promise](assignor, group)
    elif isinstance(answer, Assignment) and not answer.findings:
        yield from _OF_ANSWERS[promise](answer, group)


def _arose(raised: BaseException) -> str:
    """The last line of the strategy's own file that was reached, and the last of all if that is another."""
    frames = traceback.extract_tb(raised.__traceback__)[1:]  # the first is ours, where it was asked
    if not frames:
        return "the call itself"
    own = [frame for frame in frames if frame.filename == frames[0].filename][-1]
    shown = [own] if own is frames[-1] else [own, frames[-1]]
    places = [f"{Path(f.filename).name}:{f.lineno} in {f.name}" for f in shown]
    return ", then ".join(places) + (f": {own.line}" if own.line else "")


def complete(answer: Assignment, group: GroupSpec) -> Iterator[str]:
    """Every partition of a subscribed topic has an owner."""
    subscribed = np.array([len(s) > 0 for s in group.subscribers], np.bool_)[group.topic_of]
    left = subscribed & (answer.owner == NONE)
    if answer.transferring is not None:  # waits for its owner to give it up
        left &= answer.transferring == NONE
    if left.any():
        share = f"{left.sum()} of {subscribed.sum()} partitions"
        yield f"{share} without owner, first {first_of(group, left)}"


def subscribed_only(answer: Assignment, group: GroupSpec) -> Iterator[str]:
    """Nobody owns a partition of a topic it does not subscribe to."""
    wrong = np.zeros(group.partition_count, np.bool_)
    for topic, subscribers in enumerate(group.subscribers):
        span = group.partitions_of(topic)
        owners = answer.owner[span.start : span.stop]
        wrong[span.start : span.stop] = (owners != NONE) & ~np.isin(owners, subscribers)
    if wrong.any():
        owned = several(int(wrong.sum()), "partition")
        yield f"{owned} owned without subscription, first {first_of(group, wrong)}"


def repeatable(assignor: Assignor, group: GroupSpec) -> Iterator[str]:
    """The same input gives the same answer, also after another group was asked about."""
    first = _named(assignor, group)
    if _named(assignor, group) != first:
        yield "asked twice, it answered differently"
        return
    ask(assignor, permuted(group, _backwards(group.members), _backwards(group.topics)))
    if _named(assignor, group) != first:
        yield "asked about another group in between, it answered differently"


def untouched(assignor: Assignor, group: GroupSpec) -> Iterator[str]:
    """The input is not changed, and no array of the answer is an array of the input."""
    given = copied(group)
    answer = ask(assignor, given, own_copy=False)
    for name in changed_fields(group, given):
        yield f"it changed {name}"
    if isinstance(answer, Infeasible):
        return
    parts = {"owner": answer.owner, "order": answer.order, "transferring": answer.transferring}
    for name, array in parts.items():
        for field_name, value in _arrays(given).items():
            if array is not None and np.shares_memory(array, value):
                yield f"{name} of the answer is the memory of {field_name} of the input"


def order_free(assignor: Assignor, group: GroupSpec) -> Iterator[str]:
    """The order of members and topics in the input does not show: backwards, and shuffled."""
    first = _named(assignor, group)
    for how, other in orders(group).items():
        if _named(assignor, other) != first:
            yield f"with members and topics {how}, it answered differently"


def orders(group: GroupSpec) -> dict[str, GroupSpec]:
    """The same group with members and topics in other orders, by what was done to them."""
    members, topics = len(group.members), len(group.topics)
    shuffle = np.random.default_rng(group.partition_count)  # a seed made of the data
    return {
        "backwards": permuted(group, _backwards(group.members), _backwards(group.topics)),
        "shuffled": permuted(group, shuffle.permutation(members), shuffle.permutation(topics)),
    }


def even_topics(answer: Assignment, group: GroupSpec) -> Iterator[str]:
    """The subscribers of a topic own equally many of its partitions, give or take one."""
    for topic, subscribers in enumerate(group.subscribers):
        span = group.partitions_of(topic)
        if len(subscribers) and (
            found := _uneven(answer.owner[span.start : span.stop], subscribers)
        ):
            yield f"of {group.topics[topic]} {found}"


def even_group(answer: Assignment, group: GroupSpec) -> Iterator[str]:
    """When all members subscribe to the same existing topics, they own equally many partitions."""
    existing = zip(group.subscribers, group.topic_size.tolist(), strict=True)
    alike = all(len(s) in (0, len(group.members)) for s, size in existing if size)
    if not alike or not group.members:
        return
    if found := _uneven(answer.owner, np.arange(len(group.members), dtype=np.int32)):
        yield f"in total {found}"


_OF_STRATEGIES: Mapping[Promise, Callable[[Assignor, GroupSpec], Iterator[str]]] = MappingProxyType(
    {
        Promise.REPEATABLE: repeatable,
        Promise.UNTOUCHED: untouched,
        Promise.ORDER_FREE: order_free,
    }
)

_OF_ANSWERS: Mapping[Promise, Callable[[Assignment, GroupSpec], Iterator[str]]] = MappingProxyType(
    {
        Promise.COMPLETE: complete,
        Promise.SUBSCRIBED: subscribed_only,
        Promise.EVEN_TOPICS: even_topics,
        Promise.EVEN_GROUP: even_group,
    }
)


def changed_fields(before: GroupSpec, after: GroupSpec) -> list[str]:
    """The fields and derived values of a group that differ."""
    own = [f.name for f in fields(before)]
    derived = ["topic_of", "number_of", "subscribers"]
    return [n for n in [*own, *derived] if not _equal(getattr(before, n), getattr(after, n))]


def _named(assignor: Assignor, group: GroupSpec) -> dict[str, list[tuple[str, int]]] | str:
    """The answer in names, which no order of the input changes; a word when infeasible."""
    answer = ask(assignor, group)
    return "not applicable" if isinstance(answer, Infeasible) else group.lists(answer)


def _uneven(owner: Indices, members: Indices) -> str | None:
    """Who owns most and fewest among *members*, when that is more than one apart."""
    counts = np.bincount(owner[owner != NONE], minlength=int(members.max()) + 1)[members]
    most, fewest = int(counts.max()), int(counts.min())
    return f"one member owns {most}, another {fewest}" if most - fewest > 1 else None


def _backwards(names: tuple[str, ...]) -> Ints:
    return np.arange(len(names))[::-1]


def _arrays(group: GroupSpec) -> dict[str, Any]:
    """The arrays of a group by name of the field."""
    arrays = {}
    for part in fields(group):
        value = getattr(group, part.name)
        value = value.values if isinstance(value, Column) else value
        if isinstance(value, np.ndarray):
            arrays[part.name] = value
    return arrays


def _equal(first: Any, other: Any) -> bool:
    if isinstance(first, np.ndarray):
        return np.array_equal(first, other, equal_nan=first.dtype.kind == "f")
    if isinstance(first, tuple) and first and isinstance(first[0], np.ndarray):
        return len(first) == len(other) and all(map(_equal, first, other))
    return bool(first == other)


def permuted(group: GroupSpec, members: Ints, topics: Ints) -> GroupSpec:
    """
    The group with its members and topics in another order; each member's own lists keep theirs.

    Args:
        group: The group.
        members: (M) old index of each new member.
        topics: (T) old index of each new topic.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["u"]}, {"t": 1, "u": 2}, owned={"b": [("u", 1)]})
    >>> other = permuted(group, np.array([1, 0]), np.array([1, 0]))
    >>> other.members, other.topics, other.owner.tolist(), other.subscription_topic.tolist()
    (('b', 'a'), ('u', 't'), [-1, 0, -1], [0, 1])
    """
    return arranged(group, members, topics, group.bounds)
