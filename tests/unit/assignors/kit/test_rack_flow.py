"""The cheapest placement of tasks in racks: optimal, within counts and limits, and compact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors.flow.network import Arcs, cheapest_flow, from_prices
from evenkeel.engine.assignors.flow.rack_flow import LayerLimits, RackProblem, solve
from evenkeel.engine.assignors.flow.rack_flow.network import NODES, held_of, network
from evenkeel.engine.assignors.flow.rack_flow.problem import (
    classes_of,
    each_client,
    limits_of,
    sites_of,
)
from evenkeel.engine.assignors.kit.kernels import held_to
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible, InputError
from tests.helpers.transport_lp import least_cost


def problem(cost, owner, rack, *, previous_owner=None, move_cost=1, layer=None, limit=None):
    """A problem in which everybody keeps the number of tasks that *owner* gives it; *limit* is (layers, C)."""
    limits = None
    if limit is not None:
        layers, clients = np.nonzero(limit)
        most = np.array(limit)[layers, clients]
        limits = LayerLimits(layer=layers, client=clients, most=most)
    return RackProblem(
        cost=np.array(cost, np.int64),
        move_cost=move_cost,
        previous_owner=np.array(owner if previous_owner is None else previous_owner, np.int32),
        rack=np.array(rack, np.int32),
        count=np.bincount(owner, minlength=len(rack)),
        layer=None if layer is None else np.array(layer),
        limits=limits,
    )


@st.composite
def problems(draw):
    """Any small problem: homes that are the owners, others or nobody; no limits, closed doors, tight ones."""
    clients, racks, layers = (draw(st.integers(1, most)) for most in (6, 4, 4))
    tasks = draw(st.integers(1, 14))
    one = st.integers(0, clients - 1)
    owner = draw(st.lists(one, min_size=tasks, max_size=tasks))
    anyone = st.integers(NONE, clients - 1)
    previous_owner = draw(st.none() | st.lists(anyone, min_size=tasks, max_size=tasks))
    traffic, move_cost = draw(st.sampled_from([(10, 1), (1, 10), (1, 0), (0, 1), (3, 7)]))
    misses = st.lists(st.integers(0, 2), min_size=racks, max_size=racks)
    cost = draw(st.lists(misses, min_size=tasks, max_size=tasks))
    most = st.sampled_from([0, 1, 2, 3, 99])
    row = st.lists(most, min_size=clients, max_size=clients)
    return problem(
        traffic * np.array(cost),
        owner,
        draw(st.lists(st.integers(0, racks - 1), min_size=clients, max_size=clients)),
        previous_owner=previous_owner,
        move_cost=move_cost,
        layer=draw(st.lists(st.integers(0, layers - 1), min_size=tasks, max_size=tasks)),
        limit=draw(st.none() | st.lists(row, min_size=layers, max_size=layers)),
    )


def limits(asked):
    """(layers, C) most tasks of each layer; None without limits."""
    if asked.limits is None:
        return None
    most = np.zeros((4, len(asked.rack)), np.int64)
    most[asked.limits.layer, asked.limits.client] = asked.limits.most
    return most


def drawn(asked, sites):
    """Arcs and supplies of the network of a problem."""
    classes = classes_of(asked)
    net = network(classes, sites, held_of(asked, classes, limits_of(asked), sites))
    return Arcs(net.arcs[:, : net.count]), net.supply[: net.nodes[NODES]]


def limits_bind(asked):
    """Whether limits stop anybody."""
    return sites_of(asked, limits_of(asked), classes_of(asked).size)[1]


@given(problems())
def test_nothing_is_cheaper_and_of_equal_cost_nothing_moves_less(asked):
    """
    Total cost, then moves, are those of a linear program, with counts and limits kept.

    It is infeasible exactly when that is; asked twice it answers the same.
    """
    tasks, clients = len(asked.cost), len(asked.rack)
    moves = (asked.previous_owner[:, None] != np.arange(clients)).astype(np.int64)
    each = (asked.cost[:, asked.rack] + asked.move_cost * moves) * (tasks + 1) + moves
    most = limits(asked)
    best = least_cost(each, asked.count, asked.layer, most)
    if best is None:
        with pytest.raises(Infeasible):
            solve(asked)
        return
    owner = solve(asked)

    assert each[np.arange(tasks), owner].sum() == best
    assert np.bincount(owner, minlength=clients).tolist() == asked.count.tolist()
    assert solve(asked).tolist() == owner.tolist()
    if most is not None:
        held = np.zeros_like(most)
        np.add.at(held, (asked.layer, owner), 1)
        assert (held <= most).all()


@given(problems(), st.integers(0, 2**32))
def test_any_prices_lead_to_the_same_cost(asked, seed):
    """However wrong the prices it begins with, the primal-dual method ends at the least cost, or places too little."""
    arcs, supply = drawn(asked, each_client(asked, limits_of(asked)))
    wrong = np.random.default_rng(seed).integers(-50, 50, len(supply))
    cheapest = cheapest_flow(supply, arcs)
    flow, short = from_prices(supply, arcs, wrong)

    assert (cheapest is None) == (short > 0)
    if cheapest is not None:
        assert (flow * arcs.cost).sum() == (cheapest * arcs.cost).sum()


def test_the_problem_is_left_as_it_was():
    """Solving writes into none of the arrays it was given."""
    asked = problem([[5, 0], [0, 5]], [0, 1], [0, 1], layer=[0, 1], limit=[[1, 1], [1, 1]])
    for array in (asked.cost, asked.previous_owner, asked.rack, asked.count, asked.layer):
        array.flags.writeable = False

    assert solve(asked).tolist() == [1, 0]


@given(problems())
def test_what_cannot_be_bettered_stays(asked):
    """The answer to a problem is the answer to the same problem with that answer as the previous owners."""
    try:
        owner = solve(asked)
    except Infeasible:
        return

    settled = replace(asked, previous_owner=owner)
    assert settled.total(solve(settled)) <= settled.total(owner)
    if (settled.cost == settled.cost.min(axis=1, keepdims=True)).all():
        assert solve(settled).tolist() == owner.tolist()


@given(problems())
def test_tasks_that_cost_the_same_may_share_a_row(asked):
    """Rows of costs named by kind are the same problem as one row per task."""
    rows, kind = np.unique(asked.cost, axis=0, return_inverse=True)
    try:
        owner = solve(asked)
    except Infeasible:
        return

    assert solve(replace(asked, cost=rows, kind=kind)).tolist() == owner.tolist()


@pytest.mark.slow
def test_compiled_and_interpreted_place_alike():
    """Both forms of the kernels give every task to the same client, with and without limits."""
    random = np.random.default_rng(7)
    for limit in (None, [[2] * 4] * 3):
        asked = problem(
            10 * random.integers(0, 2, (24, 3)),
            np.arange(24) % 4,
            [0, 1, 2, 0],
            previous_owner=random.integers(NONE, 4, 24),
            layer=np.arange(24) % 3,
            limit=limit,
        )
        found = []
        for compiled in (False, True):
            with held_to(compiled=compiled):
                found.append(solve(asked).tolist())

        assert found[0] == found[1]


def test_there_may_be_nothing_to_place():
    """No tasks, no owners."""
    assert solve(problem(np.zeros((0, 1)), np.zeros(0, np.int64), [0])).tolist() == []


def test_a_task_of_nobody_pays_wherever_it_goes():
    """Without home, being away is charged anywhere, and the cheapest rack decides."""
    asked = problem([[5, 0], [0, 5]], [0, 1], [0, 1], previous_owner=[NONE, NONE], move_cost=3)

    assert (solve(asked).tolist(), asked.total(solve(asked))) == ([1, 0], 6)


def test_a_client_that_holds_too_much_keeps_what_costs_most_to_move():
    """Of three tasks at home only one can stay: the one that is dearest elsewhere."""
    asked = problem([[0, 1], [0, 9], [0, 1]], [0, 1, 1], [0, 1], previous_owner=[0, 0, 0])

    assert solve(asked).tolist() == [1, 0, 1]


def test_who_comes_into_a_rack_is_dealt_in_turn():
    """Four tasks move to a rack of two clients: first, second, first, second."""
    asked = problem(
        [[5, 0]] * 4 + [[0, 5]] * 4,
        [0, 0, 0, 0, 1, 1, 2, 2],
        [0, 1, 1],
        previous_owner=[0] * 4 + [1, 1, 2, 2],
    )

    assert solve(asked).tolist() == [1, 2, 1, 2, 0, 0, 0, 0]


def test_of_tasks_that_are_alike_the_first_stay():
    """Two of four equal tasks have to leave: the last two."""
    asked = problem([[0, 0]] * 6, [0, 0, 1, 1, 1, 1], [0, 1], previous_owner=[0, 0, 0, 0, 1, 1])

    assert solve(asked).tolist() == [0, 0, 1, 1, 1, 1]


def test_too_little_room_is_told_in_numbers():
    """Both clients may take one task of the layer, and there are three."""
    asked = problem([[0]] * 3, [0, 0, 1], [0, 0], layer=[0, 0, 0], limit=[[1, 1]])

    with pytest.raises(Infeasible, match="room for 2 of 3 tasks"):
        solve(asked)


def test_costs_beyond_the_arithmetic_are_an_error():
    """Costs whose sums no 64-bit number holds are refused, not answered wrongly."""
    asked = problem([[1 << 61, 0], [1, 3]], [0, 1], [0, 1])

    with pytest.raises(InputError, match="64-bit"):
        solve(asked)


def test_limits_bind_only_where_they_can_stop_somebody():
    """A limit as large as the client's count, or the whole layer, stops nobody."""
    asked = problem([[0]] * 3, [0, 0, 1], [0, 0], layer=[0, 0, 1], limit=[[2, 1], [1, 1]])

    assert not limits_bind(asked)
    assert limits_bind(replace(asked, count=np.array([1, 2])))


def test_a_thousand_clients_take_a_few_dozen_arcs():
    """Three racks and ten thousand tasks of one partition: the network does not grow with clients or tasks."""
    random = np.random.default_rng(1)
    owner = np.arange(10_000) % 1_000
    asked = problem(10 * random.integers(0, 2, (10_000, 3)), owner, np.arange(1_000) % 3)
    sites, _ = sites_of(asked, limits_of(asked), classes_of(asked).size)

    assert len(drawn(asked, sites)[0]) <= 3 * 7 + 3 * 7 + 7 + 3 + 3 + 3
