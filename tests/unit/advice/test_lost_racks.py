"""KIP-848 groups whose members tell racks that nobody looks at."""

from __future__ import annotations

import pytest

from evenkeel.engine.advice import decide
from evenkeel.engine.advice.lost_racks import leaders_only, lost_rack_awareness
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec_of
from evenkeel.engine.config import Policy, Rule, Settings
from evenkeel.engine.messages.wording import words
from evenkeel.engine.model.arrays import Column
from evenkeel.engine.model.errors import Infeasible
from evenkeel.engine.pipeline.replay import replay_group
from evenkeel.engine.pipeline.stored_metrics import measured_at_once
from evenkeel.engine.snapshots.groups_with_past import BatchWithPast
from tests.helpers.measuring import metric_rows, proposed
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic

ON = {"rack": "rack-a", "rack_source": "describe"}, {"rack": "rack-b", "rack_source": "describe"}
ACROSS = {"a": [1, 2], "b": [0, 3]}
NEAR = {"a": [0, 2], "b": [1, 3]}


def _group(
    owned,
    racks=ON,
    replicas=((0,), (1,), (0,), (1,)),
    follower_fetching=None,
    group_assignors=None,
    topic_columns=None,
    number=0,
    **columns,
):
    """Two members on four partitions; unless told otherwise 0 and 2 lie on rack a, 1 and 3 on rack b."""
    members = [
        member(name, ["t"], {"t": owned[name]}, **where)
        for name, where in zip("ab", racks, strict=True)
    ]
    snapshot = make_snapshot(
        number=number,
        follower_fetching=follower_fetching,
        group_assignors=group_assignors,
        topics=[topic("t", 4, replicas=[list(each) for each in replicas], **topic_columns or {})],
        groups=[
            group(
                "g", members=members, **{"group_type": "consumer", "assignor": "uniform"} | columns
            )
        ],
    )
    return groups(snapshot)[0]


def _found(one):
    nothing = Column.unknown(len(one.partitions))
    spec = spec_of(one, nothing, nothing.values * float("nan"))
    try:
        least = ASSIGNORS["min_traffic"].assign(spec)
    except Infeasible:
        least = None
    return lost_rack_awareness(one, spec, least)


def test_what_crosses_and_what_would_have_to_is_told():
    """Half of it crosses, nothing would have to; it is said of the live assignment and of no other."""
    told = _found(_group(ACROSS))

    assert told is not None
    assert words(told).startswith(
        "lost rack awareness: 50% of its partitions are read across racks, 0% is possible"
    )
    findings = {
        row["strategy"]: row["findings"]
        for row in proposed(Settings(), _group(ACROSS), ask_next_change=False)
    }
    assert {name: said for name, said in findings.items() if said} == {"live": [words(told)]}


COMMAND = (
    "evenkeel's assignor for brokers does: `evenkeel runbook --group g --strategy racks-server`"
)


@pytest.mark.parametrize(
    ("assignors", "cure"),
    [
        (None, COMMAND),
        (["uniform"], COMMAND),
        (["uniform", "evenkeel-racks"], "racks-server, which they list, does"),
    ],
)
def test_the_cure_is_named(assignors, cure):
    """Ours, by how far away it is."""
    told = _found(_group(ACROSS, group_assignors=assignors))

    assert told is not None
    assert words(told).endswith(f"don't use racks, although all members send theirs; {cure}")


@pytest.mark.parametrize(
    ("situation", "owned", "racks", "columns"),
    [
        ("ours assigns", ACROSS, ON, {"assignor": "evenkeel-racks"}),
        ("nothing crosses", NEAR, ON, {}),
        ("its leader assigns", ACROSS, ON, {"group_type": "classic", "assignor": "range"}),
        ("a member tells no rack", ACROSS, (ON[0], {}), {}),
        ("only we know a rack", ACROSS, (ON[0], ON[1] | {"rack_source": "configured"}), {}),
        ("it rebalances", ACROSS, ON, {"state": "Reconciling"}),
        ("all in one rack", {"a": [0, 1], "b": [2, 3]}, (ON[0], ON[0]), {}),
    ],
)
def test_there_is_nothing_to_find(situation, owned, racks, columns):
    """Racks are looked at, unknown, or of no use."""
    assert _found(_group(owned, racks, **columns)) is None, situation


BOTH = ((0, 1), (1, 0), (0, 1), (1, 0))
"""Every partition on both racks, the leader in turn."""


PLAIN = {"cleanup_policy": "delete"}


def _racks_of(one):
    nothing = Column.unknown(len(one.partitions))
    return leaders_only(one, spec_of(one, nothing, nothing.values * float("nan")))


def test_reads_that_only_leaders_serve_are_told():
    """Replicas are near everybody, and no broker lets them be read."""
    told = _racks_of(_group(ACROSS, replicas=BOTH, follower_fetching=False))

    assert told is not None
    assert words(told) == (
        "50% of its partitions are read across racks because brokers serve reads from leaders only; with"
        " replica.selector.class set to RackAwareReplicaSelector (KIP-392) it would be 0%"
    )


@pytest.mark.parametrize("follower_fetching", [True, None])
def test_it_is_not_said_of_brokers_that_are_set_or_unknown(follower_fetching):
    """Nothing is presumed."""
    assert _racks_of(_group(ACROSS, replicas=BOTH, follower_fetching=follower_fetching)) is None


def test_shares_count_what_is_read_where_only_leaders_serve():
    """The group's share, its members' and its partitions' flags go by leaders, and so does what ours would do."""
    one = _group(ACROSS, replicas=BOTH, follower_fetching=False)
    tables = metric_rows(Settings(), one, [])

    assert tables["group_metrics"][0]["cross_rack_share"] == 0.5
    assert [row["cross_rack_partitions"] for row in tables["member_metrics"]] == [1, 1]
    rows = {row["strategy"]: row for row in proposed(Settings(), one, ask_next_change=False)}
    assert (rows["live"]["cross_rack_share"], rows["min_traffic"]["cross_rack_share"]) == (0.5, 0)


@pytest.mark.parametrize(
    ("fetching", "log_bytes", "rule", "told"),
    [
        (
            None,
            900,
            {"price_per_gb": 0.02},
            "if brokers serve reads from followers",
        ),
        (True, None, {"price_per_gb": 0.02}, "the record size is unknown on 4 partitions (t)"),
        (True, None, {"price_per_gb": 0.02, "bytes_per_record": 100}, None),
        (True, 900, {"price_per_gb": 0.02}, None),
        (None, None, {}, None),
    ],
)
def test_why_a_cost_is_unknown_is_told_to_whom_set_a_price(fetching, log_bytes, rule, told):
    """With what would tell it; without a price nobody asked."""
    one = _group(
        ACROSS, follower_fetching=fetching, topic_columns={"log_bytes": log_bytes, **PLAIN}
    )
    earlier = _group(
        ACROSS, follower_fetching=fetching, number=-1, topic_columns=PLAIN | {"end": 500}
    )
    row = proposed(Settings(rules=(Rule(**rule),)), one, [earlier], ask_next_change=False)[0]

    found = [text for text in row["findings"] if "cost is unknown" in text]
    assert [told in text for text in found] == [True] * (told is not None)


@pytest.mark.parametrize(
    ("assignors", "verdict", "strategy"),
    [(["uniform", "evenkeel-racks"], "switch", "racks-server"), (["uniform"], "stay", None)],
)
def test_a_switch_to_ours_is_advised_where_brokers_have_it(assignors, verdict, strategy):
    """For what crosses racks no more, by one rolling restart; elsewhere it is possible and cannot be deployed."""
    before, now = (
        _group(
            ACROSS,
            number=number,
            group_assignors=assignors,
            follower_fetching=True,
            topic_columns=PLAIN | {"end": end, "log_bytes": 100 * end},
        )
        for number, end in enumerate((1_000, 301_000))
    )
    _, (measured,) = measured_at_once(Settings(), BatchWithPast.of(now, [before], None))
    candidates = replay_group(Settings(), measured).candidates
    advice = decide(group="g", candidates=candidates, partitions=4, policy=Policy())

    assert (advice.verdict, advice.strategy) == (verdict, strategy)
    assert advice.best_undeployable == (None if strategy else "racks-server")
    if strategy:
        assert [fact.measure for fact in advice.facts][:1] == ["cross_rack_bytes_per_second"]
        (ours,) = [each for each in candidates if each.strategy == strategy]
        assert [fact.measure for fact in ours.how] == ["ask_broker"]
