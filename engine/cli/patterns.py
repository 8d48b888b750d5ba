"""Groups by name or shell pattern, and the names that somebody may have meant."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable
from difflib import get_close_matches


def is_pattern(text: str) -> bool:
    """
    >>> is_pattern("orders-*"), is_pattern("orders-app")
    (True, False)
    """
    return any(sign in text for sign in "*?[")


def matching(pattern: str, groups: Collection[str]) -> list[str]:
    """
    The groups of that name or shell pattern, sorted. One of exactly that name is meant alone, whatever signs are in it.

    >>> matching("orders-*", ["pay", "orders-b", "orders-a"]), matching("a*", ["a*", "ab"])
    (['orders-a', 'orders-b'], ['a*'])
    """
    if pattern in groups:
        return [pattern]
    return sorted(group for group in groups if fnmatch.fnmatchcase(group, pattern))


def meant(name: str, known: Iterable[str]) -> str | None:
    """
    A question that offers the names nearest to a wrong one; None where none is near.

    >>> meant("scorebord", ["groups", "scoreboard"]), meant("x", ["groups"])
    ('Did you mean scoreboard?', None)
    >>> meant("orders_ap", ["orders-app", "orders-api", "pay"])
    'Did you mean orders-app or orders-api?'
    """
    near = get_close_matches(name, list(known))
    return f"Did you mean {' or '.join(near)}?" if near else None
