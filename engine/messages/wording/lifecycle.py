"""Clauses about the course of an advice: what it waits for, why it is in another state, what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...model.facts import Fact
from ...model.formats import duration, offsets, percent
from .clauses import Clause, known
from .forecasts import across

_VALUES: Mapping[str | None, Callable[[float], str]] = {
    "offsets": lambda value: offsets(round(value)),
    "s": duration,
    "share": percent,
}


def _promised(measure: str) -> Clause:
    """What came an hour after an advice was adopted, beside what was promised."""

    def clause(fact: Fact) -> str:
        value = _VALUES[fact.unit]
        came, expected, most = (
            value(known(each)) for each in (fact.after, fact.before, fact.bound)
        )
        return f"{measure} an hour later {came}, promised {expected}, at most {most}"

    return clause


LAST_SNAPSHOTS = "{after} of the last {bound:snapshot}"


CLAUSES: Mapping[str, Clause] = {
    "first_won": "since {after:moment}",
    "told_after": "told after {before:duration} and {after} of {bound}",
    "the_way_back": (
        "{first} would be the way back from {second}: not advised for {bound:duration} unless something else is the"
        " matter"
    ),
    "adopted_at": "adopted {after:moment}",
    "outcome_awaited": (
        "{names} was adopted: whether it keeps what was promised shows by {after:moment}"
    ),
    "muted_strategy": "muted until {after:moment}: {names} did not keep what was promised",
    "missed_at": "missed {after:moment}",
    "in_motion": "who owns what is in motion, so it does not count",
    "not_taken_up": "nobody took it up in {after:duration}",
    "runs_it_now": "the group runs {names} now, with another assignment",
    "can_no_longer_run_it": "the group cannot run {names} any more",
    "racks_change_nothing": "{names} is no other answer any more than without client.rack",
    "no_longer_wins": f"{{names}} did not win in {LAST_SNAPSHOTS}",
    "assignment_changed_again": ("the assignment changed again before it showed what {names} does"),
    "nothing_promised": "no forecast of {names} to hold it against",
    "outcome_unknown": ("what came of {names} is not known: no snapshot told it an hour later"),
    "group_gone": "the group is gone",
    "promised_lag": _promised("lag"),
    "promised_delay_seconds": _promised("delay"),
    "promised_cross_rack_share": _promised("cross-rack share"),
    "racks_came": lambda f: across(known(f.before), known(f.after), known(f.bound)),
}
