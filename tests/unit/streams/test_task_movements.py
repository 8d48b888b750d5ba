"""Lags: tasks run where they are furthest, and warm up where they are to go."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.assignors.kit.kernels import held_to
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.streams.model import ClientLine, application
from evenkeel.engine.streams.settings import ANY_LAG, TaskConfig
from evenkeel.engine.streams.standbys import Copies
from evenkeel.engine.streams.task_movements import assign_task_movements
from tests.helpers.streams import Shape, process, sketch, sketches, tasks_of

RUNNING, UNKNOWN = -2, -3


def _moved(owner, lags, standbys=None, log_size=150_000, threads=None, **settings):
    """*owner* per task; *lags* per client, task number -> lag; *standbys* per task."""
    lines = [
        ClientLine(
            process_id=process(n),
            threads=threads[n] if threads else 1,
            lags={f"0_{task}": lag for task, lag in told.items()},
        )
        for n, told in enumerate(lags)
    ]
    app = application(tasks_of(len(owner), log_size=log_size), lines)
    plan = Copies(app, np.array(owner, np.int32))
    plan.holders = [list(clients) for clients in standbys or [[] for _ in owner]]
    for clients in plan.holders:
        for client in clients:
            plan.load.count[client] += 1
    return assign_task_movements(app, TaskConfig(**settings), plan)


def _lists(start, values):
    return [values[a:b].tolist() for a, b in pairwise(start)]


STIRRED = {"lags": [{}, {0: 0, 1: RUNNING}, {0: 0}, {0: 0}]}
"""Of three caught-up clients the first runs another task."""


@pytest.mark.parametrize(
    ("owner", "case", "active", "copies", "warm", "movements"),
    [
        ([0], {"lags": [{0: RUNNING}, {0: 0}]}, [0], [[]], [[]], 0),
        ([0], {"lags": [{0: 10}, {0: RUNNING}], "acceptable_recovery_lag": 10}, [0], [[]], [[]], 0),
        (
            [0],
            {"lags": [{0: 11}, {0: RUNNING}], "acceptable_recovery_lag": 10},
            [1],
            [[0]],
            [[0]],
            1,
        ),
        (
            [0],
            {"lags": [{}, {0: RUNNING}, {0: UNKNOWN}], "acceptable_recovery_lag": ANY_LAG},
            [0],
            [[]],
            [[]],
            0,
        ),
        ([0], {"lags": [{}, {}]}, [0], [[]], [[]], 0),
        ([0], {"lags": [{0: 50_000}, {0: 50_000}]}, [0], [[]], [[]], 0),
        ([0], {"lags": [{}, {0: RUNNING}], "log_size": 0}, [0], [[]], [[]], 0),
        ([], {"lags": [{}]}, [], [], [], 0),
        ([0], {"lags": [{}, {0: RUNNING}]}, [1], [[0]], [[0]], 1),
        ([0], {"lags": [{}, {0: 0}], "standbys": [[1]]}, [1], [[0]], [[]], 1),
        ([0], {"lags": [{}, {0: 50_000}], "standbys": [[1]]}, [1], [[0]], [[]], 1),
        ([0, 1], STIRRED, [2, 1], [[0], []], [[0], []], 1),
        ([0, 1], STIRRED | {"threads": [1, 1, 1, 9]}, [2, 1], [[0], []], [[0], []], 1),
        (
            [0, 1],
            {"lags": [{}, {0: 50_000, 1: RUNNING}, {0: 60_000}]},
            [1, 1],
            [[0], []],
            [[0], []],
            1,
        ),
        ([0], {"lags": [{0: 50_000}, {0: UNKNOWN}]}, [1], [[0]], [[0]], 1),
        (
            [0, 0, 0],
            {"lags": [{}, {0: RUNNING, 1: RUNNING, 2: RUNNING}, {0: 0}], "max_warmup_replicas": 1},
            [2, 1, 1],
            [[], [0], []],
            [[], [0], []],
            3,
        ),
        (
            [0, 0],
            {"lags": [{}, {0: RUNNING}, {1: 0}], "standbys": [[], [2]], "max_warmup_replicas": 1},
            [1, 2],
            [[0], [0]],
            [[0], []],
            2,
        ),
        ([0], {"lags": [{0: RUNNING}, {}, {0: 0}], "standbys": [[1]]}, [0], [[1, 2]], [[1]], 1),
        (
            [0, 0],
            {
                "lags": [{1: RUNNING}, {0: RUNNING}, {}, {1: 0}],
                "standbys": [[], [2]],
                "max_warmup_replicas": 1,
            },
            [1, 0],
            [[0], [3]],
            [[0], []],
            2,
        ),
        ([0], {"lags": [{0: RUNNING}, {}], "standbys": [[1]]}, [0], [[1]], [[]], 0),
        ([0], {"lags": [{}, {0: RUNNING}, {0: 5_000}]}, [1], [[0]], [[0]], 1),
    ],
    ids=[
        "a target that runs it",
        "a target within the acceptable lag",
        "a target one record too far behind",
        "at the greatest setting any lag is acceptable, unknown ones too",
        "nobody is further, all unknown to the log",
        "nobody is further, all as far",
        "a log without records is caught up everywhere",
        "no tasks",
        "runs where it is caught up, warms up where it is to go",
        "a caught-up standby swaps with the target, and no warm-up is spent",
        "a standby that is furthest swaps though it is not caught up",
        "of caught-up clients the least loaded takes over",
        "and of equally loaded ones the first, per thread",
        "without a caught-up client the smallest lag counts, whatever the load",
        "Kafka's quirk: an unknown lag counts as the furthest",
        "tasks with the fewest caught-up clients warm up first, then the lowest number",
        "swaps spend no warm-up",
        "a standby stays where it is further, and another warms up",
        "a standby without warm-up only moves",
        "a standby that nobody else can hold stays",
        "a warm-up is not moved as a standby",
    ],
)
def test_what_moves_waits_and_warms_up(owner, case, active, copies, warm, movements):
    """Who runs each task meanwhile, who holds copies and which of them only warm up."""
    moved = _moved(owner, **case)

    assert (moved.active.tolist(), moved.movements) == (active, movements)
    assert _lists(moved.standby_start, moved.standby) == copies
    assert _lists(moved.warmup_start, moved.warmup) == warm


@given(sketches())
def test_who_runs_a_task_is_caught_up_or_furthest(sketch):
    """Or is its target, and nobody is further."""
    app, config = sketch.app, sketch.config
    chance = Random(7)
    owner = np.array([chance.randrange(len(app.clients)) if s else NONE for s in app.stateful])
    moved = assign_task_movements(app, config, Copies(app, owner))
    lags = [
        dict(zip(app.lag_task[a:b], app.lag[a:b], strict=True)) for a, b in pairwise(app.lag_start)
    ]
    for task in np.flatnonzero(app.stateful):
        lag = [told.get(task, app.log_size[task]) for told in lags]
        ready = [
            c for c, x in enumerate(lag) if x == -2 or 0 <= x <= config.acceptable_recovery_lag
        ]
        goal, runs = owner[task], moved.active[task]
        if goal in ready or min(lag) >= lag[goal]:
            assert runs == goal
        else:
            assert runs in ready if ready else lag[runs] == min(lag)
    assert len(moved.warmup) <= config.max_warmup_replicas


@pytest.mark.slow
def test_compiled_it_gives_the_same():
    """Kernels compiled and interpreted agree, on applications where heaps are stirred up."""
    cases = [sketch(Random(seed), Shape(most_tasks=30, most_clients=20)) for seed in range(20)]
    with held_to(compiled=False):
        plain = [_everything(case) for case in cases]

    with held_to(compiled=True):
        assert [_everything(case) for case in cases] == plain


def _everything(case):
    from evenkeel.engine.streams.place import place

    placed = place(case.app, case.config)
    return placed.active.tolist(), placed.standby.tolist(), placed.warmup.tolist(), placed.probing
