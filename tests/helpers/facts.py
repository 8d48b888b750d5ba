"""Facts as people read them, for tests that compare words."""

from __future__ import annotations

from collections.abc import Iterable

from evenkeel.engine.facts import Fact
from evenkeel.engine.wording import words


def said(facts: Iterable[Fact]) -> tuple[str, ...]:
    """Each fact in words."""
    return tuple(words(fact) for fact in facts)
