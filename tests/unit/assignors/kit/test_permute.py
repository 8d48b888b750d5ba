"""Listing a group in another order changes indices, never what is said in names."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors.promises.promises import permuted
from tests.helpers.strategies import groups


def _in_names(group):
    """All that a group says, in names."""
    racks = [*group.racks, None]
    members, topics = [*group.members, None], [*group.topics, None]
    of_member = {
        name: (
            group.instance_ids[m],
            racks[group.member_rack[m]],
            [topics[t] for t in group.subscribed(m)],
            [
                (topics[group.owned_topic[c]], int(group.owned_partition[c]))
                for c in range(group.owned_start[m], group.owned_start[m + 1])
            ],
            group.generation.tolist()[m],
        )
        for m, name in enumerate(group.members)
    }
    of_partition = {
        (topics[group.topic_of[p]], int(group.number_of[p])): (
            members[group.owner[p]],
            [
                racks[r]
                for r in group.replica_rack[group.replica_start[p] : group.replica_start[p + 1]]
            ],
            group.lag.tolist()[p],
        )
        for p in range(group.partition_count)
    }
    return (
        of_member,
        of_partition,
        dict(zip(group.topics, group.topic_exists.tolist(), strict=True)),
    )


@given(groups(), st.randoms(use_true_random=False))
def test_another_order_says_the_same_in_names(group, random):
    """Members, topics, partitions, racks, claims, owners and lags keep their names."""
    members, topics = list(range(len(group.members))), list(range(len(group.topics)))
    random.shuffle(members)
    random.shuffle(topics)

    other = permuted(group, np.array(members, np.int64), np.array(topics, np.int64))

    assert other.members == tuple(group.members[m] for m in members)
    assert other.topics == tuple(group.topics[t] for t in topics)
    assert _in_names(other) == _in_names(group)
