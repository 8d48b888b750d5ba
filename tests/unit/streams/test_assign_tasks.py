"""Tasks are dealt round-robin and levelled per thread."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.streams.assign_tasks import (
    TaskLoad,
    assign_stateful,
    assign_stateless,
    balance_tasks,
)
from evenkeel.engine.streams.model import ClientLine, application
from tests.helpers.streams import process, sketches, tasks_of


def _app(tasks, threads):
    return application(
        tasks, [ClientLine(process_id=process(n), threads=t) for n, t in enumerate(threads)]
    )


def test_a_task_that_the_other_client_has_is_passed_over():
    """Levelling standbys, the next task that can go does."""
    held = [[4, 5, 6], []]
    balance_tasks(
        held, TaskLoad(np.array([1, 1]), np.array([3, 0])), taken=lambda client, task: task == 4
    )

    assert held == [[4, 6], [5]]


def test_a_client_that_may_not_be_given_tasks_gets_none():
    """Levelling goes only where it is allowed."""
    held = [[0, 1, 2, 3], [], []]
    load = TaskLoad(np.array([1, 1, 1]), np.array([4, 0, 0]))
    balance_tasks(held, load, allowed=lambda source: np.array([True, False, True]))

    assert (held, load.count) == ([[2, 3], [], [0, 1]], [2, 0, 2])


def test_stateless_tasks_go_to_the_fewest_active_tasks_per_thread():
    """One by one; of equally loaded clients the first in order."""
    tasks = tasks_of(2) + tasks_of(4, 1, stateful=False)
    app = _app(tasks, [1, 2])

    owner = assign_stateless(app, np.array([0, 0, NONE, NONE, NONE, NONE]))

    assert owner.tolist() == [0, 0, 1, 1, 1, 1]


@given(sketches())
def test_loads_end_as_level_as_they_can(sketch):
    """No task's move from one client to another would bring the two closer to each other."""
    app = sketch.app
    owner = assign_stateful(app)
    load = TaskLoad(app.threads, np.bincount(owner[app.stateful], minlength=len(app.clients)))

    pairs = [(a, b) for a in range(len(app.clients)) for b in range(len(app.clients))]
    assert not [pair for pair in pairs if load.count[pair[0]] and load.gains(*pair)]


@pytest.mark.parametrize("seed", range(3))
def test_a_fast_search_finds_what_trying_every_pair_finds(seed):
    """Levelling equals the plain rule: each ordered pair of clients in turn, a task at a time."""
    chance = Random(seed)
    for _ in range(60):
        threads = [chance.randint(1, 4) for _ in range(chance.randint(1, 7))]
        held = [sorted(chance.sample(range(40), chance.randint(0, 9))) for _ in threads]
        plain, count = [list(h) for h in held], [len(h) for h in held]
        balance_tasks(held, TaskLoad(np.array(threads), np.array(count)))
        _level_plainly(plain, threads)
        assert held == plain


def _level_plainly(held, threads):
    moved = True
    while moved:
        moved = False
        for s in range(len(held)):
            for d in range(len(held)):
                while s != d and held[s]:
                    a, b = len(held[s]), len(held[d])
                    skew = a / threads[s] - b / threads[d]
                    after = (a - 1.0) / threads[s] - (b + 1.0) / threads[d]
                    if not (skew > 0 and 0 <= after < skew):
                        break
                    held[d] = sorted([*held[d], held[s].pop(0)])
                    moved = True
