"""Short names of members: their ids are long, and start with what can be said shorter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenkeel.engine.model import Member

ID_END = 8
"""Characters of a member id that tell two members of equal client id and host apart."""


def member_names(members: Iterable[Member]) -> dict[str, str]:
    """
    A short name for each member id: its instance id, else its client id; with its host where others share that; then
    the end of its id.

    >>> from evenkeel.engine.model import Member
    >>> def member(id, client, host, instance=None):
    ...     return Member(id=id, client_id=client, host=host, instance_id=instance)
    >>> member_names([member("a-1", "a", "/h1"), member("b-3", "b", "/h1"), member("b-5", "b", "/h2")])
    {'a-1': 'a', 'b-3': 'b /h1', 'b-5': 'b /h2'}
    >>> list(member_names([member("b-11112222", "b", "/h"), member("b-33334444", "b", "/h")]).values())
    ['b /h ..11112222', 'b /h ..33334444']
    >>> member_names([member("x-1", "x", "/h", "orders-0"), member("x-2", "x", "/h", "orders-1")])
    {'x-1': 'orders-0', 'x-2': 'orders-1'}
    """
    short = {m.id: (m.instance_id or m.client_id or m.id, m.host) for m in members}
    clients = Counter(name for name, _ in short.values())
    both = Counter(short.values())
    names = {}
    for member, (client, host) in short.items():
        name = client if clients[client] == 1 else f"{client} {host}".strip()
        names[member] = name if both[client, host] == 1 else f"{name} ..{member[-ID_END:]}"
    return names
