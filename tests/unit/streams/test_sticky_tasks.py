"""Kafka's sticky assignors of tasks, the public one with its racks and the broker's, keep what they promise."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.cli.task_cases import answer_tasks
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.streams import sticky_racks
from evenkeel.engine.streams.model import ClientLine, TaskLine, application
from evenkeel.engine.streams.settings import Costs, RackStrategy, TaskConfig
from evenkeel.engine.streams.sticky_racks import (
    actives_off,
    racked_actives,
    racked_standbys,
    standbys_off,
)
from evenkeel.engine.streams.sticky_tasks import place_sticky, usual_arrivals
from evenkeel.engine.streams.sticky_tasks_server import Threads, assign_sticky_server
from tests.helpers.streams import process
from tests.oracle.sticky_task_cases import client_case, server_case


def _with_past(tasks, past, threads=()):
    """Tasks with stores, and a client for each pair of active tasks and copies before."""
    return application(
        [
            TaskLine(id=task, sources=[("t", n)], changelogs=[("log", n)], stateful=True)
            for n, task in enumerate(tasks)
        ],
        [
            ClientLine(
                process_id=process(n),
                threads=threads[n] if threads else 1,
                previous_active=active.split(),
                previous_standby=standby.split(),
            )
            for n, (active, standby) in enumerate(past)
        ],
    )


SEEDS = st.integers(0, 1 << 32)


@pytest.mark.slow
@given(SEEDS)
def test_clients_have_tasks_active_once_and_copies_apart(seed):
    """Each task on one client, no client with two copies, as many standbys as fit; of tasks with changelogs only."""
    case = client_case(Random(f"promises {seed}"))
    given = answer_tasks(case)
    active = Counter(task for has in given["active"].values() for task in has)
    assert active == Counter(task["id"] for task in case["tasks"])
    for client in case["clients"]:
        process = client["process_id"]
        assert not set(given["active"][process]) & set(given["standby"][process])
    wanted = min(case["config"]["num_standby_replicas"], len(case["clients"]) - 1)
    standbys = Counter(task for has in given["standby"].values() for task in has)
    assert standbys == Counter(
        {task["id"]: wanted for task in case["tasks"] if task["changelog_partitions"] and wanted}
    )


def test_a_client_keeps_what_is_within_its_quota():
    """Two threads may keep four of six tasks, one thread two; nothing moves."""
    app = _with_past(
        [f"0_{p}" for p in range(6)], [("0_0 0_1 0_2 0_3", ""), ("0_4 0_5", "")], [2, 1]
    )

    assert place_sticky(app, TaskConfig()).active.tolist() == [0, 0, 0, 0, 1, 1]


def test_the_remainder_of_a_quota_may_stay_too():
    """Five tasks, two threads: the quota is two, and who had three keeps the third while nobody has less."""
    app = _with_past([f"0_{p}" for p in range(5)], [("0_0 0_1 0_2", ""), ("0_3 0_4", "")])

    assert place_sticky(app, TaskConfig()).active.tolist() == [0, 0, 0, 1, 1]


def test_a_client_with_a_copy_comes_before_an_idle_one():
    """The tasks of a client that is gone go to the one that kept copies."""
    app = _with_past(["0_0", "0_1"], [("0_0", ""), ("", ""), ("", "0_1")], [1, 1, 1])

    assert place_sticky(app, TaskConfig()).active.tolist()[1] == 2


def test_standbys_stay_where_they_are():
    """Each of three clients runs one task and keeps the copy of another; the next rebalance moves none."""
    app = _with_past(["0_0", "0_1", "0_2"], [("0_0", "0_1"), ("0_1", "0_2"), ("0_2", "0_0")])
    placed = place_sticky(app, TaskConfig(num_standby_replicas=1))

    assert placed.active.tolist() == [0, 1, 2]
    assert placed.standby.tolist() == [2, 0, 1]


def test_lags_do_not_count_and_nothing_probes():
    """A client without the store takes over at once."""
    app = _with_past(["0_0"], [("", ""), ("0_0", "")])
    lagging = replace(app, log_size=app.log_size + 1_000_000)
    placed = place_sticky(lagging, TaskConfig())

    assert (placed.active.tolist(), placed.probing, len(placed.warmup)) == ([1], False, 0)


def test_the_order_of_standbys_shows():
    """Which of two tasks gets its copy first decides who keeps it."""
    app = _with_past([f"0_{p}" for p in range(4)], [("", "")] * 3)
    usual = usual_arrivals(app)
    config = TaskConfig(num_standby_replicas=1)
    answers = {
        tuple(place_sticky(app, config, replace(usual, copied=order)).standby.tolist())
        for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1])
    }

    assert len(answers) > 1


def test_an_application_without_clients_is_infeasible():
    """Tasks need somebody."""
    with pytest.raises(Infeasible, match="1 tasks and no client"):
        place_sticky(_with_past(["0_0"], []), TaskConfig())


@pytest.mark.slow
def test_where_kafkas_counter_overflows_is_infeasible():
    """Kafka's class makes a set for all pairs of tasks."""
    app = application(
        [TaskLine(id=f"0_{p}", sources=[]) for p in range(46_342)],
        [ClientLine(process_id=process(0))],
    )
    with pytest.raises(Infeasible, match="fails on 46,342 tasks"):
        place_sticky(app, TaskConfig())


CONFIG = TaskConfig(
    strategy=RackStrategy.MIN_TRAFFIC,
    costs=Costs(traffic=10, non_overlap=1),
    costs_told=True,
    num_standby_replicas=1,
)


def _near_and_far(sources, logs, racks=("a", "b"), **tags):
    """A task with a store for each source partition, and a client in each rack; replicas in words, `?` without rack."""

    def on(name, words):
        return {(name, p): [None if r == "?" else r for r in w] for p, w in enumerate(words)}

    return application(
        [
            TaskLine(id=f"0_{p}", sources=[("t", p)], changelogs=[("log", p)], stateful=True)
            for p in range(len(sources))
        ],
        [ClientLine(process_id=process(n), rack=rack, tags=tags) for n, rack in enumerate(racks)],
        on("t", sources) | on("log", logs),
    )


def _owners(app, *owner):
    return np.array(owner, np.int32)


@pytest.mark.parametrize(
    ("change", "measure"),
    [
        ({"strategy": RackStrategy.NONE}, "strategy_none"),
        ({"costs_told": False}, "sticky_costs_not_configured"),
    ],
)
def test_strategy_and_both_costs_have_to_be_configured(change, measure):
    """Without them nothing is exchanged, whatever the racks."""
    app, config = _near_and_far(["b", "a"], ["b", "a"]), replace(CONFIG, **change)
    placed = place_sticky(app, config)

    assert actives_off(app, config).measure == standbys_off(app, config).measure == measure
    assert placed.racks.measure == measure
    assert placed.active.tolist() == placed.initial.tolist()


def test_a_client_without_rack_switches_racks_off():
    """It is named."""
    app = _near_and_far(["b", "a"], ["b", "a"], racks=("a", None))

    assert actives_off(app, CONFIG).subjects == (app.clients[1],)


def test_one_replica_with_a_rack_is_enough():
    """A broker without rack beside it is passed over; alone it switches racks off."""
    assert actives_off(_near_and_far(["a?", "b"], ["a", "b"]), CONFIG) is None
    off = actives_off(_near_and_far(["?", "b"], ["a", "b"]), CONFIG)
    assert (off.measure, off.subjects) == ("source_racks_unknown", ("t-0",))


def test_racks_of_sources_do_not_matter_to_standbys():
    """Those of changelogs matter to both."""
    sources, logs = _near_and_far(["?", "b"], ["a", "b"]), _near_and_far(["a", "b"], ["", "b"])

    assert (actives_off(sources, CONFIG) is None, standbys_off(sources, CONFIG)) == (False, None)
    assert standbys_off(logs, CONFIG).measure == "changelog_racks_unknown"
    assert actives_off(logs, CONFIG).measure == "changelog_racks_unknown"


@pytest.mark.slow
def test_a_changelog_counts_while_its_task_is_active():
    """Sources are everywhere; the tasks follow their changelogs."""
    app = _near_and_far(["ab", "ab"], ["b", "a"])

    assert racked_actives(app, _owners(app, 0, 1), CONFIG, [0, 1]).tolist() == [1, 0]


@pytest.mark.slow
def test_everybody_keeps_its_count():
    """All data is in the first rack, and both clients keep two tasks."""
    app = _near_and_far(["a"] * 4, ["a"] * 4)

    assert sorted(racked_actives(app, _owners(app, 0, 0, 1, 1), CONFIG, [0, 1])) == [0, 0, 1, 1]


@pytest.mark.slow
def test_tags_do_not_hold_a_standby_back():
    """Kafka's rule compares the source of a swap with itself, so copies may end up on one zone."""
    clients = [
        ClientLine(process_id=process(n), rack=rack, tags={"zone": z})
        for n, (rack, z) in enumerate([("a", "x"), ("b", "y"), ("a", "y"), ("b", "x")])
    ]
    tasks = [
        TaskLine(id=f"0_{p}", sources=[("t", p)], changelogs=[("log", p)], stateful=True)
        for p in range(2)
    ]
    app = application(
        tasks,
        clients,
        {("t", 0): ["a"], ("t", 1): ["b"], ("log", 0): ["a"], ("log", 1): ["b"]},
    )
    config = replace(CONFIG, tags=("zone",))
    # 0_0 runs in zone x with its copy in y; afterwards both are in the other's rack
    after = racked_standbys(app, _owners(app, 3, 2), [[1], [0]], config, range(4))

    assert after == [[0], [1]]


def test_a_standby_does_not_go_where_the_task_is():
    """Not to its active task either, whatever it would save."""
    app = _near_and_far(["a", "b"], ["a", "b"])

    assert racked_standbys(app, _owners(app, 0, 1), [[1], [0]], CONFIG, [0, 1]) == [[1], [0]]


@pytest.mark.slow
def test_beyond_what_is_exact_the_cost_is_the_same(monkeypatch):
    """A large application is solved at once instead."""
    app = _near_and_far(["b", "a", "a", "b"], ["b", "a", "a", "b"])
    exact = racked_actives(app, _owners(app, 0, 0, 1, 1), CONFIG, [0, 1])
    monkeypatch.setattr(sticky_racks, "EXACT", 0)

    assert racked_actives(app, _owners(app, 0, 0, 1, 1), CONFIG, [0, 1]).tolist() == exact.tolist()


@pytest.mark.slow
def test_standbys_are_dealt_after_actives_moved():
    """No client ends up with a task twice, and all have their counts."""
    app = _near_and_far(["b", "a"], ["b", "a"], racks=("a", "b", "a"))
    placed = place_sticky(app, CONFIG)

    assert placed.racks is None
    assert all(a != s for a, s in zip(placed.active.tolist(), placed.standby.tolist(), strict=True))
    assert app.client_rack[placed.active].tolist() == [1, 0]


def _plain(tasks, clients, stateful=True):
    return application(
        [TaskLine(id=task, sources=[("t", n)], stateful=stateful) for n, task in enumerate(tasks)],
        [ClientLine(process_id=process(n)) for n in range(clients)],
    )


def _threads(client_of, active=None, standby=None):
    nothing = [()] * len(client_of)
    return Threads(
        ids=tuple(f"m{n}" for n in range(len(client_of))),
        client_of=np.array(client_of, np.int32),
        active=active or nothing,
        standby=standby or nothing,
    )


@given(SEEDS)
def test_tasks_are_active_once_and_copies_apart(seed):
    """Each task on one member, no client with two copies, as many standbys as fit."""
    case = server_case(Random(f"promises {seed}"))
    members = answer_tasks(case)["members"]
    process = {member["id"]: member["process_id"] for member in case["members"]}
    clients = len(set(process.values()))
    active = Counter(task for has in members.values() for task in has["active"])
    assert active == Counter(task["id"] for task in case["tasks"])
    copies = Counter(
        (task, process[member])
        for member, has in members.items()
        for task in has["active"] + has["standby"]
    )
    assert set(copies.values()) == {1}
    wanted = min(case["config"]["num_standby_replicas"], clients - 1)
    standbys = Counter(task for has in members.values() for task in has["standby"])
    assert standbys == Counter(
        {task["id"]: wanted for task in case["tasks"] if task["stateful"] and wanted}
    )


def test_what_is_even_stays():
    """Each of three members runs two tasks and keeps copies of two; the next rebalance moves none of them."""
    active = [(0, 1), (2, 3), (4, 5)]
    standby = [(4, 5), (0, 1), (2, 3)]
    app = _plain([f"0_{p}" for p in range(6)], 3)
    given = assign_sticky_server(app, _threads([0, 1, 2], active, standby), 1)

    assert given.active.tolist() == [0, 0, 1, 1, 2, 2]
    assert given.standbys == ((1,), (1,), (2,), (2,), (0,), (0,))


def test_a_member_with_a_copy_comes_before_an_idle_one():
    """The tasks of a client that is gone go to the member that kept copies of them."""
    app = _plain(["0_0", "0_1", "0_2"], 3)
    given = assign_sticky_server(app, _threads([0, 1, 2], standby=[(), (1,), ()]), 0)

    assert given.active[1] == 1
    assert sorted(given.active.tolist()) == [0, 1, 2]


def test_a_member_gives_up_what_is_beyond_its_share():
    """Of four tasks on the first of two members it keeps two, those of the lowest partitions."""
    given = assign_sticky_server(
        _plain([f"0_{p}" for p in range(4)], 2), _threads([0, 1], active=[(0, 1, 2, 3), ()]), 0
    )

    assert given.active.tolist() == [0, 0, 1, 1]


def test_threads_of_a_client_count_for_its_load():
    """A client of three threads gets three of four tasks, one on each thread."""
    given = assign_sticky_server(_plain([f"0_{p}" for p in range(4)], 2), _threads([0, 1, 1, 1]), 0)

    assert sorted(given.active.tolist()) == [0, 1, 2, 3]


def test_sub_topologies_come_in_the_order_of_strings():
    """What is left is dealt sub-topology by sub-topology, 10 before 2."""
    app = _plain(["2_0", "10_0"], 2)
    given = assign_sticky_server(app, _threads([0, 1]), 0)

    first = assign_sticky_server(_plain(["10_0"], 2), _threads([0, 1]), 0)
    assert given.active[app.tasks.index("10_0")] == first.active[0]
    assert given.active[app.tasks.index("2_0")] != first.active[0]


def test_a_second_keeper_is_not_asked_when_the_first_has_the_task():
    """As in Kafka 4.3: of two copies only the first is sure to be kept, the other goes to the least loaded client."""
    app = _plain(["0_0", "0_1", "0_2"], 3)
    # m0 runs what m0 kept; m1 kept a copy too, and m2 is less loaded
    threads = _threads([0, 1, 2], active=[(0,), (1,), ()], standby=[(), (), (0,)])
    before = assign_sticky_server(app, threads, 1)
    assert 2 in before.standbys[0]

    both = _threads([0, 1, 2], active=[(), (1, 2), ()], standby=[(0,), (0,), ()])
    given = assign_sticky_server(app, both, 1)
    assert given.active[0] == 0
    assert given.standbys[0] == (2,)


def test_tasks_without_stores_have_no_standbys():
    """However many are configured."""
    given = assign_sticky_server(_plain(["0_0", "0_1"], 3, stateful=False), _threads([0, 1, 2]), 2)

    assert given.standbys == ((), ())


def test_an_application_without_members_is_infeasible():
    """Tasks need somebody."""
    with pytest.raises(Infeasible, match="1 tasks and no member"):
        assign_sticky_server(_plain(["0_0"], 1), _threads([]), 0)


def test_a_quota_is_rounded_up_from_kafka_4_4_on():
    """Two threads of three: of five tasks that it had, a client keeps three, and four from then on."""
    app = _with_past([f"0_{p}" for p in range(5)], [("0_0 0_1 0_2 0_3 0_4", ""), ("", "")], (2, 1))
    kept = [
        place_sticky(app, TaskConfig(release=release)).active.tolist().count(0)
        for release in ((4, 3), (4, 4))
    ]
    assert kept == [3, 4]


def test_who_reports_offsets_of_a_store_gets_its_task_from_kafka_4_4_on():
    """A member that is back under another id has no past before; of two that report, the one further along gets it."""
    app = _plain(["0_0"], 3)
    back = replace(_threads([0, 1, 2]), offsets=[{}, {0: 10}, {0: 500}])
    owners = [
        assign_sticky_server(app, back, 0, release).active.tolist() for release in ((4, 3), (4, 4))
    ]
    assert owners == [[0], [2]]


def test_a_copy_that_is_assigned_comes_before_one_that_is_only_reported():
    """However far the other one is."""
    app = _plain(["0_0"], 3)
    both = replace(_threads([0, 1, 2], standby=[(), (0,), ()]), offsets=[{}, {}, {0: 500}])
    assert assign_sticky_server(app, both, 0, (4, 4)).active.tolist() == [1]
