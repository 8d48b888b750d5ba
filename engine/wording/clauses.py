"""What the clauses of facts are made of: their subjects, their counts, their values."""

from __future__ import annotations

from collections.abc import Callable

from evenkeel.engine.facts import Fact
from evenkeel.engine.text import and_more, several

NAMED = 3
"""Subjects named in a clause."""

Clause = Callable[[Fact], str]


def subjects(fact: Fact, after: int = 0) -> str:
    """
    The first few subjects and how many more there are, the first *after* passed over.

    >>> from evenkeel.engine.facts import note
    >>> subjects(note("tasks_run_nowhere", ["0_0", "0_1", "0_2", "0_3"]))
    '0_0, 0_1, 0_2 and 1 more'
    """
    names = fact.subjects[after:]
    return ", ".join(names[:NAMED]) + and_more(max(0, len(names) - NAMED) + fact.more)


def count(fact: Fact) -> int:
    """How many subjects it has, those without a name included."""
    return len(fact.subjects) + fact.more


def those(fact: Fact, noun: str, for_one: str, for_many: str) -> str:
    """
    How many subjects, the first few names, and the verb for it.

    >>> from evenkeel.engine.facts import note
    >>> those(note("tasks_run_nowhere", ["0_0"]), "task", "runs", "run")
    '1 task (0_0) runs'
    """
    number = count(fact)
    return f"{several(number, noun)} ({subjects(fact)}) {for_one if number == 1 else for_many}"


def partitions(fact: Fact) -> str:
    """The partitions it is about, counted."""
    return several(fact.partitions or 0, "partition")


def known(value: float | None) -> float:
    """A value that every fact of its measure has."""
    assert value is not None, "whoever makes the fact gives its value"
    return value


def whole(value: float | None) -> int:
    """A value that is a count."""
    return round(known(value))
