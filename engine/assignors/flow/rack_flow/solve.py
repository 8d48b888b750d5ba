"""
Solving a rack problem: the steps in their order, beginning with good prices instead of with nothing.

The time of the solver behind `evenkeel.engine.assignors.flow.network` grows fast with the nodes, and clients that have
to be told apart make many. Then the same problem with clients of a rack taken together is solved
first: its node prices (dual values) are all but right for the whole, and `from_prices` goes on from
there, for a round or two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....model.arrays import Indices, Ints
from ....model.errors import Infeasible
from ...kit.orders import numbered
from ..network import cheapest_flow, from_prices, prices
from .network import RackNetwork, network, owners
from .problem import RackProblem, Sites, classes_of, each_client, limits_bind, sites_of


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
    if not len(problem.cost):
        return np.zeros(0, np.int32)
    # racks that no client is in would only tell tasks apart
    used, rack = numbered(problem.rack.astype(np.int64), problem.cost.shape[1])
    problem = replace(problem, cost=problem.cost[:, used], rack=rack.astype(np.int32))
    apart = limits_bind(problem)
    classes = classes_of(problem)
    sites = sites_of(problem, keep_full_apart=not apart)
    net = network(classes, sites, problem.previous_owner)
    flow = cheapest_flow(net.supply, net.arcs)
    nodes = len(net.supply)
    price = np.zeros(nodes, np.int64) if flow is None else prices(net.arcs, flow, nodes)
    if apart:
        together, sites = sites, each_client(problem)
        whole = network(classes, sites, problem.previous_owner)
        price = _carried_over(price, net, whole, together, sites)
        net, flow = whole, None
    if flow is None:
        flow = _placed(net, price)
    return owners(problem, classes, sites, net, flow)


def _carried_over(
    price: Ints, small: RackNetwork, whole: RackNetwork, together: Sites, apart: Sites
) -> Ints:
    """Prices for the network with every client from the one in which they are taken together."""
    of_site = together.of_client
    pair_of = np.zeros((int(apart.layer.max()) + 1) * len(together), np.int64)
    pair_of[together.layer * len(together) + together.site] = np.arange(len(together.layer))
    pairs = pair_of[apart.layer * len(together) + of_site[apart.site]]
    between = price[small.nodes.classes : small.nodes.sites]
    return np.concatenate([price[pairs], between, price[small.nodes.sites + of_site]])


def _placed(net: RackNetwork, price: Ints) -> Ints:
    """
    (arcs) the flow of least cost, beginning with prices.

    Raises:
        Infeasible: The supplies cannot all be placed.
    """
    flow, short = from_prices(net.supply, net.arcs, price)
    if short:
        wanted = -int(net.supply[net.supply < 0].sum())
        raise Infeasible(
            f"the limits leave room for {wanted - short} of {wanted} tasks, where each client has its number.",
            fix="Let clients take more of a layer, or more layers.",
        )
    return flow
