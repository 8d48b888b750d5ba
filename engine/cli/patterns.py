"""Groups by name or shell pattern."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection

from ..model.text import meant
from .command_end import NothingFound


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


def no_group(
    pattern: str, where: str, known: Collection[str], fix: str | None = None
) -> NothingFound:
    """
    The error about groups that do not exist; its fix has the nearest names.

    Args:
        pattern: The name or shell pattern that was given.
        where: What has no such group.
        known: The groups that exist there.
        fix: The fix where no name is near.

    >>> str(no_group("orders", "in cluster eu", ["orders-app", "pay"]))
    "no group 'orders' in cluster eu. Did you mean orders-app?"
    """
    return NothingFound(f"no group {pattern!r} {where}.", fix=meant(pattern, known) or fix)
