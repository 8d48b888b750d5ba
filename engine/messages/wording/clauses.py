"""
How a fact becomes a clause: by a template of a table `CLAUSES`, or by a function if a template doesn't suffice.

A template reads like its clause: `"{names} {has|have} not committed for {after:duration}, {partitions}"`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ...model.facts import Fact
from ...model.formats import (
    brief,
    duration,
    minute,
    moment,
    percent,
    record_rate,
    roughly,
)
from ...model.text import and_more, does, plural, several

NAMED = 3
"""Subjects named in a clause."""

Clause = str | Callable[[Fact], str]

FORMS: Mapping[str, Callable[[float], str]] = {
    "duration": duration,
    "moment": lambda seconds: moment(datetime.fromtimestamp(seconds, UTC)),
    "minute": lambda seconds: minute(datetime.fromtimestamp(seconds, UTC)),
    "percent": percent,
    "rate": record_rate,
    "roughly": roughly,
}
"""How a value of a fact may read in a template."""


@dataclass(frozen=True, slots=True)
class Figure:
    """
    A value in a template: in one of the `FORMS`, as a count, or as a count of things with or without their verb, that a
    tilde rounds.

    >>> "{0:duration}, {0:,}, {0:member}, {1:member stays|stay}".format(Figure(1204), Figure(1))
    '20 min 4 s, 1,204, 1,204 members, 1 member stays'
    >>> f"{Figure(1_600_000):~record}"
    '1.6M records'
    """

    value: float | None

    def __format__(self, form: str) -> str:
        if form in FORMS:
            return FORMS[form](known(self.value))
        number = whole(self.value)
        if form.startswith("~"):
            return f"{brief(number)} {plural(form[1:], number)}"
        if form in ("", ","):
            return format(number, form)
        one, _, many = form.partition("|")
        if not many:
            return several(number, form)
        noun, _, verb = one.rpartition(" ")
        return does(number, noun, verb, many)


@dataclass(frozen=True, slots=True)
class _Values:
    """The names in a template of a fact; of two words with a bar between them one, by the number of subjects."""

    fact: Fact

    def __getitem__(self, name: str) -> object:
        fact = self.fact
        if "|" in name:
            return name.split("|")[count(fact) != 1]
        match name:
            case "before" | "after" | "bound":
                return Figure(getattr(fact, name))
            case "count":
                return Figure(count(fact))
            case "partitions":
                return partitions(fact)
            case "who":
                return _Who(fact)
            case "names":
                return subjects(fact)
            case "others":
                return subjects(fact, 1)
            case "every":
                return ", ".join(fact.subjects)
            case "first" | "second" | "third":
                return fact.subjects[("first", "second", "third").index(name)]
        return getattr(fact, name)


@dataclass(frozen=True, slots=True)
class _Who:
    """The one subject by its name, several as so many of a noun."""

    fact: Fact

    def __format__(self, noun: str) -> str:
        number = count(self.fact)
        return subjects(self.fact) if number == 1 else several(number, noun)


def filled(clause: Clause, fact: Fact) -> str:
    """
    The clause of a fact.

    A template may name *before*, *after* and *bound* as `Figure`, and *count*, that of the subjects; *partitions*,
    counted; *names*, the first few subjects, *others*, the same without the first, *every*, *first*, *second* and
    *third*; *who*, the one subject or how many of a noun (`{who:member}`); *quote* and *unit*.

    >>> from evenkeel.engine.model.facts import note
    >>> filled("{count:task} ({names}) {runs|run} nowhere", note("tasks_run_nowhere", ["0_0"]))
    '1 task (0_0) runs nowhere'
    """
    return clause.format_map(_Values(fact)) if isinstance(clause, str) else clause(fact)


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


def partitions(fact: Fact) -> str:
    """The partitions it is about, counted."""
    return several(fact.partitions or 0, "partition")


def known(value: float | None) -> float:
    """A value that every fact of its measure has."""
    assert value is not None, "each fact of this measure has the value"
    return value


def whole(value: float | None) -> int:
    """A value that is a count."""
    return round(known(value))
