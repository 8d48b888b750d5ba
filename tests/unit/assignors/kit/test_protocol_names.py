"""One strategy's names: ours, the wire's, and those of the clients."""

from __future__ import annotations

import pytest

from evenkeel.engine.assignors.kafka.protocol_names import (
    CLIENT_SIDE,
    SERVER_SIDE,
    cooperative,
    java_class,
    strategy_of,
    wire_name,
)
from evenkeel.engine.model.states import GroupType


@pytest.mark.parametrize("known", CLIENT_SIDE.values(), ids=list(CLIENT_SIDE))
def test_every_name_of_a_strategy_leads_to_its_name_on_the_wire(known):
    """Java's and Python's classes, with their package and without, spaces around them, and our own name."""
    classes = [known.java, *([known.python] if known.python else [])]
    for name in [
        *classes,
        *(c.rsplit(".", 1)[1] for c in classes),
        known.strategy,
        f" {known.wire} ",
    ]:
        assert wire_name(name) == known.wire
    assert java_class(known.wire) == known.java


def test_somebody_elses_class_of_the_same_name_is_not_ours():
    """Only its owner knows what it is called on the wire."""
    assert wire_name("com.acme.RangeAssignor") == "com.acme.RangeAssignor"


def test_the_group_type_decides_what_a_wire_name_means():
    """A KIP-848 group's range is another strategy than a classic group's; a Streams group has none of ours."""
    assert strategy_of(GroupType.CLASSIC, "lag") == "lag-aware"
    assert strategy_of(GroupType.CONSUMER, "range") == "range-server"
    assert strategy_of(GroupType.CONSUMER, "sticky") is None
    assert strategy_of(GroupType.STREAMS, "range") is None


def test_client_and_server_side_names_do_not_overlap():
    """A name says on which side it assigns."""
    assert not {one.strategy for one in CLIENT_SIDE.values()} & SERVER_SIDE.keys()


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        (["cooperative-sticky"], True),
        (["range", "cooperative-sticky"], False),
        (["acme"], None),
        (["acme", "cooperative-sticky"], None),
        (["acme", "sticky"], False),
    ],
)
def test_a_member_rebalances_as_all_of_its_list_can(listed, expected):
    """One eager strategy is enough to make a Java member eager; an unknown one leaves it open."""
    assert cooperative(listed) is expected
