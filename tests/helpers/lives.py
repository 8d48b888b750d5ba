"""
Groups to which one thing happens and then is over: one for each cause of an incident, in a lake of real snapshots.

They begin to be ill one after another, so that no digest tells of several at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evenkeel.engine.config import ClusterSettings, Rule, Settings
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.ports import Lake
from tests.helpers.fluid import Group, Topic, at, simulate, snapshots
from tests.helpers.fluid.plan import (
    Capacity,
    Join,
    Leave,
    Rebalancing,
    Reset,
    Restart,
    Stick,
    Traffic,
    Unread,
    Vanish,
    members,
    topics,
)
from tests.helpers.fluid.situations.common import LOCKED, busy
from tests.helpers.lake_snapshots import write_taken

CLUSTER = "lives"
ALL = (0, 1, 2, 3)
ILL = 10
"""The snapshot around which the first is ill; each further group one later."""

COUNT = 90
"""Snapshots in all."""


ORDER = (
    Diagnosis.NO_MEMBERS,
    Diagnosis.VANISHED,
    Diagnosis.LOSING_RECORDS,
    Diagnosis.SKIPPED_RECORDS,
    Diagnosis.LOSS_AHEAD,
    Diagnosis.STOPPED,
    Diagnosis.SILENT_MEMBER,
    Diagnosis.STUCK_PARTITION,
    Diagnosis.CATCHING_UP,
    Diagnosis.REBALANCING,
    Diagnosis.TOO_FEW_MEMBERS,
    Diagnosis.SLOW_MEMBER,
    Diagnosis.HOT_PARTITION,
    Diagnosis.UNKNOWN,
    Diagnosis.SKEWED_LOAD,
)
"""All that may be wrong with a group, in the order in which it befalls one."""


def _kept(seconds: float, rate: float = 100) -> tuple[Topic, ...]:
    """Topics whose records are kept for so long."""
    return tuple(
        Topic(name=f"t{n}", rates=(rate,) * 8, keeps=seconds, cut_every=5) for n in range(2)
    )


def _lives() -> Mapping[Diagnosis, Group]:
    """What happens to the group of each cause."""
    starts = {cause: at(ILL + number) for number, cause in enumerate(ORDER)}
    since = {cause: start - 100 for cause, start in starts.items()}
    until = {cause: start + 8 * 300 for cause, start in since.items()}
    lives = {
        Diagnosis.NO_MEMBERS: busy(
            "no-members",
            events=(
                Leave(at=since[Diagnosis.NO_MEMBERS], members=ALL),
                Join(at=until[Diagnosis.NO_MEMBERS], members=ALL),
            ),
        ),
        Diagnosis.VANISHED: busy(
            "vanished",
            events=(
                Leave(at=since[Diagnosis.VANISHED], members=ALL),
                Vanish(at=since[Diagnosis.VANISHED] + 40),
            ),
        ),
        Diagnosis.LOSING_RECORDS: busy(
            "losing-records",
            topics=_kept(1800),
            commits=LOCKED,
            events=(
                Capacity(at=since[Diagnosis.LOSING_RECORDS], members=ALL, factor=0.2),
                Capacity(at=until[Diagnosis.LOSING_RECORDS] + 1800, members=ALL, factor=2),
            ),
        ),
        Diagnosis.SKIPPED_RECORDS: busy(
            "skipped-records",
            events=(
                Leave(at=since[Diagnosis.SKIPPED_RECORDS], members=ALL),
                Reset(at=until[Diagnosis.SKIPPED_RECORDS]),
                Join(at=until[Diagnosis.SKIPPED_RECORDS] + 40, members=ALL),
            ),
        ),
        Diagnosis.LOSS_AHEAD: busy(
            "loss-ahead",
            topics=_kept(2 * 3600),
            events=(
                Capacity(at=since[Diagnosis.LOSS_AHEAD], members=ALL, factor=0.1),
                Capacity(at=since[Diagnosis.LOSS_AHEAD] + 6000, members=ALL, factor=2),
            ),
        ),
        Diagnosis.STOPPED: busy(
            "stopped",
            events=(
                Capacity(at=since[Diagnosis.STOPPED], members=ALL, factor=0),
                *(Restart(at=until[Diagnosis.STOPPED] + 30 * m, member=m) for m in ALL),
            ),
        ),
        Diagnosis.SILENT_MEMBER: busy(
            "silent-member",
            events=(
                Capacity(at=since[Diagnosis.SILENT_MEMBER], members=(2,), factor=0),
                Restart(at=until[Diagnosis.SILENT_MEMBER], member=2),
            ),
        ),
        Diagnosis.STUCK_PARTITION: busy(
            "stuck-partition",
            events=(
                Stick(
                    at=since[Diagnosis.STUCK_PARTITION],
                    partition=("t0", 5),
                    until=until[Diagnosis.STUCK_PARTITION],
                ),
            ),
        ),
        Diagnosis.CATCHING_UP: busy(
            "behind",
            topics=topics(2, 8, 50),
            traffic=Traffic(bursts=((since[Diagnosis.CATCHING_UP], 1200, 8),)),
        ),
        Diagnosis.REBALANCING: busy(
            "rebalancing",
            events=(
                Rebalancing(at=since[Diagnosis.REBALANCING], until=until[Diagnosis.REBALANCING]),
            ),
        ),
        Diagnosis.TOO_FEW_MEMBERS: busy(
            "too-few-members",
            topics=topics(2, 8, 60),
            members=(*members(3, 400), *(replace(m, here=False) for m in members(5, 400))),
            traffic=Traffic(
                changes=tuple(
                    (since[Diagnosis.TOO_FEW_MEMBERS], t, None, 5 / 3) for t in ("t0", "t1")
                )
            ),
            events=(Join(at=until[Diagnosis.TOO_FEW_MEMBERS], members=(3, 4, 5, 6, 7)),),
        ),
        Diagnosis.SLOW_MEMBER: busy(
            "slow-member",
            events=(
                Capacity(at=since[Diagnosis.SLOW_MEMBER], members=(3,), factor=0.4),
                Capacity(at=until[Diagnosis.SLOW_MEMBER] + 3000, members=(3,), factor=1),
            ),
        ),
        Diagnosis.HOT_PARTITION: busy(
            "hot-partition",
            topics=(Topic(name="cold", rates=(200,) * 3), Topic(name="hot", rates=(450,))),
            strategy="roundrobin",
            lists=("roundrobin", "range"),
            traffic=Traffic(
                changes=(
                    (since[Diagnosis.HOT_PARTITION], "hot", None, 2),
                    (until[Diagnosis.HOT_PARTITION] + 3000, "hot", None, 0.25),
                )
            ),
        ),
        Diagnosis.UNKNOWN: busy(
            "unreadable",
            events=(Unread(at=since[Diagnosis.UNKNOWN], until=until[Diagnosis.UNKNOWN]),),
        ),
        # range gives all twelve partitions to two of its four members
        Diagnosis.SKEWED_LOAD: busy(
            "skewed-load",
            topics=topics(6, 2, 84),
            traffic=Traffic(
                changes=tuple(
                    change
                    for n in range(6)
                    for change in (
                        (since[Diagnosis.SKEWED_LOAD], f"t{n}", None, 120 / 84),
                        (until[Diagnosis.SKEWED_LOAD], f"t{n}", None, 0.5),
                    )
                ),
            ),
        ),
    }
    return lives


LIVES = _lives()
HEALTHY = busy("healthy")

UNHURRIED = {"incidents": {"behind_seconds": 6 * 3600}}
RULES = (
    Rule(incidents={"vanished_seconds": 3600}),
    # a rebalance that holds nobody up, a group that is empty for an hour: what would be told first is left out
    Rule(groups="rebalancing", objective_seconds=7200),
    Rule(groups="skipped-records", incidents={"looks": 9}),
    Rule(groups="empty-since-long-*", incidents={"worse_seconds": 86_400}),
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


CROWD = tuple(f"crowd-{number}" for number in range(7))
"""Groups that lose all members at once, and get them back at once: more than `flood`."""

FROM_THE_BEGINNING = ("empty-since-long-0", "empty-since-long-1")
"""Groups that have no members when they are first looked at."""


def write_crowd(lake: Lake) -> list[str]:
    """Write the snapshots of all these, which get well one lot after the other; their ids."""
    once = Leave(at=at(ILL) - 100, members=ALL), Join(at=at(ILL + 4) - 100, members=ALL)
    long = Leave(at=-900, members=ALL), Join(at=at(ILL + 12), members=ALL)
    lots = [*((name, once) for name in CROWD), *((name, long) for name in FROM_THE_BEGINNING)]
    groups = [busy(name, topics=topics(2, 4, 20), events=events) for name, events in lots]
    return write_taken(lake, snapshots(simulate(groups, snapshots=40), CLUSTER))
