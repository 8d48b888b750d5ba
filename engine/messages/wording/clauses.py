"""What the clauses of facts are made of: their subjects, their counts, their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...model.facts import Fact
from ...model.formats import duration
from ...model.text import and_more, several

NAMED = 3
"""Subjects named in a clause."""

Clause = Callable[[Fact], str]

Known = Mapping[str, Any]
"""What is known of something wrong with a pipeline, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """
    How one kind of trouble reads, of a group or of a pipeline.

    Attributes:
        to_do: What to do next, in a sentence or two; of a pipeline a line each.
        to_do_about: The same by the fact that says what is wrong: with names or numbers; None where it has none.
        headline: What is wrong in a few words, by that fact; None: by its name, and how bad it is.
        amount: How bad it is, as `CauseSpan.amount` counts it.
        says_it_all: Whether that alone says what is wrong.
        called: Its name, where its value will not do.
        what: Of a pipeline, what is wrong, by the cluster, what is known and the moment: sentences, the first alone.
        effect: Of a pipeline, how bad that is.
        over: Of a pipeline, what it is called when it is over.
        afterwards: Of a pipeline, what is left of it then.
    """

    to_do: str
    to_do_about: Callable[[Fact], str | None] | None = None
    headline: Clause | None = None
    amount: Callable[[float], str] = lambda value: f"{duration(value)} behind"
    says_it_all: bool = False
    called: str | None = None
    what: Callable[[str, Known, datetime], tuple[str, ...]] = lambda cluster, known, now: ()
    effect: str = ""
    over: str = ""
    afterwards: str = ""


def subjects(fact: Fact, after: int = 0) -> str:
    """
    The first few subjects and how many more there are, the first *after* passed over.

    >>> from evenkeel.engine.model.facts import note
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

    >>> from evenkeel.engine.model.facts import note
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
