"""Who can run what, and what an owner would have to do for it."""

from __future__ import annotations

import pytest

from engine.advice import blocked, feasibility
from engine.model import Feasibility, Reach
from tests.helpers.snapshots import change, group, groups, make_snapshot, member, topic


def _group(**columns):
    columns = {"members": [member("a", ["t"], {"t": [0]})]} | columns
    return groups(make_snapshot(topics=[topic("t", 1)], groups=[group("g", **columns)]))[0]


@pytest.mark.parametrize(
    ("situation", "columns", "reason"),
    [
        ("unreadable", {"error": "GROUP_AUTHORIZATION_FAILED"}, "could not be read: GROUP_AUTH"),
        ("rebalancing", {"state": "PreparingRebalance"}, "rebalancing (PreparingRebalance)"),
        ("reconciling", {"state": "Reconciling", "group_type": "consumer"}, "rebalancing (Reconc"),
        ("empty", {"members": []}, "no members (Empty)"),
        ("share", {"group_type": "share"}, "a share group"),
        ("streams", {"group_type": "streams"}, "a KIP-1071 Streams group"),
        ("classic streams", {"assignor": "stream"}, "a Kafka Streams application"),
        ("connect", {"protocol_type": "connect"}, "protocol type connect"),
        (
            "regex",
            {"members": [member("a", [], subscription_regex="t.*")]},
            "regex: 1 of 1 members",
        ),
        (
            "subscription not told",
            {"members": [member("a") | {"subscription": None}]},
            "the subscription of 1 of 1 members is not known",
        ),
        (
            "topic gone",
            {"members": [member("a", ["gone"])]},
            "no member subscribes to a topic that",
        ),
    ],
)
def test_groups_on_which_nothing_can_be_replayed_say_why(situation, columns, reason):
    """The reason names the state, type or count that blocks it."""
    assert (blocked(_group(**columns)) or "").startswith(reason), situation


def test_a_gap_in_a_topics_partitions_blocks_the_group():
    """Strategies would take partition 2 for partition 1."""
    snapshot = make_snapshot(topics=[topic("t", 3)], groups=[group("g", members=1, topics=["t"])])

    def lose(rows):
        return [row for row in rows if row["partition"] != 1]

    damaged = groups(change(change(snapshot, "partitions", lose), "members", disown))[0]

    assert blocked(damaged) == "partition rows of t are missing"


def disown(rows):
    """Members that own nothing."""
    for row in rows:
        row |= {
            key: []
            for key in (
                "assigned_topics",
                "assigned_partitions",
                "target_topics",
                "target_partitions",
            )
        }


def test_an_ordinary_group_is_not_blocked():
    """Stable, classic, subscribed to what exists."""
    assert blocked(_group()) is None


@pytest.mark.parametrize(
    ("situation", "columns", "strategy", "listed", "expected"),
    [
        ("the elected one", {"assignor": "range"}, "range", None, Feasibility.CAN_RUN),
        ("another setting", {"assignor": "range"}, "roundrobin", None, Feasibility.COULD_RUN),
        (
            "listed by all",
            {"assignor": "range"},
            "roundrobin",
            ("range", "roundrobin"),
            Feasibility.CAN_RUN,
        ),
        (
            "server side, classic group",
            {"assignor": "range"},
            "uniform",
            None,
            Feasibility.YARDSTICK,
        ),
        (
            "client side, KIP-848",
            {"group_type": "consumer", "assignor": "uniform"},
            "range",
            None,
            Feasibility.YARDSTICK,
        ),
        (
            "server default",
            {"group_type": "consumer", "assignor": "uniform"},
            "uniform",
            None,
            Feasibility.CAN_RUN,
        ),
        (
            "server other",
            {"group_type": "consumer", "assignor": "uniform"},
            "range-server",
            None,
            Feasibility.COULD_RUN,
        ),
    ],
)
def test_each_kind_of_group_takes_its_own_strategies(
    situation, columns, strategy, listed, expected
):
    """Client-side for classic groups, server-side for KIP-848 groups."""
    judgement = feasibility(_group(**columns), strategy, Reach.SETTING, listed)

    assert expected is judgement.feasibility, situation
    assert judgement.reason


def test_a_double_bounce_names_both_classes():
    """The owner can copy the settings."""
    how = feasibility(_group(assignor="range"), "roundrobin", Reach.SETTING, None).how

    assert how is not None
    assert "RoundRobinAssignor,org.apache.kafka.clients.consumer.RangeAssignor" in how
    assert "then org.apache.kafka.clients.consumer.RoundRobinAssignor alone" in how


def test_a_group_that_runs_the_strategy_needs_a_rebalance_only() -> None:
    """An assignment that drifted is mended without any setting."""
    how = feasibility(_group(assignor="range"), "range", Reach.SETTING, None).how

    assert how is not None
    assert "restart one member" in how


def test_the_server_side_range_is_not_the_client_side_one():
    """A KIP-848 group that says `range` on the wire runs range-server."""
    served = _group(group_type="consumer", assignor="range")

    assert (
        feasibility(served, "range-server", Reach.SETTING, None).feasibility is Feasibility.CAN_RUN
    )
    assert feasibility(served, "range", Reach.SETTING, None).feasibility is Feasibility.YARDSTICK
