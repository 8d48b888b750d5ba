"""How many cases a test tries, in proportion to the Hypothesis profile that is chosen."""

from __future__ import annotations

from hypothesis import settings


def times(factor: int) -> settings:
    """So many times the profile's cases, for a property that is cheap and easily missed."""
    return settings(max_examples=factor * examples())


def examples() -> int:
    """The profile's cases of a property, for a test that makes its own."""
    return settings().max_examples
