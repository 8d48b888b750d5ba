"""How often forecasts hold what came: evenkeel's lag and end of catching up, and plain ones of the same lag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenkeel.engine.metrics.forecast import (
    AHEAD,
    HORIZON_SECONDS,
    STEPS,
    futures,
    load_of,
    outlooks,
)
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model.arrays import Floats
from evenkeel.engine.pipeline.backtest import ForecastCheck
from tests.helpers.fluid import naive
from tests.helpers.fluid.fork import lateness
from tests.helpers.fluid.plan import EVERY
from tests.helpers.fluid.run import History
from tests.helpers.fluid.truth import snapshot_at

GRID = HORIZON_SECONDS / STEPS
"""Seconds to a multiple of which the end of catching up is foreseen."""

LATE = 10
"""Seconds from which on there is a backlog, and not only what arrives in a time step."""

ENGINE = "evenkeel"


@dataclass(frozen=True, kw_only=True)
class End:
    """Seconds until a group has caught up, as foreseen at a snapshot: p10, p50, p90; infinity beyond the hour."""

    group: str
    snapshot: int
    band: tuple[float, float, float]


def ends_of(seen: Observation, snapshot: int) -> Iterator[End]:
    """What is foreseen of the groups of a batch that are behind."""
    for number, header in enumerate(seen.batch.headers):
        own = seen.batch.members_of(number)
        if header.rebalancing or header.error is not None or own.start == own.stop:
            continue
        load = load_of(seen, number)
        if load is None or not load.backlog.any():
            continue
        ahead = outlooks(load, [load.owner], futures(load.arrivals.sum(axis=1)))
        low, middle, high = ahead.drained_seconds[0].tolist()
        yield End(group=header.group, snapshot=snapshot, band=(low, middle, high))


def calibrated(
    history: History,
    checks: Sequence[ForecastCheck],
    ends: Sequence[End],
    seasons: Mapping[str, float | None],
) -> dict[str, Any]:
    """
    Shares of outcomes within p10 to p90, by horizon and method; errors in seconds of what arrives on average.

    Args:
        history: What came.
        checks: Forecasts of lag.
        ends: Forecasts of when a group has caught up.
        seasons: Seconds after which what arrives at a group repeats itself; None: never.
    """
    lag: dict[str, Any] = {}
    each: dict[str, dict[str, float]] = {}
    for seconds in AHEAD:
        due = [
            c for c in checks if c.actual is not None and (c.due - c.at).total_seconds() == seconds
        ]
        rows = [
            row for name in seasons for row in _rows(history, name, due, seconds, seasons[name])
        ]
        lag[f"{seconds:.0f}"] = {
            method: _figures([row for row in rows if row["method"] == method])
            for method in dict.fromkeys(row["method"] for row in rows)
        }
        for name in seasons:
            own = [c.low <= (c.actual or 0) <= c.high for c in due if c.group == name]
            if own:
                each.setdefault(name, {})[f"{seconds:.0f}"] = sum(own) / len(own)
    return {"lag": lag, "lag_of_each": each, "end": _of_ends(history, ends)}


def _rows(
    history: History, name: str, due: Sequence[ForecastCheck], seconds: float, season: float | None
) -> Iterator[dict[str, Any]]:
    """A group's forecasts that plain methods could make as well, by each method."""
    own = {snapshot_at(c.at.isoformat()): c for c in due if c.group == name}
    group, ahead = history.groups[history.place(name)], round(seconds / EVERY)
    rows = history.rows(name)
    arrived = history.end[-1, rows] - history.end[history.step(0), rows]
    rate = max(float(arrived.sum()) / (EVERY * (len(history.moments) - 1)), 1e-9)
    values = history.lag(group.name)
    plain = {
        method: naive.bands(values, ahead, forecast)
        for method, forecast in naive.methods(round(season / EVERY) if season else None).items()
    }
    for number, check in own.items():
        if np.isnan(plain["persistence"][number]).any() or np.isnan(plain["holt"][number]).any():
            continue
        bands = {ENGINE: (check.low, check.expected, check.high)}
        bands |= {m: tuple(band[number].tolist()) for m, band in plain.items()}
        for method, band in bands.items():
            if not np.isnan(band).any():
                yield {"method": method, **_row(band, check.actual or 0, rate)}


def _row(band: Sequence[float], came: float, rate: float) -> dict[str, float]:
    losses = [
        max(share * (came - end), (share - 1) * (came - end))
        for share, end in zip((0.1, 0.5, 0.9), band, strict=True)
    ]
    return {
        "held": band[0] <= came <= band[2],
        "lower": came < band[0],
        "higher": came > band[2],
        "error_seconds": abs(came - band[1]) / rate,
        "loss_seconds": sum(losses) / rate,
        "width_seconds": (band[2] - band[0]) / rate,
    }


def _figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    means = {
        name: float(np.mean([row[name] for row in rows])) for name in rows[0] if name != "method"
    }
    return {"count": len(rows), **means}


def _of_ends(history: History, ends: Sequence[End]) -> dict[str, Any]:
    """By when the end was expected: within a quarter of an hour, within the hour, later."""
    late = {group.name: _late(history, group.name) for group in history.groups}
    found: dict[str, list[tuple[bool, bool]]] = {}
    for end in ends:
        came = _came(history, late[end.group], end)
        if came is not None:
            low, middle, high = end.band
            when = next((f"within {s:.0f} s" for s in AHEAD if middle <= s), "later")
            found.setdefault(when, []).append((came < low, came > high))
    return {
        when: {
            "count": len(out),
            "held": sum(not any(one) for one in out) / len(out),
            "earlier": sum(early for early, _ in out) / len(out),
            "later": sum(late for _, late in out) / len(out),
        }
        for when, out in sorted(found.items())
    }


def _late(history: History, name: str) -> Floats:
    """(S + 1) seconds that the latest partition of a group is late."""
    rows = history.rows(name)
    own = replace(history, end=history.end[:, rows], position=history.position[:, rows])
    return np.asarray(lateness(own).max(axis=1))


def _came(history: History, late: Floats, end: End) -> float | None:
    """Seconds until it had caught up and stayed so for the hour; None where its assignment changed meanwhile."""
    last = end.snapshot + round(HORIZON_SECONDS / EVERY)
    if last >= len(history.moments):
        return None
    place = history.place(end.group)
    views = [history.moments[k].views[place] for k in range(end.snapshot, last + 1)]
    if len({(view.members, view.owner) if view else None for view in views}) > 1:
        return None
    hour = late[history.step(end.snapshot) : history.step(last) + 1]
    behind = np.flatnonzero(hour > LATE)
    if not len(behind):
        return 0.0
    if behind[-1] == len(hour) - 1:
        return float("inf")
    seconds = (behind[-1] + 1) * HORIZON_SECONDS / (len(hour) - 1)
    return float(np.ceil(seconds / GRID) * GRID)
