"""Gains and losses of a switch: forecast lag, cross-rack traffic, cost."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.facts import Fact, FactKind
from ...model.formats import change, duration, money, offsets, percent, size
from ...model.text import several
from .clauses import Clause, known, whole
from .forecasts import caught_up

HOUR = 3600
DAY = 24 * HOUR


def lag(name: str) -> Clause:
    """How a lag changes; of a gain also by which share."""

    def clause(fact: Fact) -> str:
        before, after = whole(fact.before), whole(fact.after)
        text = f"{name} {change(f'{before:,}', offsets(after))}"
        return f"{text} ({percent(after / before - 1)})" if fact.kind is FactKind.GAIN else text

    return clause


def _drained(fact: Fact) -> str:
    return caught_up(known(fact.after), known(fact.bound))


def _saved(fact: Fact) -> tuple[float, str]:
    """The amount of a fall or rise, and the word for it."""
    saved = known(fact.before) - known(fact.after)
    return abs(saved), "less" if saved > 0 else "more"


def _integral(fact: Fact) -> str:
    fall, less = _saved(fact)
    mean = f"{offsets(round(fall / HOUR))} {less} behind"
    return f"over the hour {mean} on average ({_offset_seconds(fall)})"


def _offset_seconds(amount: float) -> str:
    return f"{amount:,.0f} lag-seconds"


def _held_up(fact: Fact) -> str:
    restarts, records = whole(fact.bound), whole(fact.after)
    how = several(restarts, "restart") if restarts else "reassigning"
    much = f"about {several(records, 'record')}" if records else "almost no records"
    return f"{how} {'delay' if restarts > 1 else 'delays'} {much}"


def _price(fact: Fact) -> str:
    price = f"a cost of {_offset_seconds(known(fact.after))}"
    if fact.kind is not FactKind.LOSS:
        return price
    return f"{price}, more than the gain of {_offset_seconds(max(known(fact.bound), 0))}"


def _busiest(fact: Fact) -> str:
    after = percent(known(fact.after))
    values = change(percent(fact.before), after) if fact.before is not None else after
    return f"load of the busiest member {values} of its capacity"


def _bytes(fact: Fact) -> str:
    saved, less = _saved(fact)
    return f"{size(saved * DAY)} a day {less} across racks"


def _records(fact: Fact) -> str:
    saved, less = _saved(fact)
    text = f"{several(round(saved * DAY), 'record')} a day {less} across racks"
    if fact.kind is FactKind.REMARK and fact.bound is None:
        return text
    return f"{text} (their size is unknown: configure bytes_per_record)"


def _cost(fact: Fact) -> str:
    saved, less = _saved(fact)
    return f"{money(saved, fact.unit or '')} a month {'saved' if less == 'less' else less}"


def _for_this_backlog(fact: Fact) -> str:
    ends = [duration(known(end)) for end in (fact.before, fact.after)]
    return f"for this backlog only: drained in {change(*ends)}"


def _relieved(fact: Fact) -> str:
    """
    >>> _relieved(Fact(kind=FactKind.NOTE, measure="relieved_member", subjects=("m-3",), after=2, partitions=4))
    '2 of the 4 partitions of m-3 on other members would do'
    """
    moved, had = whole(fact.after), fact.partitions or 0
    every = f"the {several(had, 'partition')}"
    share = every if moved == had else f"{moved:,} of {every}"
    return f"{share} of {fact.subjects[0]} on other members would do"


CLAUSES: Mapping[str, Clause] = {
    "forecast_lag_expected": lag("lag in an hour"),
    "forecast_lag_low": "p10 {before:,} -> {after:,}",
    "forecast_lag_high": "p90 {before:,} -> {after:,}",
    "for_this_backlog": _for_this_backlog,
    "relieved_member": _relieved,
    "forecast_drained_seconds": _drained,
    "forecast_drained_seconds_staying": lambda f: f"with the current assignment {_drained(f)}",
    "forecast_lag_integral_expected": _integral,
    "forecast_utilization_expected": _busiest,
    "price_held_up_offsets": _held_up,
    "price_offset_seconds": _price,
    "cross_rack_bytes_per_second": _bytes,
    "cross_rack_records_per_second": _records,
    "cross_rack_cost_per_month": _cost,
    "member_counts": lambda f: change(*f.subjects) if len(f.subjects) == 2 else f.subjects[0],
    "stores_in_one_rack": lambda f: (
        "stores with all copies in one rack "
        + change(f"{whole(f.before):,}", f"{whole(f.after):,}")
    ),
    "most_partitions": "most {before:,} -> {after:,}",
    "fewest_partitions": "fewest {before:,} -> {after:,}",
}
