"""Kafka's public sticky assignor of tasks keeps what it promises, in its order of priority."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from evenkeel.engine.cli.task_cases import answer_tasks
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.streams.model import ClientLine, TaskLine, application
from evenkeel.engine.streams.settings import TaskConfig
from evenkeel.engine.streams.sticky_tasks import place_sticky, usual_arrivals
from tests.oracle.sticky_task_cases import client_case


def _client(number):
    return f"00000000-0000-0000-0000-{number:012d}"


def _app(tasks, past, threads=()):
    """Tasks with stores, and a client for each pair of active tasks and copies before."""
    return application(
        [
            TaskLine(id=task, sources=[("t", n)], changelogs=[("log", n)], stateful=True)
            for n, task in enumerate(tasks)
        ],
        [
            ClientLine(
                process_id=_client(n),
                threads=threads[n] if threads else 1,
                previous_active=active.split(),
                previous_standby=standby.split(),
            )
            for n, (active, standby) in enumerate(past)
        ],
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_tasks_are_active_once_and_copies_apart(seed):
    """Each task on one client, no client with two copies, as many standbys as fit; of tasks with changelogs only."""
    case = client_case(Random(f"promises {seed}"))
    given = answer_tasks(case)
    active = Counter(task for has in given["active"].values() for task in has)
    assert active == Counter(task["id"] for task in case["tasks"])
    for client in case["clients"]:
        process = client["process_id"]
        assert not set(given["active"][process]) & set(given["standby"][process])
    wanted = min(case["config"]["num_standby_replicas"], len(case["clients"]) - 1)
    standbys = Counter(task for has in given["standby"].values() for task in has)
    assert standbys == Counter(
        {task["id"]: wanted for task in case["tasks"] if task["changelog_partitions"] and wanted}
    )


def test_a_client_keeps_what_is_within_its_quota():
    """Two threads may keep four of six tasks, one thread two; nothing moves."""
    app = _app([f"0_{p}" for p in range(6)], [("0_0 0_1 0_2 0_3", ""), ("0_4 0_5", "")], [2, 1])

    assert place_sticky(app, TaskConfig()).active.tolist() == [0, 0, 0, 0, 1, 1]


def test_the_remainder_of_a_quota_may_stay_too():
    """Five tasks, two threads: the quota is two, and who had three keeps the third while nobody has less."""
    app = _app([f"0_{p}" for p in range(5)], [("0_0 0_1 0_2", ""), ("0_3 0_4", "")])

    assert place_sticky(app, TaskConfig()).active.tolist() == [0, 0, 0, 1, 1]


def test_a_copy_is_used_before_an_idle_client():
    """The tasks of a client that is gone go to the one that kept copies."""
    app = _app(["0_0", "0_1"], [("0_0", ""), ("", ""), ("", "0_1")], [1, 1, 1])

    assert place_sticky(app, TaskConfig()).active.tolist()[1] == 2


def test_standbys_stay_where_they_are():
    """Each of three clients runs one task and keeps the copy of another; the next rebalance moves none."""
    app = _app(["0_0", "0_1", "0_2"], [("0_0", "0_1"), ("0_1", "0_2"), ("0_2", "0_0")])
    placed = place_sticky(app, TaskConfig(num_standby_replicas=1))

    assert placed.active.tolist() == [0, 1, 2]
    assert placed.standby.tolist() == [2, 0, 1]


def test_lags_do_not_count_and_nothing_probes():
    """A client without the store takes over at once."""
    app = _app(["0_0"], [("", ""), ("0_0", "")])
    lagging = replace(app, log_size=app.log_size + 1_000_000)
    placed = place_sticky(lagging, TaskConfig())

    assert (placed.active.tolist(), placed.probing, len(placed.warmup)) == ([1], False, 0)


def test_the_order_of_standbys_shows():
    """Which of two tasks gets its copy first decides who keeps it."""
    app = _app([f"0_{p}" for p in range(4)], [("", "")] * 3)
    usual = usual_arrivals(app)
    config = TaskConfig(num_standby_replicas=1)
    answers = {
        tuple(place_sticky(app, config, replace(usual, copied=order)).standby.tolist())
        for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1])
    }

    assert len(answers) > 1


def test_an_application_without_clients_is_infeasible():
    """Tasks need somebody."""
    with pytest.raises(Infeasible, match="1 tasks and no client"):
        place_sticky(_app(["0_0"], []), TaskConfig())


@pytest.mark.slow
def test_where_kafkas_counter_overflows_is_infeasible():
    """Kafka's class makes a set for all pairs of tasks."""
    app = application(
        [TaskLine(id=f"0_{p}", sources=[]) for p in range(46_342)],
        [ClientLine(process_id=_client(0))],
    )
    with pytest.raises(Infeasible, match="fails on 46,342 tasks"):
        place_sticky(app, TaskConfig())
