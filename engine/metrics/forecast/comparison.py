"""A group's assignments side by side: the forecast of each, and what getting there adds to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...model.arrays import Floats, Indices
from ...model.figures import ENDS, Forecast
from .backlog import Load, Outlooks, outlooks
from .futures import futures, step_after

SOON_SECONDS = 900.0
"""How far ahead the nearer forecast looks."""


def forecasts(
    load: Load, owners: Sequence[Indices], held_up_seconds: Sequence[Floats | None]
) -> list[Forecast]:
    """
    (K) what becomes of a group under each assignment. All are held against the same futures; equal ones are worked out
    once.

    Args:
        load: What the group has to do, and can.
        owners: K assignments: (n) a member, or NONE.
        held_up_seconds: K times (n) how long each partition stands still on the way there; None: it has no price.
    """
    speed = load.arrivals.mean(axis=0)
    worked_out: dict[tuple[bytes, bytes], int] = {}
    placed: list[Indices] = []
    added: list[Floats] = []

    def row_of(owner: Indices, offsets: Floats) -> int:
        key = (owner.tobytes(), offsets.tobytes())
        if key not in worked_out:
            worked_out[key] = len(placed)
            placed.append(owner)
            added.append(offsets)
        return worked_out[key]

    nothing = np.zeros(len(speed))
    held_up = [None if seconds is None else seconds * speed for seconds in held_up_seconds]
    plain = [row_of(owner, nothing) for owner in owners]
    priced = [
        None if offsets is None else row_of(owner, offsets)
        for owner, offsets in zip(owners, held_up, strict=True)
    ]
    seen = outlooks(load, placed, futures(load.arrivals.sum(axis=1)), added)
    totals = seen.lag_integral[:, 1].tolist()
    bands = [_forecast(seen, row) for row in range(len(placed))]
    return [
        bands[row]
        if with_price is None or offsets is None
        else replace(
            bands[row],
            price_held_up_offsets=float(offsets.sum()),
            # no future is better for it, but sums of its numbers may round the other way
            price_offset_seconds=max(totals[with_price] - totals[row], 0.0),
        )
        for row, with_price, offsets in zip(plain, priced, held_up, strict=True)
    ]


def _forecast(seen: Outlooks, row: int) -> Forecast:
    soon = seen.lag[row, step_after(SOON_SECONDS)]
    ends_of: dict[str, Floats] = {
        "soon_lag": soon,
        "lag": seen.lag[row, -1],
        "delay_seconds": seen.delay_seconds[row],
        "drained_seconds": seen.drained_seconds[row],
        "utilisation": seen.utilisation[row],
        "lag_integral": seen.lag_integral[row],
    }
    known: dict[str, Any] = {
        f"forecast_{name}_{end}": None if math.isnan(value) else value
        for name, band in ends_of.items()
        for end, value in zip(ENDS, band.tolist(), strict=True)
    }
    return Forecast(**known)
