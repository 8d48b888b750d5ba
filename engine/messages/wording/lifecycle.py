"""Clauses about the lifecycle of an advice: why it is pending, why its state changed, and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...model.facts import Fact
from ...model.formats import duration, offsets, percent
from .clauses import Clause, known
from .forecasts import across, without

_VALUES: Mapping[str | None, Callable[[float], str]] = {
    "offsets": lambda value: offsets(round(value)),
    "s": duration,
    "share": percent,
}


def _promised(measure: str) -> Clause:
    """The actual value an hour after an advice was adopted, with its forecast."""

    def clause(fact: Fact) -> str:
        value = _VALUES[fact.unit]
        came, expected, most = (
            value(known(each)) for each in (fact.after, fact.before, fact.bound)
        )
        return f"{measure} an hour later {came}, forecast {expected}, at most {most}"

    return clause


def _if_stayed(measure: str, *, least: bool = False) -> Clause:
    """What staying would have brought an hour after an advice was adopted, and what came."""
    return lambda f: without(measure, known(f.before), known(f.after), least=least)


CLAUSES: Mapping[str, Clause] = {
    "claimed_since": "since {after:moment}",
    "told_after": "advised {after:moment} at the earliest",
    "the_way_back": (
        "{first} would revert the switch to {second}: not advised for {bound:duration} unless another problem occurs"
    ),
    "adopted_at": "adopted {after:moment}",
    "outcome_awaited": ("{names} was adopted: evenkeel verifies its forecast by {after:moment}"),
    "muted_strategy": "paused until {after:moment}: {names} missed its forecast",
    "missed_at": "missed {after:moment}",
    "in_motion": "the group is rebalancing, so it doesn't count",
    "not_taken_up": "not adopted within {after:duration}",
    "runs_it_now": "the group runs {names} now, with another assignment",
    "can_no_longer_run_it": "the group can no longer run {names}",
    "racks_change_nothing": "{names} now gives the same assignment as without client.rack",
    "no_longer_pays": "{names} would no longer help",
    "assignment_changed_again": (
        "the assignment changed again before the effect of {names} was measured"
    ),
    "nothing_promised": "no forecast of {names} to compare with",
    "outcome_unknown": ("the outcome of {names} is not known: no snapshot shows it an hour later"),
    "group_gone": "the group no longer exists",
    "if_stayed_lag": _if_stayed("lag"),
    "if_stayed_delay_seconds": _if_stayed("delay_seconds"),
    "at_least_lag": _if_stayed("lag", least=True),
    "at_least_delay_seconds": _if_stayed("delay_seconds", least=True),
    "no_difference": "{names} made no clear difference to the lag",
    "promised_lag": _promised("lag"),
    "promised_delay_seconds": _promised("time behind"),
    "promised_cross_rack_share": _promised("cross-rack share"),
    "racks_came": lambda f: across(known(f.before), known(f.after), known(f.bound)),
}
