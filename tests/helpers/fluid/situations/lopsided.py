"""Groups whose assignment is to blame, or costs money: another one mends it, seems to, or would if it could be had."""

from __future__ import annotations

from typing import Any

from tests.helpers.fluid.plan import (
    Group,
    Join,
    Leave,
    Switch,
    Topic,
    Traffic,
    at,
    members,
    topics,
)
from tests.helpers.fluid.situations.common import (
    CAPACITY,
    TOLD,
    busy,
    fine,
    grown,
    rack_group,
    true,
)
from tests.helpers.fluid.truth import Diagnosis, Kind, Situation

OPENED = frozenset({Kind.OPENED}) | TOLD
ROUNDROBIN = frozenset({"roundrobin"})


def _ranged(
    name: str, falls: tuple[float, float] | None = None, waves: bool = False, **other: Any
) -> Group:
    """
    Six topics of two partitions, which `range` all gives to the first two of four members.

    From snapshot 10 on 120/s arrive at each partition: 720/s for each of the two, who can do 600; until traffic
    *falls*, at a moment by a factor, or comes in *waves* of an hour with one of two thirds between them.
    """
    names = [f"t{n}" for n in range(6)]
    changes = grown(at(10), 120 / 84, *names).changes
    if falls is not None:
        changes += grown(*falls, *names).changes
    calm = tuple((at(first), 3600, 2 / 3) for first in range(22, 120, 24)) if waves else ()
    return busy(
        name,
        topics=topics(6, 2, 84),
        traffic=Traffic(changes=changes, wander=0.03, bursts=calm),
        **other,
    )


LOPSIDED = (
    Situation(
        says="Range gives all partitions to two of four members, and the day comes when that is too much for them.",
        group=_ranged("skewed-load"),
        truths=(fine(3, 10), true(Diagnosis.SKEWED, 20, subjects=(0, 1))),
        required={Kind.SWITCH: 34},
        allowed=OPENED,
        begins=10,
        cures=ROUNDROBIN,
    ),
    Situation(
        says="The same in a group of the newer protocol, whose broker assigns: uniform would even it out.",
        group=_ranged("skewed-modern", modern=True, lists=("range", "uniform")),
        truths=(fine(3, 10), true(Diagnosis.SKEWED, 20, subjects=(0, 1))),
        required={Kind.SWITCH: 34},
        allowed=OPENED,
        begins=10,
        cures=frozenset({"uniform"}),
    ),
    Situation(
        says="The same, and three hours later its members are restarted with round robin, as they were advised to.",
        group=_ranged("skewed-taken-up", events=(Switch(at=at(45), to="roundrobin"),)),
        truths=(
            fine(3, 10),
            true(Diagnosis.SKEWED, 20, 44, subjects=(0, 1)),
            true(Diagnosis.CATCHING_UP, 49, 51, Diagnosis.HEALTHY),
            fine(64),
        ),
        required={Kind.SWITCH: 34, Kind.ADOPTED: 50, Kind.VERIFIED: 64},
        allowed=OPENED,
        begins=10,
        cures=ROUNDROBIN,
    ),
    Situation(
        says="The same, but the two members that had nothing to do can hardly do anything: it was taken up in vain.",
        group=_ranged(
            "skewed-missed",
            members=(*members(2, CAPACITY), *members(2, 5)),
            events=(Switch(at=at(38), to="roundrobin"),),
        ),
        truths=(
            fine(3, 10),
            # what the idle ones can do nobody sees
            true(Diagnosis.SKEWED, 20, 37, Diagnosis.UNDER_PROVISIONED),
            true(Diagnosis.SLOW, 56, subjects=(2, 3)),
        ),
        required={Kind.SWITCH: 34, Kind.ADOPTED: 44, Kind.MISSED: 58},
        allowed=OPENED,
        begins=10,
    ),
    Situation(
        says="A partition of 480/s shares its member with one of 240; alone on a member that now idles it would do.",
        group=busy(
            "hot-shared",
            topics=(Topic(name="cold", rates=(240,) * 3), Topic(name="hot", rates=(300,))),
            traffic=grown(at(10), 1.6, "hot"),
        ),
        truths=(fine(3, 10), true(Diagnosis.SKEWED, 20, subjects=(0,))),
        required={Kind.SWITCH: 34},
        allowed=OPENED,
        begins=10,
        cures=ROUNDROBIN,
    ),
    Situation(
        says="A hot partition shares its member with one neighbor too many; only a plan could move that one away.",
        group=busy(
            "hot-shared-plan-only",
            topics=(Topic(name="t0", rates=(325, 160, 160, 160, 160, 160, 160, 160)),),
            traffic=Traffic(changes=((at(10), "t0", 0, 1.6),), wander=0.02),
        ),
        truths=(fine(3, 10), true(Diagnosis.SKEWED, 20, subjects=(0,))),
        required={Kind.OPENED: 40},
        allowed=TOLD,
        begins=10,
    ),
    Situation(
        says="After two hours without members it catches up, one member for most of a day because range gave it most.",
        group=busy(
            "catching-up-skewed",
            topics=topics(6, 5, 40),
            events=(
                Leave(at=at(-20) - 100, members=(0, 1, 2, 3)),
                Join(at=at(4) - 100, members=(0, 1, 2, 3)),
            ),
        ),
        truths=(true(Diagnosis.NO_MEMBERS, 1, 3), true(Diagnosis.CATCHING_UP, 11, 90)),
        required={Kind.SWITCH: 28},
        allowed=OPENED | {Kind.WITHDRAWN},
        cures=ROUNDROBIN,
    ),
    Situation(
        says="All it reads comes from other racks: 24 MB/s, two terabytes a day; range would read it at home.",
        group=rack_group("racks-much", 2000, 1000),
        truths=(fine(),),
        required={Kind.SWITCH: 24},
        allowed=frozenset({Kind.DIGEST}),
        cures=frozenset({"range"}),
    ),
    Situation(
        says="The same, and it takes the advice up; its diagnosis stays, so it hears of that a day later.",
        group=rack_group("racks-taken-up", 2000, 1000, events=(Switch(at=at(40), to="range"),)),
        truths=(fine(3, 39), fine(46)),
        required={Kind.SWITCH: 24},
        allowed=frozenset({Kind.DIGEST}),
        cures=frozenset({"range"}),
    ),
    Situation(
        says="Skewed for forty minutes only, until traffic falls again: too short to restart anybody.",
        group=_ranged("skewed-shortly", falls=(at(18), 0.7)),
        truths=(fine(3, 10), fine(36)),
        allowed=OPENED,
        begins=10,
        not_yet=frozenset({Kind.SWITCH, Kind.WITHDRAWN}),
    ),
    Situation(
        says="Skewed for an hour, in order for another, and so on: whatever is said of it, it is not said every hour.",
        group=_ranged("skewed-now-and-then", waves=True),
        truths=(fine(3, 10),),
        allowed=OPENED | {Kind.HABIT, Kind.SWITCH, Kind.WITHDRAWN},
        begins=10,
        cures=ROUNDROBIN,
    ),
    Situation(
        says="Skewed for two hours, then a fifth of the traffic goes away for good: what was advised is withdrawn.",
        group=_ranged("skewed-withdrawn", falls=(at(34), 0.6)),
        truths=(fine(3, 10), true(Diagnosis.SKEWED, 20, 33, subjects=(0, 1)), fine(60)),
        required={Kind.SWITCH: 34, Kind.WITHDRAWN: 70},
        allowed=OPENED,
        begins=10,
        cures=ROUNDROBIN,
    ),
)
