"""
What a group that follows a plan gets: a pure function of the plan, of who is here, and of the fallback's answer.

The rule is in docs/reference/plan-format.md; Java's follower has the same, and answers the same cases
(`tests/data/plan-cases.jsonl`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from .plan import Plan, PlannedMember, TopicPartition


@dataclass(frozen=True, kw_only=True)
class Present:
    """
    A member that is here.

    Attributes:
        member_id: Its id in this generation.
        topics: What it subscribes to.
        instance_id: Its `group.instance.id`, None without one.
        client_id: Its client id.
        addresses: Those it told.
        owned: What it says it owns now.
    """

    member_id: str
    topics: Collection[str]
    instance_id: str | None = None
    client_id: str | None = None
    addresses: Collection[str] = ()
    owned: Collection[TopicPartition] = ()


@dataclass(frozen=True, kw_only=True)
class Followed:
    """
    Who gets what.

    Attributes:
        assignment: Member id -> partitions, sorted; every member that is here.
        reasons: What of the plan does not fit, in words; empty where all of it does.
    """

    assignment: dict[str, list[TopicPartition]]
    reasons: tuple[str, ...] = ()


def follow(
    plan: Plan,
    group: str,
    now: datetime,
    present: Sequence[Present],
    fallback: Mapping[str, Collection[TopicPartition]],
) -> Followed:
    """
    Who gets what under a plan.

    Args:
        plan: The plan.
        group: The group that asks.
        now: Aware.
        present: Who is here.
        fallback: Member id -> all partitions that the fallback strategy gives it, none withheld.
    """
    unfit = why_unfit(plan, group, now)
    if unfit:
        return Followed(assignment=_sorted(present, fallback), reasons=(unfit,))
    entries = match(plan.members, present)
    planned = {pair: member for member, own in _planned(entries, present).items() for pair in own}
    # a double of a member that restarts has none of its entries, but the plan knows it
    unknown = {
        one.member_id
        for one in present
        if one.member_id not in entries and not any(_is(entry, one) for entry in plan.members)
    }
    given: dict[str, set[TopicPartition]] = {one.member_id: set() for one in present}
    unplanned = 0
    for member, pairs in fallback.items():
        for pair in pairs:
            own = None if member in unknown else planned.get(pair)
            given[member if own is None else own].add(pair)
            unplanned += own is None
    reasons = _misfits(plan, entries, unknown, unplanned)
    return Followed(assignment=_sorted(present, given), reasons=reasons)


def why_unfit(plan: Plan, group: str, now: datetime) -> str | None:
    """Why nobody should follow a plan; None: somebody should."""
    if plan.group != group:
        return f"the plan is made for group {plan.group!r}, this is {group!r}"
    if now >= plan.valid_until:
        return f"the plan expired at {plan.valid_until:%Y-%m-%d %H:%M:%S} UTC"
    return None


def anchors(plan: Plan, present: Sequence[Present]) -> dict[str, list[TopicPartition]]:
    """
    What a sticky fallback takes for owned while a plan is followed: what the plan gives to each member that is here.

    Not what members claim: that changes from one round of a cooperative rebalance to the next, and with it the
    fallback's answer, by which the group would rebalance without end.

    Returns:
        Member id -> partitions, sorted, of the topics it subscribes to; empty where nobody of the plan is here.
    """
    return _planned(match(plan.members, present), present)


def _planned(
    entries: Mapping[str, PlannedMember], present: Sequence[Present]
) -> dict[str, list[TopicPartition]]:
    subscribes = {one.member_id: set(one.topics) for one in present}
    return {
        member: sorted(pair for pair in entry.pairs if pair[0] in subscribes[member])
        for member, entry in entries.items()
    }


def withhold(
    assignment: Mapping[str, Sequence[TopicPartition]], present: Sequence[Present]
) -> dict[str, list[TopicPartition]]:
    """
    The same without what another member still claims: it is given away once that one has given it up.

    Args:
        assignment: Member id -> partitions.
        present: Who is here, with what they say they own.

    Source: KIP-429.
    """
    owned = {one.member_id: set(one.owned) for one in present}
    claims = [pair for own in owned.values() for pair in own]
    claimed = set(claims)
    return {
        member: [pair for pair in pairs if pair in owned[member] or pair not in claimed]
        for member, pairs in assignment.items()
    }


def match(entries: Sequence[PlannedMember], present: Sequence[Present]) -> dict[str, PlannedMember]:
    """
    Which entry of a plan is whose.

    Returns:
        Member id -> its entry; members without one are left out.
    """
    by_instance = {one.instance_id: one for one in present if one.instance_id is not None}
    entry_of: dict[str, PlannedMember] = {}
    open_pairs: list[tuple[int, int, str]] = []
    owned = {one.member_id: set(one.owned) for one in present}
    for place, entry in enumerate(entries):
        if entry.instance_id is not None:
            one = by_instance.get(entry.instance_id)
            if one is not None:
                entry_of.setdefault(one.member_id, entry)
            continue
        pairs = entry.pairs
        open_pairs += [
            (-len(pairs & owned[one.member_id]), place, one.member_id)
            for one in present
            if _is(entry, one)
        ]
    taken: set[int] = set()
    for _, place, member in sorted(open_pairs):
        if place not in taken and member not in entry_of:
            taken.add(place)
            entry_of[member] = entries[place]
    return entry_of


def _is(entry: PlannedMember, member: Present) -> bool:
    """Whether an entry means a member, both without instance id."""
    return (
        entry.instance_id is None
        and member.instance_id is None
        and entry.client_id == member.client_id
        and entry.host is not None
        and entry.host.lstrip("/") in {address.lstrip("/") for address in member.addresses}
    )


def _misfits(
    plan: Plan,
    entries: Mapping[str, PlannedMember],
    unknown: Collection[str],
    unplanned: int,
) -> tuple[str, ...]:
    reasons = []
    here = {id(entry) for entry in entries.values()}
    absent = [
        entry.instance_id or f"{entry.client_id}@{(entry.host or '').lstrip('/')}"
        for entry in plan.members
        if id(entry) not in here
    ]
    if absent:
        reasons.append(f"not here, but in the plan: {', '.join(sorted(absent))}")
    if unknown:
        reasons.append(f"here, but not in the plan: {', '.join(sorted(unknown))}")
    if unplanned:
        reasons.append(f"{unplanned} partitions are given by {plan.fallback}, not by the plan")
    return tuple(reasons)


def _sorted(
    present: Sequence[Present], given: Mapping[str, Collection[TopicPartition]]
) -> dict[str, list[TopicPartition]]:
    return {one.member_id: sorted(given.get(one.member_id, ())) for one in present}
