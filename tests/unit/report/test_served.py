"""How many members a group needs, as far as a row of its metrics says it."""

from __future__ import annotations

import pytest

from evenkeel.engine.report.served import MembersFor, size_now

ROW = {
    "group_type": "classic",
    "assignor": "sticky",
    "subscribed_topics": ("a", "b"),
    "diagnosis": "under-provisioned",
    "members": 3,
    "idle_members": 0,
    "partitions": 12,
    "production_per_second": 500.0,
    "utilization": 1.4,
    "facts": (
        {"measure": "under_provisioned", "before": 3.0, "after": 5.0},
        {"measure": "group_load", "before": None, "after": 500.0},
    ),
}
BEHIND = {"facts": (), "diagnosis": "catching up", "utilization": 0.8, "idle_members": 1}
APART = {"measure": "unequal_subscriptions", "after": 2.0}


@pytest.mark.parametrize(
    ("other", "size"),
    [
        ({}, MembersFor(needed=5, useful=12, helps=True)),
        # more than have a partition
        ({"partitions": 4}, MembersFor(needed=None, useful=4, helps=False)),
        ({"facts": None, "diagnosis": "slow member"}, MembersFor(None, 12, None)),
        ({"diagnosis": "slow member", "members": 12, "facts": ()}, MembersFor(None, 12, False)),
        ({"members": None, "facts": ()}, MembersFor()),
        # range gives each topic's partitions to as many members as that topic has
        ({"assignor": "range"}, MembersFor(needed=5)),
        ({"assignor": "range", "subscribed_topics": ("a",)}, MembersFor(5, 12, True)),
        ({"facts": (*ROW["facts"], APART)}, MembersFor(needed=5)),
        ({"assignor": "stream"}, MembersFor(needed=5)),
        ({"group_type": "streams"}, MembersFor(needed=5)),
        # who keeps up needs who has a partition, and no more
        ({"diagnosis": "healthy", "facts": None, "utilization": None}, MembersFor(3, 12, False)),
        ({"diagnosis": "healthy", "facts": (), "assignor": "range"}, MembersFor(3, None, False)),
        ({"diagnosis": "healthy", "facts": (), "assignor": "stream"}, MembersFor()),
        (BEHIND, MembersFor(needed=2, useful=12, helps=False)),
        (BEHIND | {"utilization": None}, MembersFor(None, 12, None)),
        (BEHIND | {"utilization": 1.1}, MembersFor(None, 12, None)),
        (BEHIND | {"production_per_second": None}, MembersFor(None, 12, None)),
        # no number of members gets more out of one partition
        (BEHIND | {"diagnosis": "hot partition"}, MembersFor(None, 12, False)),
        (BEHIND | {"diagnosis": "hot partition", "utilization": None}, MembersFor(None, 12, None)),
    ],
)
def test_a_size_is_known_where_the_row_has_it(other, size):
    """More members help up to the number of partitions; what cannot be known is None."""
    assert size_now(ROW | other) == size
