"""Groups with trouble that no other assignment mends: it has a name, and there is no switch."""

from __future__ import annotations

from tests.helpers.fluid.plan import (
    Capacity,
    Commits,
    Join,
    Leave,
    Rebalancing,
    Reset,
    Stick,
    Topic,
    Traffic,
    Unread,
    Vanish,
    at,
    members,
    topics,
)
from tests.helpers.fluid.situations.common import (
    CAPACITY,
    LOCKED,
    ROUTINE,
    TOLD,
    busy,
    fine,
    grown,
    true,
)
from tests.helpers.fluid.truth import Diagnosis, Kind, Situation

ALL = (0, 1, 2, 3)
EVERY_TWO_HOURS = range(0, 120, 24)
"""In snapshots."""

OPENED = frozenset({Kind.OPENED}) | TOLD

SICK = (
    Situation(
        says="One pod of four becomes slow: it does 240/s where its peers could do 600, and 400/s arrive.",
        group=busy("slow-member", events=(Capacity(at=at(20), members=(3,), factor=0.4),)),
        truths=(fine(3, 20), true(Diagnosis.SLOW, 27, subjects=(3,))),
        required={Kind.OPENED: 36},
        allowed=TOLD,
        begins=20,
    ),
    Situation(
        says="The same with commits a minute apart: its offsets show it as clearly.",
        group=busy(
            "slow-member-locked",
            commits=LOCKED,
            events=(Capacity(at=at(20), members=(1,), factor=0.4),),
        ),
        truths=(fine(3, 20), true(Diagnosis.SLOW, 27, subjects=(1,))),
        required={Kind.OPENED: 36},
        allowed=TOLD,
        begins=20,
    ),
    Situation(
        says="Two pods of five land on a slow machine.",
        group=busy(
            "two-slow-members",
            topics=topics(2, 10, 100),
            members=members(5, CAPACITY),
            events=(Capacity(at=at(20), members=(1, 4), factor=0.4),),
        ),
        truths=(fine(3, 20), true(Diagnosis.SLOW, 27, subjects=(1, 4))),
        required={Kind.OPENED: 36},
        allowed=TOLD,
        begins=20,
    ),
    Situation(
        says="A slow pod is replaced after two hours, and its partitions catch up.",
        group=busy(
            "slow-member-mended",
            events=(
                Capacity(at=at(20), members=(3,), factor=0.4),
                Capacity(at=at(44), members=(3,), factor=1),
            ),
        ),
        truths=(
            fine(3, 20),
            true(Diagnosis.SLOW, 27, 43, subjects=(3,)),
            true(Diagnosis.CATCHING_UP, 50, 60),
            fine(74),
        ),
        required={Kind.OPENED: 36, Kind.RESOLVED: 74},
        allowed=TOLD,
        begins=20,
    ),
    Situation(
        says="A member hangs: it still owns four partitions and reads none of them.",
        group=busy("silent-member", events=(Capacity(at=at(20), members=(2,), factor=0),)),
        truths=(fine(3, 20), true(Diagnosis.NOT_COMMITTING, 26, subjects=(2,))),
        required={Kind.OPENED: 34},
        allowed=TOLD,
        begins=20,
    ),
    Situation(
        says="A member hangs in a group that commits once an hour: it takes more than an hour to know.",
        group=busy(
            "silent-member-hourly",
            commits=Commits(every=3600, phase=600, spread=240),
            events=(Capacity(at=at(50), members=(2,), factor=0),),
        ),
        truths=(fine(30, 50), true(Diagnosis.NOT_COMMITTING, 82, subjects=(2,))),
        required={Kind.OPENED: 96},
        allowed=TOLD,
        begins=50,
    ),
    Situation(
        says="A record that its consumer cannot digest: one partition stands still, its neighbors do not.",
        group=busy("stuck-partition", events=(Stick(at=at(20), partition=("t0", 5)),)),
        truths=(fine(3, 20), true(Diagnosis.STUCK, 26, subjects=(("t0", 5),))),
        required={Kind.OPENED: 34},
        allowed=TOLD,
        begins=20,
    ),
    Situation(
        says="A partition that has a member to itself becomes hot: 900/s arrive, and no member can do more than 600.",
        group=busy(
            "hot-alone",
            topics=(Topic(name="cold", rates=(200,) * 3), Topic(name="hot", rates=(450,))),
            strategy="roundrobin",
            lists=("roundrobin", "range"),
            traffic=grown(at(10), 2, "hot"),
        ),
        truths=(fine(3, 10), true(Diagnosis.HOT, 18, subjects=(("hot", 0),))),
        required={Kind.OPENED: 28},
        allowed=TOLD,
        begins=10,
    ),
    Situation(
        says="More arrives than three members can do: 1600/s for 1200; five would do.",
        group=busy(
            "too-few-members",
            topics=topics(2, 8, 60),
            members=members(3, 400),
            traffic=grown(at(10), 5 / 3, "t0", "t1"),
        ),
        truths=(fine(3, 10), true(Diagnosis.UNDER_PROVISIONED, 18)),
        required={Kind.OPENED: 28},
        allowed=TOLD,
        begins=10,
    ),
    Situation(
        says="Too few since long before it was first seen, and half an hour behind by then.",
        group=busy("too-few-when-first-seen", members=members(4, 320), topics=topics(2, 8, 100)),
        truths=(true(Diagnosis.UNDER_PROVISIONED, 4),),
        required={Kind.OPENED: 12},
        allowed=TOLD,
    ),
    Situation(
        says="As many members as partitions, and each partition gets more than a member can do: more are no help.",
        group=busy(
            "as-many-members-as-partitions",
            topics=topics(1, 4, 300),
            members=members(4, 400),
            traffic=grown(at(10), 5 / 3, "t0"),
        ),
        truths=(fine(3, 10), true(Diagnosis.UNDER_PROVISIONED, 18)),
        required={Kind.OPENED: 28},
        allowed=TOLD,
        begins=10,
    ),
    Situation(
        says="Twenty minutes of eight times the traffic leave a backlog that is read within the hour.",
        group=busy(
            "catching-up",
            topics=topics(2, 8, 50),
            traffic=Traffic(bursts=((at(40), 1200, 8),)),
        ),
        truths=(fine(3, 40), true(Diagnosis.CATCHING_UP, 47, 51), fine(62)),
        allowed=OPENED,
        begins=40,
    ),
    Situation(
        says="Every two hours ten minutes of eight times the traffic: batch jobs; all is read half an hour later.",
        group=busy(
            "batches",
            topics=topics(2, 8, 50),
            traffic=Traffic(bursts=tuple((at(first + 12), 600, 8) for first in EVERY_TWO_HOURS)),
        ),
        truths=(
            fine(3, 12),
            *(true(Diagnosis.CATCHING_UP, k + 17, k + 17) for k in EVERY_TWO_HOURS),
            *(fine(first + 23, first + 36) for first in EVERY_TWO_HOURS[:-1]),
        ),
        allowed=ROUTINE,
        begins=12,
        known=76,
    ),
    Situation(
        says="All members leave and none comes back; records go on arriving.",
        group=busy("no-members", events=(Leave(at=at(30) - 100, members=ALL),)),
        truths=(fine(3, 29), true(Diagnosis.NO_MEMBERS, 31)),
        required={Kind.OPENED: 37},
        allowed=TOLD,
        begins=30,
    ),
    Situation(
        says="A group that is stopped on purpose and has nothing to read: it has no members, and needs none.",
        group=busy(
            "stopped",
            topics=topics(2, 8, 0),
            events=(Leave(at=at(30) - 100, members=ALL),),
        ),
        truths=(fine(3, 29), true(Diagnosis.NO_MEMBERS, 31)),
        allowed=OPENED,
        begins=30,
    ),
    Situation(
        says="The group is stopped and deleted.",
        group=busy(
            "vanished",
            events=(Leave(at=at(59) - 60, members=ALL), Vanish(at=at(60) - 60)),
        ),
        truths=(fine(3, 58), true(Diagnosis.GONE, 60)),
        allowed=OPENED,
        begins=59,
    ),
    Situation(
        says="A rebalance that takes two hours; then it catches up.",
        group=busy("rebalancing", events=(Rebalancing(at=at(30) - 100, until=at(54) - 100),)),
        truths=(fine(3, 29), true(Diagnosis.REBALANCING, 32, 53)),
        required={Kind.OPENED: 37, Kind.RESOLVED: 119},
        allowed=TOLD,
        begins=30,
    ),
    Situation(
        says="It does three quarters of what arrives, and retention takes the rest after an hour, unread.",
        group=busy(
            "losing-records",
            topics=tuple(
                Topic(name=f"t{n}", rates=(100,) * 8, keeps=3600, cut_every=5) for n in range(2)
            ),
            members=members(3, 400),
            commits=LOCKED,
            backlog=(100 * 3400.0,) * 16,
        ),
        truths=(true(Diagnosis.DATA_LOSS, 6),),
        required={Kind.OPENED: 14},
        allowed=TOLD,
    ),
    Situation(
        says="Stopped for half an hour, then somebody sets its offsets to the end before it starts again.",
        group=busy(
            "skipped-records",
            events=(
                Leave(at=at(40) + 60, members=ALL),
                Reset(at=at(47) + 60),
                Join(at=at(47) + 120, members=ALL),
            ),
        ),
        truths=(
            fine(3, 40),
            true(Diagnosis.NO_MEMBERS, 42, 47),
            true(Diagnosis.OFFSETS_SKIPPED, 48, 52, once=True),
            fine(64),
        ),
        required={Kind.OPENED: 56, Kind.RESOLVED: 64},
        allowed=TOLD,
        begins=40,
    ),
    Situation(
        says="Somebody sets its offsets back by an hour; it reads all that again, two hours long.",
        group=busy(
            "rewound",
            events=(
                Leave(at=at(50) + 60, members=ALL),
                Reset(at=at(50) + 90, back=3600),
                Join(at=at(50) + 120, members=ALL),
            ),
        ),
        truths=(fine(3, 50), true(Diagnosis.CATCHING_UP, 56, 70), fine(84)),
        allowed=OPENED,
        begins=50,
    ),
    Situation(
        says="For two and a half hours nobody can read the ends of its partitions, later its commits.",
        group=busy(
            "unreadable",
            events=(
                Unread(at=at(30) - 10, until=at(60) - 10),
                Unread(at=at(80) - 10, until=at(90) - 10, commits=True),
            ),
        ),
        truths=(
            true(Diagnosis.UNKNOWN, 0, 0),
            fine(3, 29),
            true(Diagnosis.UNKNOWN, 31, 59),
            fine(64, 79),
            true(Diagnosis.UNKNOWN, 81, 89),
            fine(94),
        ),
        allowed=OPENED,
        begins=30,
    ),
    Situation(
        says="For three hours of the night other jobs take half of what its members can do; then it catches up.",
        group=busy(
            "slower-at-night",
            events=(
                Capacity(at=at(24), members=ALL, factor=0.5),
                Capacity(at=at(60), members=ALL, factor=1),
            ),
        ),
        truths=(
            fine(3, 24),
            true(Diagnosis.UNDER_PROVISIONED, 32, 59),
            true(Diagnosis.CATCHING_UP, 66, 74),
            fine(88),
        ),
        required={Kind.OPENED: 42, Kind.RESOLVED: 88},
        allowed=TOLD,
        begins=24,
    ),
)
