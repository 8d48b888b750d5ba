"""
The rack optimizer of active tasks (KIP-925): which client runs a task, so that least crosses racks.

It is given an assignment and changes who has what, never how many tasks anybody has. What a task
costs on a client is `traffic` for each source partition without a replica in the client's rack, and
`non_overlap` where the task would be new.

Promises, the first before the second:

1. Every client keeps its number of the tasks that are optimized; tasks that are not, stay put.
2. `balance_subtopology`: no client has more than ceil(C * 1.0 / n * S) tasks of a sub-topology (C
   tasks of the client, n in all, S of the sub-topology, in Kafka's order of evaluation).
3. No such assignment costs less in total: it is exact, not a heuristic.
4. Among those of equal cost, as few tasks as possible are new to their client.
5. What is left open is decided by Kafka's order of tasks and clients (`evenkeel.engine.assignors.flow.rack_flow`), so
   the order of the input does not show. Kafka's own class may decide otherwise at equal cost.

Two clients, each with the tasks whose data is in the other's rack:

>>> from evenkeel.engine.streams.model import STATEFUL, ClientLine, TaskLine, application
>>> lines = [TaskLine(id=f"0_{p}", sources=[("t", p)]) for p in range(4)]
>>> ids = [f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2)]
>>> app = application(lines, [ClientLine(process_id=ids[0], rack="a"), ClientLine(process_id=ids[1], rack="b")],
...                   {("t", 0): ["b"], ("t", 1): ["b"], ("t", 2): ["a"], ("t", 3): ["a", "b"]})
>>> dealt, every = np.array([0, 0, 1, 1]), np.arange(4)
>>> total_cost(app, dealt, every, STATEFUL)
30
>>> better = optimize(app, dealt, every, STATEFUL, RackStrategy.MIN_TRAFFIC)
>>> app.named(better)[ids[0]], total_cost(app, better, every, STATEFUL, dealt)
(['0_2', '0_3'], 4)

Cost: that of `evenkeel.engine.assignors.flow.rack_flow.solve`: milliseconds for 20 clients and 500 tasks, where Kafka's
cycle cancelling over |tasks| x |clients| arcs takes many seconds. Source: KIP-925, sections B and E;
`RackAwareTaskAssignor` and its graph constructors of Kafka 4.3.

What it does not do: it deals no tasks (the assignor before it does), places no standby, and looks
at no lag. A client without a known rack reads everything from elsewhere; whether to optimize at all
then is for the caller to decide (Kafka does not).
"""

from __future__ import annotations

import numpy as np

from ..assignors.flow.rack_flow import LayerLimits, RackProblem, solve
from ..model.arrays import NONE, Indices, Ints
from ..model.errors import InputError
from .model import Application
from .racks import cross_rack
from .settings import Costs, RackStrategy


def optimize(
    app: Application,
    owner: Indices,
    tasks: Ints,
    costs: Costs,
    strategy: RackStrategy,
    overlap: Indices | None = None,
    cross: Ints | None = None,
) -> Indices:
    """
    New owners (N, all tasks) of least total cost.

    Args:
        app: The application.
        owner: (N) the client of each task; every optimized one has one.
        tasks: Indices of the tasks that are optimized together, in any order.
        costs: What crossing racks and moving cost.
        strategy: `none` changes nothing.
        overlap: (N) the assignment against which a task counts as new; *owner* without it.
        cross: `cross_rack` of the application's sources, where it is known already.

    Raises:
        InputError: An optimized task has no owner, or the costs are beyond 64-bit arithmetic.
        Infeasible: The sub-topology limits do not hold all tasks (Kafka: IllegalStateException).
    """
    if strategy is RackStrategy.NONE or not len(tasks):
        return owner.astype(np.int32)
    asked = np.sort(tasks)
    better = owner.astype(np.int32)
    better[asked] = solve(problem_of(app, owner, asked, costs, strategy, overlap, cross))
    return better


def total_cost(
    app: Application, owner: Indices, tasks: Ints, costs: Costs, overlap: Indices | None = None
) -> int:
    """
    What *owner* costs over *tasks*; arguments as for `optimize`.

    Raises:
        InputError: One of the tasks has no owner.
    """
    problem = problem_of(app, owner, tasks, costs, RackStrategy.MIN_TRAFFIC, overlap)
    return problem.total(owner[tasks])


def problem_of(
    app: Application,
    owner: Indices,
    tasks: Ints,
    costs: Costs,
    strategy: RackStrategy,
    overlap: Indices | None = None,
    cross: Ints | None = None,
) -> RackProblem:
    """
    The rack problem of *tasks* in their order.

    Args:
        app, owner, tasks, costs, strategy, overlap, cross: As for `optimize`.

    Raises:
        InputError: One of the tasks has no owner.
    """
    if (owner[tasks] == NONE).any():
        first = int(tasks[owner[tasks] == NONE][0])
        raise InputError(
            f"task {app.tasks[first]} has no owner.", fix="Assign all tasks before optimizing them."
        )
    count = np.bincount(owner[tasks], minlength=len(app.clients))
    cross = (cross_rack(app, app.source_start, app.source) if cross is None else cross)[tasks]
    everywhere = np.diff(app.source_start)[tasks]
    limits = None
    layer = np.zeros(0, np.int64)
    if strategy is RackStrategy.BALANCE_SUBTOPOLOGY:
        layer = np.unique(app.subtopology[tasks], return_inverse=True)[1].astype(np.int64)
        limits = _limits(count, np.bincount(layer))
    return RackProblem(
        cost=costs.traffic * np.column_stack([cross, everywhere]),
        move_cost=costs.non_overlap,
        previous_owner=(owner if overlap is None else overlap)[tasks],
        rack=np.where(app.client_rack == NONE, cross.shape[1], app.client_rack),
        count=count,
        layer=layer,
        limits=limits,
    )


def _limits(count: Ints, size: Ints) -> LayerLimits:
    """
    How many tasks of each sub-topology a client may have.

    The product is taken in Kafka's order, because rounding up shows the last bit of it.

    Args:
        count: (C) tasks of each client.
        size: (sub-topologies) tasks of each.
    """
    share = count.astype(np.float64) / int(count.sum())
    most = np.ceil(share * size[:, None]).astype(np.int64)
    layer, client = np.nonzero(most)
    return LayerLimits(layer=layer, client=client, most=most[layer, client])
