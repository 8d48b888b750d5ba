"""What settings of Kafka Streams reach: traffic, moves and stores apart, whatever the weights, and each by replay."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations
from random import Random

import numpy as np
import pytest

from evenkeel.engine.advice.task_tradeoff import missing, task_tradeoffs, undominated, weighed
from evenkeel.engine.advice.tradeoff import Point, Tradeoff, priced
from evenkeel.engine.config import StreamsSettings
from evenkeel.engine.streams.assign_tasks import assign_stateful
from evenkeel.engine.streams.compare import outcome
from evenkeel.engine.streams.live import running
from evenkeel.engine.streams.racks import cross_rack
from evenkeel.engine.streams.settings import RackStrategy
from tests.helpers.examples import examples
from tests.helpers.streams_groups import Sub, Thread, live_group, on

STORE = ["app-store-changelog"]
SEEDS = range(examples() // 4)


def _drawn(random, **more):
    """Two clients in two racks, four tasks with state and two without, replicas anywhere."""
    tasks = [f"1_{p}" for p in range(4)] + [f"0_{p}" for p in range(2)]
    first = random.sample(tasks, 3)
    rest = [task for task in tasks if task not in first]
    replicas = {}
    for name, size in (("source-0", 2), ("source-1", 4)):
        words = " ".join(random.choice(["a", "b", "ab", "c"]) for _ in range(size))
        replicas |= on(name, words)
    return live_group(
        [Thread(1, " ".join(first), rack="a"), Thread(2, " ".join(rest), rack="b")],
        {"0": Sub(2), "1": Sub(4, STORE)},
        replicas=replicas,
        **more,
    )


def _every_placement(application):
    """(left the dealing, crossing) of all placements of tasks with state that have the counts that Kafka deals."""
    app = application.app
    tasks = np.flatnonzero(app.stateful)
    dealt = assign_stateful(app)[tasks].tolist()
    far = cross_rack(app, app.source_start, app.source)[tasks]
    found = Counter()
    for owner in set(permutations(dealt)):
        crossing = sum(far[n, app.client_rack[client]] for n, client in enumerate(owner))
        found[sum(a != b for a, b in zip(owner, dealt, strict=True)), int(crossing)] += 1
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_each_corner_is_the_cheapest_and_no_corner_is_missing(seed):
    """For any two weights the least cost of all placements is that of a corner, the one whose prices say so."""
    application = running(_drawn(Random(seed)))
    every = _every_placement(application)
    corners = list(priced(weighed(application, RackStrategy.MIN_TRAFFIC)))
    for traffic in range(1, 9):
        for move in range(1, 9):
            cost = min(move * moves + traffic * crossing for moves, crossing in every)
            worth = traffic / move
            own = [
                c for c, low, high in corners if low <= worth and (high is None or worth <= high)
            ]
            assert {move * c.moved + traffic * c.crossing for c in own} == {cost}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_settings_of_a_point_reach_it(seed):
    """An application that is configured so ends in it: what crosses racks, what moves, what stands together."""
    group = _drawn(Random(seed))
    settings = StreamsSettings(num_standby_replicas=1)
    _, swept = task_tradeoffs(running(group, settings), {})

    points = [point for one in swept for point in one.corners]
    assert points
    for point in points:
        told = {name.replace(".", "_"): value for name, value in point.settings.items()}
        then = running(group, settings.model_copy(update=told))
        found = outcome(then, RackStrategy(told["rack_aware_assignment_strategy"]))
        assert (found.crossing.sum(), found.moves) == (point.crossing, point.moves)
        assert found.stores.counted == (point.together, point.judged)


def test_without_state_weights_reach_one_point():
    """Tasks without state cost what they cost, whatever is set; so everything near is all there is."""
    group = live_group(
        [Thread(1, "0_0", rack="a"), Thread(2, "0_1", rack="b")],
        {"0": Sub(2)},
        replicas=on("source-0", "b a"),
    )
    rates = {("source-0", 0): 2.0, ("source-0", 1): 3.0}

    now, [_, least, _] = task_tradeoffs(running(group), rates)

    assert (now.crossing, now.share, now.rate, now.moves) == (2, 1.0, 5.0, 0)
    assert [(c.crossing, c.moves, c.rate, c.stateful) for c in least.corners] == [(0, 2, 0.0, 0)]


@pytest.mark.parametrize(
    ("ends", "offsets"), [(None, None), (1000, {"1_1": 400})], ids=["no end", "on disk"]
)
def test_what_is_to_be_read_is_what_is_not_there(ends, offsets):
    """What lies on a client's disk is not read again; where a changelog has no known end nobody knows."""
    threads = [
        Thread(1, "1_0", rack="a", offsets=offsets),
        Thread(2, "1_1", rack="b"),
    ]
    replicas = on("source-1", "b a")
    group = live_group(threads, {"1": Sub(2, STORE)}, replicas=replicas, ends={STORE[0]: ends})

    _, [_, least, _] = task_tradeoffs(running(group), {})

    moved = [c.restored for c in least.corners if c.stateful]
    assert moved == [None if ends is None else 1000 + 600]


def _together(tags=(), **more):
    """Both copies of each store in one rack, of two racks; *tags*: of each client."""
    threads = [
        Thread(1, "1_0", standby="1_1", rack="a"),
        Thread(2, "1_1", standby="1_0", rack="a"),
        Thread(3, "1_2", standby="1_3", rack="b"),
        Thread(4, "1_3", standby="1_2", rack="b"),
    ]
    return live_group(
        [replace(one, tags={"rack": tag}) for one, tag in zip(threads, tags, strict=True)]
        if tags
        else threads,
        {"1": Sub(4, STORE)},
        replicas=on("source-1", "a a b b") | on(STORE[0], "a a b b"),
        **more,
    )


def test_what_takes_stores_apart_is_a_point_with_its_settings():
    """The same placement with tags that count: more is read, and no store is lost with a rack."""
    now, [_, least, _] = task_tradeoffs(running(_together()), {})

    assert now.together == 4
    apart = least.corners[-1]
    assert (apart.crossing, apart.together, apart.judged) == (0, 0, 4)
    assert apart.settings["rack.aware.assignment.tags"] == "rack"
    assert apart.settings["client.tag.rack"] == "<rack of the instance>"
    told = StreamsSettings(num_standby_replicas=1, rack_aware_assignment_tags=["rack"])
    then = outcome(running(_together("aabb"), told), RackStrategy.MIN_TRAFFIC)
    assert (then.moves, then.stores.counted) == (apart.moves, (0, 4))


def test_a_broker_that_assigns_has_no_such_settings():
    """The points of a KIP-1071 group are baselines, and say so."""
    _, swept = task_tradeoffs(running(_together(kip_1071=True)), {})

    assert {tuple(point.settings) for one in swept for point in one.corners} == {()}
    assert "broker_looks_at_no_rack" in {remark.measure for remark in swept[1].remarks}


def _point(crossing, moves, stateful, restored, together):
    stores = {"stateful": stateful, "restored": restored, "together": together}
    return Point(crossing=crossing, share=None, rate=None, moves=moves, newly_owned=0, **stores)


def test_only_points_that_are_beaten_in_none_of_the_three_are_left():
    """As good in all and better in one beats; equal ones stay, and what is unknown is beaten by nothing known."""
    good, equal = _point(2, 3, 1, 500, 0), _point(2, 3, 1, 500, 0)
    beaten = [_point(3, 3, 1, 500, 0), _point(2, 4, 1, 500, 0), _point(2, 3, 1, 500, 1)]
    other, unknown = _point(1, 9, 1, 500, 0), _point(9, 9, 9, None, 9)
    swept = [
        Tradeoff(strategy="none", corners=(good, *beaten)),
        Tradeoff(strategy="min_traffic", corners=(equal, other, unknown)),
    ]

    one, two = undominated(swept)

    assert (one.corners, two.corners) == ((good,), (equal, other, unknown))
    assert [(r.measure, r.after) for r in one.remarks] == [("points_left_out", 3)]
    assert two.remarks == ()


def test_corners_of_an_application_are_weighed_by_replicas_and_told_by_who_serves_reads():
    """Prices are those of Kafka's weights; what crosses is read from leaders."""
    threads = [Thread(1, "1_0", rack="a"), Thread(2, "1_1", rack="b")]
    replicas, rates = on("source-1", "b ca"), {("source-1", 0): 2.0, ("source-1", 1): 3.0}
    subs = {"1": Sub(2, STORE)}
    group = live_group(threads, subs, replicas=replicas, follower_fetching=False)

    now, [_, least, _] = task_tradeoffs(running(group), rates)

    assert (now.crossing, now.rate) == (2, 5.0)
    # weighed, both are far before and neither is then
    assert [(c.crossing, c.moves, c.highest) for c in least.corners] == [(2, 0, 1), (1, 2, None)]


def test_the_tradeoff_of_racks_that_a_rule_gives_says_what_it_takes():
    """It is that of the application whose clients send them."""
    sent = [Thread(1, "0_0", rack="a"), Thread(2, "0_1", rack="b")]
    told = [replace(one, columns={"rack_source": "configured"}) for one in sent]
    groups = [
        live_group(each, {"0": Sub(2)}, replicas=on("source-0", "b a")) for each in (sent, told)
    ]
    (seen, [_, one, _]), (known, [_, other, _]) = (
        task_tradeoffs(running(each), {}) for each in groups
    )

    assert missing(running(groups[1])) is None
    assert (seen.crossing, one.corners) == (known.crossing, other.corners)
    lacking = [each for each in other.remarks if each not in one.remarks]
    assert [(each.measure, each.subjects) for each in lacking] == [
        ("client_rack_first", ("app-1", "app-2"))
    ]


@pytest.mark.parametrize(
    ("threads", "measure", "subjects"),
    [
        ([Thread(1, "0_0", rack="a"), Thread(2, "0_1")], "clients_without_rack", ("app-2",)),
        ([Thread(1, "0_0", rack="a", standby="0_1")], "tasks_run_nowhere", ("0_1",)),
    ],
)
def test_what_is_missing_is_named(threads, measure, subjects):
    """A rack, or a task that nobody runs."""
    group = live_group(threads, {"0": Sub(2)})

    lacking = missing(running(group))

    assert lacking is not None
    assert (lacking.measure, lacking.subjects) == (measure, subjects)


def test_a_changelog_on_a_broker_without_rack_leaves_no_tradeoff_where_copies_are_kept():
    """Kafka looks at no rack then, so no weights lead anywhere."""
    group = _together()
    told = live_group(
        [Thread(1, "1_0", standby="1_1", rack="a"), Thread(2, "1_1", standby="1_0", rack="b")],
        {"1": Sub(2, STORE)},
        replicas=on("source-1", "a b") | on(STORE[0], "? b"),
    )

    assert missing(running(group)) is None
    lacking = missing(running(told))
    assert lacking is not None
    assert lacking.measure == "changelog_brokers_without_rack"
