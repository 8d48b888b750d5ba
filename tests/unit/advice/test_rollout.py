"""The way to a strategy in the settings of each client, and back."""

from __future__ import annotations

import pytest

from evenkeel.engine.advice.rollout import (
    STICKY_ASSIGNOR,
    Client,
    Restart,
    Round,
    client_settings,
    to_client_side,
    to_plan,
    to_server_side,
    to_tasks,
)
from evenkeel.engine.assignors.kafka.protocol_names import BY_RACKS, CLIENT_SIDE, mixed
from evenkeel.engine.model.facts import reason

JAVA = "org.apache.kafka.clients.consumer."
COOPERATIVE = "cooperative-sticky"
NOT_JVM = (Client.LIBRDKAFKA, Client.KAFKA_PYTHON)


def lists_of(rounds: tuple[Round, ...]) -> list[tuple[str, ...]]:
    """What members list after each."""
    return [each.lists for each in rounds]


def test_java_goes_from_eager_to_cooperative_in_two_rounds_and_back_in_two():
    """Nobody is refused on the way, and what is elected in the end is what was meant."""
    found = to_client_side(COOPERATIVE, "range", [("range",)] * 3)
    java, others = found.ways
    assert java.clients == (Client.JAVA, Client.SPRING)
    assert lists_of(java.rounds) == [(COOPERATIVE, "range"), (COOPERATIVE,)]
    assert lists_of(java.back) == [("range", COOPERATIVE), ("range",)]
    assert [each.elected for each in (*java.rounds, *java.back)] == [COOPERATIVE] * 2 + [
        "range"
    ] * 2
    assert {stage.refused for each in (*java.rounds, *java.back) for stage in each.stages} == {0}
    assert [each.eager for each in java.rounds] == [True, True]
    assert java.rounds[0].settings == {
        Client.JAVA: {
            "partition.assignment.strategy": f"{JAVA}CooperativeStickyAssignor,{JAVA}RangeAssignor"
        },
        Client.SPRING: {
            "spring.kafka.consumer.properties.partition.assignment.strategy": (
                f"{JAVA}CooperativeStickyAssignor,{JAVA}RangeAssignor"
            )
        },
    }
    # they refuse a list of both: all stop
    assert others.clients == NOT_JVM
    assert [(each.restart, each.lists) for each in (*others.rounds, *others.back)] == [
        (Restart.ALL, (COOPERATIVE,)),
        (Restart.ALL, ("range",)),
    ]
    assert others.rounds[0].settings == {
        Client.LIBRDKAFKA: {"partition.assignment.strategy": COOPERATIVE},
        Client.KAFKA_PYTHON: {
            "partition_assignment_strategy": (
                "[kafka.coordinator.assignors.cooperative_sticky.CooperativeStickyAssignor]"
            )
        },
    }


def test_all_clients_go_from_one_eager_strategy_to_another_together():
    """One round is enough; what is listed beside it does no harm."""
    found = to_client_side("roundrobin", "range", [("range",)] * 3)
    (way,) = found.ways
    assert way.clients == tuple(Client)
    assert lists_of(way.rounds) == [("roundrobin", "range")]
    assert lists_of(way.back) == [("range",)]
    assert way.rounds[0].settings[Client.LIBRDKAFKA] == {
        "partition.assignment.strategy": "roundrobin,range"
    }


def test_the_way_back_is_to_what_was_listed():
    """Java's default lists two: one round each way."""
    default = ("range", COOPERATIVE)
    found = to_client_side(COOPERATIVE, "range", [default] * 3, clients=(Client.JAVA,))
    (way,) = found.ways
    assert lists_of(way.rounds) == [(COOPERATIVE,)]
    assert lists_of(way.back) == [default]
    assert way.back[0].elected == "range"


def test_members_that_list_different_things_go_back_to_what_the_group_ran():
    """There is no list that all of them had."""
    found = to_client_side(
        "roundrobin", "range", [("range", "roundrobin"), ("range",)], clients=(Client.JAVA,)
    )
    (way,) = found.ways
    assert way.back[-1].lists == ("range",)


def test_a_client_that_has_no_such_strategy_is_named():
    """librdkafka has no sticky; kafka-python has none of somebody's own."""
    assert to_client_side("sticky", "range", [("range",)]).cannot == (Client.LIBRDKAFKA,)
    assert to_client_side("com.acme.Own", "range", [("range",)]).cannot == NOT_JVM


@pytest.mark.parametrize("name", CLIENT_SIDE)
@pytest.mark.parametrize("client", list(Client))
def test_no_client_is_given_what_it_lacks(name, client):
    """By the table of strategies; of a list of eager and cooperative ones nothing but Java takes any."""
    has = {
        Client.LIBRDKAFKA: CLIENT_SIDE[name].librdkafka,
        Client.KAFKA_PYTHON: CLIENT_SIDE[name].python is not None,
    }.get(client, True)
    assert (client_settings(client, (name,)) is not None) is has
    if mixed((name, "range")) and client in NOT_JVM:
        assert client_settings(client, (name, "range")) is None


def test_a_plan_needs_the_follower_and_one_restart():
    """The follower by the way of its lists, the plan by any rebalance; kafka-python goes with it, librdkafka cannot."""
    follower = to_client_side("evenkeel-plan", "range", [("range",)] * 3)
    found = to_plan("balanced", follower, "range")
    (way,) = found.ways
    assert way.clients == (Client.JAVA, Client.SPRING, Client.KAFKA_PYTHON)
    assert [each.restart for each in way.rounds] == [Restart.ROLLING, Restart.ROLLING, Restart.ONE]
    assert way.rounds[-1].settings == {}
    first, second, _ = (each.settings for each in way.rounds)
    assert first[Client.JAVA]["evenkeel.plan"].startswith("<path")
    # kafka-python has one way to rebalance for all of its list
    assert (
        'group="...", eager=True), kafka.'
        in first[Client.KAFKA_PYTHON]["partition_assignment_strategy"]
    )
    assert second[Client.KAFKA_PYTHON]["partition_assignment_strategy"].endswith('group="...")]')
    assert lists_of(way.back)[-1] == ("range",)
    assert found.cannot == (Client.LIBRDKAFKA,)


def test_a_group_that_follows_plans_needs_a_plan_only():
    """And is rid of it by taking it away."""
    (way,) = to_plan("balanced", None, "evenkeel-plan").ways
    assert [each.restart for each in (*way.rounds, *way.back)] == [Restart.ONE, Restart.ONE]


def test_a_classic_group_changes_its_protocol_member_by_member():
    """What the broker decides then is taken out; back, the list that was there is put in again."""
    found = to_server_side("uniform", "range", [("range", COOPERATIVE)] * 2, classic=True)
    (way,) = found.ways
    assert way.clients == (Client.JAVA, Client.SPRING, Client.LIBRDKAFKA)
    (there,), (back,) = way.rounds, way.back
    assert (there.elected, there.lists, there.eager) == ("uniform", (), True)
    assert there.settings[Client.LIBRDKAFKA] == {
        "group.protocol": "consumer",
        "group.remote.assignor": "uniform",
        "partition.assignment.strategy": None,
        "session.timeout.ms": None,
        "heartbeat.interval.ms": None,
    }
    assert (back.elected, back.lists) == ("range", ("range", COOPERATIVE))
    assert back.settings[Client.JAVA] == {
        "group.protocol": "classic",
        "group.remote.assignor": None,
        "partition.assignment.strategy": f"{JAVA}RangeAssignor,{JAVA}CooperativeStickyAssignor",
    }
    assert found.cannot == (Client.KAFKA_PYTHON,)


def test_a_group_of_the_new_protocol_asks_its_broker_for_another():
    """Nothing but that setting changes."""
    (way,) = to_server_side("range-server", "uniform", [None], classic=False).ways
    assert way.rounds[0].settings[Client.JAVA] == {"group.remote.assignor": "range"}
    assert way.back[0].settings[Client.JAVA] == {"group.remote.assignor": "uniform"}
    assert way.rounds[0].eager is False


def test_ours_is_brought_to_the_brokers_first_and_taken_from_them_last():
    """Where they lack it; Kafka's own are there."""
    lacking = reason("not_on_brokers", [BY_RACKS])
    found = to_server_side("racks-server", "uniform", [None], classic=False, lacking=lacking)

    assert found.ways[0].rounds[0].settings[Client.JAVA] == {"group.remote.assignor": BY_RACKS}
    assert [each.measure for each in found.on_brokers] == [
        *("not_on_brokers", "jar_to_brokers", "list_on_brokers", "restart_brokers")
    ]
    assert [each.measure for each in found.off_brokers] == ["unlist_on_brokers", "restart_brokers"]
    there = to_server_side("racks-server", "uniform", [None], classic=False)
    assert (there.on_brokers, there.off_brokers) == ((), ())


def test_an_application_sets_how_racks_place_its_tasks():
    """As KIP-925 calls it, for Java and Spring."""
    (way,) = to_tasks("min_traffic").ways
    assert way.rounds[0].settings == {
        Client.JAVA: {"rack.aware.assignment.strategy": "min_traffic"},
        Client.SPRING: {
            "spring.kafka.streams.properties.rack.aware.assignment.strategy": "min_traffic"
        },
    }


UNTOLD = {"rack-a": ("app-1", "app-4"), "rack-b": ("app-2",)}


def test_instances_send_their_racks_with_the_restart_that_sets_the_strategy():
    """Each its own; on the way back they may go on."""
    (way,) = to_tasks("min_traffic", untold=UNTOLD).ways
    (this,), (back,) = way.rounds, way.back
    assert this.settings[Client.JAVA] == {
        "client.rack": "<the rack of this member>",
        "rack.aware.assignment.strategy": "min_traffic",
    }
    assert (this.racks, this.only) == (UNTOLD, ())
    assert back.settings[Client.JAVA] == {"rack.aware.assignment.strategy": None}


def test_where_the_strategy_is_set_instances_without_rack_restart_alone():
    """The others have all they need; on the way back the racks go."""
    (way,) = to_tasks("min_traffic", racks="min_traffic", untold=UNTOLD).ways
    (this,), (back,) = way.rounds, way.back
    assert this.settings[Client.SPRING] == {
        "spring.kafka.streams.properties.client.rack": "<the rack of this member>"
    }
    assert this.only == back.only == ("app-1", "app-4", "app-2")
    assert back.settings[Client.JAVA] == {"client.rack": None}


def test_an_application_leaves_the_sticky_assignor_and_comes_back_to_it():
    """Its class goes out, and in again with the rack strategy that it had."""
    (way,) = to_tasks("min_traffic", sticky=True, racks="balance_subtopology").ways
    assert way.rounds[0].settings[Client.JAVA] == {
        "task.assignor.class": None,
        "rack.aware.assignment.strategy": "min_traffic",
    }
    assert way.back[0].settings[Client.SPRING] == {
        "spring.kafka.streams.properties.task.assignor.class": STICKY_ASSIGNOR,
        "spring.kafka.streams.properties.rack.aware.assignment.strategy": "balance_subtopology",
    }


def test_an_application_gets_the_sticky_assignor():
    """One class, since 3.8; where it is there is nothing to do."""
    rollout = to_tasks("sticky-tasks")
    (way,) = rollout.ways
    assert way.rounds[0].settings[Client.JAVA] == {"task.assignor.class": STICKY_ASSIGNOR}
    assert way.back[0].settings[Client.JAVA] == {"task.assignor.class": None}
    assert [each.measure for each in rollout.notes] == [
        "sticky_assignor_from",
        "sticky_assignor_racks",
        "leader_places_tasks",
    ]
    assert to_tasks("sticky-tasks", sticky=True).ways == ()
