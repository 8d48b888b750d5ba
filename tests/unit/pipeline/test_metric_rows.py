"""From snapshots to rows: what reading across racks costs a group, and how far behind it is without a commit."""

from __future__ import annotations

import pytest

from evenkeel.engine.config import Rule, Settings
from tests.helpers.measuring import metric_rows, proposed
from tests.helpers.snapshots import EVERY, group, groups, make_snapshot, member, topic

GROWTH = 300_000
"""Records between two snapshots, on each of four partitions."""
PRICED = Settings(rules=(Rule(price_per_gb=0.02, currency="EUR"),))
ACROSS = {"a": [1, 2], "b": [0, 3]}
"""Of partitions 0 and 2 on rack a, 1 and 3 on rack b: half is read across racks."""


def _group(number, *, follower_fetching=True, log_bytes=100, **columns):
    """A group of two, at a snapshot of a series; a record weighs *log_bytes*."""
    end = 1000 + number * GROWTH
    members = [
        member(name, ["t"], {"t": ACROSS[name]}, rack=f"rack-{name}") | columns for name in "ab"
    ]
    weighs = None if log_bytes is None else end * log_bytes
    snapshot = make_snapshot(
        number=number,
        follower_fetching=follower_fetching,
        topics=[
            topic(
                "t",
                4,
                end=end,
                replicas=[[0], [1], [0], [1]],
                log_bytes=weighs,
                cleanup_policy="delete",
            )
        ],
        groups=[group("g", members=members, lag={"t": 0})],
    )
    return groups(snapshot)[0]


def _costs(settings=PRICED, **columns):
    """The group's row and the row of each strategy."""
    now, before = _group(1, **columns), _group(0, **columns)
    [row] = metric_rows(settings, now, [before])["group_metrics"]
    return row, {
        one["strategy"]: one for one in proposed(settings, now, [before], ask_next_change=False)
    }


def test_a_group_and_every_strategy_have_their_price():
    """Two partitions at 1,000 records/s of 100 bytes: 200 kB/s, 518.4 GB a month; near ones cost nothing."""
    row, rows = _costs()

    assert EVERY.total_seconds() == 300
    assert row["cross_rack_bytes_per_second"] == pytest.approx(200_000)
    assert row["cross_rack_cost_per_month"] == pytest.approx(518.4 * 0.02)
    assert row["currency"] == "EUR"
    assert rows["live"]["cross_rack_cost_per_month"] == row["cross_rack_cost_per_month"]
    assert rows["range"]["cross_rack_cost_per_month"] == 0


def test_bytes_are_told_without_a_price():
    """Nobody said what they cost, so that and the currency are unknown."""
    row, rows = _costs(Settings())

    assert row["cross_rack_bytes_per_second"] == pytest.approx(200_000)
    for one in (row, rows["live"]):
        assert (one["cross_rack_cost_per_month"], one["currency"]) == (None, None)


@pytest.mark.parametrize("unknown", [{"follower_fetching": None}, {"log_bytes": None}])
def test_an_unknown_makes_the_cost_unknown_and_not_nothing(unknown):
    """Neither who serves reads nor what a record weighs is guessed."""
    row, rows = _costs(**unknown)

    assert row["cross_rack_share"] == 0.5
    for one in (row, rows["live"], rows["range"]):
        known = one["strategy"] == "range" if "strategy" in one else False
        nothing = 0 if known and "log_bytes" in unknown else None
        assert one["cross_rack_bytes_per_second"] == nothing


def test_one_snapshot_knows_no_rate_and_so_no_cost():
    """It takes two."""
    [row] = metric_rows(PRICED, _group(0), [])["group_metrics"]

    assert (row["cross_rack_bytes_per_second"], row["cross_rack_cost_per_month"]) == (None, None)


def test_each_partition_tells_what_its_records_weigh_and_how_that_is_known():
    """From its log, else as configured."""
    settings = Settings(rules=(Rule(bytes_per_record=7),))

    for log_bytes, told in ((100, (100, "log directory")), (None, (7, "configured"))):
        rows = metric_rows(settings, _group(0, log_bytes=log_bytes), [])["partition_metrics"]
        assert {(row["bytes_per_record"], row["bytes_per_record_basis"]) for row in rows} == {told}


@pytest.mark.parametrize(("untold", "subscribed"), [({}, True), ({"subscription": None}, None)])
def test_whether_a_topic_is_subscribed_is_unknown_while_members_do_not_tell(untold, subscribed):
    """A rebalancing member tells no subscription: that is not the same as none."""
    rows = metric_rows(Settings(), _group(0, **untold), [])["partition_metrics"]

    assert {row["subscribed"] for row in rows} == {subscribed}


INTERVAL = Settings(rules=(Rule(commit_interval_seconds=60),))


def _of_late(settings, *, growth, **columns):
    """The row of a group that has not committed since the snapshot before, when it had read all."""
    now, before = (
        groups(
            make_snapshot(
                number=number,
                topics=[topic("t", 1, end=1000 + number * growth)],
                groups=[group("g", topics=["t"], committed={"t": 1000}, **columns)],
            )
        )[0]
        for number in (1, 0)
    )
    [row] = metric_rows(settings, now, [before])["group_metrics"]
    return row


@pytest.mark.parametrize(
    ("settings", "columns", "growth", "delay"),
    [
        pytest.param(Settings(), {"members": 0}, 1000, 300, id="no interval is known"),
        pytest.param(Settings(), {"members": 0}, 0, 0, id="read to its end"),
        pytest.param(INTERVAL, {"members": 0}, 1000, 300, id="the interval is known"),
        pytest.param(
            Settings(), {"members": 1, "state": "PreparingRebalance"}, 1000, 300, id="a rebalance"
        ),
        pytest.param(Settings(), {"members": 1}, 1000, 0, id="somebody may commit hourly"),
    ],
)
def test_how_late_a_group_is_of_which_nobody_saw_a_commit(settings, columns, growth, delay):
    """Without members, or in a rebalance, no commit is awaited: it is as late as its oldest record."""
    row = _of_late(settings, growth=growth, **columns)

    assert row["delay_seconds"] == pytest.approx(delay, rel=0.1)
    assert (row["members"], row["total_lag"]) == (columns["members"], growth)
    assert row["time_lag_seconds"] == pytest.approx(300 if growth else 0, rel=0.1)


def test_a_time_lag_that_is_not_known_of_all_partitions_is_not_0():
    """One partition is read to its end, and records wait in the other; how old they are one snapshot can't tell."""
    snapshot = make_snapshot(
        topics=[topic("t", 2, end=[1000, 5000])],
        groups=[group("g", members=0, topics=["t"], committed={"t": [1000, 1000]})],
    )
    [row] = metric_rows(Settings(), groups(snapshot)[0], [])["group_metrics"]

    assert (row["total_lag"], row["time_lag_seconds"], row["delay_seconds"]) == (4000, None, None)
