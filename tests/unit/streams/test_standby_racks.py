"""Standbys are swapped between racks while that lowers the cost of their changelogs."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.streams.assign_tasks import assign_stateful
from evenkeel.engine.streams.model import ClientLine, application
from evenkeel.engine.streams.settings import Costs, RackStrategy, TaskConfig
from evenkeel.engine.streams.standby_racks import swap_standbys
from evenkeel.engine.streams.standbys import Copies, kept_apart, place_standbys
from tests.helpers.streams import Shape, process, sketches, tasks_of

CHEAP = Costs(traffic=10, non_overlap=1)
SHAPE = Shape(known_racks=True, strategies=(RackStrategy.MIN_TRAFFIC,))


def _app(racks, changelogs, zones=""):
    """Clients on *racks*, and one task for each of *changelogs*, the racks of its replicas."""
    clients = [
        ClientLine(process_id=process(n), rack=rack, tags={"zone": zones[n]} if zones else {})
        for n, rack in enumerate(racks)
    ]
    replicas = {("changelog-0", p): list(there) for p, there in enumerate(changelogs)}
    return application(tasks_of(len(changelogs)), clients, replicas)


def _swapped(app, owner, standbys, costs=CHEAP, tags=()):
    """The standby of each task after the swaps, and whether they came to an end."""
    copies = Copies(app, np.array(owner))
    copies.holders = [[client] for client in standbys]
    settled = swap_standbys(app, copies, costs, kept_apart(app, TaskConfig(tags=tags)))
    return [client for [client] in copies.holders], settled


def test_a_swap_must_save_more_than_it_costs():
    """Two partitions nearer to home save two; two tasks that move cost twice the non-overlap."""
    app = _app("abc", ["b", "a"])

    assert _swapped(app, [2, 2], [0, 1], Costs(traffic=1, non_overlap=1))[0] == [0, 1]
    assert _swapped(app, [2, 2], [0, 1], Costs(traffic=2, non_overlap=1))[0] == [1, 0]


def test_a_swap_may_cost_one_task_what_it_saves_another():
    """The sum counts: one copy comes home, the other was nowhere near its data anyway."""
    app = _app("abc", ["b", "c"])

    assert _swapped(app, [2, 2], [0, 1])[0] == [1, 0]


def test_several_standbys_change_places_at_once():
    """The best pairs first, as many as pay."""
    app = _app("abc", ["b", "b", "a", "a", "a"])

    standbys, _ = _swapped(app, [2] * 5, [0, 0, 1, 1, 1])
    assert (standbys[:2], sorted(standbys[2:])) == ([1, 1], [0, 0, 1])


def test_a_standby_does_not_go_where_its_task_is_active():
    """However near the data."""
    app = _app("abc", ["b", "a"])

    assert _swapped(app, [1, 2], [0, 1])[0] == [0, 1]


def test_clients_of_one_rack_change_nothing():
    """What it would cost is the same."""
    app = _app("aac", ["c", "c"])

    assert _swapped(app, [2, 2], [0, 1])[0] == [0, 1]


def test_a_task_without_changelog_stays():
    """It costs nothing anywhere, and its move would."""
    app = _app("ab", ["", ""])

    assert _swapped(app, [1, 0], [0, 1])[0] == [0, 1]


@given(sketches(SHAPE))
def test_every_client_keeps_its_number_of_standbys(sketch):
    """Swaps change who has which copy, never how many; no task is twice on a client, and no tag loses a value."""
    app, apart = sketch.app, kept_apart(sketch.app, sketch.config)
    copies = place_standbys(app, sketch.config, assign_stateful(app), apart)
    before = [copies.everyone(task) for task in range(len(app.tasks))]
    swap_standbys(app, copies, sketch.config.costs, apart)
    after = [copies.everyone(task) for task in range(len(app.tasks))]

    flat = [sorted(c for clients in rows for c in clients) for rows in (before, after)]
    assert flat[0] == flat[1]
    assert all(len(set(clients)) == len(clients) for clients in after)
    for task in np.flatnonzero(app.stateful):
        counts = zip(apart.distinct(before[task]), apart.distinct(after[task]), strict=True)
        assert all(was <= now for was, now in counts)


@pytest.mark.parametrize("seed", range(3))
def test_between_two_clients_nothing_cheaper_exists(seed):
    """The exchange equals the best of all exchanges of equally many standbys."""
    chance = Random(seed)
    for _ in range(40):
        count = chance.randint(2, 8)
        app = _app(
            "abc", ["".join(chance.sample("abc", chance.randint(1, 2))) for _ in range(count)]
        )
        standbys = [chance.randint(0, 1) for _ in range(count)]
        costs = Costs(traffic=chance.randint(1, 3), non_overlap=chance.randint(0, 2))
        found, _ = _swapped(app, [2] * count, standbys, costs)

        best = min(_price(app, standbys, one, costs) for one in _exchanges(standbys))
        assert _price(app, standbys, found, costs) == best


def _exchanges(standbys):
    """Every placement that gives both clients as many as they had."""
    for chosen in combinations(range(len(standbys)), sum(standbys)):
        yield [int(task in chosen) for task in range(len(standbys))]


def _price(app, before, after, costs):
    price = 0
    for task, client in enumerate(after):
        replicas = app.replica_rack[
            app.replica_start[2 * task + 1] : app.replica_start[2 * task + 2]
        ]
        price += costs.traffic * (app.client_rack[client] not in replicas)
        price += costs.non_overlap * (before[task] != client)
    return price
