"""Standbys: to the least loaded, apart by tags, and swapped between racks while that pays."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.streams.assign_tasks import assign_stateful
from evenkeel.engine.streams.model import ClientLine, application
from evenkeel.engine.streams.settings import Costs, RackStrategy, TaskConfig
from evenkeel.engine.streams.standby_racks import swap_standbys
from evenkeel.engine.streams.standbys import Copies, findings, kept_apart, place_standbys
from tests.helpers.facts import said
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


@pytest.mark.parametrize(
    ("tasks", "tags", "more", "holders"),
    [
        (1, ["", "", ""], {"keys": ()}, [[0, 1]]),
        (2, ["", "", ""], {"keys": (), "threads": [1, 1, 4]}, [[0, 2], [1, 2]]),
        (2, [""], {"keys": ()}, [[0], [0]]),
        (2, ["a"], {}, [[0], [0]]),
        (1, ["a", "a", "b"], {"threads": [1, 9, 1]}, [[0, 2]]),
        (1, ["a", "b", "b", "a"], {"standbys": 2}, [[0, 1, 2]]),
        (1, ["a1", "a2", "b1"], {"keys": ("zone", "cluster")}, [[0, 1]]),
        (1, ["a", "", "b"], {}, [[0, 1]]),
    ],
    ids=[
        "the least loaded client, active tasks counted",
        "one task on four threads is less than one on one",
        "a single client",
        "a single client with a tag",
        "out of the zone of its active task, even for a client that has more to do (KIP-708)",
        "a zone is used again when all have been",
        "where nobody differs in all tags, the least loaded client",
        "a client without the tag is never in a used zone",
    ],
)
def test_who_gets_copies(tasks, tags, more, holders):
    """Each task's holders, the active one first."""
    assert _placed(tasks, tags, **more)[0] == holders


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


def _tagged(*clients):
    """Clients as (rack, tags), with one task."""
    lines = [
        ClientLine(process_id=process(n), rack=rack, tags=tags)
        for n, (rack, tags) in enumerate(clients)
    ]
    return application(tasks_of(1), lines)


ZONED = _tagged(("a", {"zone": "a"}), ("b", {"zone": "b"}), ("b", {}))


def test_only_configured_tags_count():
    """A tag that rack.aware.assignment.tags does not name keeps nothing apart."""
    assert kept_apart(ZONED, TaskConfig()).keys == ()
    assert kept_apart(ZONED, TaskConfig(tags=("zone",))).value.tolist() == [[0], [1], [NONE]]


def test_a_tag_named_twice_counts_once():
    """As Kafka, which makes a set of them."""
    assert kept_apart(ZONED, TaskConfig(tags=("zone", "zone"))).keys == ("zone",)


def test_only_racks_that_clients_are_in_count():
    """A rack with brokers and no client can hold no copy."""
    replicas = {("source-0", 0): ["a", "c"]}
    clients = [ClientLine(process_id=process(n), rack="c") for n in range(2)]
    apart = kept_apart(application(tasks_of(1), clients, replicas), TaskConfig(rack_as_tag=True))

    assert (apart.names, apart.value.tolist()) == ((("c",),), [[0], [0]])


@pytest.mark.parametrize(
    ("clients", "config", "remarks"),
    [
        (
            [("a", {}), (None, {})],
            {"rack_as_tag": True},
            [f"racks are not used as a tag: 1 client ({process(1)}) has no rack"],
        ),
        (
            [("a", {"rack": "a"})],
            {"tags": ("rack",), "rack_as_tag": True},
            ["standbys follow rack.aware.assignment.tags, so racks are not used as a tag"],
        ),
        (
            [("a", {"rack": "a"}), ("b", {"rack": "a"}), ("b", {}), (None, {"rack": "a"})],
            {"tags": ("rack", "zone"), "num_standby_replicas": 0},
            [
                f"2 clients ({process(1)}, {process(2)}) have another client.tag.rack than client.rack: "
                "standbys follow the tag"
            ],
        ),
        ([("a", {"rack": "a"}), ("b", {"rack": "b"})], {"tags": ("rack",)}, []),
        ([(None, {"zone": "a"})], {"tags": ("zone",)}, []),
        ([("a", {"zone": "b"})], {}, []),
    ],
    ids=[
        "nobody knows what would be apart from a client without rack",
        "whoever asks for both learns which decides",
        "option III of the KIP: they disagree, or the tag is missing",
        "they agree",
        "no racks",
        "no tags",
    ],
)
def test_what_is_said_of_racks_and_tags(clients, config, remarks):
    """Where nothing disagrees nothing is said: a warning that is always there warns of nothing."""
    config = TaskConfig(**({"num_standby_replicas": 1} | config))

    assert said(findings(_tagged(*clients), config)) == tuple(remarks)


def test_a_client_without_rack_leaves_racks_out():
    """The copies are kept apart by nothing then."""
    config = TaskConfig(rack_as_tag=True, num_standby_replicas=1)

    assert kept_apart(_tagged(("a", {}), (None, {})), config).keys == ()


def test_copies_fall_short_when_more_values_were_to_be_had():
    """The smaller of values and copies is what counts."""
    apart = kept_apart(_tagged(*((None, {"zone": z}) for z in "aabc")), TaskConfig(tags=("zone",)))
    holders = np.array([[0, 2, NONE], [0, 1, NONE], [0, 1, 2], [2, NONE, NONE], [1, 2, 3]])

    assert apart.short(holders).tolist() == [False, True, True, False, False]


def test_a_tag_that_some_client_lacks_promises_nothing():
    """A copy there is on no value at all."""
    apart = kept_apart(ZONED, TaskConfig(tags=("zone",)))

    assert apart.short(np.array([[1, 2]])).tolist() == [False]


def test_a_copy_may_move_while_no_tag_loses_a_value():
    """Each tag counts for itself: a value more in one does not make up for one fewer in another."""
    app = _tagged(*((None, {"zone": z, "host": h}) for z, h in ("aw", "bw", "ax", "by")))
    zone_and_host = kept_apart(app, TaskConfig(tags=("zone", "host")))
    zone = kept_apart(app, TaskConfig(tags=("zone",)))

    assert zone.keeps([0, 1], 1, 3)
    assert not zone.keeps([0, 1], 1, 2)
    assert not zone_and_host.keeps([0, 1], 1, 2)
    assert zone_and_host.keeps([0, 1], 1, 3)


CHEAP = Costs(traffic=10, non_overlap=1)
SHAPE = Shape(known_racks=True, strategies=(RackStrategy.MIN_TRAFFIC,))


def _racked(racks, changelogs, zones=""):
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


@pytest.mark.parametrize(
    ("racks", "changelogs", "owner", "costs", "standbys"),
    [
        ("abc", ["b", "a"], [2, 2], Costs(traffic=1, non_overlap=1), [0, 1]),
        ("abc", ["b", "a"], [2, 2], Costs(traffic=2, non_overlap=1), [1, 0]),
        ("abc", ["b", "c"], [2, 2], CHEAP, [1, 0]),
        ("abc", ["b", "a"], [1, 2], CHEAP, [0, 1]),
        ("aac", ["c", "c"], [2, 2], CHEAP, [0, 1]),
        ("ab", ["", ""], [1, 0], CHEAP, [0, 1]),
    ],
    ids=[
        "saves two, and two tasks that move cost two",
        "saves more than it costs",
        "one comes home, the other was nowhere near its data anyway",
        "not where its task is active, however near the data",
        "clients of one rack change nothing",
        "a task without changelog costs nothing anywhere",
    ],
)
def test_two_standbys_change_places_where_it_pays(racks, changelogs, owner, costs, standbys):
    """The standby of each of two tasks, on clients 0 and 1 before."""
    assert _swapped(_racked(racks, changelogs), owner, [0, 1], costs)[0] == standbys


def test_several_standbys_change_places_at_once():
    """The best pairs first, as many as pay."""
    app = _racked("abc", ["b", "b", "a", "a", "a"])

    standbys, _ = _swapped(app, [2] * 5, [0, 0, 1, 1, 1])
    assert (standbys[:2], sorted(standbys[2:])) == ([1, 1], [0, 0, 1])


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
        app = _racked(
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
