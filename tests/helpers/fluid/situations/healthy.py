"""Groups that keep up. Whatever their lag in offsets looks like, nobody wants to hear of them."""

from __future__ import annotations

from dataclasses import replace

from tests.helpers.fluid.plan import (
    Commits,
    Join,
    Leave,
    Member,
    Restart,
    Topic,
    Traffic,
    at,
    members,
    topics,
)
from tests.helpers.fluid.situations.common import CAPACITY, LOCKED, busy, fine, rack_group
from tests.helpers.fluid.truth import LAST, Diagnosis, Situation

BEHIND_FOR_MOMENTS = (3, LAST, Diagnosis.CATCHING_UP)
"""Now and then a snapshot falls into a minute in which it is behind."""

HEALTHY = (
    Situation(
        says="Busy, and every snapshot finds its commits 20 to 50 s old: traffic times age looks like lag.",
        group=busy("healthy-locked", commits=LOCKED),
        truths=(fine(),),
    ),
    Situation(
        says="Busy, commits every 5 minutes, always 1 to 4.5 minutes before a snapshot, each member at its own time.",
        group=busy("healthy-locked-rarely", commits=Commits(every=300, phase=30, spread=70)),
        truths=(fine(by=12),),
    ),
    Situation(
        says="Busy, commits every 70 s: the age of a commit wanders from snapshot to snapshot.",
        group=busy("healthy-drifting", commits=Commits(every=70, spread=15)),
        truths=(fine(),),
    ),
    Situation(
        says="Busy, commits every 305 s: its lag seems to shrink for five hours and then leaps up.",
        group=busy("healthy-drifting-slowly", commits=Commits(every=305, spread=70)),
        truths=(fine(by=12),),
    ),
    Situation(
        says="Busy, commits once an hour: most snapshots see no commit move at all.",
        group=busy("healthy-hourly", commits=Commits(every=3600, phase=600, spread=240)),
        truths=(fine(by=30),),
    ),
    Situation(
        says="Traffic of a day: five times as much at two in the afternoon as at night, nine tenths of what it can do.",
        group=busy("healthy-diurnal", traffic=Traffic(depth=0.8), topics=topics(2, 8, 130)),
        truths=(fine(),),
    ),
    Situation(
        says="Nothing arrives, ever.",
        group=busy("healthy-idle", topics=topics(2, 8, 0)),
        truths=(fine(),),
    ),
    Situation(
        says="One of its topics is silent, the other is busy.",
        group=busy(
            "healthy-half-idle", topics=(*topics(1, 8, 200), Topic(name="u", rates=(0,) * 8))
        ),
        truths=(fine(),),
    ),
    Situation(
        says="Every 55 minutes two minutes of five times the traffic, which are read three minutes later.",
        group=busy(
            "healthy-bursts",
            topics=topics(2, 8, 50),
            traffic=Traffic(bursts=tuple((at(11 * n) - 130, 120, 5) for n in range(1, 11))),
        ),
        truths=(fine(*BEHIND_FOR_MOMENTS),),
    ),
    Situation(
        says="Nine tenths of what it can do, with commits a minute apart: hardly ever behind.",
        group=busy(
            "healthy-near-full",
            topics=topics(2, 8, 135),
            traffic=Traffic(wander=0.03, wander_over=300),
            commits=LOCKED,
        ),
        truths=(fine(*BEHIND_FOR_MOMENTS),),
    ),
    Situation(
        says="Five members for three partitions: two have nothing to do.",
        group=busy("healthy-idle-members", topics=topics(1, 3, 200), members=members(5, CAPACITY)),
        truths=(fine(),),
    ),
    Situation(
        says="Subscriptions differ, counts are 14, 2 and 2 where 12, 3 and 3 could be; nobody is behind.",
        group=busy(
            "healthy-unequal-subscriptions",
            topics=(Topic(name="own", rates=(20,) * 12), Topic(name="shared", rates=(20,) * 6)),
            members=(
                Member(capacity=CAPACITY),
                Member(capacity=CAPACITY, topics=("shared",)),
                Member(capacity=CAPACITY, topics=("shared",)),
            ),
        ),
        truths=(fine(),),
    ),
    Situation(
        says="All it reads comes from other racks: 12 records/s of 200 bytes.",
        group=rack_group("healthy-racks-little", 1, 200),
        truths=(fine(),),
    ),
    Situation(
        says="Half an hour of restarts, some by a crash; between them it catches up within a minute or two.",
        group=busy(
            "healthy-restart-storm",
            topics=topics(2, 8, 60),
            events=tuple(
                Restart(at=at(40) + 190 * n, member=n % 4, clean=n % 3 != 2) for n in range(10)
            ),
        ),
        truths=(fine(3, 39), fine(50)),
    ),
    Situation(
        says="Static members restart one after another, as in a deployment: nobody rebalances.",
        group=busy(
            "healthy-static-restarts",
            topics=topics(2, 8, 60),
            members=tuple(replace(m, static=True) for m in members(4, CAPACITY)),
            events=tuple(Restart(at=at(40) + 60 * n, member=n, down=20) for n in range(4)),
        ),
        truths=(fine(3, 39), fine(44)),
    ),
    Situation(
        says="A member leaves for good; three can do it, too.",
        group=busy(
            "healthy-fewer-members",
            topics=topics(2, 8, 60),
            events=(Leave(at=at(50) - 100, members=(3,)),),
        ),
        truths=(fine(3, 49), fine(53)),
    ),
    Situation(
        says="A cooperative group grows from three members to five, one an hour.",
        group=busy(
            "healthy-cooperative",
            topics=topics(2, 8, 80),
            members=(*members(3, CAPACITY), *(Member(capacity=CAPACITY, here=False),) * 2),
            strategy="cooperative-sticky",
            lists=("cooperative-sticky", "range"),
            events=(Join(at=at(40) - 100, members=(3,)), Join(at=at(52) - 100, members=(4,))),
        ),
        truths=(fine(3, 39), fine(43, 51), fine(55)),
    ),
    Situation(
        says="A group of the newer protocol grows from three members to four, whose broker moves what must be moved.",
        group=busy(
            "healthy-modern",
            topics=topics(2, 8, 80),
            members=(*members(3, CAPACITY), Member(capacity=CAPACITY, here=False)),
            strategy="uniform",
            modern=True,
            lists=("uniform", "range"),
            events=(Join(at=at(40) - 100, members=(3,)),),
        ),
        truths=(fine(3, 39), fine(43)),
    ),
    Situation(
        says="A topic gets four partitions more; whoever gets them starts at their beginning.",
        group=busy(
            "healthy-new-partitions",
            topics=(
                Topic(name="t0", rates=(60,) * 8),
                Topic(name="t1", rates=(60,) * 12, born=8, born_at=at(40) - 100),
            ),
        ),
        truths=(fine(3, 39), fine(43)),
    ),
)
