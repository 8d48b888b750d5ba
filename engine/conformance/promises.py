"""
One check per promise: what a strategy breaks on one group.

`check` asks a strategy about one group and lists what it broke; an empty list is a pass for that
group, so run it over many. Each check works on copies of its own: a strategy that spoils its input
spoils nothing else. What a strategy promises stands in its *promises*, else `USUAL_PROMISES` hold.
`Infeasible` is an answer, any other exception a violation. An answer that lists findings owns up: what
it gives to whom is not held against it, because an answer with findings is never advised.

>>> from engine.assignor import spec
>>> from engine.assignors import ASSIGNORS
>>> group = spec({"C0": ["t"], "C1": ["t"]}, {"t": 3})
>>> check(ASSIGNORS["range"], group)
[]
>>> check(ASSIGNORS["live"], group, promises={Promise.COMPLETE})
[Violation(promise=<Promise.COMPLETE: '...'>, found='3 of 3 partitions without owner, first t-0')]
"""

from __future__ import annotations

import copy
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from engine.assignor import USUAL_PROMISES, Assignor, GroupSpec, Promise, missing_parts
from engine.errors import EvenkeelError, Infeasible
from engine.kit.permute import permuted
from engine.model import NONE, Assignment, Column, Flags, Indices, Ints

Answer = Assignment | Infeasible


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """
    A promise that was broken (None: there was no proper answer at all) and how, in numbers.

    Where the strategy raised something, *error* is the name of its class and *where* the line it arose in.
    """

    promise: Promise | None
    found: str
    error: str | None = field(default=None, compare=False, repr=False)
    where: str | None = field(default=None, compare=False, repr=False)


class NoAnswer(EvenkeelError):
    """The strategy gave nothing that can be checked."""


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
    if missing := missing_parts(assignor):
        return [Violation(promise=None, found=f"it has no {', '.join(missing)}")]
    promised = getattr(assignor, "promises", USUAL_PROMISES) if promises is None else promises
    violations = []
    for promise, examine in CHECKS.items():
        if promise not in promised:
            continue
        try:
            if promise in _OF_WHO_OWNS_WHAT and _owns_up(ask(assignor, group)):
                continue
            violations += [Violation(promise=promise, found=f) for f in examine(assignor, group)]
        except NoAnswer as problem:
            return [*violations, _no_answer(problem)]
    return violations


def _no_answer(problem: NoAnswer) -> Violation:
    raised = problem.__cause__
    return Violation(
        promise=None,
        found=str(problem),
        error=type(raised).__name__ if raised else None,
        where=_arose(raised) if raised else None,
    )


def _arose(raised: BaseException) -> str:
    """The last line of the strategy's own file that was reached, and the last of all if that is another."""
    frames = traceback.extract_tb(raised.__traceback__)[1:]  # the first is ours, where it was asked
    if not frames:
        return "the call itself"
    own = [frame for frame in frames if frame.filename == frames[0].filename][-1]
    shown = [own] if own is frames[-1] else [own, frames[-1]]
    places = [f"{Path(f.filename).name}:{f.lineno} in {f.name}" for f in shown]
    return ", then ".join(places) + (f": {own.line}" if own.line else "")


def complete(assignor: Assignor, group: GroupSpec) -> Iterator[str]:
    """Every partition of a subscribed topic has an owner."""
    answer = ask(assignor, group)
    if isinstance(answer, Infeasible):
        return
    subscribed = np.array([len(s) > 0 for s in group.subscribers], np.bool_)[group.topic_of]
    left = subscribed & (answer.owner == NONE)
    if answer.transferring is not None:  # waits for its owner to give it up
        left &= answer.transferring == NONE
    if left.any():
        share = f"{left.sum()} of {subscribed.sum()} partitions"
        yield f"{share} without owner, first {_first(group, left)}"


def subscribed_only(assignor: Assignor, group: GroupSpec) -> Iterator[str]:
    """Nobody owns a partition of a topic it does not subscribe to."""
    answer = ask(assignor, group)
    if isinstance(answer, Infeasible):
        return
    wrong = np.zeros(group.partition_count, np.bool_)
    for topic, subscribers in enumerate(group.subscribers):
        span = group.partitions_of(topic)
        owners = answer.owner[span.start : span.stop]
        wrong[span.start : span.stop] = (owners != NONE) & ~np.isin(owners, subscribers)
    if wrong.any():
        yield f"{wrong.sum()} partitions owned without subscription, first {_first(group, wrong)}"


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
    given = _copied(group)
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


def even_topics(assignor: Assignor, group: GroupSpec) -> Iterator[str]:
    """The subscribers of a topic own equally many of its partitions, give or take one."""
    answer = ask(assignor, group)
    if isinstance(answer, Infeasible):
        return
    for topic, subscribers in enumerate(group.subscribers):
        span = group.partitions_of(topic)
        if len(subscribers) and (
            found := _uneven(answer.owner[span.start : span.stop], subscribers)
        ):
            yield f"of {group.topics[topic]} {found}"


def even_group(assignor: Assignor, group: GroupSpec) -> Iterator[str]:
    """When all members subscribe to the same existing topics, they own equally many partitions."""
    answer = ask(assignor, group)
    alike = all(len(s) in (0, len(group.members)) for s in _existing(group))
    if isinstance(answer, Infeasible) or not alike or not group.members:
        return
    if found := _uneven(answer.owner, np.arange(len(group.members), dtype=np.int32)):
        yield f"in total {found}"


Check = Callable[[Assignor, GroupSpec], Iterator[str]]

_OF_WHO_OWNS_WHAT = frozenset(
    {Promise.COMPLETE, Promise.SUBSCRIBED, Promise.EVEN_TOPICS, Promise.EVEN_GROUP}
)

CHECKS: Mapping[Promise, Check] = MappingProxyType(
    {
        Promise.COMPLETE: complete,
        Promise.SUBSCRIBED: subscribed_only,
        Promise.REPEATABLE: repeatable,
        Promise.UNTOUCHED: untouched,
        Promise.ORDER_FREE: order_free,
        Promise.EVEN_TOPICS: even_topics,
        Promise.EVEN_GROUP: even_group,
    }
)
"""The check of each promise."""


def ask(assignor: Assignor, group: GroupSpec, *, own_copy: bool = True) -> Answer:
    """
    A strategy's well-formed answer.

    Raises:
        NoAnswer: It raised something else than `Infeasible`, or its answer does not fit the group.
    """
    try:
        answer = assignor.assign(_copied(group) if own_copy else group)
    except Infeasible as reason:
        return reason
    except (Exception, SystemExit) as problem:
        raise NoAnswer(f"it raised {type(problem).__name__}: {problem}") from problem
    if misfit := _misfit(answer, group):
        raise NoAnswer(misfit)
    return answer


def _owns_up(answer: Answer) -> bool:
    return isinstance(answer, Assignment) and bool(answer.findings)


def changed_fields(before: GroupSpec, after: GroupSpec) -> list[str]:
    """The fields and derived values of a group that differ."""
    own = [f.name for f in fields(before)]
    derived = ["topic_of", "number_of", "subscribers"]
    return [n for n in [*own, *derived] if not _equal(getattr(before, n), getattr(after, n))]


def _misfit(answer: object, group: GroupSpec) -> str | None:
    """Why an answer is no answer for this group; None when it is one."""
    if not isinstance(answer, Assignment):
        return f"it answered a {type(answer).__name__}, not an Assignment"
    if why := _bad_indices(answer.owner, NONE, len(group.members)):
        return f"owner {why}"
    if len(answer.owner) != group.partition_count:
        return f"owner has {len(answer.owner)} entries for {group.partition_count} partitions"
    if answer.transferring is not None:
        if why := _bad_indices(answer.transferring, NONE, len(group.members)):
            return f"transferring {why}"
        if len(answer.transferring) != group.partition_count:
            return f"transferring has {len(answer.transferring)} entries, owner {group.partition_count}"
    if answer.order is None:
        return None
    if why := _bad_indices(answer.order, 0, group.partition_count):
        return f"order {why}"
    times = np.bincount(answer.order, minlength=group.partition_count)
    if (times > 1).any():
        return f"order names a partition twice, first {_first(group, times > 1)}"
    left = (times == 0) & (answer.owner != NONE)
    return f"order leaves out the owned {_first(group, left)}" if left.any() else None


def _bad_indices(array: Any, least: int, end: int) -> str | None:
    """What is wrong with an array that should hold whole numbers from *least* to below *end*."""
    if not isinstance(array, np.ndarray) or array.dtype.kind != "i" or array.ndim != 1:
        return "is not a one-dimensional array of signed integers"
    if len(array) and not least <= int(array.min()) <= int(array.max()) < end:
        return f"has values from {array.min()} to {array.max()}, outside {least} to {end - 1}"
    return None


def _named(assignor: Assignor, group: GroupSpec) -> dict[str, list[tuple[str, int]]] | str:
    """The answer in names, which no order of the input changes; a word when infeasible."""
    answer = ask(assignor, group)
    return "infeasible" if isinstance(answer, Infeasible) else group.lists(answer)


def _existing(group: GroupSpec) -> Iterator[Indices]:
    """The subscribers of each topic that has partitions."""
    sizes = np.diff(group.topic_start).tolist()
    return (s for s, size in zip(group.subscribers, sizes, strict=True) if size)


def _uneven(owner: Indices, members: Indices) -> str | None:
    """Who owns most and fewest among *members*, when that is more than one apart."""
    counts = np.bincount(owner[owner != NONE], minlength=int(members.max()) + 1)[members]
    most, fewest = int(counts.max()), int(counts.min())
    return f"one member owns {most}, another {fewest}" if most - fewest > 1 else None


def _first(group: GroupSpec, which: Flags) -> str:
    """The first partition marked, as people write it."""
    partition = int(np.flatnonzero(which)[0])
    return f"{group.topics[group.topic_of[partition]]}-{group.number_of[partition]}"


def _backwards(names: tuple[str, ...]) -> Ints:
    return np.arange(len(names))[::-1]


def _copied(group: GroupSpec) -> GroupSpec:
    """A group that shares no array, and nothing else that could be changed, with the given one."""
    parts = {f.name: getattr(group, f.name) for f in fields(group)}
    return replace(group, **{name: _copied_value(value) for name, value in parts.items()})


def _copied_value(value: Any) -> Any:
    """As `copy.deepcopy`, which takes several times as long for what a group is made of."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Column):
        return Column(value.values.copy(), value.known.copy())
    if type(value) is dict:
        return {key: _copied_value(inner) for key, inner in value.items()}
    if type(value) in (tuple, list):
        return type(value)(map(_copied_value, value))
    return copy.deepcopy(value)


def _arrays(group: GroupSpec) -> dict[str, Any]:
    """The arrays of a group by name of the field."""
    found = {}
    for part in fields(group):
        value = getattr(group, part.name)
        value = value.values if isinstance(value, Column) else value
        if isinstance(value, np.ndarray):
            found[part.name] = value
    return found


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, tuple) and one and isinstance(one[0], np.ndarray):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)
