"""Standbys go to the least loaded clients, and apart by tags when tags count."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.streams.assign_tasks import assign_stateful
from evenkeel.engine.streams.model import ClientLine, application
from evenkeel.engine.streams.settings import TaskConfig
from evenkeel.engine.streams.standbys import kept_apart, place_standbys
from tests.helpers.streams import Shape, process, sketches, tasks_of


def _placed(tasks, tags, standbys=1, threads=None, keys=("zone",)):
    """Each task's holders, the active one first; *tags* are written zone letter, then cluster."""
    lines = [
        ClientLine(
            process_id=process(n),
            threads=threads[n] if threads else 1,
            tags=dict(zip(("zone", "cluster"), text, strict=False)),
        )
        for n, text in enumerate(tags)
    ]
    app = application(tasks_of(tasks), lines)
    config = TaskConfig(num_standby_replicas=standbys, tags=keys)
    copies = place_standbys(app, config, assign_stateful(app), kept_apart(app, config))
    return [copies.everyone(task) for task in range(tasks)], copies


def test_a_standby_goes_to_the_least_loaded_client():
    """Active tasks count: the client that has none gets the first copy."""
    holders, _ = _placed(1, ["", "", ""], keys=())

    assert holders == [[0, 1]]


def test_threads_count_for_the_load():
    """One task on four threads is less than one on one."""
    holders, _ = _placed(2, ["", "", ""], threads=[1, 1, 4], keys=())

    assert holders == [[0, 2], [1, 2]]


def test_a_single_client_has_no_standbys():
    """There is nowhere else."""
    assert _placed(2, [""], keys=())[0] == [[0], [0]]
    assert _placed(2, ["a"])[0] == [[0], [0]]


def test_a_standby_leaves_the_zone_of_its_active_task():
    """Even for a client that has more to do (KIP-708)."""
    holders, _ = _placed(1, ["a", "a", "b"], threads=[1, 9, 1])

    assert holders == [[0, 2]]


def test_every_copy_goes_to_another_zone_while_there_are_some():
    """Three zones, three copies: one in each."""
    holders, _ = _placed(2, ["a", "b", "b", "c", "c"], standbys=2)

    assert [sorted("abbcc"[c] for c in clients) for clients in holders] == [["a", "b", "c"]] * 2


def test_a_zone_is_used_again_when_all_have_been():
    """Two zones, three copies: the third goes to the least loaded client left."""
    holders, _ = _placed(1, ["a", "b", "b", "a"], standbys=2)

    assert holders == [[0, 1, 2]]


def test_clusters_still_count_when_the_zones_are_used_up():
    """Two zones and three clusters: the third copy is in a zone again, but in the third cluster."""
    grid = [f"{zone}{cluster}" for zone in "ab" for cluster in "123"]
    holders, _ = _placed(1, grid, standbys=2, keys=("zone", "cluster"))

    [clients] = holders
    assert {grid[c][1] for c in clients} == {"1", "2", "3"}
    assert {grid[c][0] for c in clients} == {"a", "b"}


def test_without_a_client_that_differs_in_all_tags_any_will_do():
    """Neither (a, 2) nor (b, 1) differs from (a, 1) in both: the least loaded client takes the copy."""
    holders, _ = _placed(1, ["a1", "a2", "b1"], keys=("zone", "cluster"))

    assert holders == [[0, 1]]


def test_a_client_without_the_tag_is_never_in_a_used_zone():
    """It has no value that could have been used."""
    holders, _ = _placed(1, ["a", "", "b"])

    assert holders == [[0, 1]]


def test_standbys_are_levelled_only_between_clients_with_equal_tags():
    """Clients of the other zone have far more to do, and keep it."""
    holders, copies = _placed(6, ["a", "b", "b"], threads=[6, 1, 1])

    assert all(client in (1, 2) for active, client in holders if active == 0)
    assert copies.load.of(1) >= 2 * copies.load.of(0)


def test_levelling_minds_every_tag_of_the_source():
    """Also those that are not configured to count, as in Kafka: here nothing can move."""
    lines = [
        ClientLine(process_id=process(n), tags={"zone": zone, "host": str(n)}, threads=threads)
        for n, (zone, threads) in enumerate([("a", 4), ("b", 1), ("b", 1)])
    ]
    app = application(tasks_of(4), lines)
    config = TaskConfig(num_standby_replicas=1, tags=("zone",))
    copies = place_standbys(app, config, np.array([0, 0, 0, 0]), kept_apart(app, config))

    assert sorted(clients[0] for clients in copies.holders) == [1, 1, 2, 2]


def test_the_load_counts_actives_and_standbys():
    """What is levelled and offered is what is there."""
    holders, copies = _placed(5, ["a", "b", "c"], standbys=2)

    flat = [client for clients in holders for client in clients]
    assert copies.load.count == np.bincount(flat).tolist()


@given(sketches(Shape(grid=True)))
def test_on_a_full_grid_copies_are_as_far_apart_as_they_can_be(sketch):
    """Every combination of tag values occurs: each tag has as many values as there are, or as copies."""
    app = sketch.app
    apart = kept_apart(app, sketch.config)
    copies = place_standbys(app, sketch.config, assign_stateful(app), apart)

    assert not apart.short(np.column_stack([copies.owner, copies.table()])).any()


@given(sketches())
def test_each_task_has_the_standbys_configured_or_one_on_every_other_client(sketch):
    """And never two on one client."""
    app = sketch.app
    wanted = min(sketch.config.num_standby_replicas, len(app.clients) - 1)
    copies = place_standbys(
        app, sketch.config, assign_stateful(app), kept_apart(app, sketch.config)
    )

    for task in np.flatnonzero(app.stateful):
        holders = copies.everyone(task)
        assert len(holders) == len(set(holders)) == 1 + wanted


@pytest.mark.parametrize("seed", range(4))
def test_the_queue_by_tag_values_finds_what_a_plain_search_finds(seed):
    """The least loaded client, of equal ones the first, that is in no used zone and does not hold the task."""
    chance = Random(seed)
    for _ in range(40):
        zones = [chance.choice("abc") for _ in range(chance.randint(2, 9))]
        threads = [chance.randint(1, 3) for _ in zones]
        tasks = chance.randint(1, 12)
        lines = [
            ClientLine(process_id=process(n), threads=t, tags={"zone": z, "only": str(n)})
            for n, (z, t) in enumerate(zip(zones, threads, strict=True))
        ]
        app = application(tasks_of(tasks), lines)
        config = TaskConfig(num_standby_replicas=2, tags=("zone",))
        owner = assign_stateful(app)
        copies = place_standbys(app, config, owner, kept_apart(app, config))
        assert copies.holders == _plainly(owner.tolist(), zones, threads, standbys=2)


def _plainly(owner, zones, threads, standbys):
    """KIP-708 for one tag, without levelling (every client differs in `only`); pending copies in Java's hash order."""
    count = [owner.count(c) for c in range(len(zones))]
    holders = [[c] for c in owner]

    def least(task, used):
        free = [c for c in range(len(zones)) if c not in holders[task] and zones[c] not in used]
        if not free:
            return False
        client = min(free, key=lambda c: (count[c] / threads[c], c))
        holders[task].append(client)
        count[client] += 1
        return True

    for task in range(len(owner)):
        used = set()
        for given_ in range(standbys):
            used = {zones[c] for c in holders[task]} if len(set(zones)) > given_ + 1 else set()
            if not least(task, used):
                break
    pending = sorted(range(len(owner)), key=lambda task: _bucket(task, len(owner)))
    for task in pending:
        while len(holders[task]) <= standbys and least(task, set()):
            pass
    return [sorted(clients[1:]) for clients in holders]


def _bucket(partition, size):
    hashed = (31 * (31 * 31 + partition)) & 0xFFFFFFFF
    buckets = 16
    while size > 0.75 * buckets:
        buckets *= 2
    return (hashed ^ (hashed >> 16)) & (buckets - 1)
