"""How many partitions members of a rack read within it."""

from __future__ import annotations

import pytest

from evenkeel.engine.report.rows import rack_counts
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic


@pytest.mark.parametrize(("follower_fetching", "at_b"), [(True, 1), (False, 0)])
def test_racks_count_what_is_read_within_them(follower_fetching, at_b):
    """From leaders alone where only these serve reads; of a rack that no broker has nothing is known."""
    owners = (("a", "rack-a"), ("b", "rack-b"), ("c", "x"))
    members = [member(name, ["t"], {"t": [p]}, rack=r) for p, (name, r) in enumerate(owners)]
    [one] = groups(
        make_snapshot(
            topics=[topic("t", 3, replicas=[[0, 1], [0, 1], [0, 1]])],
            groups=[group("g", members=members)],
            follower_fetching=follower_fetching,
        )
    )
    found = rack_counts(one)

    assert found is not None
    assert dict(zip(found.members, found.local, strict=True)) == {
        "rack-a": 1,
        "rack-b": at_b,
        "x": None,
    }
