"""Ask a strategy on a copy of the group that is its own, and take only an answer that fits the group."""

from __future__ import annotations

import copy
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ...model.arrays import NONE, Column, Flags, Indices
from ...model.assignments import Assignment, Lists
from ...model.errors import EvenkeelError, Infeasible
from ...model.facts import Fact
from ..interface import Answer, Assignor, GroupSpec

_NAMES = frozenset({"members", "instance_ids", "racks", "topics", "topic_ids"})
_CHANGEABLE = tuple(f.name for f in fields(GroupSpec) if f.name not in _NAMES)
"""The parts of a group that somebody could change: names are tuples of text, and there may be many."""

_NUMBERS = 1 << 31
"""Beyond any number of a partition on the wire."""


class NoAnswer(EvenkeelError):
    """The strategy gave nothing that can be checked."""


def ask(assignor: Assignor, group: GroupSpec, *, own_copy: bool = True) -> Answer:
    """
    A strategy's well-formed answer.

    Raises:
        NoAnswer: It raised something else than `Infeasible`, or its answer does not fit the group.
    """
    try:
        answer = assignor.assign(copied(group) if own_copy else group)
    except Infeasible as reason:
        return reason
    except (Exception, SystemExit) as problem:
        raise NoAnswer(f"it raised {type(problem).__name__}: {problem}") from problem
    if misfit := _misfit(answer, group):
        raise NoAnswer(misfit)
    return answer


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
    if why := _bad_facts(answer.findings, answer.proof):
        return why
    if answer.raw_assignment is not None and (
        why := _bad_lists(answer.raw_assignment, answer.owner, group)
    ):
        return f"raw_assignment {why}"
    return None if answer.order is None else _bad_order(answer, answer.order, group)


def _bad_order(answer: Assignment, order: Any, group: GroupSpec) -> str | None:
    if why := _bad_indices(order, 0, group.partition_count):
        return f"order {why}"
    times = np.bincount(order, minlength=group.partition_count)
    if (times > 1).any():
        return f"order names a partition twice, first {first_of(group, times > 1)}"
    left = (times == 0) & (answer.owner != NONE)
    return f"order leaves out the owned {first_of(group, left)}" if left.any() else None


def _bad_facts(findings: Any, proof: Any) -> str | None:
    for name, facts in (("findings", findings), ("proof", proof)):
        if not isinstance(facts, tuple) or not all(isinstance(fact, Fact) for fact in facts):
            return f"{name} is not a tuple of facts"
    return None


def _bad_lists(lists: Any, owner: Indices, group: GroupSpec) -> str | None:
    """What is wrong with lists that should name topics of the group, and hold what their members own."""
    if not isinstance(lists, Lists):
        return f"is a {type(lists).__name__}, not Lists"
    start, topic, partition = lists.start, lists.topic, lists.partition
    if why := _bad_indices(topic, 0, len(group.topics)):
        return f"topic {why}"
    if why := _bad_indices(partition, 0, _NUMBERS):
        return f"partition {why}"
    if len(topic) != len(partition):
        return f"has {len(topic)} topics for {len(partition)} partitions"
    if why := _bad_indices(start, 0, len(topic) + 1):
        return f"start {why}"
    sizes = np.diff(start, prepend=0, append=len(topic))  # first and last: what lies outside
    if len(start) != len(group.members) + 1 or (sizes < 0).any() or sizes[0] or sizes[-1]:
        return f"start does not cut {len(topic)} entries into the lists of {len(group.members)} members"
    there = partition < group.topic_size[topic]
    held = group.topic_start[topic[there]] + partition[there]
    member = np.repeat(np.arange(len(group.members)), np.diff(start))[there]
    listed = np.zeros(group.partition_count, np.bool_)
    listed[held[owner[held] == member]] = True
    left = (owner != NONE) & ~listed
    return f"leaves out the owned {first_of(group, left)}" if left.any() else None


def _bad_indices(array: Any, least: int, end: int) -> str | None:
    """What is wrong with an array that should hold whole numbers from *least* to below *end*."""
    if not isinstance(array, np.ndarray) or array.dtype.kind != "i" or array.ndim != 1:
        return "is not a one-dimensional array of signed integers"
    if len(array) and not least <= int(array.min()) <= int(array.max()) < end:
        return f"has values from {array.min()} to {array.max()}, outside {least} to {end - 1}"
    return None


def first_of(group: GroupSpec, which: Flags) -> str:
    """The first partition marked, as people write it."""
    partition = int(np.flatnonzero(which)[0])
    return f"{group.topics[group.topic_of[partition]]}-{group.number_of[partition]}"


def copied(group: GroupSpec) -> GroupSpec:
    """A group that shares no array, and nothing else that could be changed, with the given one."""
    parts = {name: getattr(group, name) for name in _CHANGEABLE}
    return replace(group, **{name: _copied_value(value) for name, value in parts.items()})


def _copied_value(value: Any) -> Any:
    """As `copy.deepcopy`, which takes several times as long for what a group is made of."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Column):
        return Column(value.values.copy(), value.known.copy())
    if type(value) is dict:
        return {key: _copied_value(inner) for key, inner in value.items()}
    if type(value) in (tuple, list):
        return type(value)(map(_copied_value, value))
    return copy.deepcopy(value)
