"""What the members of a group list, as far as anybody said, what that elects, and what speaks against it."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..assignors.kafka.election import Election, elect
from ..assignors.kafka.protocol_names import wire_name
from ..config import Assignors
from ..model.facts import Fact, reason
from ..model.groups import GroupSnapshot, Roster

Listed = Mapping[str, tuple[str, ...] | None]
"""Member id -> its list by wire names; None where nobody said."""


def lists_of(members: Roster, assignors: Assignors | None) -> Listed:
    """
    Each member's list, out of one for all of them or of patterns of client id, host or instance id.

    A strategy written twice, by two of its names, counts where it stands first.

    >>> from evenkeel.engine.model.groups import Member
    >>> members = Roster.of([Member(id="a-1", client_id="a", host="/10.0.0.1")])
    >>> lists_of(members, {"10.0.*": ("RangeAssignor", "sticky")})
    {'a-1': ('range', 'sticky')}
    >>> lists_of(members, {"b": ("range",)}), lists_of(members, None)
    ({'a-1': None}, {'a-1': None})
    """
    if not isinstance(assignors, dict):
        return dict.fromkeys(members.ids, _once_each(assignors))
    found: dict[str, tuple[str, ...] | None] = {}
    for member, client, host, instance in zip(
        members.ids, members.client_ids, members.hosts, members.instance_ids, strict=True
    ):
        names = (client, host, host.removeprefix("/"), instance or "")
        fitting = (
            listed
            for pattern, listed in assignors.items()
            if any(fnmatch.fnmatchcase(name, pattern) for name in names)
        )
        found[member] = _once_each(next(fitting, None))
    return found


def _once_each(listed: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(dict.fromkeys(map(wire_name, listed)))


def election_of(group: GroupSnapshot, lists: Listed) -> Election | None:
    """
    What a group's members elect; None where a list is not known.

    The order in which they joined is not on the wire: its leader is unknown, and whoever it refuses
    cannot have the list it is said to have, since it is in the group.
    """
    known = {member: listed for member, listed in lists.items() if listed is not None}
    if not known or len(known) < len(lists):
        return None
    return replace(elect(known, coordinator_order=[*group.roster.ids]), leader=None)


def who_lists(
    group: GroupSnapshot, wire: str, lists: Listed, election: Election | None
) -> list[Fact]:
    """Who lists a strategy and who does not, as far as anybody said."""
    count = len(group.roster)
    if election and wire in election.poll.candidates:
        elected = election.elected or ""
        votes = election.votes[elected]
        return [reason("listed_not_elected", [elected], after=votes, bound=count)]
    unknown = sum(listed is None for listed in lists.values())
    if unknown == count:
        return []
    without = _without(group.roster, wire, lists)
    told = []
    if len(without) == count:
        told.append(reason("nobody_lists_it"))
    elif without:
        told.append(reason("not_listed_by", without, bound=count))
    if unknown:
        told.append(reason("lists_unknown", after=unknown, bound=count))
    return told


def _without(members: Roster, wire: str, lists: Listed) -> list[str]:
    """Identities of the members whose list is known and does not have a strategy."""
    named = zip(members.ids, members.identities, strict=True)
    return [identity for id, identity in named if wire not in (lists.get(id) or (wire,))]


def doubt(group: GroupSnapshot, lists: Listed, election: Election | None) -> Fact | None:
    """
    Why lists that were said cannot be what the members have; None where nothing speaks against it.

    Args:
        group: The group.
        lists: What its members are said to list.
        election: What that elects; None where a list is not known.
    """
    runs_now = group.assignor
    if runs_now is None or all(listed is None for listed in lists.values()):
        return None
    if without := _without(group.roster, runs_now, lists):
        return reason("running_not_listed", [runs_now, *without])
    if election is None or election.elected == runs_now:
        return None
    elected = [election.elected] if election.elected else []
    return reason("running_not_elected", [runs_now, *elected])
