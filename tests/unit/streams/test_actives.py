"""Active tasks over racks: limits, costs, what stays, the optimum of others, and Kafka's own way to it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random

import numpy as np
import pytest

from evenkeel.engine.assignors.flow.rack_flow import LayerLimits, RackProblem, solve
from evenkeel.engine.assignors.kit.kernels import held_to
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible, InputError
from evenkeel.engine.streams.actives import optimize, problem_of, total_cost
from evenkeel.engine.streams.cycle_cancelling import cancelled
from evenkeel.engine.streams.model import ClientLine, TaskLine, application
from evenkeel.engine.streams.settings import STATEFUL, STATELESS, RackStrategy
from tests.oracle.task_cases import random_case, read
from tests.oracle.tasks import STRATEGIES, faults, ours

MIN_TRAFFIC, BALANCE = RackStrategy.MIN_TRAFFIC, RackStrategy.BALANCE_SUBTOPOLOGY


def app_of(sources, racks):
    """An application: sub-topology -> racks of each task's one partition, and a client per rack named."""
    lines, replicas = [], {}
    for sub, tasks in enumerate(sources):
        for number, where in enumerate(tasks):
            lines.append(TaskLine(id=f"{sub}_{number}", sources=[(f"s{sub}", number)]))
            replicas[f"s{sub}", number] = where
    clients = [
        ClientLine(process_id=f"00000000-0000-0000-0000-{n:012}", rack=rack)
        for n, rack in enumerate(racks)
    ]
    return application(lines, clients, replicas)


def test_an_initial_assignment_beyond_the_limits_is_brought_within():
    """The optimizer is exact about limits also where the assignment it starts from breaks them."""
    app = app_of([[["a", "b"]] * 4, [["a", "b"]] * 4], ["a", "b"])
    owner = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)

    better = optimize(app, owner, np.arange(8), STATEFUL, BALANCE)

    assert [np.bincount(better[app.subtopology == s]).tolist() for s in (0, 1)] == [[2, 2], [2, 2]]
    assert (better != owner).sum() == 4


def test_only_the_tasks_named_move():
    """Other tasks stay where they are, though a swap with one would pay, and count for nobody."""
    app = app_of([[["b"], ["a"], ["b"], ["a"]]], ["a", "b"])
    owner = np.array([0, 1, 0, 1], np.int32)

    assert optimize(app, owner, np.array([0, 1]), STATEFUL, MIN_TRAFFIC).tolist() == [1, 0, 0, 1]
    assert optimize(app, owner, np.array([0, 2]), STATEFUL, MIN_TRAFFIC).tolist() == [0, 1, 0, 1]


def test_a_client_without_tasks_gets_none():
    """Counts are kept, also a count of 0 in the rack where all the data is."""
    app = app_of([[["b"], ["b"]]], ["a", "b"])

    assert optimize(app, np.array([0, 0], np.int32), np.arange(2), STATEFUL, BALANCE).tolist() == [
        0,
        0,
    ]


def test_overlap_may_be_charged_against_another_assignment():
    """With equal racks everywhere, tasks go back to where the other assignment has them."""
    app = app_of([[["a"]] * 4], ["a", "a"])
    owner, before = np.array([0, 0, 1, 1], np.int32), np.array([1, 0, 0, 1], np.int32)
    every = np.arange(4)

    better = optimize(app, owner, every, STATEFUL, MIN_TRAFFIC, overlap=before)

    assert better.tolist() == before.tolist()
    assert total_cost(app, owner, every, STATEFUL, overlap=before) == 2
    assert total_cost(app, better, every, STATEFUL, overlap=before) == 0


def test_without_a_cost_of_moving_nothing_moves_needlessly():
    """Stateless tasks cost nothing to move; those that gain nothing stay."""
    app = app_of([[["a", "b"]] * 3 + [["b"], ["a"]]], ["a", "b"])
    owner = np.array([0, 1, 0, 0, 1], np.int32)

    assert optimize(app, owner, np.arange(5), STATELESS, MIN_TRAFFIC).tolist() == [0, 1, 0, 1, 0]


def test_none_changes_nothing():
    """The strategy `none` gives the owners back, as an array of its own."""
    app = app_of([[["b"], ["a"]]], ["a", "b"])
    owner = np.array([0, 1], np.int32)

    same = optimize(app, owner, np.arange(2), STATEFUL, RackStrategy.NONE)

    assert same.tolist() == [0, 1]
    assert not np.shares_memory(same, owner)


def test_a_task_without_owner_is_an_error_that_names_it():
    """There is no count to preserve for a task that nobody has."""
    app = app_of([[["a"], ["a"]]], ["a"])

    with pytest.raises(InputError, match="0_1 has no owner"):
        optimize(app, np.array([0, NONE], np.int32), np.arange(2), STATEFUL, MIN_TRAFFIC)


def test_a_client_without_rack_reads_everything_from_elsewhere():
    """Each of its source partitions costs; a client with a rack takes what is near to it."""
    app = app_of([[["a"], []]], [None, "a"])
    owner = np.array([0, 1], np.int32)
    every = np.arange(2)

    assert total_cost(app, owner, every, STATEFUL) == 20
    assert optimize(app, owner, every, STATEFUL, MIN_TRAFFIC).tolist() == [1, 0]


def test_every_source_partition_counts():
    """A task of three partitions is worth more to move than one of a single one."""
    lines = [
        TaskLine(id="0_0", sources=[("t", 0)]),
        TaskLine(id="0_1", sources=[("t", 1), ("u", 1), ("v", 1)]),
        TaskLine(id="0_2", sources=[("t", 2)]),
    ]
    ids = [f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2)]
    replicas = {(t, p): ["b"] for t in "tuv" for p in range(3)}
    clients = [ClientLine(process_id=ids[0], rack="a"), ClientLine(process_id=ids[1], rack="b")]
    app = application(lines, clients, replicas)

    better = optimize(app, np.array([0, 0, 1], np.int32), np.arange(3), STATEFUL, MIN_TRAFFIC)

    assert better.tolist() == [0, 1, 0]


RECORDED = Path(__file__).parents[2] / "data" / "vectors" / "streams-optimizer.jsonl.gz"


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_recorded_answers_of_kafka_cost_the_same(strategy):
    """150 answers of Kafka 4.3.1 per strategy: our cost is theirs, counts and limits are kept."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines]
    asked = [row for row in recorded if row["case"]["strategy"] == strategy]
    found = [f for r in asked for f in faults(r["case"], r["expected"], ours(r["case"]))]

    assert (len(asked), found) == (150, [])


def _problem(case):
    asked = read(case)
    tasks = np.arange(len(asked.app.tasks))
    problem = problem_of(asked.app, asked.owner, tasks, asked.costs, asked.strategy)
    return asked.app, problem


@pytest.mark.slow
def test_recorded_answers_of_kafkas_optimizer_are_met_to_the_letter():
    """300 of both strategies: who gets which task."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines]
    differing = []
    for row in recorded:
        app, problem = _problem(row["case"])
        ours = app.named(cancelled(problem, range(len(app.clients))))
        expected = {c: sorted(has) for c, has in row["expected"]["active"].items() if has}
        if {c: sorted(has) for c, has in ours.items() if has} != expected:
            differing.append(row["case"]["id"])

    assert (len(recorded), differing) == (300, [])


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["min_traffic", "balance_subtopology"])
def test_the_order_of_clients_decides_ties_only(strategy):
    """Whatever order they come in, the cost is that of the exact solver."""
    random = Random(f"orders {strategy}")
    for _ in range(20):
        app, problem = _problem(random_case(strategy, random))
        order = random.sample(range(len(app.clients)), len(app.clients))
        assert problem.total(cancelled(problem, order)) == problem.total(solve(problem))


@pytest.mark.slow
def test_compiled_and_interpreted_are_the_same():
    """The same owners of a problem with limits and one without."""
    for strategy in ("min_traffic", "balance_subtopology"):
        app, problem = _problem(random_case(strategy, Random("compiled")))
        with held_to(compiled=True):
            fast = cancelled(problem, range(len(app.clients)))
        with held_to(compiled=False):
            assert cancelled(problem, range(len(app.clients))).tolist() == fast.tolist()


@pytest.mark.slow
def test_limits_that_do_not_hold_all_tasks_are_infeasible():
    """Two tasks of a layer of which nobody may take two."""
    problem = RackProblem(
        cost=np.zeros((2, 1), np.int64),
        move_cost=0,
        previous_owner=np.array([0, 0], np.int32),
        rack=np.array([0], np.int32),
        count=np.array([2]),
        layer=np.array([0, 0]),
        limits=LayerLimits(layer=np.array([0]), client=np.array([0]), most=np.array([1])),
    )
    with pytest.raises(Infeasible, match="do not hold all tasks"):
        cancelled(problem, [0])
