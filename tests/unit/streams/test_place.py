"""The whole placement: what follows from what, what is said of it, and what switches racks off."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given

import evenkeel.engine.streams.place
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.model.facts import note, reason
from evenkeel.engine.streams.model import ClientLine, TaskLine, application
from evenkeel.engine.streams.place import place
from evenkeel.engine.streams.racks import EQUAL_COSTS, racks_off
from evenkeel.engine.streams.settings import Costs, Overlap, RackStrategy, TaskConfig
from tests.helpers.facts import said, told
from tests.helpers.streams import Shape, process, sketch, sketches, tasks_of

MIN = RackStrategy.MIN_TRAFFIC


def _clients(*racks, **same):
    return [ClientLine(process_id=process(n), rack=rack, **same) for n, rack in enumerate(racks)]


def _replicas(racks, topic="source-0"):
    """Partition p of the topic on the racks of the p-th word."""
    return {(topic, p): list(word) for p, word in enumerate(racks)}


def test_stateless_tasks_have_no_target():
    """Nothing of theirs can be on its way."""
    app = application(tasks_of(1) + tasks_of(1, 1, stateful=False), _clients(None))
    placed = place(app, TaskConfig())

    assert (placed.active.tolist(), placed.target.tolist()) == ([0, 0], [0, NONE])


def test_a_move_is_charged_against_what_was_just_dealt():
    """What Kafka ships: a task that would leave the client it was dealt to costs extra."""
    app = application(tasks_of(2), _clients("a", "b", previous_active=[]), _replicas("ba"))
    dear = TaskConfig(strategy=MIN, costs=Costs(traffic=1, non_overlap=2))

    assert place(app, dear).target.tolist() == [0, 1]


def test_standbys_follow_their_changelogs():
    """With racks on, copies are swapped towards the replicas of the changelog."""
    replicas = _replicas(["abc"] * 4) | _replicas("cabc", "changelog-0")
    app = application(tasks_of(4), _clients("a", "b", "c", "c"), replicas)
    far = place(app, TaskConfig(num_standby_replicas=1))
    near = place(app, TaskConfig(num_standby_replicas=1, strategy=MIN))

    assert (far.planned.tolist(), near.planned.tolist()) == ([1, 0, 3, 2], [3, 0, 1, 2])


def test_lags_do_not_change_the_plan():
    """What is on its way shows in active and standby; target and planned stay what is aimed at."""
    clients = [
        ClientLine(process_id=process(0)),
        ClientLine(process_id=process(1), lags={"0_0": -2, "0_1": -2}),
        ClientLine(process_id=process(2)),
    ]
    app = application(tasks_of(2), clients)
    placed = place(app, TaskConfig(num_standby_replicas=1))

    assert (placed.target.tolist(), placed.planned.tolist()) == ([0, 1], [2, 0])
    assert (placed.active.tolist(), placed.probing) == ([1, 1], True)


def test_tasks_without_clients_cannot_be_placed():
    """The error gives the number."""
    with pytest.raises(Infeasible, match="there are 3 tasks and no client"):
        place(application(tasks_of(3), []), TaskConfig())


def test_without_tasks_there_is_nothing_to_place():
    """With or without clients."""
    for clients in ([], _clients("a")):
        placed = place(application([], clients), TaskConfig(strategy=MIN, num_standby_replicas=1))
        assert (placed.active.tolist(), placed.probing) == ([], False)


def test_too_few_clients_for_the_standbys_are_told():
    """The placement has as many as there can be."""
    app = application(tasks_of(1), _clients(None, None))

    assert said(place(app, TaskConfig(num_standby_replicas=2)).findings) == (
        "2 standbys are configured, and with 2 clients a task can have 1",
    )


def test_copies_closer_together_than_need_be_are_told():
    """KIP-708 is greedy: on an uneven grid it may miss a spread that exists."""
    tags = [{"zone": z, "cluster": c} for z, c in (("a", "1"), ("a", "1"), ("a", "2"), ("b", "1"))]
    clients = [ClientLine(process_id=process(n), tags=t) for n, t in enumerate(tags)]
    config = TaskConfig(num_standby_replicas=1, tags=("zone", "cluster"))

    assert said(place(application(tasks_of(1), clients), config).findings) == (
        "1 task (0_0) has copies on fewer values of zone and cluster than possible",
    )


def test_unknown_offsets_are_told():
    """Because Kafka takes the client for the furthest along."""
    clients = [ClientLine(process_id=process(0), lags={"0_0": -3})]
    app = application(tasks_of(1) + tasks_of(1, 1, stateful=False), clients)

    [line] = said(place(app, TaskConfig()).findings)
    assert line.startswith("1 task (0_0) has a client whose offsets are unknown")


def test_unfinished_swaps_are_told(monkeypatch):
    """Kafka goes four times around; what would still pay then is left, and said."""
    monkeypatch.setattr(evenkeel.engine.streams.place, "swap_standbys", lambda *_: False)
    app = application(
        tasks_of(2), _clients("a", "b"), _replicas("ba") | _replicas("ab", "changelog-0")
    )

    placed = place(app, TaskConfig(strategy=MIN, num_standby_replicas=1))
    assert said(placed.findings) == (
        "standbys were swapped in 4 rounds, as in Kafka; more swaps may help",
    )


@given(sketches(Shape(known_racks=True)))
def test_racks_change_no_count(sketch):
    """Every client keeps its number of stateful tasks, whatever the strategy."""
    app = sketch.app
    placed = place(app, sketch.config)
    stateful = app.stateful

    counts = [
        np.bincount(owner[stateful], minlength=len(app.clients)).tolist()
        for owner in (placed.initial, placed.target)
    ]
    assert counts[0] == counts[1]


@given(sketches())
def test_every_task_is_active_once_and_never_beside_a_copy(sketch):
    """With racks and without, caught up or not; warm-ups are among the standbys."""
    app = sketch.app
    placed = place(app, sketch.config)

    assert (placed.active != NONE).all()
    spans = zip(placed.standby_start, placed.standby_start[1:], strict=False)
    for task, (a, b) in enumerate(spans):
        clients = placed.standby[a:b].tolist()
        warm = placed.warmup[placed.warmup_start[task] : placed.warmup_start[task + 1]].tolist()
        assert placed.active[task] not in clients
        assert clients == sorted(set(clients))
        assert set(warm) <= set(clients)


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_the_input_does_not_show(seed):
    """Tasks, clients and replicas may be told in any order."""
    chance = Random(seed)
    one = sketch(chance, Shape(most_tasks=20, most_clients=12))
    first, second = one.app, one.shuffled(chance).app
    placed, again = place(first, one.config), place(second, one.config)

    assert first.named(placed.active) == second.named(again.active)
    assert first.named(placed.target) == second.named(again.target)
    assert (placed.standby.tolist(), placed.planned.tolist()) == (
        again.standby.tolist(),
        again.planned.tolist(),
    )


ON = TaskConfig(strategy=RackStrategy.MIN_TRAFFIC)
WITH_STANDBYS = TaskConfig(strategy=RackStrategy.MIN_TRAFFIC, num_standby_replicas=1)


def _reads_two(replicas, racks=("a", "b"), changelog="log"):
    """One task that reads t-0 and t-1, stateful with one changelog."""
    task = TaskLine(
        id="0_0", sources=[("t", 0), ("t", 1)], changelogs=[(changelog, 0)], stateful=True
    )
    clients = [ClientLine(process_id=process(n), rack=rack) for n, rack in enumerate(racks)]
    return application([task], clients, replicas)


KNOWN = {("t", 0): ["a"], ("t", 1): ["b"], ("log", 0): ["a"]}


@pytest.mark.parametrize(
    ("replicas", "racks", "config", "why"),
    [
        (
            KNOWN,
            ("a", None),
            ON,
            f"1 client ({process(1)}) has no rack, or one that its members disagree on",
        ),
        (
            KNOWN,
            ("a", ""),
            ON,
            f"1 client ({process(1)}) has no rack, or one that its members disagree on",
        ),
        (KNOWN | {("t", 1): []}, ("a", "b"), ON, "1 source partition (t-1) has no known replicas"),
        ({}, ("a", "b"), ON, "2 source partitions (t-0, t-1) have no known replicas"),
        (KNOWN | {("log", 0): []}, ("a", "b"), ON, None),
        (
            KNOWN | {("log", 0): []},
            ("a", "b"),
            WITH_STANDBYS,
            "1 changelog partition (log-0) has no known replicas",
        ),
        (
            KNOWN | {("log", 0): [None]},
            ("a", "b"),
            WITH_STANDBYS,
            "1 changelog partition (log-0) lies on a broker without rack",
        ),
    ],
)
def test_what_switches_racks_off_is_said_with_the_names(replicas, racks, config, why):
    """One client or partition is enough; changelogs count only where standbys are configured."""
    assert told(racks_off(_reads_two(replicas, racks), config)) == why


def test_costs_may_differ_for_copies_alone():
    """Then racks matter once there are standbys."""
    sources = {**KNOWN, ("t", 0): ["a", "b"], ("t", 1): ["a", "b"]}

    assert place(_reads_two(sources), ON).racks == reason(EQUAL_COSTS)
    assert place(_reads_two(sources), WITH_STANDBYS).racks is None


@pytest.mark.parametrize(
    "config",
    [
        TaskConfig(strategy=RackStrategy.BALANCE_SUBTOPOLOGY),
        TaskConfig(strategy=RackStrategy.MIN_TRAFFIC, overlap=Overlap.PREVIOUS),
    ],
    ids=["limits", "previous owners"],
)
def test_equal_costs_are_said_where_something_else_still_moves_tasks(config):
    """Sub-topology limits and previous owners count without racks too."""
    placed = place(_reads_two({pair: ["a", "b"] for pair in KNOWN}), config)

    assert (placed.racks, placed.findings) == (None, (note(EQUAL_COSTS),))
