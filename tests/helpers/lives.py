"""
Groups to which one thing happens and then is over: one for each cause of an incident, in a lake of real snapshots.

They begin to be ill one after another, so that no digest tells of several at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from evenkeel.engine.config import ClusterSettings, Rule, Settings
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.ports import Lake
from tests.helpers.fluid import Group, Topic, at, simulate, snapshots
from tests.helpers.fluid.plan import (
    Capacity,
    Hang,
    Join,
    Leave,
    Rebalancing,
    Reset,
    Restart,
    Stick,
    Swap,
    Traffic,
    Unread,
    Vanish,
    members,
    topics,
)
from tests.helpers.fluid.situations.common import LOCKED, busy
from tests.helpers.fluid.situations.wearing import NOBODYS
from tests.helpers.lake_snapshots import write_taken

CLUSTER = "lives"
ALL = (0, 1, 2, 3)
ILL = 10
"""The snapshot around which the first is ill; each further group one later."""

COUNT = 60
"""Snapshots in all: the last is well again by then."""


SIX = tuple(f"t{n}" for n in range(6))


def _kept(seconds: float, rate: float = 100) -> tuple[Topic, ...]:
    """Topics whose records are kept for so long."""
    return tuple(
        Topic(name=f"t{n}", rates=(rate,) * 8, keeps=seconds, cut_every=5) for n in range(2)
    )


def _slow(
    since: float, until: float, members: tuple[int, ...], factor: float, then: float
) -> tuple[Capacity, ...]:
    """Members do so much of what they could, and from a moment on so much."""
    return (
        Capacity(at=since, members=members, factor=factor),
        Capacity(at=until, members=members, factor=then),
    )


def _more(since: float, factor: float, *names: str) -> tuple[tuple[float, str, None, float], ...]:
    """From a moment on so much more arrives in some topics."""
    return tuple((since, name, None, factor) for name in names)


Story = Callable[[float, float], Mapping[str, Any]]
"""What is special about a group that is ill from one moment to another."""

STORIES: Mapping[Diagnosis, tuple[str, Story]] = {
    Diagnosis.NO_MEMBERS: (
        "no-members",
        lambda since, until: {
            "events": (Leave(at=since, members=ALL), Join(at=until, members=ALL))
        },
    ),
    Diagnosis.GROUP_DELETED: (
        "vanished",
        lambda since, _: {"events": (Leave(at=since, members=ALL), Vanish(at=since + 40))},
    ),
    Diagnosis.DATA_LOSS: (
        "losing-records",
        lambda since, until: {
            "topics": _kept(1800),
            "commits": LOCKED,
            "events": _slow(since, until + 1800, ALL, 0.2, 2),
        },
    ),
    Diagnosis.OFFSETS_SKIPPED: (
        "skipped-records",
        lambda since, until: {
            "events": (
                Leave(at=since, members=ALL),
                Reset(at=until),
                Join(at=until + 40, members=ALL),
            )
        },
    ),
    Diagnosis.DATA_LOSS_IMMINENT: (
        "loss-ahead",
        lambda since, _: {
            "topics": _kept(2 * 3600),
            "events": _slow(since, since + 6000, ALL, 0.1, 2),
        },
    ),
    Diagnosis.UNASSIGNED_PARTITIONS: (
        "unassigned",
        lambda since, until: {
            "events": (Swap(at=since, to=NOBODYS), Swap(at=until, to="range")),
        },
    ),
    Diagnosis.HANGING_TRANSACTION: (
        "open-transaction",
        lambda since, until: {"events": (Hang(at=since, partition=("t0", 5), until=until),)},
    ),
    Diagnosis.GROUP_NOT_COMMITTING: (
        "stopped",
        lambda since, until: {
            "events": (
                Capacity(at=since, members=ALL, factor=0),
                *(Restart(at=until + 30 * m, member=m) for m in ALL),
            )
        },
    ),
    Diagnosis.MEMBER_NOT_COMMITTING: (
        "silent-member",
        lambda since, until: {
            "events": (Capacity(at=since, members=(2,), factor=0), Restart(at=until, member=2))
        },
    ),
    Diagnosis.STUCK_PARTITION: (
        "stuck-partition",
        lambda since, until: {"events": (Stick(at=since, partition=("t0", 5), until=until),)},
    ),
    Diagnosis.CATCHING_UP: (
        "behind",
        lambda since, _: {
            "topics": topics(2, 8, 50),
            "traffic": Traffic(bursts=((since, 1200, 8),)),
        },
    ),
    Diagnosis.REBALANCING: (
        "rebalancing",
        lambda since, until: {"events": (Rebalancing(at=since, until=until),)},
    ),
    Diagnosis.UNDER_PROVISIONED: (
        "too-few-members",
        lambda since, until: {
            "topics": topics(2, 8, 60),
            "members": (*members(3, 400), *(replace(m, here=False) for m in members(5, 400))),
            "traffic": Traffic(changes=_more(since, 5 / 3, "t0", "t1")),
            "events": (Join(at=until, members=(3, 4, 5, 6, 7)),),
        },
    ),
    Diagnosis.SLOW_MEMBER: (
        "slow-member",
        lambda since, until: {"events": _slow(since, until + 3000, (3,), 0.4, 1)},
    ),
    Diagnosis.HOT_PARTITION: (
        "hot-partition",
        lambda since, until: {
            "topics": (Topic(name="cold", rates=(200,) * 3), Topic(name="hot", rates=(450,))),
            "strategy": "roundrobin",
            "lists": ("roundrobin", "range"),
            "traffic": Traffic(
                changes=_more(since, 2, "hot") + _more(until + 3000, 0.25, "hot"),
            ),
        },
    ),
    Diagnosis.UNKNOWN: (
        "unreadable",
        lambda since, until: {"events": (Unread(at=since, until=until),)},
    ),
    # range gives all twelve partitions to two of its four members
    Diagnosis.SKEWED_LOAD: (
        "skewed-load",
        lambda since, until: {
            "topics": topics(6, 2, 84),
            "traffic": Traffic(
                changes=_more(since, 120 / 84, *SIX) + _more(until, 0.5, *SIX),
            ),
        },
    ),
}
"""All that may be wrong with a group, in the order in which it befalls one: its name and its story."""


def _lives() -> Mapping[Diagnosis, Group]:
    """What happens to the group of each cause: eight snapshots long, each begins to be ill after the one before it."""
    lives = {}
    for number, (cause, (name, story)) in enumerate(STORIES.items()):
        since = at(ILL + number) - 100
        lives[cause] = busy(name, **story(since, since + 8 * 300))
    return lives


LIVES = _lives()
HEALTHY = busy("healthy")

UNHURRIED = {"incidents": {"behind_seconds": 6 * 3600}}
RULES = (
    Rule(incidents={"deleted_after_seconds": 3600}),
    # a rebalance that holds nobody up, a group that is empty for an hour: what would be told first is left out
    Rule(groups="rebalancing", lag_slo_seconds=7200),
    Rule(groups="skipped-records", incidents={"for_snapshots": 9}),
    *(
        Rule(groups=group, **UNHURRIED)
        for group in ("too-few-members", "slow-member", "hot-partition")
    ),
)
"""What the configuration says of the groups, so that each is told of for its own cause."""

SETTINGS = Settings(clusters={CLUSTER: ClusterSettings(bootstrap="b:9092")}, rules=RULES)


def write_lives(lake: Lake, *causes: Diagnosis, count: int = COUNT) -> list[str]:
    """Write the snapshots of some groups (of all), and of one that is always well; their ids, the oldest first."""
    groups = [LIVES[cause] for cause in causes or LIVES]
    history = simulate([*groups, HEALTHY], snapshots=count)
    return write_taken(lake, snapshots(history, CLUSTER))
