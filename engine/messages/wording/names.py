"""Short names of members by their ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...model.text import member_names as names_of

if TYPE_CHECKING:
    from ...model.groups import Member


def member_names(members: Iterable[Member]) -> dict[str, str]:
    """
    A short name for each member id, as `text.member_names` has it.

    >>> from evenkeel.engine.model.groups import Member
    >>> def member(id, client, host, instance=None):
    ...     return Member(id=id, client_id=client, host=host, instance_id=instance)
    >>> member_names([member("a-1", "a", "/h1"), member("b-3", "b", "/h1"), member("b-5", "b", "/h2")])
    {'a-1': 'a', 'b-3': 'b at h1', 'b-5': 'b at h2'}
    >>> member_names([member("x-1", "x", "/h", "orders-0"), member("x-2", "x", "/h", "orders-1")])
    {'x-1': 'orders-0', 'x-2': 'orders-1'}
    """
    every = list({member.id: member for member in members}.values())
    names = names_of(
        [member.instance_id or member.client_id for member in every],
        [member.host for member in every],
        [member.id for member in every],
    )
    return {member.id: name for member, name in zip(every, names, strict=True)}
