"""The judge of standby placements sees each of KIP-925's five constraints broken, and nothing where all hold."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from random import Random

import numpy as np
import pytest

import evenkeel.engine.streams.place
from evenkeel.engine.model.arrays import ragged
from evenkeel.engine.streams.model import ClientLine, Placement, application
from evenkeel.engine.streams.place import place
from evenkeel.engine.streams.settings import RackStrategy, TaskConfig
from evenkeel.engine.streams.standby_racks import swap_standbys
from tests.helpers.examples import examples
from tests.helpers.standby_judge import breaches, verify
from tests.helpers.streams import Shape, process, sketch, tasks_of

ONE = TaskConfig(num_standby_replicas=1)
ZONES = TaskConfig(num_standby_replicas=1, tags=("zone",))
NEAR = TaskConfig(num_standby_replicas=1, strategy=RackStrategy.MIN_TRAFFIC)


def _app(tasks, zones, changelogs=()):
    """A client for each letter, which is its zone and its rack."""
    clients = [
        ClientLine(process_id=process(n), rack=zone, tags={"zone": zone})
        for n, zone in enumerate(zones)
    ]
    replicas = {("source-0", p): ["a"] for p in range(tasks)}
    replicas |= {("changelog-0", p): list(racks) for p, racks in enumerate(changelogs)}
    return application(tasks_of(tasks), clients, replicas)


def _placement(active, plan, standby=None):
    """Everybody runs and keeps what is planned, unless *standby* says otherwise."""
    start, planned = ragged(plan)
    kept_start, kept = ragged(plan if standby is None else standby)
    owner = np.array(active, np.int32)
    return Placement(
        active=owner,
        standby_start=kept_start,
        standby=kept,
        warmup_start=np.zeros(len(plan) + 1, np.int64),
        warmup=np.zeros(0, np.int32),
        target=owner,
        planned_start=start,
        planned=planned,
        initial=owner,
        probing=False,
    )


def _numbers(app, config, placement):
    return [one.constraint for one in breaches(app, config, placement)]


def test_a_copy_beside_its_active_task_breaks_the_first():
    """Planned, or for the time being."""
    app = _app(1, "ab")

    assert _numbers(app, ONE, _placement([0], [[0]])) == [1, 1]
    assert _numbers(app, ONE, _placement([0], [[1]], standby=[[0]])) == [1]


def test_a_copy_too_few_or_too_many_breaks_the_first():
    """As many as configured, or as other clients."""
    app = _app(1, "abc")

    assert _numbers(app, ONE, _placement([0], [[]])) == [1]
    assert _numbers(app, ONE, _placement([0], [[1, 2]])) == [1]
    assert _numbers(app, TaskConfig(num_standby_replicas=5), _placement([0], [[1, 2]])) == []


def test_a_copy_in_the_zone_of_its_active_task_breaks_the_second():
    """There was another."""
    assert _numbers(_app(1, "aab"), ZONES, _placement([0], [[1]])) == [2]
    assert _numbers(_app(1, "aab"), ZONES, _placement([0], [[2]])) == []


def test_copies_in_one_zone_break_the_third():
    """Away from the active task, but not from each other."""
    two = replace(ZONES, num_standby_replicas=2)

    assert _numbers(_app(1, "abbc"), two, _placement([0], [[1, 2]])) == [3]
    assert _numbers(_app(1, "abbc"), two, _placement([0], [[1, 3]])) == []
    assert _numbers(_app(1, "abb"), two, _placement([0], [[1, 2]])) == []


def test_racks_are_judged_when_they_count_as_tags():
    """And not otherwise."""
    app, placement = _app(1, "aab"), _placement([0], [[1]])

    assert _numbers(app, ONE, placement) == []
    assert _numbers(app, replace(ONE, rack_as_tag=True), placement) == [2]


def test_a_swap_that_pays_breaks_the_fourth():
    """Both copies would be with their changelogs."""
    app = _app(2, "abc", changelogs="ba")

    [breach] = breaches(app, NEAR, _placement([2, 2], [[0], [1]]))
    assert (breach.constraint, breach.what) == (
        4,
        f"swapping 0_0 on {process(0)} and 0_1 on {process(1)} saves 2 changelog partitions",
    )
    assert _numbers(app, NEAR, _placement([2, 2], [[1], [0]])) == []


@pytest.mark.parametrize(
    ("config", "active"),
    [
        (ONE, [2, 2]),
        (replace(NEAR, costs=replace(NEAR.costs, non_overlap=10)), [2, 2]),
        (NEAR, [1, 2]),
    ],
    ids=["racks are off", "it costs too much", "the task is active there"],
)
def test_a_swap_that_does_not_pay_or_cannot_be_breaks_nothing(config, active):
    """The price of moving counts, and so do the constraints before."""
    app = _app(2, "abc", changelogs="ba")

    assert 4 not in _numbers(app, config, _placement(active, [[0], [1]]))


def test_a_swap_that_would_bring_copies_together_breaks_nothing():
    """Constraints 1 to 3 come before the cost."""
    app = _app(2, "abcb", changelogs="ba")
    config = replace(NEAR, tags=("zone",))

    assert _numbers(app, config, _placement([1, 2], [[0], [3]])) == []


def test_another_answer_to_the_same_question_breaks_the_fifth():
    """Whatever differs is named."""
    answers = count()
    app = _app(1, "ab")

    def fickle(app, config):
        return replace(place(app, config), probing=bool(next(answers)))

    [breach] = verify(app, ONE, fickle)
    assert (breach.constraint, breach.what) == (5, "probing differs when asked again")


def _batch(seeds, shape):
    found = {}
    for seed in seeds:
        one = sketch(Random(seed), shape)
        if said := verify(one.app, one.config, place):
            found[seed] = said
    return found


def test_random_placements_break_nothing():
    """With racks and without, tags or racks as tags, every strategy; 300 of them with CI's profile."""
    assert _batch(range(6 * examples()), Shape(known_racks=True, grid=True)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(10))
def test_thousands_of_random_placements_break_nothing(batch):
    """Ten batches, each of larger ones: ten thousand with the nightly profile, a thousand with CI's."""
    seeds = range(1_000 * (batch + 1), 1_000 * (batch + 1) + 2 * examples())
    shape = Shape(known_racks=True, grid=True, most_tasks=14 + 3 * batch, most_clients=8 + batch)

    assert _batch(seeds, shape) == {}


def test_the_random_placements_are_worth_judging(monkeypatch):
    """They have tags that count, and swaps that were made because they pay."""
    swapped = tagged = 0

    def swap(app, copies, costs, apart):
        nonlocal swapped, tagged
        before = copies.table().tolist()
        settled = swap_standbys(app, copies, costs, apart)
        swapped += copies.table().tolist() != before
        tagged += bool(apart.keys) and bool(copies.holders)
        return settled

    monkeypatch.setattr(evenkeel.engine.streams.place, "swap_standbys", swap)
    count = 2 * examples()
    for seed in range(count):
        one = sketch(Random(seed), Shape(known_racks=True, grid=True))
        place(one.app, one.config)

    assert swapped >= count / 20
    assert tagged >= count / 5
