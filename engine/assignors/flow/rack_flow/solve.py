"""
Solving a rack problem: the steps in their order, beginning with good prices instead of with nothing.

The time of the solver behind `evenkeel.engine.assignors.flow.network` grows fast with the nodes, and clients that have
to be told apart make many. Then the same problem with clients of a rack taken together is solved
first: its node prices (dual values) are all but right for the whole, and `placed` goes on from
there, for a round or two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....model.arrays import NONE, Flags, Indices, Ints
from ....model.errors import Infeasible
from ...kit.orders import found_at, numbered
from ..network import check_costs, placed, prices
from .network import CLASSES, NODES, SITES, RackNetwork, held_of, network, owners
from .problem import RackProblem, Sites, classes_of, each_client, limits_of, sites_of


def solve(problem: RackProblem) -> Indices:
    """
    The assignment of least total cost, (N) an owner for each task.

    Promises, the first before the second:

    1. Every client gets its count, and of no layer more than it may take.
    2. No such assignment costs less.
    3. Among those of equal cost, as few tasks as possible move.
    4. What is left open follows from the order of tasks, clients and racks alone, as `network.owners` says and
       as the solvers walk the network: the same problem always has the same answer.

    Raises:
        Infeasible: The limits do not leave room for all tasks.
        InputError: The costs are too large for 64-bit arithmetic.

    Cost: a min-cost flow over at most |classes| x |racks| arcs, plus, where limits on
    layers bind, a few maximum flows over about 2 |layers| x |clients| + |held classes| arcs.

    Two clients, two tasks, each where the other should be:

    >>> crossed = RackProblem(
    ...     cost=np.array([[0, 10], [10, 0]]), move_cost=1, previous_owner=np.array([1, 0]),
    ...     rack=np.array([0, 1]), count=np.array([1, 1]))
    >>> crossed.total(crossed.previous_owner), solve(crossed).tolist(), crossed.total(solve(crossed))
    (20, [0, 1], 2)
    """
    if not len(problem.previous_owner):
        return np.zeros(0, np.int32)
    problem, limits = _used_racks(problem), limits_of(problem)
    if all(flags.all() for flags in stays(problem, limits)):
        return problem.previous_owner.astype(np.int32)
    classes = classes_of(problem)
    sites, apart = sites_of(problem, limits, classes.size)
    if apart:
        together, sites = sites, each_client(problem, limits)
    held = held_of(problem, classes, limits, sites)
    if apart:
        small = network(classes, together, held, together.of_limit)
        price = _prices(small)
        net = network(classes, sites, held)
        price = _carried_over(price, small, net, together)
    else:
        net = network(classes, sites, held)
        check_costs(net.largest, net.nodes[NODES])
        price = np.zeros(net.nodes[NODES], np.int64)
    flow, short = placed(net.nodes[NODES], net.arcs, net.count, net.supply, price)
    if short:
        tasks = len(problem.previous_owner)
        raise Infeasible(
            f"the limits leave room for {tasks - short} of {tasks} tasks, where each client has its number.",
            fix="Let clients take more of a layer, or more layers.",
        )
    return owners(problem, classes, sites, held, net, flow)


def _used_racks(problem: RackProblem) -> RackProblem:
    """Racks that no client is in would only tell tasks apart."""
    racks = problem.cost.shape[1]
    if np.bincount(problem.rack, minlength=racks).all():
        return problem
    used, rack = numbered(problem.rack.astype(np.int64), racks)
    return replace(problem, cost=problem.cost[:, used], rack=rack)


def stays(problem: RackProblem, limits: Ints) -> tuple[Flags, Flags]:
    """
    Where nothing is better than what is: any other assignment costs a move, at least.

    Args:
        problem: The tasks and clients, maybe of several problems that have neither in common.
        limits: As `limits_of` has them.

    Returns:
        (C) whether each client holds its number of tasks; (N) whether a client may keep each task, and it costs no less
        in another rack.
    """
    owner, clients = problem.previous_owner, len(problem.rack)
    right = np.bincount(owner + 1, minlength=clients + 1)[1:] == problem.count
    fine = owner != NONE
    more = problem.cost > problem.cost.min(axis=1, keepdims=True)
    if more.any():
        kind = np.arange(len(owner)) if problem.kind is None else problem.kind
        fine &= ~more[kind, problem.rack[owner]]
    if problem.limits is not None:
        held = np.flatnonzero(owner != NONE)
        keys = problem.layers[held] * clients + owner[held]
        pair = found_at(limits[0] * clients + limits[1], keys)
        most = np.append(limits[2], 0)  # the last is what NONE reads
        times = np.bincount(pair[pair != NONE], minlength=len(most))
        fine[held] &= (times <= most)[pair] & (pair != NONE)
    return right, fine


def _prices(net: RackNetwork) -> Ints:
    """(nodes) the prices of a cheapest flow; 0 where there is none."""
    nodes = net.nodes[NODES]
    check_costs(net.largest, nodes)
    nothing = np.zeros(nodes, np.int64)
    flow, short = placed(nodes, net.arcs, net.count, net.supply, nothing)
    return nothing if short else prices(net.arcs, flow, nodes)


def _carried_over(price: Ints, small: RackNetwork, whole: RackNetwork, together: Sites) -> Ints:
    """Prices for the network with every client from the one in which they are taken together."""
    carried = np.empty(whole.nodes[NODES], np.int64)
    carried[: whole.nodes[CLASSES]] = price[together.of_limit]
    between = slice(small.nodes[CLASSES], small.nodes[SITES])
    carried[whole.nodes[CLASSES] : whole.nodes[SITES]] = price[between]
    carried[whole.nodes[SITES] :] = price[small.nodes[SITES] :][together.of_client]
    return carried
