"""What unequal subscriptions cost in evenness, and who evens it out (KIP-49)."""

from __future__ import annotations

import pytest

from evenkeel.engine.config import Settings
from tests.helpers.measuring import proposed
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic


def _found(owned, sizes, **header):
    """What the live row has to say of subscriptions: members subscribe to the topics they own of."""
    members = [member(f"m{n}", [*held], held) for n, held in enumerate(owned)]
    described = group("g", members=members, committed=dict.fromkeys(sizes, 1000), **header)
    topics = [topic(name, size) for name, size in sizes.items()]
    [live, *_] = proposed(Settings(), groups(make_snapshot(topics=topics, groups=[described]))[0])
    return live["findings"]


UNEVEN = [{"t": [0, 1], "u": range(5)}, {"t": [2], "u": range(5, 10)}, {"t": [3]}, {"t": [4]}]


@pytest.mark.parametrize(
    ("header", "who"),
    [
        ({"assignor": "range"}, "fair, sticky, cooperative-sticky"),
        ({"assignor": "uniform", "group_type": "consumer"}, "fair, uniform"),
    ],
    ids=["leader", "broker"],
)
def test_what_evens_it_out_is_named_with_what_members_then_have(header, who):
    """KIP-49's `fair` first, deployable or not; of the others those that the group could run."""
    assert _found(UNEVEN, {"t": 5, "u": 10}, **header) == [
        "its members have 7/6/1/1 partitions, and only 2 of 4 members can receive u",
        f"{who} would give 5/5/3/2 (KIP-49)",
    ]


def test_where_nobody_could_take_one_over_that_is_said():
    """The subscriptions alone make it uneven: no strategy is named."""
    alone = [{"u": range(6)}, {"t": [0]}, {"t": [1]}]
    told = ["its members have 6/1/1 partitions, and only 1 of 3 members can receive u"]
    told += [
        "no member with fewer can receive another: that is as even as these subscriptions allow"
    ]
    assert _found(alone, {"t": 2, "u": 6}) == told


@pytest.mark.parametrize(
    "owned",
    [[{"t": [0, 1]}, {"t": [2], "u": [0, 1]}], [{"t": range(3), "u": [0, 1]}, {"t": [], "u": []}]],
    ids=["even", "equal subscriptions"],
)
def test_nothing_is_told_where_subscriptions_are_not_to_blame(owned):
    """Neither of a group that is even, nor of one whose members all may take everything."""
    assert _found(owned, {"t": 3, "u": 2}) == []
