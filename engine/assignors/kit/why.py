"""
Why a partition goes to a member: the steps that several strategies share, as facts in the order in which they decide.

A strategy explains one partition by its own method `explain(group, partition)`, with the same input as `assign`. Its
facts are of kind *reason*, and their measures begin with `why_`; `evenkeel explain` prints them as numbered steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.arrays import NONE, Indices, Ints
from ...model.assignments import Assignment
from ...model.facts import Fact, reason
from ..interface import GroupSpec

Steps = tuple[Fact, ...]
"""Why one partition goes where it goes, each step on top of the one before."""


Claims = tuple[Ints, Indices, Indices]
"""What members say they have, ragged: start, topic, partition number."""


def name_of(group: GroupSpec, partition: int) -> str:
    """A partition as topic-number."""
    return f"{group.topics[group.topic_of[partition]]}-{group.number_of[partition]}"


def partition_of(group: GroupSpec, topic: str, number: int) -> int | None:
    """The index of a partition; None where there is no such one."""
    known = group.topics.index(topic) if topic in group.topics else NONE
    there = known != NONE and 0 <= number < int(group.topic_size[known])
    return int(group.topic_start[known]) + number if there else None


def names_of(group: GroupSpec, members: Sequence[int]) -> list[str]:
    """Members by their ids."""
    return [group.members[member] for member in members]


def shares(group: GroupSpec, topic: int, subscribers: int) -> Fact:
    """How a topic is divided: partitions of each subscriber at least, and how many subscribers get one more."""
    base, extra = divmod(int(group.topic_size[topic]), subscribers)
    size = int(group.topic_size[topic])
    return reason(
        "why_shares",
        [group.topics[topic]],
        before=base,
        after=size,
        bound=subscribers,
        partitions=extra,
    )


def in_ranges(group: GroupSpec, partition: int, order: Sequence[int]) -> Steps:
    """
    The steps of plain ranges.

    Args:
        group: The group.
        partition: One of a topic with subscribers.
        order: The topic's subscribers, as the strategy goes through them.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> steps = in_ranges(spec({"a": ["t"], "b": ["t"]}, {"t": 5}), 3, [0, 1])
    >>> steps[-1].subjects, steps[-1].before, steps[-1].after, steps[-1].bound
    (('b',), 3, 4, 2)
    """
    topic, number = int(group.topic_of[partition]), int(group.number_of[partition])
    base, extra = divmod(int(group.topic_size[topic]), len(order))
    wide = extra * (base + 1)
    place = number // (base + 1) if number < wide else extra + (number - wide) // base
    first = place * base + min(place, extra)
    last = first + base - (place >= extra)
    own = reason(
        "why_range", [group.members[order[place]]], before=first, after=last, bound=place + 1
    )
    return shares(group, topic, len(order)), own


def kept_or_given(group: GroupSpec, partition: int, answer: Assignment, claims: Claims) -> Steps:
    """
    The steps of a strategy that lets members keep what they report: who had the partition, and who has it then.

    Args:
        group: The group.
        partition: Which one.
        answer: What the strategy gives.
        claims: What members report.
    """
    start, topics, numbers = claims
    who = np.repeat(np.arange(len(group.members)), np.diff(start))
    this = (topics == group.topic_of[partition]) & (numbers == group.number_of[partition])
    had = np.bincount(who, minlength=len(group.members))
    members = answer.owner[answer.owner != NONE]
    has = np.bincount(members, minlength=len(group.members))
    claimants, owner = who[this].tolist(), int(answer.owner[partition])
    to = NONE if answer.transferring is None else int(answer.transferring[partition])
    if owner in claimants:
        kept = reason(
            "why_kept", [group.members[owner]], before=int(had[owner]), after=int(has[owner])
        )
        return (kept,)
    before = [
        reason("why_given_up", [group.members[m]], before=int(had[m]), after=int(has[m]))
        for m in claimants
    ] or [reason("why_nobody_had")]
    if owner == NONE and to != NONE:
        waits = reason("why_waits", names_of(group, [to, *claimants[:1]]))
        return (*before, waits)
    if owner == NONE:
        return tuple(before)
    given = reason(
        "why_given",
        [group.members[owner]],
        before=int(had[owner]),
        after=int(has[owner]),
        bound=int(has[group.subscribers[int(group.topic_of[partition])]].min()),
    )
    return (*before, given)


def owned_of(group: GroupSpec) -> Claims:
    """What members' subscriptions, or a broker's target, say that they have."""
    return group.owned_start, group.owned_topic, group.owned_partition


def by_racks(group: GroupSpec, partition: int, owner: int, member_rack: Indices) -> Steps:
    """
    Whether a member reads a partition from its own rack, with the racks there are; nothing where none is known at all.

    Args:
        group: The group.
        partition: Which one.
        owner: The member.
        member_rack: (M) the racks that the strategy goes by.
    """
    if not group.racks:
        return ()
    entries = slice(*group.replica_start[partition : partition + 2].tolist())
    racks = sorted({group.racks[r] for r in group.replica_rack[entries].tolist() if r != NONE})
    own = int(member_rack[owner])
    if own == NONE or not racks:
        return (reason("why_rack_unknown", [group.members[owner]]),)
    near = group.racks[own] in racks
    names = [group.members[owner], group.racks[own], *racks]
    return (reason("why_near" if near else "why_far", names),)


def at_fixed_counts(
    group: GroupSpec, partition: int, answer: Assignment, member_rack: Indices
) -> Steps:
    """The steps of a strategy that keeps counts and then lets racks decide, with moves as few as that leaves."""
    owner = int(answer.owner[partition])
    if owner == NONE:
        return ()
    fixed = reason(
        "why_counts_fixed", [group.members[owner]], after=int((answer.owner == owner).sum())
    )
    racks = by_racks(group, partition, owner, member_rack)
    return fixed, *racks, stays_or_moves(group, partition, owner)


def stays_or_moves(group: GroupSpec, partition: int, owner: int) -> Fact:
    """Whether a partition stays with the member that has it now."""
    had = int(group.owner[partition])
    if had == owner:
        return reason("why_stays", [group.members[owner]])
    return reason("why_moves", names_of(group, [owner, *([had] if had != NONE else [])]))
