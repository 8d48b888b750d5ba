"""Facts as people read them, for tests that compare words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evenkeel.engine.messages.wording import how, reasons, words
from evenkeel.engine.model.facts import Fact


def said(facts: Iterable[Fact]) -> tuple[str, ...]:
    """Each fact in words."""
    return tuple(words(fact) for fact in facts)


def told(fact: Fact | None) -> str | None:
    """One fact in words; None where there is none."""
    return None if fact is None else words(fact)


def why_of(judged: Any) -> str:
    """The reason of a judgment or candidate in words."""
    return reasons(judged.reason)


def how_of(judged: Any) -> str:
    """What to do for a judgment, candidate or plan in words; nothing where nothing is known."""
    return how(judged.how) or ""
