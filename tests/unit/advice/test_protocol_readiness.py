"""Which groups can move to the consumer protocol, what that costs and brings, and who goes first."""

from __future__ import annotations

import json

import pytest

from evenkeel.engine.advice.protocol_readiness import (
    in_turn,
    of_cluster,
    readiness_of,
    strategy_there,
)
from evenkeel.engine.config import Rule
from evenkeel.engine.messages.wording import words
from evenkeel.engine.model.coordinators import (
    GROUP_VERSION,
    MOST_MEMBERS_SETTING,
    POLICY_SETTING,
    PROTOCOLS_SETTING,
    coordinator_settings,
)
from tests.helpers.snapshots import change, group, groups, make_snapshot, member, topic

SERVING = {
    GROUP_VERSION: "1",
    PROTOCOLS_SETTING: "classic,consumer,streams",
    POLICY_SETTING: "bidirectional",
    MOST_MEMBERS_SETTING: "2147483647",
    "group.consumer.session.timeout.ms": "45000",
    "group.consumer.min.session.timeout.ms": "30000",
    "group.consumer.heartbeat.interval.ms": "5000",
}
OURS = ["uniform", "evenkeel-racks"]
RACKED = [{"rack": "rack-a"}, {"rack": "rack-b"}]


def made(*, brokers=SERVING, assignors=None, members=None, topics=("t",), **columns):
    """A group of two members that share the topics, on partitions of racks a and b in turn."""
    rows = [
        member(f"m-{n}", topics, {name: [n, n + 2] for name in topics}, **more)
        for n, more in enumerate(members or [{}, {}])
    ]
    snapshot = make_snapshot(
        topics=[topic(name, 4, replicas=[[0], [1], [0], [1]]) for name in topics],
        groups=[group("g", members=[] if columns.get("state") == "Empty" else rows, **columns)],
        group_assignors=assignors,
    )
    told = None if brokers is None else json.dumps(brokers)
    snapshot = change(
        snapshot, "brokers", lambda found: [row | {"group_settings": told} for row in found]
    )
    return groups(snapshot)[0]


def found(one, **rule):
    """Its readiness and all that is said of it, in words."""
    ready = readiness_of(one, Rule(**rule))
    return ready.readiness.value, [words(each) for each in ready.facts]


UNKNOWN = "the client library of 2 of 2 members is unknown"
EAGER = "no rebalance pauses all 4 partitions"
BARRIER = "members no longer wait for each other"
STREAMS = "Kafka Streams has its own protocol (KIP-1071)"


@pytest.mark.parametrize(
    ("columns", "readiness", "said"),
    [
        ({}, "ready", [EAGER, UNKNOWN]),
        ({"assignor": "roundrobin"}, "ready", [EAGER, UNKNOWN]),
        (
            {"assignor": "cooperative-sticky"},
            "ready",
            [BARRIER, UNKNOWN],
        ),
        (
            {"assignor": "acme"},
            "has losses",
            ["acme has no counterpart on brokers: uniform assigns", BARRIER, UNKNOWN],
        ),
        (
            {"assignor": "fair"},
            "has losses",
            ["fair has no counterpart on brokers: uniform assigns", EAGER, UNKNOWN],
        ),
        (
            {"state": "Empty", "assignor": None},
            "ready",
            ["the next member that joins decides the protocol"],
        ),
        ({"state": "PreparingRebalance"}, "not evaluated", ["rebalancing (PreparingRebalance)"]),
        ({"error": "no"}, "not evaluated", ["could not be read: no"]),
        ({"group_type": "consumer", "assignor": "uniform"}, "in migration", ["2 of 2 members"]),
        ({"group_type": "share"}, "not applicable", ["a share group"]),
        ({"protocol_type": "connect"}, "not applicable", ["protocol type connect"]),
        (
            {"state": "Empty", "protocol_type": "", "assignor": None},
            "not applicable",
            ["no members (Empty)"],
        ),
        ({"assignor": "stream"}, "not applicable", ["a Kafka Streams application", STREAMS]),
        ({"group_type": "streams"}, "not applicable", ["a Streams group (KIP-1071)"]),
    ],
)
def test_what_a_group_is_decides_whether_it_can_move(columns, readiness, said):
    """By its type, its state and its strategy; what cannot move says why."""
    kind, told = found(made(**columns))

    assert kind == readiness
    assert [each.startswith(start) for each, start in zip(told, said, strict=True)] == [True] * len(
        said
    ), told


@pytest.mark.parametrize(
    ("settings", "readiness", "said"),
    [
        ({GROUP_VERSION: "0"}, "blocked", "the brokers don't serve the consumer protocol"),
        ({PROTOCOLS_SETTING: "classic"}, "blocked", f"{PROTOCOLS_SETTING} of the brokers lacks"),
        ({MOST_MEMBERS_SETTING: "1"}, "blocked", f"2 members, {MOST_MEMBERS_SETTING} allows 1"),
        ({POLICY_SETTING: "downgrade"}, "needs a full stop", f"{POLICY_SETTING} doesn't allow"),
        ({POLICY_SETTING: "upgrade"}, "ready", EAGER),
    ],
)
def test_brokers_allow_it_or_not(settings, readiness, said):
    """By the feature that is finalized, the protocols that are enabled, the policy and the largest group."""
    kind, told = found(made(brokers=SERVING | settings))

    assert kind == readiness
    assert told[0].startswith(said)


def test_brokers_that_tell_nothing_forbid_nothing():
    """It is said that their settings are unknown."""
    assert found(made(brokers=None))[0] == "ready"
    assert [words(each) for each in of_cluster(None)] == [
        "the settings of the brokers are unknown: evenkeel needs DESCRIBE_CONFIGS on the cluster"
    ]


@pytest.mark.parametrize(
    ("rule", "readiness", "said"),
    [
        ({"client": "java"}, "ready", EAGER),
        ({"client": "java", "client_version": "4.0.1"}, "ready", EAGER),
        (
            {"client": "java", "client_version": "3.9"},
            "blocked",
            "java 3.9 is too old: the consumer protocol needs 4.0",
        ),
        (
            {"client": "librdkafka", "client_version": "2.11.1"},
            "blocked",
            "librdkafka 2.11.1 is too old: the consumer protocol needs 2.12",
        ),
        (
            {"client": "kafka-python"},
            "blocked",
            "kafka-python doesn't support the consumer protocol (2 of 2 members)",
        ),
        (
            {"client": "franz-go"},
            "blocked",
            "franz-go has the consumer protocol only as a preview that is opted into",
        ),
    ],
)
def test_a_library_has_the_protocol_or_not(rule, readiness, said):
    """As configured; it says its version to nobody."""
    kind, told = found(made(), **rule)

    assert (kind, told[0]) == (readiness, said)
    assert UNKNOWN not in told


def test_a_library_is_known_by_the_client_ids_that_it_gives():
    """Of one member of two."""
    kind, told = found(made(members=[{"client_id": "kafka-python-3.0.1"}, {}]))

    assert kind == "blocked"
    assert told[0] == "kafka-python doesn't support the consumer protocol (1 of 2 members)"
    assert "the client library of 1 of 2 members is unknown" in told


def test_settings_of_the_group_replace_those_of_the_brokers():
    """They are told before the move and after it; where they are unknown, so is the session."""
    own = {"group_settings": json.dumps({"consumer.session.timeout.ms": "60000", "share.x": "1"})}
    static = [{"instance_id": "a"}, {}]
    stated = "the brokers use settings of this group: consumer.session.timeout.ms=60000"
    stay = "1 of 2 members are static: they stay so, a stopped one is missed after "

    told = found(made(members=static, **own))[1]
    assert {stated, f"{stay}1 min (consumer.session.timeout.ms of the group)"} <= {*told}
    none = found(made(members=static, group_settings="{}"))[1]
    assert f"{stay}45 s (group.consumer.session.timeout.ms of the brokers)" in none
    assert f"{stay}the session timeout of the brokers" in found(made(members=static))[1]
    moved = made(group_type="consumer", members=[{"kind": "consumer"}], **own)
    assert found(moved) == ("moved", [stated])


def test_data_of_the_leader_keeps_it_from_moving_with_members_running():
    """Brokers refuse the conversion of a group whose assignments carry user data."""
    kind, told = found(made(assignor="acme", members=[{"assigned_user_data": True}, {}]))

    assert kind == "needs a full stop"
    assert told[0].startswith("its leader sends user data (acme)")


@pytest.mark.parametrize(
    ("lists", "gain"),
    [
        (("cooperative-sticky",), BARRIER),
        (("cooperative-sticky", "range"), EAGER),
    ],
)
def test_a_list_with_an_eager_strategy_stops_all(lists, gain):
    """What members list decides how they rebalance, not what they elect."""
    assert gain in found(made(assignor="cooperative-sticky"), assignors=lists)[1]


def test_racks_are_lost_where_brokers_look_at_none():
    """Members next to their partitions; ours on the brokers keeps them there."""
    ready = readiness_of(made(members=RACKED), Rule())
    (loss,) = ready.losses

    assert (ready.readiness, ready.strategy) == ("has losses", "uniform")
    assert (loss.measure, loss.before) == ("cross_rack_share", 0)
    assert loss.after
    ours = readiness_of(made(members=RACKED, assignors=OURS), Rule())
    assert (ours.readiness, ours.strategy, ours.losses) == ("ready", "racks-server", ())


def test_ours_on_the_brokers_may_bring_reads_home():
    """Members whose partitions are in each other's racks."""
    gains = readiness_of(made(members=RACKED[::-1], assignors=OURS), Rule()).gains

    assert [words(each) for each in gains] == ["cross-rack share 100% -> 0%", EAGER]


@pytest.mark.parametrize(
    ("columns", "strategy"),
    [
        ({"topics": ("t", "u")}, "range-server"),
        ({"topics": ("t", "u"), "assignors": ["uniform"]}, "uniform"),
        ({"topics": ("t", "u"), "assignor": "sticky"}, "uniform"),
        ({}, "uniform"),
    ],
)
def test_the_strategy_is_the_nearest_that_brokers_have(columns, strategy):
    """`range` keeps partitions of equal number together where there are several topics."""
    assert strategy_there(made(**columns)) == strategy


def test_a_group_of_both_protocols_is_finished_first_and_one_without_loss_goes_before_others():
    """Then whoever gains most; those that don't move have no turn."""
    many = [
        made(group_type="share"),
        made(assignor="acme"),
        made(assignor="cooperative-sticky"),
        made(),
        made(topics=("t", "u")),
        made(group_type="consumer", members=[{"kind": "consumer"}, {}]),
        made(brokers=SERVING | {POLICY_SETTING: "disabled"}),
        made(brokers=SERVING | {GROUP_VERSION: "0"}),
    ]
    order = in_turn(readiness_of(one, Rule()) for one in many)

    assert [(one.place, one.readiness.value, one.stopped) for one in order] == [
        (1, "in migration", None),
        (2, "ready", 8),
        (3, "ready", 4),
        (4, "ready", 0),
        (5, "has losses", None),
        (6, "needs a full stop", 4),
        (None, "blocked", 4),
        (None, "not applicable", None),
    ]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            "bidirectional",
            "brokers move groups to the consumer protocol with members running, and back",
        ),
        ("upgrade", "for the way back, stop all members"),
        ("downgrade", "for the way there, stop all members"),
        ("disabled", "brokers move only groups without members"),
    ],
)
def test_what_brokers_allow_all_groups_is_told_once(policy, said):
    """The policy, and who sets timeouts from then on."""
    settings = coordinator_settings([json.dumps(SERVING | {POLICY_SETTING: policy})])
    allowed, sessions = (words(each) for each in of_cluster(settings))

    assert said in allowed
    assert sessions == (
        "the brokers set the session timeout (45 s) and heartbeat (5 s) of a group that sets none"
        " (consumer.session.timeout.ms of the group, at least 30 s)"
    )


def test_brokers_that_differ_allow_what_all_of_them_do():
    """The shorter list of protocols, the smaller group; a timeout that differs is unknown."""
    other = SERVING | {
        PROTOCOLS_SETTING: "classic",
        MOST_MEMBERS_SETTING: "10",
        "group.consumer.session.timeout.ms": "30000",
    }
    told = coordinator_settings([json.dumps(SERVING), json.dumps(other), None])

    assert told is not None
    assert (told.is_enabled, told.serves, told.most_members) == (False, False, 10)
    assert (told.session_seconds, told.heartbeat_seconds) == (None, 5)
