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
SET_RACKS = "Set client.rack on every instance and broker.rack on every broker."
NO_SETTING = "a KIP-1071 group: the broker assigns tasks, it has no such setting"

NONE, MIN, BALANCE = RackStrategy
RACKED = [Thread(1, "0_0", rack="a"), Thread(2, "0_1", rack="b")]
SILENT = [Thread(1, "0_0", rack="a"), Thread(2, "0_1")]
FAR = on("source-0", "b a")
"""Both tasks of RACKED are far from what they read: only `none` gives that."""


NEAR = on("source-0", "a b")
EXCHANGED = [Thread(1, "0_1", rack="b"), Thread(2, "0_0", rack="a")]
"""Tasks as `min_traffic` places them and `none` does not: each where its data is."""
CONFIGURED = [
    Thread(1, "0_0", rack="a"),
    Thread(2, "0_1", rack="b", columns={"rack_source": "configured"}),
]
BY_RULE = StreamsSettings(rack_aware_assignment_strategy="balanced_min_cost")
MIN_BY_RULE = StreamsSettings(rack_aware_assignment_strategy="min_traffic")
EQUAL_COSTS = "every task costs the same on every client: racks have nothing to gain"
NEEDS = "Every instance needs Kafka Streams 3.6 or newer, and client.rack"
CAN, COULD, YARDSTICK = Feasibility.CAN_RUN, Feasibility.COULD_RUN, Feasibility.YARDSTICK
INFEASIBLE = Feasibility.INFEASIBLE
BRINGS_IT = "It runs this strategy already: the next rebalance brings the assignment."


def _restart(strategy):
    return f"after one rolling restart that sets {SETTING}={strategy}"


def _set(strategy):
    return f"Set {SETTING}={strategy} on every instance, one rolling restart."


@pytest.mark.parametrize(
    ("strategy", "group", "expected", "why", "how"),
    [
        # what gives exactly what there is can run, as far as can be seen; so can what is configured
        (NONE, {}, CAN, "the strategy it runs, as far as can be seen", BRINGS_IT),
        (BALANCE, {"told": BY_RULE}, CAN, "the strategy it runs, as configured", BRINGS_IT),
        (NONE, {"told": BY_RULE}, COULD, _restart("none"), _set("none")),
        # another one could after a restart: the setting is named, and what else it asks for
        (
            MIN,
            {},
            COULD,
            _restart("min_traffic"),
            f"{_set('min_traffic')} {NEEDS}, which all tell.",
        ),
        (
            BALANCE,
            {},
            COULD,
            _restart("balance_subtopology"),
            f"{_set('balance_subtopology')} {NEEDS}, which all tell.",
        ),
        # back to `none` racks play no part
        (NONE, {"replicas": NEAR, "threads": EXCHANGED}, COULD, _restart("none"), _set("none")),
        # Kafka does not see racks that are configured
        (
            MIN,
            {"threads": CONFIGURED},
            COULD,
            _restart("min_traffic"),
            f"{_set('min_traffic')} {NEEDS}: 1 of 2 members do not tell theirs.",
        ),
        # a missing rack makes it another name for `none`, which looks at no rack; who has none is named
        (NONE, {"threads": SILENT}, CAN, "the strategy it runs, as far as can be seen", BRINGS_IT),
        (MIN, {"threads": SILENT}, INFEASIBLE, "racks play no part: 1 client (...", SET_RACKS),
        (BALANCE, {"threads": SILENT}, INFEASIBLE, "racks play no part: 1 client (...", SET_RACKS),
        (
            MIN,
            {"replicas": on("source-0", "b ?")},
            INFEASIBLE,
            "racks play no part: 1 source partition (source-0-1) lies on a broker without rack",
            SET_RACKS,
        ),
        # the protocol of KIP-1071 does not tell client.rack, so setting it would not help
        (
            MIN,
            {"threads": SILENT, "kip_1071": True},
            INFEASIBLE,
            "racks play no part: 1 client (...",
            "Configure racks by client id or host...",
        ),
        # with the broker assigning each is a yardstick, even one that gives exactly what there is
        *((each, {"kip_1071": True}, YARDSTICK, NO_SETTING, "") for each in RackStrategy),
        # equal costs are no reason against it: it would have nothing to gain, which is said
        (
            MIN,
            {"replicas": on("source-0", "ab ab")},
            COULD,
            f"{_restart('min_traffic')}; {EQUAL_COSTS}",
            f"{_set('min_traffic')} {NEEDS}, which all tell.",
        ),
        (
            MIN,
            {"replicas": on("source-0", "ab ab"), "told": MIN_BY_RULE},
            CAN,
            f"the strategy it runs, as configured; {EQUAL_COSTS}",
            BRINGS_IT,
        ),
    ],
)
def test_an_application_could_run_a_rack_strategy(strategy, group, expected, why, how):
    """By what it has, what is configured, and whose racks are known; with what its owner has to do."""
    given = {"threads": RACKED, "replicas": FAR, "told": None} | group
    threads, told = given.pop("threads"), given.pop("told")
    found = live_group(threads, {"0": Sub(2)}, **given)
    application = presume(running(found, told))
    judged = task_feasibility(found, application, outcome(application, strategy))

    assert judged.feasibility is expected
    for said, expected_words in ((why_of(judged), why), (how_of(judged), how)):
        begins, cut, _ = expected_words.partition("...")
        assert said.startswith(begins) if cut else said == expected_words


def test_a_setting_or_a_yardstick():
    """A broker that assigns tasks has no strategy to choose."""
    kinds = [live_group(RACKED, {"0": Sub(2)}, kip_1071=kip) for kip in (False, True)]

    assert [task_reach(group) for group in kinds] == [Deployment.SETTING, Deployment.YARDSTICK]


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
