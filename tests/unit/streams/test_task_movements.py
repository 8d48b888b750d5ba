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


def test_a_task_stays_on_a_target_that_runs_it():
    """Nothing to wait for."""
    moved = _moved([0], [{0: RUNNING}, {0: 0}])

    assert (moved.active.tolist(), moved.movements) == ([0], 0)


def test_a_task_stays_on_a_target_within_the_acceptable_lag():
    """A client may be a little behind and count as caught up."""
    assert _moved([0], [{0: 10}, {0: RUNNING}], acceptable_recovery_lag=10).movements == 0
    assert _moved([0], [{0: 11}, {0: RUNNING}], acceptable_recovery_lag=10).movements == 1


def test_any_lag_is_acceptable_at_the_greatest_setting():
    """Long.MAX_VALUE switches the lags off, unknown ones included."""
    lags = [{}, {0: RUNNING}, {0: UNKNOWN}]

    assert _moved([0], lags, acceptable_recovery_lag=ANY_LAG).movements == 0


def test_a_task_stays_on_its_target_when_nobody_is_further():
    """All must restore everything anyway."""
    assert _moved([0], [{}, {}]).movements == 0
    assert _moved([0], [{0: 50_000}, {0: 50_000}]).movements == 0


def test_a_task_runs_where_it_is_caught_up_and_warms_up_where_it_is_to_go():
    """The target gets a copy that only warms up."""
    moved = _moved([0], [{}, {0: RUNNING}])

    assert (moved.active.tolist(), moved.movements) == ([1], 1)
    assert (moved.standby.tolist(), moved.warmup.tolist()) == ([0], [0])


def test_a_caught_up_standby_swaps_with_the_target():
    """A copy takes over, and the target takes the copy's place: no warm-up is spent."""
    moved = _moved([0], [{}, {0: 0}], standbys=[[1]])

    assert (moved.active.tolist(), moved.movements) == ([1], 1)
    assert (moved.standby.tolist(), moved.warmup.tolist()) == ([0], [])


def test_of_caught_up_clients_the_least_loaded_takes_over():
    """Per thread, and of equally loaded ones the first."""
    lags = [{}, {0: 0, 1: RUNNING}, {0: 0}, {0: 0}]

    assert _moved([0, 1], lags).active.tolist() == [2, 1]
    assert _moved([0, 1], lags, threads=[1, 1, 1, 9]).active.tolist() == [2, 1]


def test_without_a_caught_up_client_the_furthest_takes_over():
    """The smallest lag counts, whatever the load."""
    moved = _moved([0, 1], [{}, {0: 50_000, 1: RUNNING}, {0: 60_000}])

    assert (moved.active.tolist(), moved.warmup.tolist()) == ([1, 1], [0])


def test_a_standby_that_is_furthest_swaps():
    """It need not be caught up when nobody is."""
    moved = _moved([0], [{}, {0: 50_000}], standbys=[[1]])

    assert (moved.active.tolist(), moved.standby.tolist(), moved.warmup.tolist()) == ([1], [0], [])


def test_warm_ups_are_given_to_the_rarest_tasks_first():
    """Tasks with the fewest caught-up clients come first, then the lowest number; the others wait."""
    lags = [{}, {0: RUNNING, 1: RUNNING, 2: RUNNING}, {0: 0}]
    moved = _moved([0, 0, 0], lags, max_warmup_replicas=1)

    assert moved.movements == 3
    assert _lists(moved.warmup_start, moved.warmup) == [[], [0], []]


def test_swaps_spend_no_warm_up():
    """The copy that takes over leaves its place to the target."""
    lags = [{}, {0: RUNNING}, {1: 0}]
    moved = _moved([0, 0], lags, standbys=[[], [2]], max_warmup_replicas=1)

    assert _lists(moved.warmup_start, moved.warmup) == [[0], []]
    assert _lists(moved.standby_start, moved.standby) == [[0], [0]]


def test_a_standby_stays_where_it_is_further_and_another_warms_up():
    """Like an active task; the client that ran the task keeps a copy meanwhile."""
    moved = _moved([0], [{0: RUNNING}, {}, {0: 0}], standbys=[[1]])

    assert (moved.active.tolist(), moved.movements) == ([0], 1)
    assert (moved.standby.tolist(), moved.warmup.tolist()) == ([1, 2], [1])


def test_a_standby_without_warm_up_only_moves():
    """Until warm-ups are free again."""
    moved = _moved(
        [0, 0], [{1: RUNNING}, {0: RUNNING}, {}, {1: 0}], [[], [2]], max_warmup_replicas=1
    )

    assert _lists(moved.standby_start, moved.standby) == [[0], [3]]


def test_a_standby_that_nobody_else_can_hold_stays():
    """Its better client runs the task itself: no movement."""
    moved = _moved([0], [{0: RUNNING}, {}], standbys=[[1]])

    assert (moved.standby.tolist(), moved.movements) == ([1], 0)


def test_a_warm_up_is_not_moved_as_a_standby():
    """It is where it should be, to catch up."""
    moved = _moved([0], [{}, {0: RUNNING}, {0: 5_000}], standbys=[[]])

    assert moved.standby.tolist() == [0]


def test_an_unknown_lag_counts_as_the_furthest_and_not_as_caught_up():
    """Kafka's quirk: such a client takes over from one that is merely behind."""
    moved = _moved([0], [{0: 50_000}, {0: UNKNOWN}])

    assert moved.active.tolist() == [1]


def test_a_log_without_records_is_caught_up_everywhere():
    """Nothing to restore."""
    assert _moved([0], [{}, {0: RUNNING}], log_size=0).movements == 0


def test_without_tasks_nothing_moves():
    """An application need not have state."""
    moved = _moved([], [{}])

    assert (moved.movements, moved.active.tolist(), moved.standby.tolist()) == (0, [], [])


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
    cases = [sketch(Random(seed), Shape(most_tasks=30, most_clients=20)) for seed in range(60)]
    with held_to(compiled=False):
        plain = [_everything(case) for case in cases]

    with held_to(compiled=True):
        assert [_everything(case) for case in cases] == plain


def _everything(case):
    from evenkeel.engine.streams.place import place

    placed = place(case.app, case.config)
    return placed.active.tolist(), placed.standby.tolist(), placed.warmup.tolist(), placed.probing
