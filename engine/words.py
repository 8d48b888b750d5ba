"""Words that every layer needs."""

from __future__ import annotations


def several(count: int, noun: str) -> str:
    """
    A number of things.

    >>> several(1, "group"), several(2000, "group")
    ('1 group', '2,000 groups')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
