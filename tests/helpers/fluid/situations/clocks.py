"""Groups that live by a clock: days, weeks, hourly jobs. What comes back is no news."""

from __future__ import annotations

from tests.helpers.fluid.plan import DAY, Capacity, Join, Leave, Traffic, at, topics
from tests.helpers.fluid.situations.common import ROUTINE, TOLD, busy, fine, true
from tests.helpers.fluid.truth import Diagnosis, Kind, Situation

ALL = (0, 1, 2, 3)
HOURS = range(0, 120, 12)
"""In snapshots."""

OPENED = frozenset({Kind.OPENED}) | TOLD

HOUR = 3600.0

CLOCKS = (
    Situation(
        says="Every day at four in the morning a tenth more arrives than its members can do; by noon all is read.",
        group=busy(
            "daily-peak",
            topics=topics(2, 8, 165),
            traffic=Traffic(depth=0.9, peak=4 * HOUR, wander=0.02),
        ),
        truths=(
            fine(3, 15),
            # from about 28 on more arrives than they can do; that takes half an hour to make it a minute late
            true(Diagnosis.UNDER_PROVISIONED, 36, 66),
            true(Diagnosis.CATCHING_UP, 92, 100),
        ),
        required={Kind.OPENED: 46},
        allowed=TOLD,
        begins=15,
        season=DAY,
    ),
    Situation(
        says="The same peak, but range leaves two of four members idle, and all four could do it.",
        group=busy(
            "daily-peak-lopsided",
            topics=topics(6, 2, 115),
            traffic=Traffic(depth=0.9, peak=4 * HOUR, wander=0.02),
        ),
        truths=(fine(3, 10), true(Diagnosis.SKEWED, 30, 60, subjects=(0, 1))),
        required={Kind.SWITCH: 46},
        allowed=OPENED | {Kind.WITHDRAWN},
        begins=10,
        cures=frozenset({"roundrobin"}),
        season=DAY,
    ),
    Situation(
        says="A weekend with a third of the traffic ends at five o'clock: on workdays two thirds are what it can do.",
        group=busy(
            "healthy-monday",
            traffic=Traffic(week=(1, 1, 1, 1, 1, 0.3, 0.3), monday=at(60)),
        ),
        truths=(fine(),),
        season=7 * DAY,
    ),
    Situation(
        says="A weekend ends, and on workdays more arrives than its members can do.",
        group=busy(
            "monday-rush",
            topics=topics(2, 8, 170),
            traffic=Traffic(week=(1, 1, 1, 1, 1, 0.3, 0.3), monday=at(60), wander=0.02),
        ),
        truths=(fine(3, 59), true(Diagnosis.UNDER_PROVISIONED, 70)),
        required={Kind.OPENED: 80},
        allowed=TOLD,
        begins=60,
        season=7 * DAY,
    ),
    Situation(
        says="A job that comes once an hour for twenty minutes, reads all there is, and leaves.",
        group=busy(
            "batch-reader",
            topics=topics(2, 8, 30),
            events=tuple(
                event
                for hour in range(-24, 120, 12)
                for event in (
                    Leave(at=at(hour + 4) - 50, members=ALL),
                    Join(at=at(hour + 12) - 50, members=ALL),
                )
            ),
        ),
        truths=tuple(
            truth
            for hour in HOURS
            for truth in (fine(hour + 3, hour + 3), true(Diagnosis.NO_MEMBERS, hour + 5, hour + 11))
        ),
        allowed=ROUTINE,
        known=42,
        season=HOUR,
    ),
    Situation(
        says="Its members stay and pause: once an hour they read for twenty minutes, and commit all the time.",
        group=busy(
            "batch-reader-paused",
            topics=topics(2, 8, 30),
            events=tuple(
                event
                for hour in range(-24, 120, 12)
                for event in (
                    Capacity(at=at(hour + 4) - 50, members=ALL, factor=1e-6),
                    Capacity(at=at(hour + 12) - 50, members=ALL, factor=1),
                )
            ),
        ),
        truths=tuple(fine(hour + 3, hour + 3) for hour in HOURS),
        allowed=ROUTINE,
        known=42,
        season=HOUR,
    ),
    Situation(
        says="Every twenty minutes eight of three times the traffic: its lag swings, and is read before the next.",
        group=busy(
            "oscillating-lag",
            topics=topics(2, 8, 70),
            traffic=Traffic(
                bursts=tuple((at(first) + 30, 480, 3) for first in range(10, 120, 4)), wander=0.02
            ),
        ),
        truths=(fine(3, 10),),
        allowed=OPENED | ROUTINE,
        begins=10,
        season=1200.0,
    ),
)
