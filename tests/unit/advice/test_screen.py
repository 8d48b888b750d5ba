"""Which candidates may be left out of a decision."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from evenkeel.engine.advice.decide import may_be_had
from evenkeel.engine.advice.screen import may_speak
from evenkeel.engine.config import Policy
from evenkeel.engine.model.assignments import Candidate, Feasibility
from evenkeel.engine.model.figures import Forecast, Score
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.model.tables import TEXT, Table, column
from evenkeel.engine.records import row_of, schema_of
from tests.helpers.weighed import candidate, decided, forecast, gaining

SHARES = (None, 0.3, 0.5)
FIGURES: dict[str, tuple[Any, ...]] = {
    "balanced": (None, True, False),
    "most_partitions": (2, 3, 4),
    "cross_rack_share": SHARES,
    "cross_rack_rate_share": SHARES,
    "cross_rack_bytes_per_second": (None, None, 1e5, 1e6),
    "cross_rack_cost_per_month": (None, 10.0, 80.0),
    "unowned": (0, 1),
}
DEAR = forecast(100, used=0.4, gain_low=-2e5, offset_seconds=3e5)
AHEAD = (None, None, None, forecast(100, used=0.4), forecast(5000, used=0.9), forecast(9000), DEAR)
FEASIBLE = (Feasibility.NEEDS_RESTART, Feasibility.NOT_DEPLOYABLE)
DIAGNOSES = (None, Diagnosis.HEALTHY, Diagnosis.SKEWED_LOAD, Diagnosis.UNDER_PROVISIONED)


def candidates(draw: Random) -> list[Candidate]:
    """Those of a group, the live one first, each other one with up to two figures of its own."""
    figures = {name: draw.choice(values) for name, values in FIGURES.items()}
    stays = draw.choice(AHEAD)
    every = [candidate("live", **figures, ahead=stays)]
    for name in ("range", "sticky"):
        changed = draw.sample([*FIGURES], draw.randint(0, 2))
        own = figures | {each: draw.choice(FIGURES[each]) for each in changed}
        ahead = draw.choice((stays, draw.choice(AHEAD)))
        one = candidate(name, draw.choice(FEASIBLE), ahead=ahead, **own)
        every.append(gaining(stays, one))
    return every


def test_who_cannot_speak_is_not_missed() -> None:
    """A group is told the same without those that may not speak."""
    draw, left_out = Random(5), 0
    for _ in range(600):
        every = candidates(draw)
        rows = [row_of(one.score) | (row_of(one.forecast) if one.forecast else {}) for one in every]
        feasible = column([one.feasibility for one in every], TEXT)
        figures = Table.from_rows(rows, {**schema_of(Score), **schema_of(Forecast)})
        table = figures.replaced(feasibility=feasible)
        speak = may_speak(table, np.zeros(len(every), np.int64)).tolist()
        some = [each for each, own in zip(every, speak, strict=True) if own or each is every[0]]
        policy = Policy(cost_gain=draw.choice((None, 1.0)), deployment=("setting",))
        more = {"policy": policy, "diagnosis": draw.choice(DIAGNOSES), "arrives_per_second": 1e4}
        able = [each.strategy for each in every[1:] if may_be_had(each, policy)]
        told = decided(*some, **more, deployable=able)
        assert replace(told, says={}) == replace(decided(*every, **more), says={})
        left_out += len(every) - len(some)
    assert left_out > 200
