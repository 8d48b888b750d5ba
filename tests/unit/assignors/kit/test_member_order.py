"""The order of members in range and roundrobin, one situation per test."""

from __future__ import annotations

import pytest

from evenkeel.engine.assignors.interface import build_spec, spec
from evenkeel.engine.assignors.kit.members import member_order


def _ordered(members, instance_ids=None):
    group = spec({m: [] for m in members}, {}, instance_ids=instance_ids or {})
    return [group.members[m] for m in member_order(group)]


def test_dynamic_members_stand_by_id():
    """Member ids sort as strings, so 10 comes before 2."""
    assert _ordered(["c-2", "c-10", "c-1"]) == ["c-1", "c-10", "c-2"]


def test_static_members_stand_first_by_instance_id():
    """A static member's own id does not matter, and the dynamic ones follow."""
    statics = {"c": "host-1", "d": "host-0"}

    assert _ordered(["a", "b", "c", "d"], statics) == ["d", "c", "a", "b"]


def test_astral_names_sort_by_utf16():
    """A character beyond U+FFFF sorts before the private ones below it, as in Java."""
    assert _ordered(["\uffee", "\U0001f600"]) == ["\U0001f600", "\uffee"]


@pytest.mark.parametrize("listed", [["m-0", "m-1"], ["m-1", "m-0"]])
def test_equal_instance_ids_keep_the_order_of_the_map(listed):
    """Two members with one instance id come as Java's map of members is walked."""
    group = build_spec(
        members=listed,
        instance_ids=["same", "same"],
        member_racks=[None, None],
        subscriptions=[[], []],
        topics=[],
        partition_counts=[],
        replica_racks=[],
    )

    assert [group.members[m] for m in member_order(group)] == ["m-1", "m-0"]
