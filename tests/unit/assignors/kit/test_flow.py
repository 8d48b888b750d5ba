"""Flows through networks: what is cheapest, what cannot be placed, and what decides a tie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ortools.graph.python import max_flow, min_cost_flow

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


NODE = st.integers(0, 6)
ARCS = st.lists(st.tuples(NODE, NODE, st.integers(0, 9), st.integers(-9, 30)), max_size=30)


@given(st.lists(st.integers(0, 9), min_size=3, max_size=3), st.randoms(), ARCS.filter(bool))
def test_a_flow_costs_what_that_of_or_tools_costs(sent, random, arcs):
    """Whatever the network, negative costs and cycles of them included; none where that finds none."""
    supply = [*sent, 0, 0, 0, 0]
    for _ in range(sum(sent)):
        supply[random.randrange(3, 7)] -= 1
    network, spans = _network(supply, *arcs)
    judge = min_cost_flow.SimpleMinCostFlow()
    for arc in arcs:
        judge.add_arc_with_capacity_and_unit_cost(*arc)
    judge.set_nodes_supplies(np.arange(7), np.array(supply))
    feasible = judge.solve() == judge.OPTIMAL

    flow = network.cheapest()

    assert (flow is not None) == feasible
    if flow is not None:
        amount = [int(flow[span][0]) for span in spans]
        assert sum(n * arc[3] for n, arc in zip(amount, arcs, strict=True)) == judge.optimal_cost()
        left = np.zeros(7, np.int64)
        for n, (tail, head, most, _) in zip(amount, arcs, strict=True):
            assert 0 <= n <= most
            left[tail] += n
            left[head] -= n
        assert left.tolist() == supply


@given(ARCS)
def test_the_largest_flow_and_its_cut_are_those_of_or_tools(arcs):
    """Of several smallest cuts the one nearest to the source."""
    tail, head, most, _ = (
        np.array(column, np.int64) for column in zip(*arcs, (0, 6, 0, 0), strict=True)
    )
    judge = max_flow.SimpleMaxFlow()
    judge.add_arcs_with_capacity(tail, head, most)
    assert judge.solve(0, 6) == judge.OPTIMAL

    flow, near_source = largest_flow(tail, head, most, source=0, sink=6)

    assert flow[tail == 0].sum() - flow[head == 0].sum() == judge.optimal_flow()
    assert np.flatnonzero(near_source).tolist() == sorted(judge.get_source_side_min_cut())
