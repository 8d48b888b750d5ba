"""What switches racks off is said, with the names."""

from __future__ import annotations

import pytest

from evenkeel.engine.model.facts import note, reason
from evenkeel.engine.streams.model import ClientLine, TaskLine, application
from evenkeel.engine.streams.place import place
from evenkeel.engine.streams.racks import EQUAL_COSTS, racks_off
from evenkeel.engine.streams.settings import Overlap, RackStrategy, TaskConfig
from tests.helpers.facts import told
from tests.helpers.streams import process

ON = TaskConfig(strategy=RackStrategy.MIN_TRAFFIC)
WITH_STANDBYS = TaskConfig(strategy=RackStrategy.MIN_TRAFFIC, num_standby_replicas=1)


def _app(replicas, racks=("a", "b"), changelog="log"):
    """One task that reads t-0 and t-1, stateful with one changelog."""
    task = TaskLine(
        id="0_0", sources=[("t", 0), ("t", 1)], changelogs=[(changelog, 0)], stateful=True
    )
    clients = [ClientLine(process_id=process(n), rack=rack) for n, rack in enumerate(racks)]
    return application([task], clients, replicas)


KNOWN = {("t", 0): ["a"], ("t", 1): ["b"], ("log", 0): ["a"]}


@pytest.mark.parametrize("missing", [None, ""])
def test_a_client_without_rack_switches_racks_off(missing):
    """One is enough, and it is named."""
    assert told(racks_off(_app(KNOWN, racks=("a", missing)), ON)) == (
        f"1 client ({process(1)}) has no rack, or one that its members disagree on"
    )


def test_a_source_partition_of_unknown_replicas_switches_racks_off():
    """A partition left out and one without replicas are both unknown."""
    assert told(racks_off(_app({**KNOWN, ("t", 1): []}), ON)) == (
        "1 source partition (t-1) has no known replicas"
    )
    assert told(racks_off(_app({}), ON)) == "2 source partitions (t-0, t-1) have no known replicas"


def test_changelogs_count_only_where_standbys_are_configured():
    """Nobody else asks where they are."""
    unknown = {**KNOWN, ("log", 0): []}
    rackless = {**KNOWN, ("log", 0): [None]}

    assert racks_off(_app(unknown), ON) is None
    assert told(racks_off(_app(unknown), WITH_STANDBYS)) == (
        "1 changelog partition (log-0) has no known replicas"
    )
    assert told(racks_off(_app(rackless), WITH_STANDBYS)) == (
        "1 changelog partition (log-0) lies on a broker without rack"
    )


def test_costs_may_differ_for_copies_alone():
    """Then racks matter once there are standbys."""
    sources = {**KNOWN, ("t", 0): ["a", "b"], ("t", 1): ["a", "b"]}

    assert place(_app(sources), ON).racks == reason(EQUAL_COSTS)
    assert place(_app(sources), WITH_STANDBYS).racks is None


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
    placed = place(_app({pair: ["a", "b"] for pair in KNOWN}), config)

    assert (placed.racks, placed.findings) == (None, (note(EQUAL_COSTS),))
