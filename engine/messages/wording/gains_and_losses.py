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


def _lag(fact: Fact) -> str:
    before, after = whole(fact.before), whole(fact.after)
    told = f"lag in an hour {change(f'{before:,}', offsets(after))}"
    return f"{told} ({percent(after / before - 1)})" if fact.kind is FactKind.GAIN else told


def _end(name: str) -> Clause:
    def clause(fact: Fact) -> str:
        return f"{name} {change(f'{whole(fact.before):,}', f'{whole(fact.after):,}')}"

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


def _integral(fact: Fact) -> str:
    fall = known(fact.before) - known(fact.after)
    mean = f"{offsets(round(abs(fall) / HOUR))} {'less' if fall > 0 else 'more'} behind"
    return f"over the hour {mean} on average ({_offset_seconds(abs(fall))})"


def _offset_seconds(amount: float) -> str:
    return f"{amount:,.0f} offset-seconds"


def _held_up(fact: Fact) -> str:
    restarts, records = whole(fact.bound), whole(fact.after)
    who = several(restarts, "restart") if restarts else "handing over"
    verb = "hold up" if restarts > 1 else "holds up"
    return f"{who} {verb} " + (
        f"about {several(records, 'record')}" if records else "next to nothing"
    )


def _price(fact: Fact) -> str:
    costs = _offset_seconds(known(fact.after))
    if fact.kind is not FactKind.LOSS:
        return f"a price of {costs}"
    return (
        f"a price of {costs}, more than the {_offset_seconds(max(known(fact.bound), 0))} it gains"
    )


def _busiest(fact: Fact) -> str:
    after = percent(known(fact.after))
    values = change(percent(fact.before), after) if fact.before is not None else after
    return f"its busiest member gets {values} of what it can do"


def _counts(fact: Fact) -> str:
    return change(*fact.subjects) if len(fact.subjects) == 2 else fact.subjects[0]


def _bytes(fact: Fact) -> str:
    saved = known(fact.before) - known(fact.after)
    return f"{size(abs(saved) * DAY)} a day {_less(saved)} across racks"


def _records(fact: Fact) -> str:
    saved = known(fact.before) - known(fact.after)
    told = f"{several(round(abs(saved) * DAY), 'record')} a day {_less(saved)} across racks"
    if fact.kind is FactKind.REMARK and fact.bound is None:
        return told
    return f"{told} (their size is unknown: bytes_per_record can be configured)"


def _less(saved: float) -> str:
    return "less" if saved > 0 else "more"


def _cost(fact: Fact) -> str:
    saved = known(fact.before) - known(fact.after)
    return f"{money(abs(saved), fact.unit or '')} a month {'saved' if saved > 0 else 'more'}"


CLAUSES: Mapping[str, Clause] = {
    "forecast_lag_expected": _lag,
    "forecast_lag_low": _end("low"),
    "forecast_lag_high": _end("high"),
    "forecast_drained_seconds_expected": _drained,
    "forecast_lag_integral_expected": _integral,
    "forecast_utilisation_expected": _busiest,
    "price_held_up_offsets": _held_up,
    "price_offset_seconds": _price,
    "cross_rack_bytes_per_second": _bytes,
    "cross_rack_records_per_second": _records,
    "cross_rack_cost_per_month": _cost,
    "member_counts": _counts,
    "most_partitions": _end("most"),
    "fewest_partitions": _end("fewest"),
}
"""Each measure of what is weighed that has words of its own here."""
