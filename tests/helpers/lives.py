"""
Groups to which one thing happens and then is over: one for each cause of an incident, in a lake of real snapshots.

They begin to be ill one after another, so that no digest tells of several at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evenkeel.engine.config import ClusterSettings, Rule, Settings
from evenkeel.engine.model import Cause
from evenkeel.engine.ports import Lake
from tests.helpers.fleet.lake import write_taken
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

CLUSTER = "lives"
ALL = (0, 1, 2, 3)
ILL = 10
"""The snapshot around which the first is ill; each further group one later."""

COUNT = 90
"""Snapshots in all."""


def _kept(seconds: float, rate: float = 100) -> tuple[Topic, ...]:
    """Topics whose records are kept for so long."""
    return tuple(
        Topic(name=f"t{n}", rates=(rate,) * 8, keeps=seconds, cut_every=5) for n in range(2)
    )


def _lives() -> Mapping[Cause, Group]:
    """What happens to the group of each cause."""
    starts = {cause: at(ILL + number) for number, cause in enumerate(Cause)}
    since = {cause: start - 100 for cause, start in starts.items()}
    until = {cause: start + 8 * 300 for cause, start in since.items()}
    lives = {
        Cause.NO_MEMBERS: busy(
            "no-members",
            events=(
                Leave(at=since[Cause.NO_MEMBERS], members=ALL),
                Join(at=until[Cause.NO_MEMBERS], members=ALL),
            ),
        ),
        Cause.VANISHED: busy(
            "vanished",
            events=(
                Leave(at=since[Cause.VANISHED], members=ALL),
                Vanish(at=since[Cause.VANISHED] + 40),
            ),
        ),
        Cause.LOSING_RECORDS: busy(
            "losing-records",
            topics=_kept(1800),
            commits=LOCKED,
            events=(
                Capacity(at=since[Cause.LOSING_RECORDS], members=ALL, factor=0.2),
                Capacity(at=until[Cause.LOSING_RECORDS] + 1800, members=ALL, factor=2),
            ),
        ),
        Cause.SKIPPED_RECORDS: busy(
            "skipped-records",
            events=(
                Leave(at=since[Cause.SKIPPED_RECORDS], members=ALL),
                Reset(at=until[Cause.SKIPPED_RECORDS]),
                Join(at=until[Cause.SKIPPED_RECORDS] + 40, members=ALL),
            ),
        ),
        Cause.LOSS_AHEAD: busy(
            "loss-ahead",
            topics=_kept(2 * 3600),
            events=(
                Capacity(at=since[Cause.LOSS_AHEAD], members=ALL, factor=0.1),
                Capacity(at=since[Cause.LOSS_AHEAD] + 6000, members=ALL, factor=2),
            ),
        ),
        Cause.STOPPED: busy(
            "stopped",
            events=(
                Capacity(at=since[Cause.STOPPED], members=ALL, factor=0),
                *(Restart(at=until[Cause.STOPPED] + 30 * m, member=m) for m in ALL),
            ),
        ),
        Cause.SILENT_MEMBER: busy(
            "silent-member",
            events=(
                Capacity(at=since[Cause.SILENT_MEMBER], members=(2,), factor=0),
                Restart(at=until[Cause.SILENT_MEMBER], member=2),
            ),
        ),
        Cause.STUCK_PARTITION: busy(
            "stuck-partition",
            events=(
                Stick(
                    at=since[Cause.STUCK_PARTITION],
                    partition=("t0", 5),
                    until=until[Cause.STUCK_PARTITION],
                ),
            ),
        ),
        Cause.BEHIND: busy(
            "behind",
            topics=topics(2, 8, 50),
            traffic=Traffic(bursts=((since[Cause.BEHIND], 1200, 8),)),
        ),
        Cause.REBALANCING: busy(
            "rebalancing",
            events=(Rebalancing(at=since[Cause.REBALANCING], until=until[Cause.REBALANCING]),),
        ),
        Cause.TOO_FEW_MEMBERS: busy(
            "too-few-members",
            topics=topics(2, 8, 60),
            members=(*members(3, 400), *(replace(m, here=False) for m in members(5, 400))),
            traffic=Traffic(
                changes=tuple((since[Cause.TOO_FEW_MEMBERS], t, None, 5 / 3) for t in ("t0", "t1"))
            ),
            events=(Join(at=until[Cause.TOO_FEW_MEMBERS], members=(3, 4, 5, 6, 7)),),
        ),
        Cause.SLOW_MEMBER: busy(
            "slow-member",
            events=(
                Capacity(at=since[Cause.SLOW_MEMBER], members=(3,), factor=0.4),
                Capacity(at=until[Cause.SLOW_MEMBER] + 3000, members=(3,), factor=1),
            ),
        ),
        Cause.HOT_PARTITION: busy(
            "hot-partition",
            topics=(Topic(name="cold", rates=(200,) * 3), Topic(name="hot", rates=(450,))),
            strategy="roundrobin",
            lists=("roundrobin", "range"),
            traffic=Traffic(
                changes=(
                    (since[Cause.HOT_PARTITION], "hot", None, 2),
                    (until[Cause.HOT_PARTITION] + 3000, "hot", None, 0.25),
                )
            ),
        ),
        Cause.UNREADABLE: busy(
            "unreadable",
            events=(Unread(at=since[Cause.UNREADABLE], until=until[Cause.UNREADABLE]),),
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


def write_lives(lake: Lake, *causes: Cause, count: int = COUNT) -> list[str]:
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
