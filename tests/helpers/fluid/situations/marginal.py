"""Groups in which a switch is a close call: it barely pays, barely doesn't, or mends a part of what is wrong."""

from __future__ import annotations

from tests.helpers.fluid.plan import Capacity, Group, Topic, Traffic, at, members, topics
from tests.helpers.fluid.situations.common import CAPACITY, TOLD, busy, fine, grown, true
from tests.helpers.fluid.truth import Diagnosis, Kind, Situation

OPENED = frozenset({Kind.OPENED}) | TOLD
ROUNDROBIN = frozenset({"roundrobin"})
NAMES = tuple(f"t{n}" for n in range(6))


def _close(name: str, count: int, factor: float, *changes: tuple[float, str, None, float]) -> Group:
    """
    Three of *count* members have all partitions, and from snapshot 10 on they get *factor* times what they can do.

    Everybody stops for the whole of a rolling restart, so that the number of members decides what a switch costs.
    """
    more = grown(at(10), factor * 100 / 84, *NAMES).changes
    return busy(
        name,
        topics=topics(6, 3, 84),
        members=members(count, CAPACITY),
        pause=60,
        traffic=Traffic(changes=(*more, *changes), wander=0.01),
    )


MARGINAL = (
    Situation(
        says="Three of twenty members are a little behind; within the hour a switch gains about twice what it costs.",
        group=_close("marginal-twice", 20, 1.03),
        truths=(fine(3, 10), true(Diagnosis.SKEWED, 28)),
        required={Kind.SWITCH: 44},
        allowed=OPENED,
        begins=10,
        cures=ROUNDROBIN,
    ),
    Situation(
        says="Three of 42 members are a little behind, for two hours; a switch would cost twice what it gains.",
        group=_close("marginal-half", 42, 1.03, *grown(at(34), 0.85, *NAMES).changes),
        truths=(fine(3, 10), true(Diagnosis.SKEWED, 30, 33), fine(44)),
        allowed=OPENED,
        begins=10,
    ),
    Situation(
        says="One of four slows down, and two of its four partitions elsewhere would do; it follows plans.",
        group=busy(
            "slow-member-planned",
            strategy="evenkeel-plan",
            lists=("evenkeel-plan", "cooperative-sticky"),
            events=(Capacity(at=at(20), members=(3,), factor=0.4),),
        ),
        truths=(fine(3, 20), true(Diagnosis.SLOW, 27, subjects=(3,))),
        required={Kind.OPENED: 36, Kind.SWITCH: 46},
        allowed=TOLD,
        begins=20,
    ),
    Situation(
        says="Too few members, and range gives all to two of the four: round robin halves what it falls behind.",
        group=busy(
            "too-few-and-lopsided",
            topics=topics(6, 2, 90),
            traffic=grown(at(10), 2.7, *NAMES),
        ),
        truths=(fine(3, 10), true(Diagnosis.UNDER_PROVISIONED, 20)),
        required={Kind.OPENED: 30, Kind.SWITCH: 40},
        allowed=TOLD,
        begins=10,
        cures=ROUNDROBIN,
    ),
    Situation(
        says="A hot partition is too much for any member; round robin would free the neighbor that suffers with it.",
        group=busy(
            "hot-with-neighbor",
            topics=(Topic(name="cold", rates=(240,) * 3), Topic(name="hot", rates=(300,))),
            traffic=grown(at(10), 3, "hot"),
        ),
        truths=(fine(3, 10), true(Diagnosis.HOT, 18, subjects=(("hot", 0),))),
        required={Kind.OPENED: 28, Kind.SWITCH: 40},
        allowed=TOLD,
        begins=10,
        cures=ROUNDROBIN,
    ),
    Situation(
        says="A hot partition, and what is left is too much for the other members as well.",
        group=busy(
            "hot-and-too-few",
            topics=(Topic(name="cold", rates=(145,) * 11), Topic(name="hot", rates=(250,))),
            strategy="roundrobin",
            lists=("roundrobin", "range"),
            traffic=Traffic(
                changes=((at(10), "hot", None, 3), (at(10), "cold", None, 1.35)), wander=0.02
            ),
        ),
        truths=(fine(3, 10), true(Diagnosis.HOT, 18, 119, Diagnosis.UNDER_PROVISIONED)),
        required={Kind.OPENED: 28},
        allowed=TOLD,
        begins=10,
    ),
)
