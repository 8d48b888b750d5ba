"""Rows of rebalances: what they cost, and the same with other settings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenkeel.engine.config import Settings
from evenkeel.engine.metrics.rebalance_bill import Protocol, bill
from evenkeel.engine.metrics.rebalance_causes import Caused, Why
from evenkeel.engine.metrics.rebalances import HEARTBEAT
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.pauses import Pause
from evenkeel.engine.model.states import PauseBasis, RebalanceCause, Remedy
from evenkeel.engine.pipeline.rebalance_rows import rebalance_rows
from tests.helpers.measuring import observed
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic

PAUSE, AWAY = 2.0, 20.0
PAUSES = {
    name: Pause(seconds=seconds, basis=PauseBasis.OBSERVED, observed=3)
    for name, seconds in (("rebalance_seconds", PAUSE), ("restart_seconds", AWAY))
}


def _row(before, after, pauses=PAUSES, **header):
    """The row of a group whose members, by client id and number of their start, own a partition each; 10/s arrive."""
    taken = []
    for number, names in enumerate((before, after)):
        static = header.get("static", False)
        rows = [
            member(
                f"{client}-{start}",
                ["t"],
                {"t": [p]},
                client_id=client,
                **({"instance_id": client} if static else {}),
            )
            for p, (client, start) in enumerate(names)
        ]
        told = {name: value for name, value in header.items() if name != "static"}
        snapshot = make_snapshot(
            number=number,
            topics=[topic("t", 4, end=3000 * number)],
            groups=[group("g", members=rows, lag={"t": 0}, **told)],
        )
        taken += groups(snapshot)
    seen = observed(taken[1], taken[:1])
    [row] = rebalance_rows(Settings(), seen, np.ones(1, np.bool_), lambda _: pauses).to_pylist()
    return row


BEFORE = [("a", 1), ("b", 1), ("c", 1), ("d", 1)]
AFTER = [("a", 2), ("b", 2), ("c", 1), ("d", 1)]
"""Two of four members restarted and got back what they had."""


@pytest.mark.parametrize(
    ("header", "rebalances", "seconds"),
    [
        ({"assignor": "range"}, 4, 4 * 4 * PAUSE + 2 * HEARTBEAT / 2),
        ({"assignor": "cooperative-sticky"}, 4, 2 * 2 * PAUSE),
        ({"assignor": "range", "static": True}, 0, 2 * AWAY),
    ],
    ids=[
        "eager: all partitions, each time, and their own until others hear of it",
        "cooperative: their own, twice",
        "static: their own, as long as away",
    ],
)
def test_what_pauses_depends_on_the_protocol(header, rebalances, seconds):
    """Ten records a second are delayed at each partition."""
    row = _row(BEFORE, AFTER, **header)

    assert (row["cause"], row["rebalances"]) == ("deploy", rebalances)
    assert row["partition_seconds"] == pytest.approx(seconds)
    assert row["delayed_records"] == pytest.approx(10 * seconds)


def test_an_eager_group_would_have_paused_less_with_each_setting_that_applies():
    """Nobody's session expired."""
    costs = {
        each["remedy"]: each["partition_seconds"] for each in _row(BEFORE, AFTER)["with_remedy"]
    }

    assert costs == {
        Remedy.STATIC_MEMBERSHIP: 2 * AWAY,
        Remedy.COOPERATIVE: 2 * 2 * PAUSE,
        Remedy.CONSUMER_PROTOCOL: 2 * 2 * PAUSE,
    }


def test_a_static_member_that_moves_nothing_needs_no_remedy_but_the_protocols():
    """It has an instance id already."""
    row = _row(BEFORE, AFTER, assignor="cooperative-sticky", static=True)

    assert [each["remedy"] for each in row["with_remedy"]] == [Remedy.CONSUMER_PROTOCOL]


def test_members_hear_of_it_by_the_heartbeat_that_their_group_has_on_the_brokers():
    """Where no pause was measured or configured: after half of it."""
    usual = {name: replace(each, basis=PauseBasis.USUAL) for name, each in PAUSES.items()}
    own = '{"consumer.heartbeat.interval.ms": "2000"}'
    row = _row(BEFORE, AFTER, usual, group_type="consumer", group_settings=own)

    assert row["pause_seconds"] == 1


@pytest.mark.parametrize(
    ("protocol", "remedy"),
    [
        (Protocol.EAGER, Remedy.LONGER_SESSION_TIMEOUT),
        (Protocol.CONSUMER, Remedy.LONGER_SESSION_ON_BROKERS),
    ],
)
def test_a_longer_session_is_one_of_the_members_or_of_the_brokers(protocol, remedy):
    """By the protocol: a member that is waited for stops nobody else."""
    nothing, one = np.zeros(2, np.bool_), np.array([True, False])
    caused = Caused(
        why=Why(RebalanceCause.POLL_TIMEOUT, ("a",)),
        number=2,
        by_epoch=True,
        missed=0,
        since=utc_now(),
        joined=(),
        left=(),
        restarted=("a",),
        stuck_seconds={"a": 60.0},
        seconds=300.0,
        was=~nothing,
        moved=one,
        released=one,
        handed=nothing,
        failed_seconds=np.array([60.0, 0.0]),
        of_restarted=nothing,
        static=False,
        moving=False,
        assignor=None,
    )
    pauses = {"rebalance": PAUSES["rebalance_seconds"], "restart": PAUSES["restart_seconds"]}
    found = bill(caused, np.ones(2), protocol, heartbeat=HEARTBEAT, **pauses)
    longer = {Remedy.LONGER_SESSION_TIMEOUT, Remedy.LONGER_SESSION_ON_BROKERS}
    assert longer & found.with_remedy.keys() == {remedy}
