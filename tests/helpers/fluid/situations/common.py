"""What situations have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.helpers.fluid.plan import RACKS, Commits, Group, Member, Topic, Traffic, members, topics
from tests.helpers.fluid.truth import LAST, Diagnosis, Kind, Truth

CAPACITY = 600.0
"""Records/s of an ordinary member."""

TOLD = frozenset({Kind.WORSE, Kind.STILL, Kind.RESOLVED, Kind.DIGEST})
"""What may follow where something was opened."""

ROUTINE = frozenset({Kind.OPENED, Kind.RESOLVED, Kind.HABIT})
"""What may come where the same comes by the clock; no more than `Kind.HABIT` from the third time on."""

LOCKED = Commits(every=60, phase=10, spread=10)
"""Each snapshot finds the commits of member m `50 - 10 m` seconds old."""

SETTLED = 3
"""From this snapshot on enough is known of a group that nothing happens to."""


def busy(name: str, **other: Any) -> Group:
    """Four members of 600/s that share 16 partitions of 100/s: two thirds of what they can do."""
    plain = Group(
        name=name,
        topics=topics(2, 8, 100),
        members=members(4, CAPACITY),
        lists=("range", "roundrobin"),
    )
    return replace(plain, **other)


def true(diagnosis: Diagnosis, by: int, until: int = LAST, *also: Diagnosis, **other: Any) -> Truth:
    """A truth."""
    return Truth(diagnosis=diagnosis, by=by, until=until, also=frozenset(also), **other)


def fine(by: int = SETTLED, until: int = LAST, *also: Diagnosis) -> Truth:
    """It keeps up."""
    return true(Diagnosis.HEALTHY, by, until, *also)


def grown(since: float, factor: float, *topics_of: str) -> Traffic:
    """From a moment on so much more arrives in some topics."""
    return Traffic(changes=tuple((since, topic, None, factor) for topic in topics_of))


def rack_group(name: str, rate: float, record_bytes: float, **other: Any) -> Group:
    """Twelve partitions with one copy each, dealt out so that every one is read from another rack."""
    topic = Topic(name="t0", rates=(rate,) * 12, replicas=1, record_bytes=record_bytes)
    return busy(
        name,
        topics=(topic,),
        members=tuple(Member(capacity=rate * 8, rack=RACKS[(m + 1) % 3]) for m in range(3)),
        strategy="roundrobin",
        lists=("roundrobin", "range"),
        **other,
    )
