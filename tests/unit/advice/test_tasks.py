"""Whether a Kafka Streams application could run a rack strategy, and how its owner would get it."""

from __future__ import annotations

import pytest

from evenkeel.engine.advice.tasks import task_feasibility, task_reach
from evenkeel.engine.config import StreamsSettings
from evenkeel.engine.model.assignments import Deployment, Feasibility
from evenkeel.engine.streams.compare import outcome, present
from evenkeel.engine.streams.live import running
from evenkeel.engine.streams.settings import RackStrategy
from tests.helpers.facts import how_of, why_of
from tests.helpers.streams_groups import Sub, Thread, live_group, on, presume

SETTING = "rack.aware.assignment.strategy"

NONE, MIN, BALANCE = RackStrategy
RACKED = [Thread(1, "0_0", rack="a"), Thread(2, "0_1", rack="b")]
SILENT = [Thread(1, "0_0", rack="a"), Thread(2, "0_1")]
FAR = on("source-0", "b a")
"""Both tasks of RACKED are far from what they read: only `none` gives that."""


def _judged(strategy, threads=RACKED, told=None, replicas=FAR, **more):
    group = live_group(threads, {"0": Sub(2)}, replicas=replicas, **more)
    application = presume(running(group, told))
    return task_feasibility(group, application, outcome(application, strategy))


def test_a_setting_or_a_yardstick():
    """A broker that assigns tasks has no strategy to choose."""
    kinds = [live_group(RACKED, {"0": Sub(2)}, kip_1071=kip) for kip in (False, True)]

    assert [task_reach(group) for group in kinds] == [Deployment.SETTING, Deployment.YARDSTICK]


def test_what_gives_exactly_what_there_is_can_run():
    """As far as can be seen; nothing has to be set."""
    judged = _judged(NONE)

    assert judged.feasibility is Feasibility.CAN_RUN
    assert why_of(judged) == "the strategy it runs, as far as can be seen"
    assert how_of(judged).endswith("the next rebalance brings the assignment.")


def test_the_configured_strategy_can_run():
    """Whatever the tasks look like."""
    told = StreamsSettings(rack_aware_assignment_strategy="balanced_min_cost")

    assert why_of(_judged(BALANCE, told=told)) == "the strategy it runs, as configured"
    assert _judged(NONE, told=told).feasibility is Feasibility.COULD_RUN


@pytest.mark.parametrize("strategy", [MIN, BALANCE])
def test_another_one_could_after_a_restart(strategy):
    """The setting is named, and what else it asks for."""
    judged = _judged(strategy)

    assert judged.feasibility is Feasibility.COULD_RUN
    assert why_of(judged) == f"after one rolling restart that sets {SETTING}={strategy.value}"
    assert how_of(judged) == (
        f"Set {SETTING}={strategy.value} on every instance, one rolling restart."
        " Every instance needs Kafka Streams 3.6 or newer, and client.rack, which all tell."
    )


def test_going_back_to_none_asks_for_nothing_else():
    """Racks play no part then."""
    judged = _judged(NONE, replicas=on("source-0", "a b"), threads=_exchanged())

    assert judged.feasibility is Feasibility.COULD_RUN
    assert how_of(judged) == f"Set {SETTING}=none on every instance, one rolling restart."


def _exchanged():
    """Tasks as `min_traffic` places them and `none` does not: each where its data is."""
    return [Thread(1, "0_1", rack="b"), Thread(2, "0_0", rack="a")]


def test_configured_racks_are_not_told_by_the_members():
    """Kafka would not see them: who tells none has to be given client.rack."""
    threads = [
        Thread(1, "0_0", rack="a"),
        Thread(2, "0_1", rack="b", columns={"rack_source": "configured"}),
    ]
    judged = _judged(MIN, threads)

    assert judged.feasibility is Feasibility.COULD_RUN
    assert how_of(judged).endswith("and client.rack: 1 of 2 members do not tell theirs.")


@pytest.mark.parametrize("strategy", [MIN, BALANCE])
def test_a_missing_rack_makes_it_another_name_for_none(strategy):
    """The client that has none is named."""
    judged = _judged(strategy, SILENT)

    assert judged.feasibility is Feasibility.INFEASIBLE
    assert why_of(judged).startswith("racks play no part: 1 client (")
    assert how_of(judged) == "Set client.rack on every instance and broker.rack on every broker."


def test_a_missing_rack_does_not_matter_to_none():
    """It looks at none."""
    assert _judged(NONE, SILENT).feasibility is Feasibility.CAN_RUN


def test_a_broker_without_rack_switches_racks_off_as_well():
    """The partition that lies there is named."""
    judged = _judged(MIN, replicas=on("source-0", "b ?"))

    assert (
        why_of(judged)
        == "racks play no part: 1 source partition (source-0-1) lies on a broker without rack"
    )


@pytest.mark.parametrize("strategy", list(RackStrategy))
def test_with_the_broker_assigning_each_is_a_yardstick(strategy):
    """Even one that gives exactly what there is."""
    judged = _judged(strategy, kip_1071=True)

    assert judged.feasibility is Feasibility.YARDSTICK
    assert (why_of(judged), how_of(judged)) == (
        "a KIP-1071 group: the broker assigns tasks, it has no such setting",
        "",
    )


def test_a_missing_rack_of_a_kip_1071_client_is_told_by_configuration():
    """Its protocol does not tell client.rack, so setting it would not help."""
    judged = _judged(MIN, SILENT, kip_1071=True)

    assert judged.feasibility is Feasibility.INFEASIBLE
    assert how_of(judged).startswith("Configure racks by client id or host")


EQUAL_COSTS = "every task costs the same on every client: racks have nothing to gain"


@pytest.mark.parametrize(
    ("told", "feasibility", "reason"),
    [
        (None, Feasibility.COULD_RUN, f"after one rolling restart that sets {SETTING}=min_traffic"),
        (
            StreamsSettings(rack_aware_assignment_strategy="min_traffic"),
            Feasibility.CAN_RUN,
            "the strategy it runs, as configured",
        ),
    ],
)
def test_equal_costs_are_no_reason_against_it(told, feasibility, reason):
    """It could run, and would have nothing to gain, which is said."""
    judged = _judged(MIN, told=told, replicas=on("source-0", "ab ab"))

    assert judged.feasibility is feasibility
    assert why_of(judged) == f"{reason}; {EQUAL_COSTS}"


def test_what_a_group_has_is_not_judged():
    """There is nothing to choose."""
    group = live_group(RACKED, {"0": Sub(2)})
    application = presume(running(group))
    with pytest.raises(AssertionError):
        task_feasibility(group, application, present(application))


@pytest.mark.parametrize("kip_1071", [False, True])
def test_the_sticky_assignor_it_runs_can_run(kip_1071):
    """The broker's always, that of Kafka Streams where it is configured; nothing has to be set."""
    group = live_group(RACKED, {"0": Sub(2)}, kip_1071=kip_1071)
    application = presume(running(group, StreamsSettings(task_assignor="sticky")))
    assert application.own is not None
    judged = task_feasibility(group, application, outcome(application, application.own))

    assert task_reach(group, application.own) is Deployment.SETTING
    assert judged.feasibility is Feasibility.CAN_RUN
    assert why_of(judged).startswith("the strategy it runs")
    assert how_of(judged).endswith("the next rebalance brings the assignment.")
