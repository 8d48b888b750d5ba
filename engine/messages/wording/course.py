"""Clauses about the course of an advice: what it waits for, why it is in another state, what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from ...model.facts import Fact
from ...model.formats import duration, moment, offsets, percent
from ...model.text import several
from .clauses import Clause, known, subjects, whole
from .outlook import across

_VALUES: Mapping[str | None, Callable[[float], str]] = {
    "offsets": lambda value: offsets(round(value)),
    "s": duration,
    "share": percent,
}


def _at(value: float | None) -> str:
    return moment(datetime.fromtimestamp(known(value), tz=UTC))


def _promised(measure: str) -> Clause:
    """What came an hour after an advice was taken up, beside what was promised."""

    def clause(fact: Fact) -> str:
        value = _VALUES[fact.unit]
        came, expected, most = (
            value(known(each)) for each in (fact.after, fact.before, fact.bound)
        )
        return f"{measure} an hour later {came}, promised {expected}, at most {most}"

    return clause


def last_snapshots(fact: Fact) -> str:
    """In how many of how many snapshots."""
    return f"{whole(fact.after)} of the last {several(whole(fact.bound), 'snapshot')}"


CLAUSES: Mapping[str, Clause] = {
    "first_won": lambda f: f"since {_at(f.after)}",
    "told_after": lambda f: (
        f"told after {duration(known(f.before))} and {whole(f.after)} of {whole(f.bound)}"
    ),
    "the_way_back": lambda f: (
        f"{f.subjects[0]} would be the way back from {f.subjects[1]}: not advised for"
        f" {duration(known(f.bound))} unless something else is the matter"
    ),
    "taken_up_at": lambda f: f"taken up {_at(f.after)}",
    "outcome_awaited": lambda f: (
        f"{subjects(f)} was taken up: whether it keeps what was promised shows by {_at(f.after)}"
    ),
    "muted_strategy": lambda f: (
        f"muted until {_at(f.after)}: {subjects(f)} did not keep what was promised"
    ),
    "missed_at": lambda f: f"missed {_at(f.after)}",
    "in_motion": lambda _: "who owns what is in motion, so it does not count",
    "not_taken_up": lambda f: f"nobody took it up in {duration(known(f.after))}",
    "runs_it_now": lambda f: f"the group runs {subjects(f)} now, with another assignment",
    "can_no_longer_run_it": lambda f: f"the group cannot run {subjects(f)} any more",
    "no_longer_wins": lambda f: f"{subjects(f)} did not win in {last_snapshots(f)}",
    "assignment_changed_again": lambda f: (
        f"the assignment changed again before it showed what {subjects(f)} does"
    ),
    "nothing_promised": lambda f: f"no forecast of {subjects(f)} to hold it against",
    "outcome_unknown": lambda f: (
        f"what came of {subjects(f)} is not known: no snapshot told it an hour later"
    ),
    "group_gone": lambda _: "the group is gone",
    "promised_lag": _promised("lag"),
    "promised_delay_seconds": _promised("delay"),
    "promised_cross_rack_share": _promised("cross-rack share"),
    "racks_came": lambda f: across(known(f.before), known(f.after), known(f.bound)),
}
"""Each measure that has words of its own."""
