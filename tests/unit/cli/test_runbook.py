"""`evenkeel runbook`: what exactly to do for a strategy, and the way back."""

from __future__ import annotations

import json

import pytest

from tests.helpers.snapshots import change, group, make_snapshot, member, topic
from tests.helpers.streams_groups import Sub, Thread, live_snapshot, on
from tests.unit.cli.conftest import RECORDED, lacking, objects, words_of


@pytest.fixture
def asked(run, kept):
    """Ask for a strategy of a stored group, made from columns."""

    def ask(
        strategy,
        *options,
        client_ids=("a", "b"),
        static=0,
        group_assignors=None,
        coordinator=None,
        kinds=("classic", "classic"),
        kafka_release=None,
        name="g",
        **columns,
    ):
        members = [
            member(
                f"m-{place}",
                ["orders"],
                {"orders": [place]},
                client_id=client_id,
                instance_id=f"i-{place}" if place < static else None,
                kind=kinds[min(place, len(kinds) - 1)],
            )
            for place, client_id in enumerate(client_ids)
        ]
        made = group(name, members=members, **columns)
        topics = [topic("orders", 4)]
        of_brokers = {"group_assignors": group_assignors, "kafka_release": kafka_release}
        snapshot = make_snapshot(topics=topics, groups=[made], **of_brokers)
        if coordinator is not None:
            told = json.dumps(coordinator)
            snapshot = change(
                snapshot, "brokers", lambda rows: [row | {"group_settings": told} for row in rows]
            )
        lake = kept(snapshot)
        given = ["--strategy", strategy] if strategy else []
        return run("runbook", "--group", name, "--from", lake, *given, *options)

    return ask


WAY = """
g: range -> cooperative-sticky, 2 members … evenkeel changes nothing: run these steps yourself.
… If all members use Java and Spring
… Step 1: Change the settings, then restart 2 members one by one, each after the group is Stable.
… CooperativeStickyAssignor,org.apache.kafka.clients.consumer.RangeAssignor
… Effect: each rebalance revokes all partitions of all members; a partition pauses for up to 20 s in total, the number
of delayed records is not known … After 1 of 2: runs range … and cooperative-sticky under ASSIGNMENT-STRATEGY
… Step 2: Change the settings
… If any member uses librdkafka or kafka-python
… Step 1: Stop 2 members, wait until the group is Empty, change the settings, start them. Why:
… Expected result
… Rollback, Java and Spring … Rollback, librdkafka and kafka-python
… Notes
"""
"""Settings per client, the effect, a check, the rollback."""

STATIC = """
wait until the group is Empty, change the settings, start them (static members leave the group only after their
session.timeout.ms; started sooner, they are rejected). … Alternative with downtime: stop all members
"""
"""Started before their sessions are over, members with another list are refused."""

OURS = """
First, add io.evenkeel.EvenkeelFairAssignor to the classpath of every member: one Java source file in
engine/followers/java of evenkeel.
… partition.assignment.strategy=io.evenkeel.EvenkeelFairAssignor,org.apache.kafka.clients.consumer.RangeAssignor
"""
"""The published class of KIP-49 fails with today's clients; ours does not."""

NAMED = """
Write the plan with `evenkeel plan --group 'x;?rm?$HOME' --strategy balanced`
… --describe --state --group 'x; rm $HOME'` shows Stable
… Compare: evenkeel advise --group 'x; rm $HOME'
"""
"""Whatever somebody calls a group, what is copied names it and does nothing else."""


@pytest.mark.parametrize(
    ("columns", "strategy", "told"),
    [
        ({}, "cooperative-sticky", WAY),
        ({"static": 1}, "cooperative-sticky", STATIC),
        ({}, "fair", OURS),
        ({"name": "x; rm $HOME"}, "balanced", NAMED),
    ],
)
def test_all_of_it_is_printed_in_the_order_in_which_it_is_done(asked, columns, strategy, told):
    """With what is special about its members and the strategy in its place."""
    result = asked(strategy, **columns)
    assert result.exit_code == 0, result.output
    assert lacking(result.stdout, told) is None


def test_client_ids_that_tell_the_library_narrow_it_down(asked):
    """Java's default names the group, which Spring's does, too; others' name the library."""
    (kit,) = objects(asked("sticky", "--json", client_ids=("consumer-g-1", "consumer-g-2")))
    assert kit["clients_by_client_id"] == {"java": 2}
    assert [way["clients"] for way in kit["ways"]] == [["java", "spring"]]

    (kit,) = objects(asked("roundrobin", "--json", client_ids=("rdkafka", "kafka-python-3.0.12")))
    assert kit["clients_by_client_id"] == {"librdkafka": 1, "kafka-python": 1}
    assert [way["clients"] for way in kit["ways"]] == [["librdkafka", "kafka-python"]]


RACKS = """
Step 1: Change the settings, then restart 2 members one by one, … Java, properties client.rack=<the rack of this member>
… Spring, application.properties spring.kafka.consumer.properties.client.rack= … librdkafka
… client.rack=rack-a on a@/10.0.0.1 client.rack=rack-b on b@/10.0.0.1
… kafka-python: the strategy is missing, or members don't send client.rack
… 2 partitions reassigned cross-rack share of partitions 50% -> 0%
… Rollback … remove client.rack
"""
"""The setting beside the list; it brings what its row says."""


def test_a_way_that_needs_racks_begins_with_client_rack_of_each_member(run, kept):
    """For each library that sends it, with the rack of each member that does not; beside the list, which changes."""
    members = [
        member(name, ["t"], {"t": own}, rack=f"rack-{name}") | {"rack_source": "configured"}
        for name, own in (("a", [0, 1]), ("b", [2, 3]))
    ]
    topics = [topic("t", 4, replicas=[[0], [1], [0], [1]])]
    made = group("g", members=members, assignor="sticky")
    lake = kept(make_snapshot(topics=topics, groups=[made], follower_fetching=True))
    given = ["runbook", "--group", "g", "--from", lake, "--strategy", "range+client.rack"]

    assert lacking(run(*given).stdout, RACKS) is None
    [kit] = objects(run(*given, "--json"))
    first = kit["ways"][0]["rounds"][0]
    assert first["racks"] == {"rack-a": ["a@/10.0.0.1"], "rack-b": ["b@/10.0.0.1"]}
    assert list(first["settings"]["java"]) == ["client.rack", "partition.assignment.strategy"]
    assert kit["ways"][0]["back"][-1]["settings"]["java"]["client.rack"] is None
    assert kit["there_already"] is False


def test_machines_get_the_same(asked):
    """Each round with its settings, the way back, and both rows of the scoreboard."""
    (kit,) = objects(asked("range-server", "--json", assignor="uniform", group_type="consumer"))
    (way,) = kit["ways"]
    (there,), (back,) = way["rounds"], way["back"]
    assert there["settings"]["java"] == {"group.remote.assignor": "range"}
    assert back["settings"]["java"] == {"group.remote.assignor": "uniform"}
    assert (there["restart"], there["elected"], there["eager"]) == ("rolling", "range", False)
    assert (kit["now"]["strategy"], kit["then"]["strategy"]) == ("live", "range-server")
    assert kit["there_already"] is False


@pytest.mark.parametrize(
    ("assignors", "why"),
    [
        (None, "not known if the brokers have evenkeel-racks"),
        (["uniform", "evenkeel-racks"], None),
    ],
)
def test_our_assignor_for_brokers_comes_with_the_way_to_them(asked, assignors, why):
    """Brokers, members, and back in the opposite order; members alone where brokers have it."""
    columns = {"assignor": "uniform", "group_type": "consumer", "group_assignors": assignors}
    shown = asked("racks-server", **columns).stdout
    places = [
        shown.find(part)
        for part in (
            f"First, on the brokers: {why}",
            "Add io.evenkeel.EvenkeelServerAssignor to group.consumer.assignors in server.properties of every broker",
            "If the setting is missing, add: group.consumer.assignors=uniform,range,io.evenkeel.EvenkeelServerAssignor",
            "group.remote.assignor=evenkeel-racks",
            "group.remote.assignor=uniform",
            "Rollback on the brokers, after the members",
        )
    ]

    if why:
        assert places == sorted(places)
        assert places[0] > 0
    else:
        assert [place > 0 for place in places] == [False, False, False, True, True, False]


def test_a_static_member_that_is_back_at_once_brings_no_rebalance(asked):
    """So nobody is told to restart one for a plan, or for the strategy that the group runs."""
    one = "stop one member, and start it after its session.timeout.ms (all are static: "
    told = asked("balanced", static=2).stdout
    assert f"Step 3: S{one[1:]}" in told
    assert f"copy it to the path where the members read theirs, then {one}" in told
    assert f"The group already runs it: {one}" in asked("range", static=2).stdout


AGAIN = """
Step 1: Change the settings, then restart 2 members one by one … Step 2: Stop one member, and start it after
consumer.session.timeout.ms of the group or of the brokers (all are static: one that returns sooner causes no
rebalance).
… Why: Kafka before 4.4 doesn't reassign when a static member returns within its session
… Rollback … 2. Stop one member … Notes … at most once per consumer.assignment.interval.ms
"""
"""KAFKA-20434: the assignor that is shown changes, the assignment does not."""


@pytest.mark.parametrize(
    ("static", "kafka_release", "again"),
    [(2, None, True), (1, "4.3", True), (2, "4.4", False), (0, "4.3", False)],
)
def test_brokers_that_do_not_reassign_static_members_get_one_more_restart(
    asked, static, kafka_release, again
):
    """Unless they are known to be of 4.4; a dynamic member can be the one that restarts."""
    columns = {"assignor": "uniform", "group_type": "consumer", "static": static}
    (kit,) = objects(asked("range-server", "--json", kafka_release=kafka_release, **columns))
    (way,) = kit["ways"]
    restarts = ["rolling", "one"] if again else ["rolling"]
    assert [[each["restart"] for each in way[part]] for part in ("rounds", "back")] == [
        restarts
    ] * 2
    if again and static == 2:
        told = asked("range-server", kafka_release=kafka_release, **columns).stdout
        assert lacking(told, AGAIN) is None


OWN = """
Step 2: Stop one member, and start it after 1 min, consumer.session.timeout.ms of the group (all are static:
… at most once per 10 s (consumer.assignment.interval.ms of the group; KIP-1263). Until then the group is Assigning,
and partitions of a member that left pause.
"""


def test_what_the_group_sets_on_the_brokers_holds(asked):
    """In place of what it says in general; a rebalance is taken to pause for the interval."""
    own = {"consumer.session.timeout.ms": "60000", "consumer.assignment.interval.ms": "10000"}
    columns = {"assignor": "uniform", "group_type": "consumer", "static": 2}
    columns["group_settings"] = json.dumps(own)
    told = asked("range-server", **columns).stdout
    assert lacking(told, OWN) is None
    assert "set rebalance_seconds" not in told
    (kit,) = objects(asked("range-server", "--json", **columns))
    stated = [f"{name}={value}" for name, value in sorted(own.items())]
    assert f"the brokers use settings of this group: {', '.join(stated)}" in kit["notes"]
    seconds = [each["longest_pause_seconds"] for each in kit["ways"][0]["rounds"]]
    (usual,) = objects(asked("range-server", "--json", **columns | {"group_settings": "{}"}))
    assert seconds != [each["longest_pause_seconds"] for each in usual["ways"][0]["rounds"]]


def test_what_is_printed_for_kafka_python_runs_as_it_stands(asked):
    """With its imports, and the group that the follower has to be told."""
    told = asked("balanced").stdout
    place = told.index("kafka-python, arguments of KafkaConsumer\n")
    imports, argument = (line.strip() for line in told[place:].splitlines()[1:3])
    assert "group='g', eager=True" in argument
    names: dict[str, object] = {}
    exec(f"{imports}\n{argument}", names)
    follower, beside = names["partition_assignment_strategy"]
    assert (follower.name, beside.name) == ("evenkeel-plan", "range")
    assert "Write the plan with `evenkeel plan --group g --strategy balanced`" in told


def test_a_group_that_has_what_its_strategy_gives_needs_nothing(run, recording):
    """Nobody is told to restart anything."""
    told = run("runbook", "--group", "fine", "--from", recording, "--strategy", "range").stdout
    assert "with this assignment: no step is needed.\n\nExpected result\n" in told


def test_tasks_of_streams_are_placed_by_a_setting(run):
    """A Streams application of the classic protocol gets its kit, too."""
    result = run(
        "runbook", "--group", "streams-classic", "--from", RECORDED, "--strategy", "min_traffic"
    )
    assert result.exit_code == 0, result.output
    assert "    rack.aware.assignment.strategy=min_traffic\n" in result.stdout
    told = """
    Set streams = {rack_aware_assignment_strategy = "min_traffic"} there once it runs.
    … Every instance needs Kafka Streams 3.6 or newer, and client.rack, which all send.
    """
    assert lacking(result.stdout, told) is None


@pytest.mark.slow
def test_without_a_strategy_it_is_what_is_advised(run, recording):
    """Of the recording's uneven group; of one that is well nothing is, and that is said with the reason."""
    result = run("runbook", "--group", "uneven", "--from", recording)
    assert result.exit_code == 0, result.output
    advised = result.stderr.strip().removeprefix("evenkeel: advised: ").removeprefix("advised: ")
    assert result.stdout.startswith(f"uneven: range -> {advised}, 2 members")

    result = run("runbook", "--group", "fine", "--from", recording)
    assert result.exit_code == 1
    assert "nothing is advised for group fine: " in result.stderr
    assert "Name a strategy with --strategy." in result.stderr


@pytest.mark.parametrize(
    ("columns", "strategy", "code", "told"),
    [
        ({}, "live", 2, "live is the current assignment, it cannot be deployed"),
        ({}, "ballanced", 2, "there is no strategy 'ballanced'. Did you mean balanced?"),
        ({}, "random", 1, "is a baseline for comparison only"),
        ({"group_type": "consumer", "assignor": "uniform"}, "range", 1, "cannot be set to range"),
        ({"assignor": "stream"}, "range", 1, "takes no strategy: a Kafka Streams application"),
        ({"group_type": "share"}, "range", 1, "takes no strategy: a share group"),
        ({"state": "PreparingRebalance"}, "sticky", 1, "sticky has no result for group g: reb"),
        ({"state": "PreparingRebalance"}, None, 1, "g: rebalancing (PreparingRebalance)."),
        ({}, "min_traffic", 1, "and broker.rack on every broker, to the same names."),
    ],
)
def test_what_cannot_be_is_said(asked, columns, strategy, code, told):
    """With the reason and, where there is one, what can."""
    result = asked(strategy, **columns)
    assert result.exit_code == code
    assert told in words_of(result.stderr)
    assert ".." not in result.stderr


@pytest.fixture
def application(run, kept, tmp_path):
    """Ask about an application whose tasks read across racks; its leader's or its broker's assignor."""

    def ask(strategy, *options, kip_1071=False, streams="", rack="b", rule=""):
        threads = [Thread(1, "0_0 0_1", rack="a"), Thread(2, "0_2 0_3", rack=rack)]
        replicas = on("source-0", "b b a a")
        taken = live_snapshot(threads, {"0": Sub(4)}, replicas=replicas, kip_1071=kip_1071)
        lake = kept(taken, name=f"{kip_1071}")
        (tmp_path / "evenkeel.toml").write_text(
            f'[[rules]]\ngroups = "app"\nstreams = {{{streams}}}\n{rule}\n'
        )
        return run("runbook", "--group", "app", "--from", lake, "--strategy", strategy, *options)

    return ask


MIN_IS_SET = 'rack_aware_assignment_strategy = "min_traffic"'


def test_one_instance_without_client_rack_gets_it_and_nobody_else_restarts(application):
    """With its rack where a rule says it, and what that brings."""
    asked = {"rack": None, "rule": 'racks = {"app-2-*" = "b"}', "streams": MIN_IS_SET}
    result = application("min_traffic", **asked)
    (kit,) = objects(application("min_traffic", "--json", **asked))
    (this,) = kit["ways"][0]["rounds"]

    assert result.exit_code == 0, result.output
    steps = """
    Step 1: Change the settings, restart app-2, and wait until the group is Stable
    … The strategy is set, and a single instance without client.rack disables racks
    … client.rack=b on app-2 … cross-rack share of partitions 100% -> 0%
    """
    assert lacking(result.stdout, steps) is None
    assert set(this["settings"]["java"]) == {"client.rack"}
    assert (this["only"], this["racks"]) == (["app-2"], {"b": ["app-2"]})
    assert not kit["there_already"]


def test_a_kip_1071_group_is_told_what_decides_there(application):
    """Its broker has one assignor: a configuration of the group, one restart, and no other strategy."""
    shown = application("sticky-tasks-server", kip_1071=True)
    assert shown.exit_code == 0, shown.output
    told = """
    Step 1: Restart one instance
    … `kafka-streams-groups.sh --bootstrap-server ... --describe --state --group app` shows Stable
    … A broker up to 4.3 has one task assignor (KIP-1071) and accepts no other
    … --add-config streams.num.standby.replicas=1
    """
    assert lacking(shown.stdout, told) is None
    assert "Rollback" not in shown.stdout
    (kit,) = objects(application("sticky-tasks-server", "--json", kip_1071=True))
    assert kit["ways"][0]["rounds"][0]["elected"] is None
    refused = application("min_traffic", kip_1071=True)
    assert refused.exit_code == 1
    stderr = words_of(refused.stderr)
    assert "a Streams group (KIP-1071): the broker assigns tasks" in stderr
    assert (
        "`evenkeel runbook --group app --strategy sticky-tasks-server` says what decides there."
        in stderr
    )


FULL_STOP = """
Step 1: Stop 2 members, wait until the group is Empty, change the settings, start them
… Why: A group without members takes the protocol of the first one that joins.
… group.protocol=consumer
… Rollback, Java, Spring and librdkafka 1. Stop 2 members … group.protocol=classic
… Notes … group.consumer.migration.policy doesn't allow a move with members running
… Brokers move only groups without members: stop all members
"""
"""Both ways, where brokers convert no group with members."""


def test_brokers_that_convert_no_running_group_are_given_one_without_members(asked):
    """The way to the consumer protocol and back, by their policy."""
    shown = asked("uniform", coordinator={"group.consumer.migration.policy": "disabled"}).stdout

    assert lacking(shown, FULL_STOP) is None


@pytest.mark.parametrize(
    ("policy", "restarts"),
    [
        ("bidirectional", ["rolling", "rolling"]),
        ("upgrade", ["rolling", "all"]),
        ("downgrade", ["all", "rolling"]),
        (None, ["rolling", "rolling"]),
    ],
)
def test_each_direction_goes_as_brokers_allow(asked, policy, restarts):
    """What is unknown is taken for Kafka's default, and said."""
    told = policy and {"group.consumer.migration.policy": policy}
    (kit,) = objects(asked("uniform", "--json", coordinator=told))
    (way,) = kit["ways"]

    assert [each["restart"] for each in (*way["rounds"], *way["back"])] == restarts
    assert any("DESCRIBE_CONFIGS" in each for each in kit["notes"]) is (policy is None)
    assert any("--entity-type groups --entity-name g " in each for each in kit["notes"])


def test_a_group_of_both_protocols_is_led_to_either(asked):
    """Members that are left take the new one; on the way back all list what the classic ones do."""
    (kit,) = objects(
        asked(
            "uniform",
            "--json",
            kinds=("consumer", "classic"),
            group_type="consumer",
            assignor="uniform",
        )
    )
    (way,) = kit["ways"]
    (there,), (back,) = way["rounds"], way["back"]

    assert there["settings"]["librdkafka"]["group.protocol"] == "consumer"
    assert back["settings"]["librdkafka"] == {
        "group.protocol": "classic",
        "group.remote.assignor": None,
        "partition.assignment.strategy": "range",
    }
