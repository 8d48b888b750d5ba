"""Readable names of members: their ids are long, and start with what can be said shorter."""

from __future__ import annotations

from collections.abc import Iterable

from evenkeel.engine.cli.running import printable

ID_END = 8
"""Characters of a member id that tell two members of equal client id and host apart."""


def member_names(members: Iterable[tuple[str, str | None, str | None]]) -> dict[str, str]:
    """
    A name for each member: its client id; with its host where others share that; then the end of its id.

    Args:
        members: (member id, client id, host).

    >>> members = [("a-11112222", "a", "/h1"), ("b-33334444", "b", "/h1"), ("b-55556666", "b", "/h2")]
    >>> list(member_names(members).values())
    ['a', 'b /h1', 'b /h2']
    >>> list(member_names([("b-11112222", "b", "/h"), ("b-33334444", "b", "/h")]).values())
    ['b /h ..11112222', 'b /h ..33334444']
    """
    listed = {member: (client or member, host or "") for member, client, host in members}
    clients = [client for client, _ in listed.values()]
    both = list(listed.values())
    names = {}
    for member, (client, host) in listed.items():
        name = client if clients.count(client) == 1 else f"{client} {host}".strip()
        if both.count((client, host)) > 1:
            name += f" ..{member[-ID_END:]}"
        names[member] = printable(name)
    return names
