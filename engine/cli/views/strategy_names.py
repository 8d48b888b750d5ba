"""Strategies by our names in texts; the protocol's name (`lag` for `lag-aware`) is for settings only."""

from __future__ import annotations

from dataclasses import replace

from ...assignors.kafka.protocol_names import CLIENT_SIDE
from ...messages.wording import words
from ...model.facts import Fact


def ours(name: str) -> str:
    """
    Our name of a strategy that a group runs or lists; any other name unchanged.

    >>> ours("lag"), ours("range"), ours("acme")
    ('lag-aware', 'range', 'acme')
    """
    known = CLIENT_SIDE.get(name)
    return known.strategy if known else name


def named_ours(fact: Fact) -> Fact:
    """A fact whose subjects are strategies, by our names."""
    return replace(fact, subjects=tuple(map(ours, fact.subjects)))


def words_of_strategies(fact: Fact) -> str:
    """The same in words."""
    return words(named_ours(fact))
