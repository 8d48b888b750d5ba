"""Which tags keep copies apart, and what is said when racks and tags disagree."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.text import named
from evenkeel.engine.streams.model import ClientLine, application
from evenkeel.engine.streams.settings import TaskConfig
from evenkeel.engine.streams.standbys import findings, kept_apart
from tests.helpers.facts import said
from tests.helpers.streams import process, tasks_of


def _app(*clients):
    """Clients as (rack, tags), with one task."""
    lines = [
        ClientLine(process_id=process(n), rack=rack, tags=tags)
        for n, (rack, tags) in enumerate(clients)
    ]
    return application(tasks_of(1), lines)


ZONED = _app(("a", {"zone": "a"}), ("b", {"zone": "b"}), ("b", {}))


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


def test_a_client_without_rack_leaves_racks_out():
    """Nobody knows what would be apart from it."""
    config = TaskConfig(rack_as_tag=True, num_standby_replicas=1)
    app = _app(("a", {}), (None, {}))

    assert kept_apart(app, config).keys == ()
    assert said(findings(app, config)) == (
        f"racks are not taken for a tag: 1 client ({process(1)}) has no rack",
    )


def test_racks_not_taken_for_a_tag_because_of_tags_are_said():
    """Whoever asks for both learns which decides."""
    app = _app(("a", {"rack": "a"}))
    config = TaskConfig(tags=("rack",), rack_as_tag=True, num_standby_replicas=1)

    assert said(findings(app, config)) == (
        "standbys follow rack.aware.assignment.tags, so racks are not taken for a tag",
    )


def test_a_tag_that_differs_from_the_rack_is_warned_of():
    """Option III of the KIP: client.tag.rack and client.rack disagree, or the tag is missing."""
    app = _app(("a", {"rack": "a"}), ("b", {"rack": "a"}), ("b", {}), (None, {"rack": "a"}))

    assert said(findings(app, TaskConfig(tags=("rack", "zone")))) == (
        f"2 clients ({process(1)}, {process(2)}) have another client.tag.rack than client.rack: "
        "standbys follow the tag",
    )


@pytest.mark.parametrize(
    ("clients", "tags"),
    [
        ([("a", {"rack": "a"}), ("b", {"rack": "b"})], ("rack",)),
        ([(None, {"zone": "a"})], ("zone",)),
        ([("a", {"zone": "b"})], ()),
    ],
    ids=["they agree", "no racks", "no tags"],
)
def test_where_nothing_disagrees_nothing_is_said(clients, tags):
    """A warning that is always there warns of nothing."""
    assert findings(_app(*clients), TaskConfig(tags=tags, num_standby_replicas=1)) == []


def test_copies_fall_short_when_more_values_were_to_be_had():
    """The smaller of values and copies is what counts."""
    apart = kept_apart(_app(*((None, {"zone": z}) for z in "aabc")), TaskConfig(tags=("zone",)))
    holders = np.array([[0, 2, NONE], [0, 1, NONE], [0, 1, 2], [2, NONE, NONE], [1, 2, 3]])

    assert apart.short(holders).tolist() == [False, True, True, False, False]


def test_a_tag_that_some_client_lacks_promises_nothing():
    """A copy there is on no value at all."""
    apart = kept_apart(ZONED, TaskConfig(tags=("zone",)))

    assert apart.short(np.array([[1, 2]])).tolist() == [False]


def test_a_copy_may_move_while_no_tag_loses_a_value():
    """Each tag counts for itself: a value more in one does not make up for one fewer in another."""
    app = _app(*((None, {"zone": z, "host": h}) for z, h in ("aw", "bw", "ax", "by")))
    zone_and_host = kept_apart(app, TaskConfig(tags=("zone", "host")))
    zone = kept_apart(app, TaskConfig(tags=("zone",)))

    assert zone.keeps([0, 1], 1, 3)
    assert not zone.keeps([0, 1], 1, 2)
    assert not zone_and_host.keeps([0, 1], 1, 2)
    assert zone_and_host.keeps([0, 1], 1, 3)


def test_long_lists_of_names_are_cut():
    """The first three, and how many more."""
    assert named(list("abcde"), "task", "has", "have") == "5 tasks (a, b, c and 2 more) have"
    assert named(["a"], "task", "has", "have") == "1 task (a) has"
