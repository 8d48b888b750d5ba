"""What a strategy for tasks moves at the next change: instances leave, join and restart; tasks move."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.advice.next_task_change import TaskChanges
from evenkeel.engine.cli.task_cases import answer_tasks
from evenkeel.engine.config import Settings, StreamsSettings
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.pipeline import propose
from evenkeel.engine.pipeline.stored_metrics import measured_at_once
from evenkeel.engine.snapshots.groups_with_past import BatchWithPast
from evenkeel.engine.streams.compare import outcome
from evenkeel.engine.streams.live import running
from evenkeel.engine.streams.settings import RackStrategy, StickyTasks
from tests.helpers.streams_groups import Sub, Thread, live_group, on

STORE = "app-counts-changelog"
SERVER = StickyTasks.SERVER
EVEN = [Thread(1, "0_0 0_1"), Thread(1, "0_2"), Thread(2, "0_3 0_4"), Thread(2, "0_5")]


def _next(threads, strategy, *, subs=None, told=None, **more):
    group = live_group(threads, subs or {"0": Sub(6)}, **more)
    application = running(group, told)
    return TaskChanges(group, application).of(outcome(application, strategy))


def test_what_an_instance_had_is_all_that_the_brokers_sticky_one_moves():
    """
    Three tasks of six go to the other when one leaves, and two to a third that joins.

    Who restarts finds two threads with three tasks each, which keep two (a sixth over four threads, rounded up).
    """
    found = _next(EVEN, SERVER, kip_1071=True)

    assert (found.leave_moves_mean, found.leave_moves_of_others_mean) == (3, 0)
    assert (found.leave_moves_worst, found.join_moves, found.restart_moves) == (3, 2, 10)
    assert found.members_tried == 2


def test_static_instances_restart_without_a_move():
    """They are back before anything is assigned anew; one of two counts where the other is static."""
    static = [
        replace(one, columns={"instance_id": f"i{n}"} if n < still else {})
        for still in (4, 2)
        for n, one in enumerate(EVEN)
    ]
    assert _next(static[:4], SERVER, kip_1071=True).restart_moves == 0
    assert _next(static[4:], SERVER, kip_1071=True).restart_moves == 5


def test_nobody_takes_over_from_an_instance_alone():
    """What runs nowhere does not move; who joins takes half."""
    found = _next(EVEN[:2], SERVER, subs={"0": Sub(3)}, kip_1071=True)

    assert (found.leave_moves_worst, found.restart_moves, found.join_moves) == (0, 0, 1)


RACKED = {
    "subs": {"0": Sub(4), "1": Sub(3, [STORE])},
    "replicas": on("source-0", "a b c a") | on("source-1", "a b c") | on(STORE, "a b c"),
}
THREE = [
    Thread(1, "0_0 1_0", "1_1", rack="a"),
    Thread(2, "0_1 1_1", "1_2", rack="b"),
    Thread(3, "0_2 0_3 1_2", "1_0", rack="c"),
]


def _case(clients, strategy, standbys=1):
    """The same application as `evenkeel assign` takes it, of these clients: (number, active, standby)."""
    racks = {"source-0": "abca", "source-1": "abc", STORE: "abc"}
    return {
        "strategy": strategy,
        "topics": {t: {"partitions": [[r] for r in each]} for t, each in racks.items()},
        "tasks": [{"id": f"0_{n}", "partitions": [["source-0", n]]} for n in range(4)]
        + [
            {"id": f"1_{n}", "partitions": [["source-1", n]], "stateful": True, "log_size": 1000}
            | {"changelog_partitions": [[STORE, n]]}
            for n in range(3)
        ],
        "clients": [
            {
                "process_id": name,
                "rack": rack,
                "previous_active": active,
                "previous_standby": standby,
                "task_lags": dict.fromkeys([t for t in standby if t[0] == "1"], 0)
                | dict.fromkeys([t for t in active if t[0] == "1"], -2),
            }
            for name, rack, active, standby in clients
        ],
        "config": {"num_standby_replicas": standbys},
    }


@pytest.mark.parametrize("strategy", ["none", "min_traffic", "balance_subtopology"])
def test_each_change_is_what_assign_answers(strategy):
    """From the strategy's own placement, stores where they are: who leaves takes its own along, who joins has none."""
    told = StreamsSettings(num_standby_replicas=1)
    group = live_group(THREE, **RACKED)
    application = running(group, told)
    start = outcome(application, RackStrategy(strategy))
    found = TaskChanges(group, application).of(start)

    app = application.app
    held = [
        (
            name,
            "abc"[n],
            [app.tasks[t] for t, owner in enumerate(start.owner) if owner == n],
            [t for i, t in enumerate(app.tasks) if n in _copies(start, i)],
        )
        for n, name in enumerate(app.clients)
    ]
    before = {task: name for name, _, active, _ in held for task in active}
    moves = [
        _moves(before, answer_tasks(_case([c for c in held if c is not gone], strategy)))
        for gone in held
    ]
    assert found.leave_moves_mean == pytest.approx(sum(moves) / 3)
    assert found.leave_moves_worst == max(moves)
    if strategy == "none":  # goes by who is there alone: as before once all are back
        assert found.restart_moves == 3 * 2 * moves[0]
    assert found.members_tried == 3


def _copies(placed, task):
    return placed.copies[placed.copies_start[task] : placed.copies_start[task + 1]].tolist()


def _moves(before, answer):
    """Tasks of which another client runs them in the end: stateful ones by their target."""
    then = {task: client for client, tasks in answer["active"].items() for task in tasks}
    then |= {task: client for client, tasks in answer["target"].items() for task in tasks}
    return sum(before[task] != client for task, client in then.items())


def test_of_many_tasks_one_instance_is_tried():
    """As of a group of so many partitions and members: an answer takes a while for each."""
    many = [Thread(n, " ".join(f"0_{t}" for t in range(n, 150, 3))) for n in range(3)]

    assert _next(many, SERVER, subs={"0": Sub(150)}, kip_1071=True).members_tried == 1


def _rows(group, **how):
    _, [measured] = measured_at_once(Settings(), BatchWithPast.of(group, [], None))
    return {
        each.row.strategy: each.row for each in propose.propose_group(Settings(), measured, **how)
    }


def test_rows_of_what_a_setting_brings_have_it():
    """The strategies that the application runs or could run; not baselines, nor where nobody asks."""
    broker, leader = live_group(EVEN, {"0": Sub(6)}, kip_1071=True), live_group(THREE, **RACKED)
    asked = _rows(broker) | {f"classic {name}": row for name, row in _rows(leader).items()}
    have = {name for name, row in asked.items() if row.next_change is not None}

    assert have == {SERVER.value, *(f"classic {name.value}" for name in RackStrategy)}
    assert all(row.next_change is None for row in _rows(broker, ask_next_change=False).values())


def test_a_strategy_without_an_answer_after_a_change_has_none(monkeypatch):
    """The row stays as it is."""
    group = live_group(EVEN, {"0": Sub(6)}, kip_1071=True)
    application = running(group)
    placed = outcome(application, SERVER)

    def refuse(*_):
        raise Infeasible("its limits do not hold all tasks.")

    monkeypatch.setattr("evenkeel.engine.advice.next_task_change.outcome", refuse)
    assert TaskChanges(group, application).of(placed) is None
