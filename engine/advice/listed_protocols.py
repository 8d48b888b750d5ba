"""What the members of a group list, as far as anybody said, and what that elects."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..assignors.kafka.election import Election, elect
from ..assignors.kafka.protocol_names import wire_name
from ..config import Assignors
from ..model.groups import GroupSnapshot, Member

Listed = Mapping[str, tuple[str, ...] | None]
"""Member id -> its list by wire names; None where nobody said."""


def lists_of(members: Iterable[Member], assignors: Assignors | None) -> Listed:
    """
    Each member's list, out of one for all of them or of patterns of client id, host or instance id.

    A strategy written twice, by two of its names, counts where it stands first.

    >>> member = Member(id="a-1", client_id="a", host="/10.0.0.1")
    >>> lists_of([member], {"10.0.*": ("RangeAssignor", "sticky")})
    {'a-1': ('range', 'sticky')}
    >>> lists_of([member], {"b": ("range",)}), lists_of([member], None)
    ({'a-1': None}, {'a-1': None})
    """
    return {member.id: _list_of(member, assignors) for member in members}


def _list_of(member: Member, assignors: Assignors | None) -> tuple[str, ...] | None:
    if not isinstance(assignors, dict):
        return _by_wire(assignors)
    host = member.host
    names = [member.client_id, host, host.removeprefix("/"), member.instance_id or ""]
    for pattern, listed in assignors.items():
        if any(fnmatch.fnmatchcase(name, pattern) for name in names):
            return _by_wire(listed)
    return None


def _by_wire(listed: tuple[str, ...] | None) -> tuple[str, ...] | None:
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
    return replace(
        elect(known, coordinator_order=[member.id for member in group.members]), leader=None
    )
