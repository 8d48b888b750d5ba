"""Racks that members do not send, that no broker has, and that only a leader's reads count: each measured once."""

from __future__ import annotations

import pytest

from evenkeel.engine.advice.lost_racks import strays
from evenkeel.engine.advice.tradeoff import present, tradeoffs
from evenkeel.engine.assignors.interface import spec_of
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.messages.wording import words
from evenkeel.engine.model.arrays import Column
from tests.helpers.measuring import metric_rows, proposed
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic

CONFIGURED = {"rack_source": "configured"}
ACROSS = {"a": [0, 1], "b": [2, 3]}
"""What `range` gives where it sees no rack."""

BOTH = [[0, 1], [1, 0], [0, 1], [1, 0]]


def _group(
    racks=("rack-a", "rack-b"),
    columns=(CONFIGURED, CONFIGURED),
    replicas=((0,), (1,), (0,), (1,)),
    reads=True,
    group_assignors=None,
    **more,
):
    """Members a and b on four partitions, of which 0 and 2 lie on rack-a, 1 and 3 on rack-b unless told otherwise."""
    members = [
        member(name, ["t"], {"t": ACROSS[name]}, rack=rack) | own
        for name, rack, own in zip("ab", racks, columns, strict=True)
    ]
    [one] = groups(
        make_snapshot(
            topics=[topic("t", 4, replicas=replicas)],
            groups=[group("g", members=members, **{"assignor": "range"} | more)],
            follower_fetching=reads,
            group_assignors=group_assignors,
        )
    )
    return one


def _rows(one):
    return {row["strategy"]: row for row in proposed(Settings(), one, ask_next_change=False)}


def test_strategies_see_sent_racks_and_the_judge_all_that_are_known():
    """Kafka's `range` keeps what crosses; what is planned does not, and `client.rack` on both would bring the same."""
    rows = _rows(_group())

    told = {name: (row["moves"], row["cross_rack_share"]) for name, row in rows.items()}
    assert (told["live"], told["range"]) == ((0, 0.5), (0, 0.5))
    assert told["range+client.rack"] == told["min_traffic"] == told["balanced"] == (2, 0)


def test_what_client_rack_would_bring_is_a_row_with_that_as_its_first_step():
    """Behind the strategy itself, to be had by a restart of each member; of what no setting brings there is none."""
    rows = _rows(_group(replicas=[[1], [0], [1], [0]]))
    row = rows["range+client.rack"]

    names = [*rows]
    assert names[names.index("range") + 1] == "range+client.rack"
    assert {name for name in names if "+" in name} == {
        f"{name}+client.rack" for name in ("range", "sticky", "cooperative-sticky")
    }
    assert (row["feasibility"], row["is_running"], row["reason"]) == (
        "needs restart",
        False,
        "once every member sends client.rack",
    )
    assert row["how"] == (
        "Set client.rack, to the rack of each (rack-a, rack-b), on 2 of 2 members: Kafka doesn't see configured"
        " racks. `evenkeel runbook` lists the rack of each."
    )
    assert rows["sticky+client.rack"]["how"].startswith("Set client.rack, to the rack of each")
    assert "rolling restart" in rows["sticky+client.rack"]["reason"]
    assert "rolling restart" not in row["how"]


@pytest.mark.parametrize(
    ("situation", "columns"),
    [
        ("all send theirs", {"columns": ({}, {})}),
        ("nobody's is known", {"racks": (None, None), "columns": ({}, {})}),
        ("each partition is everywhere", {"replicas": BOTH}),
        ("no broker has them", {"racks": ("x", "y")}),
    ],
)
def test_there_is_no_such_row_where_it_would_change_nothing(situation, columns):
    """Racks are sent, unknown, of no use, or nobody's."""
    assert not [name for name in _rows(_group(**columns)) if "+" in name], situation


def test_a_group_whose_brokers_assign_by_racks_is_told_the_same():
    """`racks-server` looks at racks, Kafka's own assignors for brokers at none; members of either ask as they send."""
    there = ["uniform", "range", "evenkeel-racks"]
    columns = (CONFIGURED | {"kind": "consumer"},) * 2
    one = _group(columns=columns, group_type="consumer", assignor="uniform", group_assignors=there)
    rows = _rows(one)

    assert {name for name in rows if "+" in name} == {"racks-server+client.rack"}
    row = rows["racks-server+client.rack"]
    assert (rows["racks-server"]["cross_rack_share"], row["cross_rack_share"]) == (0.5, 0)
    assert row["reason"] == "members can request it, once every member sends client.rack"
    assert row["how"].startswith("Set client.rack")
    assert "Set group.remote.assignor=evenkeel-racks on every member" in row["how"]


def test_one_member_that_sends_nothing_is_the_one_that_is_to():
    """The other keeps what it sends."""
    row = _rows(_group(columns=({}, CONFIGURED)))["range+client.rack"]
    assert "(rack-b), on 1 of 2 members" in row["how"]


def test_racks_that_no_broker_has_are_unknown_and_told_with_their_cure():
    """Neither near nor far: no share, no bytes; the broker's rack that is meant is named, where it is plain."""
    racks = ("us-rack-a", "zone-9")
    one = _group(racks, ({}, CONFIGURED))
    earlier = make_snapshot(number=-1, topics=[topic("t", 4, end=500)])
    settings = Settings(rules=(Rule(price_per_gb=1, bytes_per_record=100),))
    tables = metric_rows(settings, one, groups(earlier))
    live = proposed(settings, one, ask_next_change=False)[0]

    assert tables["group_metrics"][0]["cross_rack_share"] is None
    assert [row["cross_rack_partitions"] for row in tables["member_metrics"]] == [None, None]
    assert (live["cross_rack_share"], live["cross_rack_bytes_per_second"]) == (None, None)
    assert live["racks_left_out"] == 4
    assert (
        live["findings"]
        == [words(each) for each in strays(one)]
        == [
            "no broker has the rack us-rack-a of 1 member (a@/10.0.0.1): its cross-rack traffic is unknown; make"
            " client.rack equal to broker.rack, which seems to be rack-a",
            "no broker has the rack zone-9 of 1 member (b@/10.0.0.1): its cross-rack traffic is unknown; make racks"
            " in a rule of evenkeel.toml one of broker.rack",
        ]
    )


@pytest.mark.parametrize(
    ("situation", "columns", "share"),
    [
        ("a broker is there, without a replica", {"racks": ("rack-c", "rack-b")}, 0.75),
        (
            "a broker's rack is unknown",
            {"racks": ("x", "rack-b"), "replicas": [[0], [1], [9], [1]]},
            2 / 3,
        ),
    ],
)
def test_a_rack_that_a_broker_has_or_may_have_is_taken_at_its_word(situation, columns, share):
    """What is read from there crosses."""
    one = _group(columns=({}, {}), **columns)

    assert [*strays(one)] == []
    assert _rows(one)["live"]["cross_rack_share"] == pytest.approx(share), situation
    assert metric_rows(Settings(), one)["group_metrics"][0]["cross_rack_share"] == pytest.approx(
        share
    )


def test_the_tradeoff_counts_what_is_read_from_leaders_where_only_these_serve():
    """As the scoreboard does, at both of its ends; a leader is moved to, wherever else replicas are."""
    one = _group(columns=({}, {}), replicas=BOTH, reads=False)
    unknown = Column.unknown(4)
    spec = spec_of(one, unknown, unknown.values * float("nan"))
    rows = _rows(one)

    assert present(spec).share == rows["live"]["cross_rack_share"] == 0.5
    ends = {each.strategy: each.corners[-1] for each in tradeoffs(spec)}
    assert (ends["min_traffic"].share, ends["min_traffic"].moves) == (0, 2)
    assert rows["min_traffic"]["cross_rack_share"] == rows["balanced"]["cross_rack_share"] == 0
    # Kafka's own looks at all replicas, and finds nothing to gain
    assert rows["range"]["cross_rack_share"] == 0.5
