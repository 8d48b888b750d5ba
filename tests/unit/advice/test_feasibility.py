"""Who can run what, and what an owner would have to do for it."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest

from evenkeel.engine.advice import Feasibilities, blocked, runs, unfit
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.model.assignments import Deployment, Feasibility
from evenkeel.engine.model.states import GroupType
from tests.helpers.facts import how_of, told, why_of
from tests.helpers.snapshots import change, group, groups, make_snapshot, member, topic

COOPERATIVE = "cooperative-sticky"


def feasibility(group, strategy, deployment=Deployment.SETTING, assignors=None):
    """Whether a group could run a strategy."""
    return Feasibilities(group, assignors).of(strategy, deployment)


def _group(group_assignors=None, **columns):
    columns = {"members": [member("a", ["t"], {"t": [0]})]} | columns
    made, topics = group("g", **columns), [topic("t", 1)]
    return groups(make_snapshot(topics=topics, groups=[made], group_assignors=group_assignors))[0]


@pytest.mark.parametrize(
    ("situation", "columns", "reason"),
    [
        ("unreadable", {"error": "GROUP_AUTHORIZATION_FAILED"}, "could not be read: GROUP_AUTH"),
        ("rebalancing", {"state": "PreparingRebalance"}, "rebalancing (PreparingRebalance)"),
        ("reconciling", {"state": "Reconciling", "group_type": "consumer"}, "rebalancing (Reconc"),
        ("empty", {"members": []}, "no members (Empty)"),
        (
            "assign()",
            {"members": [], "committed": {"t": 5}, "protocol_type": None},
            "no members (Empty): it only commits, as consumers that call assign() do",
        ),
        ("share", {"group_type": "share"}, "a share group"),
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
    assert (told(blocked(_group(**columns))) or "").startswith(reason), situation


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"group_type": "streams"}, "a KIP-1071 Streams group"),
        ({"assignor": "stream"}, "a Kafka Streams application"),
    ],
)
def test_an_application_takes_no_strategy_for_partitions_but_is_not_blocked(columns, reason):
    """Its tasks can be placed; what `range` would do with its partitions is no question."""
    application = _group(**columns)

    assert blocked(application) is None
    assert (told(unfit(application)) or "").startswith(reason)


def test_a_gap_in_a_topics_partitions_blocks_the_group():
    """Strategies would take partition 2 for partition 1."""
    snapshot = make_snapshot(topics=[topic("t", 3)], groups=[group("g", members=1, topics=["t"])])

    def lose(rows):
        return [row for row in rows if row["partition"] != 1]

    damaged = groups(change(change(snapshot, "partitions", lose), "members", disown))[0]

    assert told(blocked(damaged)) == "partition rows of t are missing"


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
            "listed by all, not elected",
            {"assignor": "range"},
            "roundrobin",
            ("range", "roundrobin"),
            Feasibility.COULD_RUN,
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
    judgement = feasibility(_group(**columns), strategy, Deployment.SETTING, listed)

    assert expected is judgement.feasibility, situation
    assert judgement.reason


def test_a_double_bounce_names_both_classes():
    """The owner can copy the settings."""
    how = how_of(feasibility(_group(assignor="range"), "roundrobin"))

    assert "RoundRobinAssignor,org.apache.kafka.clients.consumer.RangeAssignor" in how
    assert "then org.apache.kafka.clients.consumer.RoundRobinAssignor alone" in how


def test_a_group_that_runs_the_strategy_needs_a_rebalance_only() -> None:
    """An assignment that drifted is mended without any setting."""
    how = how_of(feasibility(_group(assignor="range"), "range"))

    assert "restart one member" in how


def test_the_server_side_range_is_not_the_client_side_one():
    """A KIP-848 group that says `range` on the wire runs range-server."""
    served = _group(group_type="consumer", assignor="range")

    assert feasibility(served, "range-server").feasibility is Feasibility.CAN_RUN
    assert feasibility(served, "range").feasibility is Feasibility.YARDSTICK


def _three(*, assignor="range", **columns):
    """A group of three members, c1 to c3, on hosts of their own."""
    members = [
        member(f"c{i}", ["t"], {"t": [i - 1]}, client_host=f"/10.0.0.{i}", **columns)
        for i in (1, 2, 3)
    ]
    made = group("g", members=members, assignor=assignor)
    return groups(make_snapshot(topics=[topic("t", 3)], groups=[made]))[0]


def _judged(strategy, assignors, *, deployment=Deployment.SETTING, assignor="range"):
    return feasibility(_three(assignor=assignor), strategy, deployment, assignors)


def test_a_strategy_that_all_list_has_to_be_put_first():
    """The election says what keeps it from running: the votes."""
    told = _judged("roundrobin", ("range", "roundrobin"))

    assert why_of(told) == (
        "after one rolling restart that puts it first; "
        "all 3 members list it, but range is elected (3 of 3 votes)"
    )
    assert how_of(told) == (
        "Put org.apache.kafka.clients.consumer.RoundRobinAssignor first in partition.assignment.strategy, "
        "one rolling restart; 2 of 3 members are enough."
    )


def test_a_cooperative_strategy_that_all_list_has_to_stand_alone():
    """Beside an eager one its members would stay eager; Java's default list is such a case."""
    told = _judged("cooperative-sticky", ("RangeAssignor", "CooperativeStickyAssignor"))

    assert why_of(told).startswith("after one rolling restart that lists it alone; all 3 members")
    assert how_of(told).startswith("List org.apache.kafka.clients.consumer.CooperativeSticky")


@pytest.mark.parametrize(
    ("assignors", "reason", "reporting_nothing"),
    [
        ((COOPERATIVE,), "the strategy it runs", set()),
        (
            (COOPERATIVE, "range"),
            "the strategy it runs; listed beside eager ones, it starts afresh at every rebalance",
            {"c1", "c2", "c3"},
        ),
        (
            {"c2": (COOPERATIVE, "sticky"), "*": (COOPERATIVE,)},
            "the strategy it runs; 1 of 3 members (c2@/10.0.0.2) lists an eager one beside it: "
            "what they own starts afresh at every rebalance",
            {"c2"},
        ),
        (
            {"c1": (COOPERATIVE, "range")},
            "the strategy it runs",
            set(),
        ),
    ],
)
def test_a_member_with_an_eager_strategy_beside_a_cooperative_one_forgets(
    assignors, reason, reporting_nothing
):
    """A Java member does what all of its list can do (KIP-429); where a list is unknown nothing is presumed."""
    told = _judged(COOPERATIVE, assignors, assignor=COOPERATIVE)

    assert (why_of(told), {m.split("-")[0] for m in told.reporting_nothing}) == (
        reason,
        reporting_nothing,
    )


@pytest.mark.parametrize(
    ("assignors", "reason"),
    [
        (
            {"c1": ("range", "sticky"), "10.0.0.2": ("sticky", "range"), "*": ("range",)},
            "after one rolling restart that adds it; 1 of 3 members does not list it (c3@/10.0.0.3)",
        ),
        (
            {"/10.0.0.1": ("range", "sticky"), "*": ("range",)},
            "after one rolling restart that adds it; "
            "2 of 3 members do not list it (c2@/10.0.0.2, c3@/10.0.0.3)",
        ),
        (("range",), "after one rolling restart that adds it; no member lists it"),
        (
            {"c1": ("range",), "c2": ("range", "sticky")},
            "after a double bounce that adds it; 1 of 3 members does not list it (c1@/10.0.0.1); "
            "what 1 of 3 members list is not known",
        ),
        (None, "after a double bounce that adds it"),
    ],
)
def test_who_does_not_list_it_is_named(assignors, reason):
    """Lists come by pattern of client id or host; the first that fits counts, and nothing is made up for the rest."""
    assert why_of(_judged("sticky", assignors)) == reason


def test_members_can_be_told_apart_by_instance_id():
    """The pattern of a static member's id."""
    static = groups(
        make_snapshot(
            topics=[topic("t", 1)],
            groups=[group("g", members=[member("c1", ["t"], {"t": [0]}, instance_id="box-7")])],
        )
    )[0]

    told = feasibility(static, "sticky", Deployment.SETTING, {"box-*": ("range", "sticky")})

    assert "list it, but range is elected" in why_of(told)


def test_a_cooperative_strategy_that_nobody_lists_takes_a_double_bounce():
    """Even where the lists are known."""
    told = _judged("cooperative-sticky", ("range",))

    assert why_of(told) == "after a double bounce that adds it; no member lists it"
    assert how_of(told).startswith("Two rolling restarts: first ")


@pytest.mark.parametrize(
    ("assignors", "doubt"),
    [
        (("sticky", "range"), "it runs range, but the lists elect sticky: check them"),
        (
            ("sticky",),
            "it runs range, which the lists of c1@/10.0.0.1, c2@/10.0.0.2, c3@/10.0.0.3 leave out",
        ),
        (
            {"c2": ("sticky",)},
            "it runs range, which the lists of c2@/10.0.0.2 leave out: check them",
        ),
    ],
)
def test_lists_that_contradict_what_it_runs_are_not_relied_on(assignors, doubt):
    """Both strategies' rows say so, and the way is the one for lists that are not known."""
    other, own = _judged("sticky", assignors), _judged("range", assignors)

    assert why_of(other).startswith(f"after a double bounce that adds it; {doubt}")
    assert doubt in why_of(own)
    assert own.feasibility is Feasibility.CAN_RUN
    assert how_of(other).startswith("Two rolling restarts")


def test_a_long_list_of_members_is_cut():
    """Three are named, the rest is counted."""
    members = [member(f"c{i}", ["t"], client_host="/h") for i in range(9)]
    made = groups(make_snapshot(topics=[topic("t", 1)], groups=[group("g", members=members)]))[0]

    told = feasibility(
        made, "sticky", Deployment.SETTING, {"c8": ("range", "sticky"), "*": ("range",)}
    )

    assert why_of(told).endswith("8 of 9 members do not list it (c0@/h, c1@/h, c2@/h and 5 more)")


def test_a_cooperative_strategy_beside_an_eager_one_starts_afresh_each_time():
    """It runs, but without what it is chosen for; one restart mends that."""
    lists = ("cooperative-sticky", "range")
    told = _judged("cooperative-sticky", lists, assignor="cooperative-sticky")

    assert told.feasibility is Feasibility.CAN_RUN
    assert "listed beside eager ones" in why_of(told)
    assert how_of(told).startswith("List org.apache.kafka.clients.consumer.CooperativeSticky")


def test_a_class_has_to_be_shipped_and_is_named():
    """KIP-169's is known on the wire as lag."""
    told = _judged("lag-aware", ("range",), deployment=Deployment.CLASS)

    assert why_of(told) == (
        "after one rolling restart that adds it and ships its class with every member; no member lists it"
    )
    assert how_of(told).startswith("Ship com.github.grantneale.kafka.LagBasedPartitionAssignor ")
    assert (
        why_of(_judged("lag-aware", None, deployment=Deployment.CLASS, assignor="lag"))
        == "the strategy it runs"
    )


def test_a_plan_is_a_yardstick_until_something_follows_it():
    """Nothing is promised that nobody can deploy."""
    told = _judged("balanced", None, deployment=Deployment.PLAN)

    assert told.feasibility is Feasibility.YARDSTICK
    assert "no member lists evenkeel-plan" in why_of(told)
    assert "`evenkeel elect GROUP --to evenkeel-plan`" in how_of(told)


@pytest.mark.parametrize(
    ("strategy", "deployment"),
    [("balanced", Deployment.PLAN), ("min_traffic", Deployment.YARDSTICK)],
)
def test_a_group_that_follows_plans_can_run_what_a_plan_can_hold(strategy, deployment):
    """Any of ours; what it follows now is what its leader says."""
    following = _three(assignor="evenkeel-plan", follows="balanced")
    told = feasibility(following, strategy, deployment, None)

    assert (told.feasibility, told.deployment) == (Feasibility.CAN_RUN, Deployment.PLAN)
    runs_it = strategy == "balanced"
    assert why_of(told) == ("the strategy it runs" if runs_it else "its members follow plans")
    assert how_of(told).startswith(f"`evenkeel plan GROUP --strategy {strategy}` writes the plan")
    assert runs(following, strategy) is runs_it
    assert runs(following, "range") is False


def test_a_group_whose_members_list_the_follower_needs_a_restart_and_a_plan():
    """Nothing has to be shipped: whoever lists it has it."""
    told = _judged("balanced", ("range", "evenkeel-plan"), deployment=Deployment.PLAN)

    assert (told.feasibility, told.deployment) == (Feasibility.COULD_RUN, Deployment.PLAN)
    assert how_of(told).startswith("List io.evenkeel.EvenkeelPlanAssignor alone in")
    assert how_of(told).endswith("then restart one member.")
    assert "Ship" not in how_of(told)


def test_no_broker_follows_a_plan():
    """A KIP-848 group is not asked what its members list."""
    consumer = replace(_three(assignor="evenkeel-plan"), type=GroupType.CONSUMER)
    for strategy, deployment in (
        ("balanced", Deployment.PLAN),
        ("min_traffic", Deployment.YARDSTICK),
    ):
        told = feasibility(consumer, strategy, deployment, None)
        assert (told.feasibility, told.deployment) == (Feasibility.YARDSTICK, None)


def test_a_protocol_that_nothing_here_emulates_is_kept_by_name():
    """The live row says so; its class is left to its owner."""
    odd = _three(assignor="acme")

    assert why_of(feasibility(odd, "live", Deployment.LIVE, None)) == (
        "what the group has now, by acme: not emulated"
    )
    assert why_of(feasibility(_three(), "live", Deployment.LIVE, None)) == "what the group has now"
    assert "RangeAssignor,<class of acme>" in how_of(feasibility(odd, "range"))


@pytest.mark.parametrize(
    ("assignors", "strategy", "expected", "why"),
    [
        (["uniform", "evenkeel-racks"], "racks-server", "could run", "members may ask for it"),
        (
            ["uniform", "range"],
            "racks-server",
            "yardstick",
            "not every broker lists evenkeel-racks in",
        ),
        (None, "racks-server", "yardstick", "whether brokers have evenkeel-racks is not known: it"),
        (["uniform"], "range-server", "yardstick", "not every broker lists range in"),
        (None, "range-server", "could run", "members may ask for it"),
    ],
)
def test_members_can_ask_for_what_every_broker_has(assignors, strategy, expected, why):
    """As far as that may be known; Kafka's own are there unless brokers say otherwise."""
    served = _group(group_assignors=assignors, group_type="consumer", assignor="uniform")

    told = feasibility(served, strategy)

    assert told.feasibility == expected
    assert why_of(told).startswith(why)


def test_who_runs_our_assignor_for_brokers_is_known():
    """Whatever brokers tell."""
    served = _group(group_type="consumer", assignor="evenkeel-racks")

    told = feasibility(served, "racks-server")

    assert told.feasibility is Feasibility.CAN_RUN


def test_a_group_in_migration_takes_what_its_broker_has():
    """Members of both kinds: server-side strategies only, and the classic ones have no say."""
    kinds = [member("a", ["t"], {"t": [0]}), member("b", ["t"], kind="consumer")]
    both = _group(members=kinds, group_type="consumer", assignor="uniform")

    told = feasibility(both, "range-server")

    assert (
        why_of(told) == "members may ask for it; 1 of 2 still use the classic protocol and cannot"
    )
    assert feasibility(both, "sticky").feasibility is Feasibility.YARDSTICK


RACKS = "It looks at the racks only of members that set client.rack; 2 of 2 do not."


@pytest.mark.parametrize(
    ("situation", "strategy", "racks", "replicas", "told"),
    [
        ("nobody tells", "range", [None, None], [[0], [1]], True),
        ("all tell", "range", ["rack-a", "rack-b"], [[0], [1]], False),
        ("on every rack", "range", [None, None], [[0, 1], [1, 0]], False),
        ("no look at racks", "roundrobin", [None, None], [[0], [1]], False),
    ],
)
def test_client_rack_is_mentioned_where_it_would_count(situation, strategy, racks, replicas, told):
    """Only for a strategy that looks, partitions on different racks, and members that do not tell theirs."""
    members = [member(f"c{i}", ["t"], {"t": [i]}, rack=rack) for i, rack in enumerate(racks)]
    topics = [topic("t", 2, replicas=replicas)]
    made = groups(make_snapshot(topics=topics, groups=[group("g", members=members)]))[0]

    how = how_of(feasibility(made, strategy))

    assert (RACKS in how) is told, situation


def test_a_configured_rack_is_none_that_kafka_sees():
    """evenkeel replays with it; the member has to send it before Kafka's class does."""
    members = [member(f"c{i}", ["t"], rack="rack-a", rack_source="configured") for i in (0, 1)]
    topics = [topic("t", 2, replicas=[[0], [1]])]
    made = groups(make_snapshot(topics=topics, groups=[group("g", members=members)]))[0]

    assert RACKS in how_of(feasibility(made, "range"))


@pytest.mark.parametrize(
    ("situation", "columns", "assignors"),
    [
        ("lists not known", {"assignor": "range"}, None),
        ("lists that elect it", {"assignor": "range"}, ("range", "cooperative-sticky", "sticky")),
        ("lists that elect another", {"assignor": "range"}, ("sticky", "range")),
        ("lists of some", {"assignor": "sticky"}, {"a": ("sticky", "range")}),
        ("eager beside cooperative", {"assignor": COOPERATIVE}, (COOPERATIVE, "range")),
        ("a protocol of the user's", {"assignor": "acme"}, ("acme",)),
        ("server side", {"assignor": "uniform", "group_type": "consumer"}, None),
    ],
)
def test_all_strategies_of_a_group_are_judged_as_one_by_one(situation, columns, assignors):
    """What they share is worked out once, in whatever order they are asked for, and none changes it for the next."""
    members = [member(name, ["t"], {"t": [place]}) for place, name in enumerate("ab")]
    topics = [topic("t", 2, replicas=[[0], [1]])]
    made = group("g", members=members, **columns)
    asked = groups(make_snapshot(topics=topics, groups=[made]))[0]
    known = Feasibilities(asked, assignors)

    each = [(strategy.name, strategy.deployment) for strategy in ASSIGNORS.values()]
    for name, deployment in [*each, *reversed(each)]:
        alone = feasibility(asked, name, deployment, assignors)
        assert known.of(name, deployment) == alone, f"{situation}: {name}"


def test_what_members_list_is_asked_once_for_all_strategies(monkeypatch):
    """One look at the lists serves every strategy of the group."""
    judging = import_module(Feasibilities.__module__)
    asked, lists_of = [], judging.lists_of

    def counted(members, assignors):
        asked.append(assignors)
        return lists_of(members, assignors)

    monkeypatch.setattr(judging, "lists_of", counted)
    known = Feasibilities(_three(), ("range", "sticky"))
    for strategy in ASSIGNORS.values():
        known.of(strategy.name, strategy.deployment)

    assert asked == [("range", "sticky")]
