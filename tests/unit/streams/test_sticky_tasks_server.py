"""The broker's sticky assignor of tasks keeps what it promises, in its order of priority."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from evenkeel.engine.cli.task_cases import answer_tasks
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.streams.model import ClientLine, TaskLine, application
from evenkeel.engine.streams.sticky_tasks_server import Threads, assign_sticky_server
from tests.oracle.sticky_task_cases import server_case


def _client(number):
    return f"00000000-0000-0000-0000-{number:012d}"


def _app(tasks, clients, stateful=True):
    return application(
        [TaskLine(id=task, sources=[("t", n)], stateful=stateful) for n, task in enumerate(tasks)],
        [ClientLine(process_id=_client(n)) for n in range(clients)],
    )


def _threads(client_of, active=None, standby=None):
    nothing = [()] * len(client_of)
    return Threads(
        ids=tuple(f"m{n}" for n in range(len(client_of))),
        client_of=np.array(client_of, np.int32),
        active=active or nothing,
        standby=standby or nothing,
    )


@pytest.mark.parametrize("seed", range(60))
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
    app = _app([f"0_{p}" for p in range(6)], 3)
    given = assign_sticky_server(app, _threads([0, 1, 2], active, standby), 1)

    assert given.active.tolist() == [0, 0, 1, 1, 2, 2]
    assert given.standbys == ((1,), (1,), (2,), (2,), (0,), (0,))


def test_a_copy_is_used_before_an_idle_client():
    """The tasks of a client that is gone go to the member that kept copies of them."""
    app = _app(["0_0", "0_1", "0_2"], 3)
    given = assign_sticky_server(app, _threads([0, 1, 2], standby=[(), (1,), ()]), 0)

    assert given.active[1] == 1
    assert sorted(given.active.tolist()) == [0, 1, 2]


def test_a_member_gives_up_what_is_beyond_its_share():
    """Of four tasks on the first of two members it keeps two, those of the lowest partitions."""
    given = assign_sticky_server(
        _app([f"0_{p}" for p in range(4)], 2), _threads([0, 1], active=[(0, 1, 2, 3), ()]), 0
    )

    assert given.active.tolist() == [0, 0, 1, 1]


def test_threads_of_a_client_count_for_its_load():
    """A client of three threads gets three of four tasks, one on each thread."""
    given = assign_sticky_server(_app([f"0_{p}" for p in range(4)], 2), _threads([0, 1, 1, 1]), 0)

    assert sorted(given.active.tolist()) == [0, 1, 2, 3]


def test_sub_topologies_come_in_the_order_of_strings():
    """What is left is dealt sub-topology by sub-topology, 10 before 2."""
    app = _app(["2_0", "10_0"], 2)
    given = assign_sticky_server(app, _threads([0, 1]), 0)

    first = assign_sticky_server(_app(["10_0"], 2), _threads([0, 1]), 0)
    assert given.active[app.tasks.index("10_0")] == first.active[0]
    assert given.active[app.tasks.index("2_0")] != first.active[0]


def test_a_second_keeper_is_not_asked_when_the_first_has_the_task():
    """As in Kafka 4.3: of two copies only the first is sure to be kept, the other goes to the least loaded client."""
    app = _app(["0_0", "0_1", "0_2"], 3)
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
    given = assign_sticky_server(_app(["0_0", "0_1"], 3, stateful=False), _threads([0, 1, 2]), 2)

    assert given.standbys == ((), ())


def test_an_application_without_members_is_infeasible():
    """Tasks need somebody."""
    with pytest.raises(Infeasible, match="1 tasks and no member"):
        assign_sticky_server(_app(["0_0"], 1), _threads([]), 0)
