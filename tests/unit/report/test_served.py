"""How many members a group needs, as far as its stored diagnosis says it."""

from __future__ import annotations

import pytest

from evenkeel.engine.report.served import MembersFor, diagnosed_size

ROW = {
    "group_type": "classic",
    "assignor": "sticky",
    "subscribed_topics": ("a", "b"),
    "members": 3,
    "partitions": 12,
    "facts": (
        {"measure": "under_provisioned", "before": 3.0, "after": 5.0},
        {"measure": "group_load", "before": None, "after": 500.0},
    ),
}


@pytest.mark.parametrize(
    ("other", "size"),
    [
        ({}, MembersFor(needed=5, useful=12, helps=True)),
        ({"facts": None}, MembersFor(needed=None, useful=12, helps=None)),
        ({"members": 12, "facts": ()}, MembersFor(needed=None, useful=12, helps=False)),
        ({"members": None, "facts": ()}, MembersFor()),
        # range gives each topic's partitions to as many members as that topic has
        ({"assignor": "range"}, MembersFor(needed=5)),
        ({"assignor": "range", "subscribed_topics": ("a",)}, MembersFor(5, 12, True)),
        ({"assignor": "stream"}, MembersFor(needed=5)),
        ({"group_type": "streams"}, MembersFor(needed=5)),
    ],
)
def test_a_size_is_known_where_the_diagnosis_has_one(other, size):
    """More members help up to the number of partitions; what cannot be known is None."""
    assert diagnosed_size(ROW | other) == size
