"""Racks as Kafka's public sticky assignor looks at them: when it does, at what, and what holds standbys back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenkeel.engine.streams import sticky_racks
from evenkeel.engine.streams.model import ClientLine, TaskLine, application
from evenkeel.engine.streams.settings import Costs, RackStrategy, TaskConfig
from evenkeel.engine.streams.sticky_racks import (
    actives_off,
    racked_actives,
    racked_standbys,
    standbys_off,
)
from evenkeel.engine.streams.sticky_tasks import place_sticky

CONFIG = TaskConfig(
    strategy=RackStrategy.MIN_TRAFFIC,
    costs=Costs(traffic=10, non_overlap=1),
    costs_told=True,
    num_standby_replicas=1,
)


def _app(sources, logs, racks=("a", "b"), **tags):
    """A task with a store for each source partition, and a client in each rack; replicas in words, `?` without rack."""

    def on(name, words):
        return {(name, p): [None if r == "?" else r for r in w] for p, w in enumerate(words)}

    return application(
        [
            TaskLine(id=f"0_{p}", sources=[("t", p)], changelogs=[("log", p)], stateful=True)
            for p in range(len(sources))
        ],
        [
            ClientLine(process_id=f"00000000-0000-0000-0000-00000000000{n}", rack=rack, tags=tags)
            for n, rack in enumerate(racks)
        ],
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
    app, config = _app(["b", "a"], ["b", "a"]), replace(CONFIG, **change)
    placed = place_sticky(app, config)

    assert actives_off(app, config).measure == standbys_off(app, config).measure == measure
    assert placed.racks.measure == measure
    assert placed.active.tolist() == placed.initial.tolist()


def test_a_client_without_rack_switches_racks_off():
    """It is named."""
    app = _app(["b", "a"], ["b", "a"], racks=("a", None))

    assert actives_off(app, CONFIG).subjects == (app.clients[1],)


def test_one_replica_with_a_rack_is_enough():
    """A broker without rack beside it is passed over; alone it switches racks off."""
    assert actives_off(_app(["a?", "b"], ["a", "b"]), CONFIG) is None
    off = actives_off(_app(["?", "b"], ["a", "b"]), CONFIG)
    assert (off.measure, off.subjects) == ("source_racks_unknown", ("t-0",))


def test_racks_of_sources_do_not_matter_to_standbys():
    """Those of changelogs matter to both."""
    sources, logs = _app(["?", "b"], ["a", "b"]), _app(["a", "b"], ["", "b"])

    assert (actives_off(sources, CONFIG) is None, standbys_off(sources, CONFIG)) == (False, None)
    assert standbys_off(logs, CONFIG).measure == "changelog_racks_unknown"
    assert actives_off(logs, CONFIG).measure == "changelog_racks_unknown"


@pytest.mark.slow
def test_a_changelog_counts_while_its_task_is_active():
    """Sources are everywhere; the tasks follow their changelogs."""
    app = _app(["ab", "ab"], ["b", "a"])

    assert racked_actives(app, _owners(app, 0, 1), CONFIG, [0, 1]).tolist() == [1, 0]


@pytest.mark.slow
def test_everybody_keeps_its_count():
    """All data is in the first rack, and both clients keep two tasks."""
    app = _app(["a"] * 4, ["a"] * 4)

    assert sorted(racked_actives(app, _owners(app, 0, 0, 1, 1), CONFIG, [0, 1])) == [0, 0, 1, 1]


@pytest.mark.slow
def test_tags_do_not_hold_a_standby_back():
    """Kafka's rule compares the source of a swap with itself, so copies may end up on one zone."""
    clients = [
        ClientLine(
            process_id=f"00000000-0000-0000-0000-00000000000{n}", rack=rack, tags={"zone": z}
        )
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
    app = _app(["a", "b"], ["a", "b"])

    assert racked_standbys(app, _owners(app, 0, 1), [[1], [0]], CONFIG, [0, 1]) == [[1], [0]]


@pytest.mark.slow
def test_beyond_what_is_exact_the_cost_is_the_same(monkeypatch):
    """A large application is solved at once instead."""
    app = _app(["b", "a", "a", "b"], ["b", "a", "a", "b"])
    exact = racked_actives(app, _owners(app, 0, 0, 1, 1), CONFIG, [0, 1])
    monkeypatch.setattr(sticky_racks, "EXACT", 0)

    assert racked_actives(app, _owners(app, 0, 0, 1, 1), CONFIG, [0, 1]).tolist() == exact.tolist()


@pytest.mark.slow
def test_standbys_are_dealt_after_actives_moved():
    """No client ends up with a task twice, and all have their counts."""
    app = _app(["b", "a"], ["b", "a"], racks=("a", "b", "a"))
    placed = place_sticky(app, CONFIG)

    assert placed.racks is None
    assert all(a != s for a, s in zip(placed.active.tolist(), placed.standby.tolist(), strict=True))
    assert app.client_rack[placed.active].tolist() == [1, 0]
