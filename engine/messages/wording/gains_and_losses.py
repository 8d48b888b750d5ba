"""What is weighed of a switch: lag as it is forecast, what crosses racks, the price."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...model.facts import Fact, FactKind
from ...model.formats import change, duration, money, offsets, percent, size
from ...model.text import several
from .clauses import Clause, known, whole

HOUR = 3600
DAY = 24 * HOUR


def lag(name: str) -> Clause:
    """How a lag changes; of a gain also by which share."""

    def clause(fact: Fact) -> str:
        before, after = whole(fact.before), whole(fact.after)
        told = f"{name} {change(f'{before:,}', offsets(after))}"
        return f"{told} ({percent(after / before - 1)})" if fact.kind is FactKind.GAIN else told

    return clause


def _drained(fact: Fact) -> str:
    before, after = known(fact.before), known(fact.after)
    if math.isinf(before) and math.isinf(after):
        return "not drained within the hour either way"
    return f"drained {change(_when(before), _when(after))}"


def _when(seconds: float) -> str:
    if math.isinf(seconds):
        return "not within the hour"
    return f"in {duration(seconds)}" if seconds > 0 else "already"


def _saved(fact: Fact) -> tuple[float, str]:
    """By how much something falls or rises, and the word for that."""
    saved = known(fact.before) - known(fact.after)
    return abs(saved), "less" if saved > 0 else "more"


def _integral(fact: Fact) -> str:
    fall, less = _saved(fact)
    mean = f"{offsets(round(fall / HOUR))} {less} behind"
    return f"over the hour {mean} on average ({_offset_seconds(fall)})"


def _offset_seconds(amount: float) -> str:
    return f"{amount:,.0f} offset-seconds"


def _held_up(fact: Fact) -> str:
    restarts, records = whole(fact.bound), whole(fact.after)
    who = several(restarts, "restart") if restarts else "handing over"
    much = f"about {several(records, 'record')}" if records else "next to nothing"
    return f"{who} {'hold up' if restarts > 1 else 'holds up'} {much}"


def _price(fact: Fact) -> str:
    price = f"a price of {_offset_seconds(known(fact.after))}"
    if fact.kind is not FactKind.LOSS:
        return price
    return f"{price}, more than the {_offset_seconds(max(known(fact.bound), 0))} it gains"


def _busiest(fact: Fact) -> str:
    after = percent(known(fact.after))
    values = change(percent(fact.before), after) if fact.before is not None else after
    return f"its busiest member gets {values} of what it can do"


def _bytes(fact: Fact) -> str:
    saved, less = _saved(fact)
    return f"{size(saved * DAY)} a day {less} across racks"


def _records(fact: Fact) -> str:
    saved, less = _saved(fact)
    told = f"{several(round(saved * DAY), 'record')} a day {less} across racks"
    if fact.kind is FactKind.REMARK and fact.bound is None:
        return told
    return f"{told} (their size is unknown: bytes_per_record can be configured)"


def _cost(fact: Fact) -> str:
    saved, less = _saved(fact)
    return f"{money(saved, fact.unit or '')} a month {'saved' if less == 'less' else less}"


CLAUSES: Mapping[str, Clause] = {
    "forecast_lag_expected": lag("lag in an hour"),
    "forecast_lag_low": "low {before:,} -> {after:,}",
    "forecast_lag_high": "high {before:,} -> {after:,}",
    "forecast_drained_seconds_expected": _drained,
    "forecast_lag_integral_expected": _integral,
    "forecast_utilisation_expected": _busiest,
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
