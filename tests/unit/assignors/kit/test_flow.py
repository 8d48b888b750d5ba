"""Flows through networks: what is cheapest, what cannot be placed, and what decides a tie."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.assignors.flow.network import FlowNetwork, largest_flow, outweighing
from evenkeel.engine.model.errors import InputError


def _network(supply, *arcs):
    """A network of (tail, head, capacity, cost) arcs, and where each one's flow stands."""
    network = FlowNetwork(len(supply))
    network.supply[:] = supply
    return network, [
        network.add(np.array([t]), np.array([h]), most, cost) for t, h, most, cost in arcs
    ]


@pytest.mark.parametrize(
    ("situation", "capacity", "dear", "lesser", "expected"),
    [
        ("the lesser cost decides between equals", 50, (5, 5), (1, 0), (0, 50)),
        ("however much of it there is, it never makes up for a unit", 50, (5, 6), (1, 0), (50, 0)),
        ("nor where all but one unit flows the same way", 49, (5, 6), (1, 0), (49, 1)),
    ],
)
def test_a_lesser_cost_decides_ties_and_nothing_else(situation, capacity, dear, lesser, expected):
    """Fifty units on two ways: what outweighs fifty lesser costs decides first."""
    weight = outweighing(50)
    costs = [weight * first + second for first, second in zip(dear, lesser, strict=True)]
    network, (near, far) = _network([50, -50], (0, 1, capacity, costs[0]), (0, 1, 50, costs[1]))

    flow = network.cheapest()

    assert (int(flow[near][0]), int(flow[far][0])) == expected


def test_what_cannot_be_placed_has_no_flow():
    """Two units and room for one: none rather than a part."""
    network, _ = _network([2, -2], (0, 1, 1, 0))

    assert network.cheapest() is None


def test_costs_beyond_the_arithmetic_are_an_error():
    """Prices are sums of costs, and have to fit."""
    network, _ = _network([1, -1], (0, 1, 1, 1 << 62))

    with pytest.raises(InputError, match="beyond 64-bit arithmetic"):
        network.cheapest()


def test_the_smallest_cut_lies_where_the_flow_is_stopped():
    """Of a chain that narrows in the middle, the nodes before the narrow place are the source's."""
    tail, head = np.array([0, 1, 2]), np.array([1, 2, 3])

    flow, near_source = largest_flow(tail, head, np.array([9, 4, 7]), source=0, sink=3)

    assert flow.tolist() == [4, 4, 4]
    assert near_source.tolist() == [True, True, False, False]
