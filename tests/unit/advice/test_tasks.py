"""Whether a Kafka Streams application could run a rack strategy, and how its owner would get it."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.advice.tasks import racks_found, task_feasibility, task_reach
from evenkeel.engine.assignors.interface import spec_of
from evenkeel.engine.config import StreamsSettings
from evenkeel.engine.model.arrays import Column
from evenkeel.engine.model.assignments import Deployment, Feasibility
from evenkeel.engine.streams.compare import outcome, present
from evenkeel.engine.streams.live import running
from evenkeel.engine.streams.settings import RackStrategy
from tests.helpers.facts import how_of, why_of
from tests.helpers.streams_groups import Sub, Thread, live_group, on, presume

SETTING = "rack.aware.assignment.strategy"
SET_RACKS = "Set client.rack on every instance and broker.rack on every broker."
NO_SETTING = "a KIP-1071 group: the broker assigns tasks, and has no such setting"

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
EQUAL_COSTS = "every task costs the same on every client, so racks make no difference"
NEEDS = "Every instance needs Kafka Streams 3.6 or newer, and client.rack"
CAN, COULD, NOT_DEPLOYABLE = (
    Feasibility.AVAILABLE,
    Feasibility.NEEDS_RESTART,
    Feasibility.NOT_DEPLOYABLE,
)
INFEASIBLE = Feasibility.NOT_APPLICABLE
BRINGS_IT = "The group already runs this strategy: the next rebalance applies the assignment."


SENT = (
    "after client.rack is set on 1 of 2 clients (app-2): a single client without it disables racks for"
    " all (KIP-925)"
)


def _send(rack):
    return f"Set client.rack={rack} on 1 of 2 instances (app-2), with the next restart."


def _restart(strategy):
    return f"after one rolling restart that sets {SETTING}={strategy}"


def _set(strategy):
    return f"Set {SETTING}={strategy} on every instance: one rolling restart."


@pytest.mark.parametrize(
    ("strategy", "group", "expected", "why", "how"),
    [
        # what gives exactly what there is can run, as far as can be seen; so can what is configured
        (NONE, {}, CAN, "the current strategy, as far as can be seen", BRINGS_IT),
        (BALANCE, {"told": BY_RULE}, CAN, "the current strategy, as configured", BRINGS_IT),
        (NONE, {"told": BY_RULE}, COULD, _restart("none"), _set("none")),
        # another one could after a restart: the setting is named, and what else it asks for
        (
            MIN,
            {},
            COULD,
            _restart("min_traffic"),
            f"{_set('min_traffic')} {NEEDS}, which all send.",
        ),
        (
            BALANCE,
            {},
            COULD,
            _restart("balance_subtopology"),
            f"{_set('balance_subtopology')} {NEEDS}, which all send.",
        ),
        # back to `none` racks have no effect
        (NONE, {"replicas": NEAR, "threads": EXCHANGED}, COULD, _restart("none"), _set("none")),
        # Kafka does not see racks that are configured: they are to be sent first
        (
            MIN,
            {"threads": CONFIGURED},
            COULD,
            f"{SENT}; {_restart('min_traffic')}",
            f"{_send('b')} {_set('min_traffic')} {NEEDS}: 1 of 2 members send none.",
        ),
        # where the strategy is set already, that is all; in effect it is `none` until then
        (MIN, {"threads": CONFIGURED, "told": MIN_BY_RULE}, COULD, SENT, _send("b")),
        (
            NONE,
            {"threads": CONFIGURED, "told": MIN_BY_RULE},
            CAN,
            "the strategy in effect: min_traffic is configured, and racks are off",
            BRINGS_IT,
        ),
        # a missing rack makes it another name for `none`, which looks at no rack; who has none is named
        (NONE, {"threads": SILENT}, CAN, "the current strategy, as far as can be seen", BRINGS_IT),
        *(
            (
                each,
                {"threads": SILENT},
                INFEASIBLE,
                "racks have no effect: 1 client (app-2) has no rack...",
                f"{_send('<the rack of this member>')} {_set(each.value)}...",
            )
            for each in (MIN, BALANCE)
        ),
        (
            MIN,
            {"replicas": on("source-0", "b ?")},
            INFEASIBLE,
            "racks have no effect: 1 source partition (source-0-1) lies on a broker without rack",
            SET_RACKS,
        ),
        # for measuring alone: the broker doesn't use racks
        (
            MIN,
            {"threads": SILENT, "kip_1071": True},
            INFEASIBLE,
            "racks have no effect: 1 client (...",
            "Set client.rack of Kafka Streams, or configure racks by client id or host...",
        ),
        # with the broker assigning each is a baseline, even one that gives exactly what there is
        *((each, {"kip_1071": True}, NOT_DEPLOYABLE, NO_SETTING, "") for each in RackStrategy),
        # equal costs are no reason against it: it would have nothing to gain, which is said
        (
            MIN,
            {"replicas": on("source-0", "ab ab")},
            COULD,
            f"{_restart('min_traffic')}; {EQUAL_COSTS}",
            f"{_set('min_traffic')} {NEEDS}, which all send.",
        ),
        (
            MIN,
            {"replicas": on("source-0", "ab ab"), "told": MIN_BY_RULE},
            CAN,
            f"the current strategy, as configured; {EQUAL_COSTS}",
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


@pytest.mark.parametrize(
    ("threads", "more", "expected"),
    [
        (RACKED, {}, []),
        (SILENT, {}, ["racks_switched_off"]),
        # nobody wants racks there, and nobody sends one
        (SILENT, {"told": StreamsSettings(rack_aware_assignment_strategy="none")}, []),
        ([Thread(1, "0_0"), Thread(2, "0_1")], {}, []),
        ([Thread(1, "0_0"), Thread(2, "0_1")], {"told": MIN_BY_RULE}, ["racks_switched_off"]),
        # a broker that assigns looks at none
        (SILENT, {"kip_1071": True}, []),
        ([Thread(1, "0_0", rack="us-a"), RACKED[1]], {}, ["stray_rack"]),
        (
            RACKED,
            {"replicas": on("source-0", "ba ba"), "follower_fetching": False},
            ["leaders_only"],
        ),
        (RACKED, {"replicas": on("source-0", "ba ba"), "follower_fetching": True}, []),
    ],
)
def test_what_is_wrong_with_racks_is_found(threads, more, expected):
    """An instance that sends none among others, a rack that no broker has, brokers whose leaders alone serve reads."""
    told = more.pop("told", None)
    group = live_group(threads, {"0": Sub(2)}, **more)
    nothing = Column.unknown(len(group.partitions))
    spec = spec_of(group, nothing, np.full(len(nothing), np.nan))
    found = racks_found(group, spec, presume(running(group, told)))

    assert [each.measure for each in found] == expected
    if expected == ["racks_switched_off"] and told is None:
        assert (found[0].subjects, found[0].after, found[0].bound) == (("app-2",), 1, 2)


def test_a_setting_or_a_baseline():
    """A broker that assigns tasks has no strategy to choose."""
    kinds = [live_group(RACKED, {"0": Sub(2)}, kip_1071=kip) for kip in (False, True)]

    assert [task_reach(group) for group in kinds] == [Deployment.SETTING, Deployment.BASELINE]


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
    assert judged.feasibility is Feasibility.AVAILABLE
    assert why_of(judged).startswith("the current strategy")
    assert how_of(judged).endswith("the next rebalance applies the assignment.")
