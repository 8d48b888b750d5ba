"""Groups that wear out or share something: memory that leaks, hosts, transactions, compacted logs, retention."""

from __future__ import annotations

from tests.helpers.fluid.plan import (
    Capacity,
    Hang,
    Join,
    Leave,
    Member,
    Swap,
    Topic,
    Traffic,
    at,
    members,
    topics,
)
from tests.helpers.fluid.situations.common import CAPACITY, TOLD, busy, fine, grown, true
from tests.helpers.fluid.truth import Diagnosis, Kind, Situation

ALL = (0, 1, 2, 3)
DEAL = (0, 0, 1, 1, 2, 2, 3, 3)
OPENED = frozenset({Kind.OPENED}) | TOLD


NOBODYS = (*DEAL, *DEAL[:6], -1, -1)
"""What range gives four members of two topics, but for the last two partitions."""


def _leak(*who: int) -> tuple[Capacity, ...]:
    """Every half hour from snapshot 12 on they can do a tenth less; from 30 on less than arrives at them."""
    return tuple(Capacity(at=at(12 + 6 * n), members=who, factor=0.9 - 0.1 * n) for n in range(6))


def _short(name: str, *changes: tuple[float, str, None, float]) -> dict[str, object]:
    """Records are kept for an hour, and from snapshot 10 on a quarter more arrives than its members can do."""
    names = ("t0", "t1")
    return {
        "name": name,
        "topics": tuple(Topic(name=t, rates=(100,) * 8, keeps=3600, cut_every=5) for t in names),
        "traffic": Traffic(changes=(*grown(at(10), 1.9, *names).changes, *changes), wander=0.02),
    }


WEARING = (
    Situation(
        says="A member's memory leaks: every half hour it does a tenth less, until what arrives is too much for it.",
        group=busy("leaking-member", events=_leak(3)),
        truths=(fine(3, 29), true(Diagnosis.SLOW, 40, subjects=(3,))),
        required={Kind.OPENED: 50},
        allowed=TOLD,
        begins=30,
    ),
    Situation(
        says="All members leak, until what arrives is too much for them; six hours later they are restarted.",
        group=busy(
            "leaking-members", events=(*_leak(*ALL), Capacity(at=at(72), members=ALL, factor=1))
        ),
        truths=(
            fine(3, 29),
            true(Diagnosis.UNDER_PROVISIONED, 40, 71),
            true(Diagnosis.CATCHING_UP, 76, 80),
        ),
        required={Kind.OPENED: 50},
        allowed=TOLD,
        begins=30,
    ),
    Situation(
        says="Eight members on four hosts; a neighbor on one of them takes more than half of what its two can do.",
        group=busy(
            "noisy-host",
            members=tuple(Member(capacity=300, host=m // 2) for m in range(8)),
            events=(
                Capacity(at=at(20), members=(4, 5), factor=0.4),
                Capacity(at=at(60), members=(4, 5), factor=1),
            ),
        ),
        truths=(
            fine(3, 20),
            true(Diagnosis.SLOW, 27, 59, subjects=(4, 5)),
            true(Diagnosis.CATCHING_UP, 66, 70),
        ),
        required={Kind.OPENED: 36},
        allowed=TOLD,
        begins=20,
    ),
    Situation(
        says="The neighbor comes every half hour for three minutes, whose backlog is read in three more.",
        group=busy(
            "healthy-noisy-host",
            members=tuple(Member(capacity=300, host=m // 2) for m in range(8)),
            events=tuple(
                Capacity(at=at(6 * n) + since, members=(4, 5), factor=factor)
                for n in range(1, 20)
                for since, factor in ((-595, 0.5), (-415, 1))
            ),
        ),
        truths=(fine(),),
    ),
    Situation(
        says="Somebody's own assignor deals out two partitions to nobody for an hour, until range is elected again.",
        group=busy(
            "unassigned-partitions",
            events=(Swap(at=at(20), to=NOBODYS), Swap(at=at(32), to="range")),
        ),
        truths=(
            fine(3, 20),
            true(Diagnosis.UNASSIGNED, 22, 31, subjects=(("t1", 6), ("t1", 7))),
            true(Diagnosis.CATCHING_UP, 35, 38),
            fine(60),
        ),
        required={Kind.OPENED: 30, Kind.RESOLVED: 70},
        allowed=TOLD,
        begins=20,
    ),
    Situation(
        says="A producer dies in a transaction that nobody aborts for four hours: one partition is read no further.",
        group=busy(
            "hanging-transaction",
            events=(Hang(at=at(20), partition=("t0", 5), until=at(68)),),
        ),
        truths=(fine(3, 20), true(Diagnosis.HANGING, 26, 67, subjects=(("t0", 5),)), fine(93)),
        required={Kind.OPENED: 34, Kind.RESOLVED: 100},
        allowed=TOLD,
        begins=20,
    ),
    Situation(
        says="At each snapshot a transaction has been open for half a minute, and is committed soon.",
        group=busy(
            "healthy-transactions",
            events=tuple(
                Hang(at=at(n) - 30, partition=("t0", n % 8), until=at(n) + 15)
                for n in range(-12, 120)
            ),
        ),
        truths=(fine(),),
    ),
    Situation(
        says="An hour without members, of a compacted topic whose retention of ten minutes means nothing: all is read.",
        group=busy(
            "compacted",
            topics=(Topic(name="t0", rates=(60,) * 16, keeps=600, cut_every=5, compacted=True),),
            events=(Leave(at=at(30) - 100, members=ALL), Join(at=at(42) - 100, members=ALL)),
        ),
        truths=(
            fine(3, 29),
            true(Diagnosis.NO_MEMBERS, 31, 41),
            true(Diagnosis.CATCHING_UP, 44, 46),
            fine(58),
        ),
        required={Kind.OPENED: 37, Kind.RESOLVED: 64},
        allowed=TOLD,
        begins=30,
    ),
    Situation(
        says="It falls behind until four fifths of its retention, then traffic falls: nothing was lost.",
        group=busy(**_short("retention-near", *grown(at(52), 0.4, "t0", "t1").changes)),
        truths=(
            fine(3, 10),
            true(Diagnosis.UNDER_PROVISIONED, 18, 51),
            true(Diagnosis.CATCHING_UP, 58, 66),
        ),
        required={Kind.OPENED: 28},
        allowed=TOLD,
        begins=10,
    ),
    Situation(
        says="It falls behind until retention takes what it has not read; an hour before that it is said.",
        group=busy(**_short("retention-reached")),
        truths=(
            fine(3, 10),
            true(Diagnosis.UNDER_PROVISIONED, 18, 60),
            true(Diagnosis.DATA_LOSS, 74),
        ),
        required={Kind.OPENED: 28, Kind.WORSE: 66},
        allowed=TOLD,
        begins=10,
    ),
    Situation(
        says="Three of a hundred members do two fifths of what their peers can.",
        group=busy(
            "big-few-slow",
            topics=topics(2, 100, 20),
            members=members(100, CAPACITY / 10),
            events=(Capacity(at=at(20), members=(17, 42, 77), factor=0.4),),
        ),
        truths=(fine(3, 20), true(Diagnosis.SLOW, 27, subjects=(17, 42, 77))),
        required={Kind.OPENED: 36},
        allowed=TOLD,
        begins=20,
    ),
    Situation(
        says="A new group that began at the log's start and reads a day of records in ten hours, evenly.",
        group=busy(
            "migration-from-earliest", topics=topics(2, 8, 40), backlog=(40 * 86400.0 * 1.1,) * 16
        ),
        truths=(true(Diagnosis.CATCHING_UP, 6, 80),),
        allowed=OPENED,
    ),
)
