"""`balance_subtopology` on plain groups: situations by name."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.assignors.balance_subtopology import BalanceSubtopology
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.min_traffic import MinTraffic
from evenkeel.engine.assignors.promises import check
from evenkeel.engine.metrics.balance import member_counts
from evenkeel.engine.model.assignments import Deployment
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.owned import owned
from tests.helpers.racked_groups import racked_groups

RACKS = {"c0": "a", "c1": "b"}
EVERYBODY = {"c0": ["t", "u"], "c1": ["t", "u"]}


@given(racked_groups())
def test_it_keeps_its_promises_where_racks_are_known(group):
    """The same where nothing switches it off."""
    assert check(BalanceSubtopology(), group) == []


@given(racked_groups(alike=True))
def test_nobody_has_more_of_a_topic_than_the_kip_allows(group):
    """With equal subscriptions the KIP's limits hold to the letter."""
    answer = BalanceSubtopology().assign(group)
    counts = member_counts(answer.owner, len(group.members)).tolist()
    for topic, size in enumerate(np.diff(group.topic_start).tolist()):
        span = group.partitions_of(topic)
        held = member_counts(answer.owner[span.start : span.stop], len(group.members)).tolist()
        for count, number in zip(counts, held, strict=True):
            assert number <= math.ceil(count * 1.0 / max(group.partition_count, 1) * size)


def test_a_topic_is_spread_though_its_data_is_not():
    """Four partitions in rack a, four in b: half of each topic crosses, where min_traffic crosses none."""
    group = spec(
        EVERYBODY, {"t": 4, "u": 4}, racks=RACKS, replicas={"t": [["a"]] * 4, "u": [["b"]] * 4}
    )

    assert owned(BalanceSubtopology(), group) == {
        "c0": "t-0 t-1 u-2 u-3",
        "c1": "t-2 t-3 u-0 u-1",
    }
    assert owned(MinTraffic(), group) == {
        "c0": "t-0 t-1 t-2 t-3",
        "c1": "u-0 u-1 u-2 u-3",
    }


def test_within_a_topic_the_data_decides():
    """Of each topic a member takes the half that is near to it."""
    group = spec(
        EVERYBODY,
        {"t": 2, "u": 2},
        racks=RACKS,
        replicas={"t": [["b"], ["a"]], "u": [["a"], ["b"]]},
        owned={"c0": [("t", 0), ("t", 1)], "c1": [("u", 0), ("u", 1)]},
    )

    assert owned(BalanceSubtopology(), group) == {"c0": "t-1 u-0", "c1": "t-0 u-1"}


def test_a_missing_rack_makes_it_infeasible():
    """As Kafka's optimiser is switched off by one."""
    group = spec(EVERYBODY, {"t": 1}, racks=RACKS, replicas={"t": [[]]})

    with pytest.raises(Infeasible, match="t-0"):
        BalanceSubtopology().assign(group)


def test_it_is_a_yardstick():
    """Nobody can deploy it on a consumer group."""
    assert BalanceSubtopology.deployment is Deployment.YARDSTICK
