"""How often forecasts hold what came: evenkeel's lag and end of catching up, and plain ones of the same lag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenkeel.engine.metrics.forecast import (
    AHEAD,
    HORIZON_SECONDS,
    NO_CORRECTION,
    AssignmentBatch,
    ForecastInput,
    load_of,
    outlooks,
    step_after,
)
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model.arrays import Floats
from evenkeel.engine.pipeline.backtest import ForecastCheck
from tests.helpers.fluid import naive
from tests.helpers.fluid.fork import lateness
from tests.helpers.fluid.plan import EVERY
from tests.helpers.fluid.run import History
from tests.helpers.fluid.truth import snapshot_at

LATE = 10
"""Seconds from which on there is a backlog, and not only what arrives in a time step."""

ENGINE, UNCORRECTED = "evenkeel", "uncorrected"
"""What is forecast, and what would be if nothing had come of earlier forecasts."""

Band = tuple[float, float, float]
"""p10, p50 and p90."""


@dataclass(frozen=True, kw_only=True)
class Foreseen:
    """
    What is foreseen of a group at a snapshot.

    Attributes:
        lag: By seconds ahead, uncorrected.
        end: Seconds until it has caught up, infinity beyond the hour; None where it is not behind, or that is unknown.
    """

    group: str
    snapshot: int
    lag: Mapping[float, Band]
    end: Band | None


def foreseen(seen: Observation, snapshot: int) -> Iterator[Foreseen]:
    """What is foreseen of the groups of a batch."""
    for number, header in enumerate(seen.batch.headers):
        own = seen.batch.members_of(number)
        if header.rebalancing or header.error is not None or own.start == own.stop:
            continue
        load = load_of(seen, number)
        if load is None:
            continue
        load = replace(load, correction=np.array(NO_CORRECTION))
        ahead = outlooks(AssignmentBatch([ForecastInput(load=load, owners=[load.owner])]))
        end = ahead.drained_seconds[0]
        is_told = load.backlog.any() and not np.isnan(end).any()
        yield Foreseen(
            group=header.group,
            snapshot=snapshot,
            lag={seconds: _band(ahead.lag[0, step_after(seconds)]) for seconds in AHEAD},
            end=_band(end) if is_told else None,
        )


def _band(values: Floats) -> Band:
    low, middle, high = values.tolist()
    return low, middle, high


def calibrated(
    history: History,
    checks: Sequence[ForecastCheck],
    told: Sequence[Foreseen],
    seasons: Mapping[str, float | None],
) -> dict[str, Any]:
    """
    Shares of outcomes within p10 to p90, by horizon and method; errors in seconds of what arrives on average.

    Args:
        history: What came.
        checks: Forecasts of lag.
        told: What else is foreseen.
        seasons: Seconds after which what arrives at a group repeats itself; None: never.
    """
    lag: dict[str, Any] = {}
    each: dict[str, dict[str, Any]] = {}
    plain = {(one.group, one.snapshot): one.lag for one in told}
    for seconds in AHEAD:
        due = [
            c for c in checks if c.actual is not None and (c.due - c.at).total_seconds() == seconds
        ]
        by_group = {
            name: [*_rows(history, name, due, seconds, seasons[name], plain)] for name in seasons
        }
        lag[f"{seconds:.0f}"] = _by_method([row for rows in by_group.values() for row in rows])
        held = {name: _by_method(rows) for name, rows in by_group.items() if len(rows)}
        for name, methods in held.items():
            each.setdefault(name, {})[f"{seconds:.0f}"] = {
                method: figures["held"] for method, figures in methods.items()
            }
        for method, figures in lag[f"{seconds:.0f}"].items():
            figures |= _worst([own[method]["held"] for own in held.values() if method in own])
    return {"lag": lag, "lag_of_each": each, "end": _of_ends(history, told)}


def _worst(held: Sequence[float]) -> dict[str, float]:
    """What nine of ten groups reach at least, and the mean of the tenth that is worst."""
    ordered = sorted(held)
    worst = ordered[: max(1, round(len(ordered) / 10))]
    return {"nine_in_ten": worst[-1], "worst_tenth": float(np.mean(worst))}


def _rows(
    history: History,
    name: str,
    due: Sequence[ForecastCheck],
    seconds: float,
    season: float | None,
    uncorrected: Mapping[tuple[str, int], Mapping[float, Band]],
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
        bands[UNCORRECTED] = uncorrected[name, number][seconds]
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


def _by_method(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        method: _figures([row for row in rows if row["method"] == method])
        for method in dict.fromkeys(row["method"] for row in rows)
    }


def _figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    means = {
        name: float(np.mean([row[name] for row in rows])) for name in rows[0] if name != "method"
    }
    return {"count": len(rows), **means}


def _of_ends(history: History, told: Sequence[Foreseen]) -> dict[str, Any]:
    """By when the end was expected: within a quarter of an hour, within the hour, later."""
    late = {group.name: _late(history, group.name) for group in history.groups}
    found: dict[str, list[tuple[bool, bool]]] = {}
    for one in told:
        came = _came(history, late[one.group], one) if one.end else None
        if one.end and came is not None:
            low, middle, high = one.end
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


def _came(history: History, late: Floats, end: Foreseen) -> float | None:
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
    return float((behind[-1] + 1) * HORIZON_SECONDS / (len(hour) - 1))
