"""Groups by name or shell pattern."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection


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
