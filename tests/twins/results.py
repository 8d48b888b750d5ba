"""What came of twins: kept, as a table, and what of it is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.helpers.fluid.plan import EVERY
from tests.twins.judged import Judged
from tests.twins.plan import INTERVAL, RATE

RESULTS = Path(__file__).with_name("results.json")

INSIDE = 0.8
"""Share of the pairs that switch which must be inside: ends are meant to hold so many."""

NOTHING = 0.1
"""By which share of its lag a pair that does not switch may differ from itself."""


def save(found: Sequence[Judged], path: Path = RESULTS) -> None:
    """Keep them, for the documentation."""
    rows = [{name: _rounded(value) for name, value in asdict(one).items()} for one in found]
    path.write_text(json.dumps(rows, indent=1) + "\n")


def load(path: Path = RESULTS) -> list[Judged]:
    """What `save` kept; nothing where it kept nothing."""
    return [Judged(**row) for row in json.loads(path.read_text())] if path.exists() else []


def failures(found: Sequence[Judged]) -> list[str]:
    """What is wrong with them, a line each."""
    switching = [one for one in found if one.strategy is not None]
    inside = sum(bool(one.inside) for one in switching)
    wrong = []
    if inside < INSIDE * len(switching):
        wrong.append(f"{inside} of {len(switching)} pairs that switched are inside")
    for one in found:
        if one.strategy is None and not one.inside:
            wrong.append(f"{one.pair}: neither group switched, and it is outside")
        if one.strategy is None and abs(one.measured) > NOTHING * one.came:
            wrong.append(
                f"{one.pair}: its groups differ by {one.measured:,.0f}, and neither switched"
            )
    return wrong


def section() -> str:
    """What the documentation has of the figures that were kept."""
    found = load()
    switching = [one for one in found if one.strategy is not None]
    inside = sum(bool(one.inside) for one in switching)
    late = sum(bool(one.late_inside) for one in switching)
    head = (
        "`python -m tests.twins --traces FOLDER` lets pairs of groups read one topic each, on three brokers. One group "
        "follows `evenkeel runbook`, its twin stays.\n"
        f"Each topic receives {RATE:.0f} records/s on average. Traces run {EVERY / INTERVAL:.0f} times faster.\n\n"
        "The table has lag in record-seconds since the switch, and how much more the twin had: measured, and "
        "calculated from the other group's snapshots (80% interval).\n"
        "Then it has how late the twin was at the end. A result is unknown if the group ends with another member.\n\n"
        f"{inside} of {len(switching)} differences and {late} of {len(switching)} delays are inside the interval."
    )
    return "\n".join([head, "", *table(found)]) + "\n"


def table(found: Sequence[Judged]) -> Iterator[str]:
    """The lines of a Markdown table."""
    heads = ["pair", "switch to", "lag", "twin: more lag", "calculated", "inside"]
    heads += ["twin: s late", "calculated", "inside"]
    yield f"| {' | '.join(heads)} |"
    yield "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | --- |"
    for one in found:
        cells = (
            one.kind,
            one.strategy or "-",
            _number(one.came),
            _more(one.measured),
            _with_ends(one.expected, one.low, one.high, _more),
            _yes(one.inside),
            _number(one.late_measured),
            _with_ends(one.late_expected, one.late_low, one.late_high, _number),
            _yes(one.late_inside),
        )
        yield f"| {' | '.join(cells)} |"


def _with_ends(
    expected: float | None,
    low: float | None,
    high: float | None,
    written: Callable[[float | None], str],
) -> str:
    if low is None and high is None:
        return "-"
    return f"{written(expected)} ({written(low)} to {written(high)})"


def _yes(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:,.0f}"


def _more(value: float | None) -> str:
    return "?" if value is None else f"{value:+,.0f}"


def _rounded(value: object) -> object:
    return round(value, 1) if isinstance(value, float) else value
