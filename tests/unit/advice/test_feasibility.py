"""Who can run what, and what an owner would have to do for it."""

from __future__ import annotations

from dataclasses import replace

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
            "no members (Empty): it only commits, as consumers do that call assign()",
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
        ({}, ""),
        ({"group_type": "streams"}, "a Streams group (KIP-1071)"),
        ({"assignor": "stream"}, "a Kafka Streams application"),
    ],
)
def test_an_application_takes_no_strategy_for_partitions_but_is_not_blocked(columns, reason):
    """Its tasks can be placed; what `range` would do with its partitions is no question. Nor is an ordinary group."""
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


DEPLOYMENTS = {name: one.deployment for name, one in ASSIGNORS.items()}


def _three(*, assignor="range", follows=None, **columns):
    """A group of three members, c1 to c3, on hosts of their own."""
    told = {} if follows is None else {"follows": follows}
    if "group_type" in columns:
        told["kind"] = "consumer"
    members = [
        member(f"c{i}", ["t"], {"t": [i - 1]}, client_host=f"/10.0.0.{i}", **told)
        for i in (1, 2, 3)
    ]
    made = group("g", members=members, assignor=assignor, **columns)
    return groups(make_snapshot(topics=[topic("t", 3)], groups=[made]))[0]


def _judged(strategy, assignors, *, deployment=Deployment.SETTING, assignor="range"):
    return feasibility(_three(assignor=assignor), strategy, deployment, assignors)


def _fits(said, wanted):
    """Whether a text is the wanted one; three dots at an end stand for whatever else is there."""
    bare = wanted.removeprefix("...").removesuffix("...")
    begins = wanted.startswith("...") or said.startswith(bare)
    return begins and (wanted.endswith("...") or said.endswith(bare)) and bare in said


CAN, COULD, NOT_DEPLOYABLE = (
    Feasibility.AVAILABLE,
    Feasibility.NEEDS_RESTART,
    Feasibility.NOT_DEPLOYABLE,
)
JAVA = "org.apache.kafka.clients.consumer."
ROUNDROBIN, SHIPPED = (
    f"{JAVA}RoundRobinAssignor",
    "io.evenkeel.EvenkeelLagAwareAssignor",
)
KIP_848 = {"group_type": "consumer"}
RUNS, NOBODY = "the current strategy", "no member lists it"
BOUNCE, ADDING = "after two rolling restarts that add it", "after one rolling restart that adds it"
FIRST = "after one rolling restart that puts it first"
ALONE = "after one rolling restart that lists it as the only entry"
ELECTED = "all 3 members list it, but range is elected (3 of 3 votes)"


@pytest.mark.parametrize(
    ("runs_now", "strategy", "assignors", "expected", "why", "how"),
    [
        # client-side ones of classic groups
        ("range", "range", None, CAN, RUNS, ["...restart one member..."]),
        (
            "range",
            "roundrobin",
            None,
            COULD,
            ADDING,
            [f"...{ROUNDROBIN},{JAVA}RangeAssignor...", f"...only {ROUNDROBIN} removes range..."],
        ),
        (
            "range",
            "roundrobin",
            ("range", "roundrobin"),
            COULD,
            f"{FIRST}; {ELECTED}",
            [
                f"Put {ROUNDROBIN} first in partition.assignment.strategy: one rolling restart;"
                " 2 of 3 members suffice."
            ],
        ),
        # Java's default list: beside an eager one its members would stay eager
        (
            "range",
            COOPERATIVE,
            ("RangeAssignor", "CooperativeStickyAssignor"),
            COULD,
            f"{ALONE}; {ELECTED}",
            [f"Set partition.assignment.strategy to {JAVA}CooperativeSticky..."],
        ),
        (
            "range",
            COOPERATIVE,
            ("range",),
            COULD,
            f"{BOUNCE}; {NOBODY}",
            ["Two rolling restarts: first ..."],
        ),
        (
            COOPERATIVE,
            COOPERATIVE,
            (COOPERATIVE, "range"),
            CAN,
            f"{RUNS}; listed with eager strategies, it reassigns all partitions in each rebalance",
            [f"Set partition.assignment.strategy to {JAVA}CooperativeSticky..."],
        ),
        # KIP-169's class has to be shipped, and is known on the wire as lag
        (
            "range",
            "lag-aware",
            ("range",),
            COULD,
            f"{ADDING}, with its class on every member; {NOBODY}",
            [f"Add {SHIPPED} to the classpath ..."],
        ),
        ("lag", "lag-aware", None, CAN, RUNS, []),
        # what nothing here emulates is kept by name, its class left to its owner
        ("acme", "live", None, CAN, "the current assignment, by acme: not emulated", []),
        ("range", "live", None, CAN, "the current assignment", []),
        ("acme", "range", None, COULD, ADDING, ["...RangeAssignor,<class of acme>..."]),
        # plans: nobody is promised what nobody can deploy, and whoever lists the follower has it
        (
            "range",
            "balanced",
            None,
            NOT_DEPLOYABLE,
            "needs a stored plan, and no member lists evenkeel-plan",
            ["...`evenkeel elect --group g --to evenkeel-plan`..."],
        ),
        (
            "range",
            "balanced",
            ("range", "evenkeel-plan"),
            COULD,
            f"{ALONE}; {ELECTED}",
            [
                "...io.evenkeel.EvenkeelPlanAssignor as the only entry...",
                "...then restart one member.",
            ],
        ),
        # server-side ones are for KIP-848 groups, which take no other; `range` on the wire is range-server there
        (
            "range",
            "uniform",
            None,
            NOT_DEPLOYABLE,
            "classic group: its leader assigns, so server-side strategies don't apply",
            [],
        ),
        (
            KIP_848 | {"assignor": "range"},
            "range",
            None,
            NOT_DEPLOYABLE,
            "KIP-848 group: the broker assigns, so client-side strategies don't apply",
            [],
        ),
        (KIP_848 | {"assignor": "range"}, "range-server", None, CAN, RUNS, []),
        (KIP_848 | {"assignor": "uniform"}, "uniform", None, CAN, RUNS, []),
        (
            KIP_848 | {"assignor": "uniform"},
            "range-server",
            None,
            COULD,
            "members can request it",
            ["...group.remote.assignor=range..."],
        ),
        (KIP_848 | {"assignor": "evenkeel-racks"}, "racks-server", None, CAN, RUNS, []),
        # who does not list it is named, by pattern of client id or host; nothing is made up for the rest
        (
            "range",
            "sticky",
            {"c1": ("range", "sticky"), "10.0.0.2": ("sticky", "range"), "*": ("range",)},
            COULD,
            f"{ADDING}; 1 of 3 members does not list it (c3@/10.0.0.3)",
            [],
        ),
        (
            "range",
            "sticky",
            {"/10.0.0.1": ("range", "sticky"), "*": ("range",)},
            COULD,
            f"{ADDING}; 2 of 3 members do not list it (c2@/10.0.0.2, c3@/10.0.0.3)",
            [],
        ),
        ("range", "sticky", ("range",), COULD, f"{ADDING}; {NOBODY}", []),
        (
            "range",
            "sticky",
            {"c1": ("range",), "c2": ("range", "sticky")},
            COULD,
            f"{ADDING}; 1 of 3 members does not list it (c1@/10.0.0.1); the lists of 1 of 3 members are not known",
            [],
        ),
    ],
)
def test_who_can_run_what_and_how(runs_now, strategy, assignors, expected, why, how):
    """By what the group is and what its members list; with what its owner has to do, to be copied."""
    columns = runs_now if isinstance(runs_now, dict) else {"assignor": runs_now}
    told = feasibility(_three(**columns), strategy, DEPLOYMENTS[strategy], assignors)

    assert (told.feasibility, why_of(told)) == (expected, why)
    assert [part for part in how if not _fits(how_of(told), part)] == []
    assert ("classpath" in how_of(told)) is (strategy == "lag-aware" and expected is COULD)


def test_members_are_told_apart_by_instance_id_and_a_long_list_of_them_is_cut():
    """The pattern of a static member's id; three are named, the rest is counted."""

    def judged(members, lists):
        made = group("g", members=members)
        (one,) = groups(make_snapshot(topics=[topic("t", 1)], groups=[made]))
        return why_of(feasibility(one, "sticky", assignors=lists))

    static = [member("c1", ["t"], {"t": [0]}, instance_id="box-7")]
    many = [member(f"c{i}", ["t"], client_host="/h") for i in range(9)]

    assert "list it, but range is elected" in judged(static, {"box-*": ("range", "sticky")})
    told = judged(many, {"c8": ("range", "sticky"), "*": ("range",)})
    assert told.endswith("8 of 9 members do not list it (c0@/h, c1@/h, c2@/h and 5 more)")


@pytest.mark.parametrize(
    ("situation", "strategy", "racks", "replicas", "told"),
    [
        ("nobody tells", "range", [None, None], [[0], [1]], True),
        ("all tell", "range", ["rack-a", "rack-b"], [[0], [1]], False),
        ("on every rack", "range", [None, None], [[0, 1], [1, 0]], False),
        ("no look at racks", "roundrobin", [None, None], [[0], [1]], False),
        ("only evenkeel knows them", "range", ["configured", "configured"], [[0], [1]], True),
    ],
)
def test_client_rack_is_mentioned_where_it_would_count(situation, strategy, racks, replicas, told):
    """Only for a strategy that looks, partitions on different racks, and members that do not tell theirs themselves."""
    members = [
        member(f"c{i}", ["t"], {"t": [i]}, rack=rack)
        | ({"rack_source": "configured"} if rack == "configured" else {})
        for i, rack in enumerate(racks)
    ]
    topics = [topic("t", 2, replicas=replicas)]
    made = groups(make_snapshot(topics=topics, groups=[group("g", members=members)]))[0]
    said = "It uses racks only of members that set client.rack; 2 of 2 do not."

    assert (said in how_of(feasibility(made, strategy))) is told, situation


@pytest.mark.parametrize(
    ("assignors", "reason", "reporting_nothing"),
    [
        ((COOPERATIVE,), "the current strategy", set()),
        (
            (COOPERATIVE, "range"),
            "the current strategy; listed with eager strategies, it reassigns all partitions in each rebalance",
            {"c1", "c2", "c3"},
        ),
        (
            {"c2": (COOPERATIVE, "sticky"), "*": (COOPERATIVE,)},
            "the current strategy; 1 of 3 members (c2@/10.0.0.2) lists an eager strategy with it: "
            "all of their partitions are reassigned in each rebalance",
            {"c2"},
        ),
        ({"c1": (COOPERATIVE, "range")}, "the current strategy", set()),
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
    ("assignors", "doubt"),
    [
        (("sticky", "range"), "it runs range, but its lists elect sticky: check them"),
        (
            ("sticky",),
            "it runs range, which is missing in the lists of c1@/10.0.0.1, c2@/10.0.0.2, c3@/10.0.0.3",
        ),
        (
            {"c2": ("sticky",)},
            "it runs range, which is missing in the lists of c2@/10.0.0.2: check them",
        ),
    ],
)
def test_lists_that_contradict_what_it_runs_are_not_relied_on(assignors, doubt):
    """Both strategies' rows say so, and the way is the one for lists that are not known."""
    other, own = _judged("sticky", assignors), _judged("range", assignors)

    assert why_of(other).startswith(f"{ADDING}; {doubt}")
    assert doubt in why_of(own)
    assert own.feasibility is Feasibility.AVAILABLE
    assert how_of(other).startswith("One rolling restart")


@pytest.mark.parametrize(
    ("strategy", "deployment"),
    [
        ("balanced", Deployment.PLAN),
        ("min_traffic", Deployment.BASELINE),
        ("lag-aware", Deployment.CLASS),
        ("of-my-own", Deployment.CLASS),
        ("range", Deployment.SETTING),
    ],
)
def test_a_group_that_follows_plans_can_run_what_a_plan_can_hold(strategy, deployment):
    """Any of ours; what it follows now is what its leader says."""
    following = _three(assignor="evenkeel-plan", follows="balanced")
    told = feasibility(following, strategy, deployment, None)

    assert (told.feasibility, told.deployment) == (Feasibility.AVAILABLE, Deployment.PLAN)
    runs_it = strategy == "balanced"
    assert why_of(told) == ("the current strategy" if runs_it else "its members follow plans")
    assert how_of(told).startswith(
        f"Write the plan with `evenkeel plan --group g --strategy {strategy}`, copy"
    )
    assert runs(following, strategy) is runs_it
    assert runs(following, "range") is False


def test_a_plan_holds_what_members_decide_and_classes_where_they_only_list_the_follower():
    """Brokers' strategies are theirs still; a stock setting needs no plan before the group follows one."""
    following = _three(assignor="evenkeel-plan", follows="balanced")
    assert feasibility(following, "uniform").feasibility is NOT_DEPLOYABLE
    assert feasibility(following, "evenkeel-plan", Deployment.CLASS).deployment is None

    ways = {
        strategy: _judged(strategy, ("range", "evenkeel-plan"), deployment=deployment)
        for strategy, deployment in DEPLOYMENTS.items()
        if strategy in ("lag-aware", "balanced", "sticky")
    }
    assert {name: told.deployment for name, told in ways.items()} == {
        "sticky": None,
        "lag-aware": Deployment.PLAN,
        "balanced": Deployment.PLAN,
    }
    assert ways["lag-aware"].feasibility is COULD
    assert "Ship" not in how_of(ways["lag-aware"])


@pytest.mark.parametrize(
    ("client_id", "strategy", "why", "how"),
    [
        ("rdkafka", "fair", "1 of 2 members is of librdkafka, which has no such strategy", ""),
        ("rdkafka", "sticky", "1 of 2 members is of librdkafka, which has no such strategy", ""),
        (
            "kafka-python-3.0.12",
            "lag-aware",
            "1 of 2 members is of kafka-python, which",
            "Its members have to",
        ),
        ("rdkafka", "roundrobin", None, None),
        ("consumer-g-1", "fair", None, None),
    ],
)
def test_what_the_library_of_a_member_is_known_to_lack_is_no_way(client_id, strategy, why, how):
    """By the ids that libraries give; a plan is the way where the library has a follower."""
    members = [member("a", ["t"], {"t": [0]}, client_id=one) for one in (client_id, "web")]
    told = feasibility(_group(members=members), strategy, DEPLOYMENTS[strategy])

    assert (told.feasibility is NOT_DEPLOYABLE) is (why is not None)
    if why is not None:
        assert why_of(told).startswith(why)
        assert (how_of(told) or "").startswith(how)


def test_no_broker_follows_a_plan():
    """A KIP-848 group is not asked what its members list."""
    consumer = replace(_three(assignor="evenkeel-plan"), type=GroupType.CONSUMER)
    for strategy, deployment in (
        ("balanced", Deployment.PLAN),
        ("min_traffic", Deployment.BASELINE),
    ):
        told = feasibility(consumer, strategy, deployment, None)
        assert (told.feasibility, told.deployment) == (Feasibility.NOT_DEPLOYABLE, None)


@pytest.mark.parametrize(
    ("assignors", "strategy", "expected", "why"),
    [
        (["uniform", "evenkeel-racks"], "racks-server", "needs restart", "members can request it"),
        (
            ["uniform", "range"],
            "racks-server",
            "not deployable here",
            "not all brokers list evenkeel-racks in",
        ),
        (
            None,
            "racks-server",
            "not deployable here",
            "not known if the brokers have evenkeel-racks",
        ),
        (["uniform"], "range-server", "not deployable here", "not all brokers list range in"),
        (None, "range-server", "needs restart", "members can request it"),
    ],
)
def test_members_can_ask_for_what_every_broker_has(assignors, strategy, expected, why):
    """As far as that may be known; Kafka's own are there unless brokers say otherwise."""
    served = _group(group_assignors=assignors, group_type="consumer", assignor="uniform")

    told = feasibility(served, strategy)

    assert told.feasibility == expected
    assert why_of(told).startswith(why)


def test_a_group_in_migration_takes_what_its_broker_has():
    """Members of both kinds: server-side strategies only, and the classic ones have no say."""
    kinds = [member("a", ["t"], {"t": [0]}), member("b", ["t"], kind="consumer")]
    both = _group(members=kinds, group_type="consumer", assignor="uniform")

    told = feasibility(both, "range-server")

    assert why_of(told) == "members can request it; 1 of 2 still use the classic protocol and can't"
    assert feasibility(both, "sticky").feasibility is Feasibility.NOT_DEPLOYABLE


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
