"""
A live cluster, one snapshot after another, as numbers that metrics serve.

Each snapshot goes through the pipeline over a history in memory, which remembers what the next one needs.
"""

from __future__ import annotations

import fnmatch
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from ..advice.feasibility import runs
from ..assignors import every, takes_user_data
from ..assignors.interface import Assignor
from ..config import Settings
from ..metrics.forecast import AHEAD
from ..model.assignments import Deployment
from ..model.groups import GroupSnapshot
from ..pipeline.backtest import Events, ForecastCheck, coverage
from ..pipeline.pipeline import Ran, read_at_once, run_pipeline
from ..pipeline.snapshot import take_snapshot
from ..pipeline.whatif import (
    DAY,
    RememberedDays,
    SeenGroup,
    seen_of,
    sizes_for_a_day,
    why_not,
)
from ..ports import Cluster, Lake, ServedCluster
from ..snapshots import split_snapshot_id
from ..snapshots.groups_with_past import left_out, taken_at
from ..snapshots.walk_lake import WalkedLake
from .report import ReadableHistory
from .served import MembersFor, diagnosed_size, members_for, served_group, urgency

ASKED = 20_000
"""Partitions and members of the groups that are asked about other numbers of members after a snapshot: some seconds."""

BUDGET = 20_000
"""Partitions and members that a strategy is asked about for one group, see `whatif.sizes`."""

_Now = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """What a group was like when it was asked about other numbers of members, at which look, and the answer."""

    now: _Now
    look: int
    size: MembersFor


class LiveFleet:
    """
    A live cluster.

    Args:
        cluster: Reads it.
        lake: An empty lake in memory.
        history: An empty history in memory.
        settings: The configuration.
        name: Configured name of the cluster.
        pattern: Shell pattern of group ids.
    """

    def __init__(
        self,
        cluster: Cluster,
        lake: Lake,
        history: ReadableHistory,
        settings: Settings,
        name: str,
        pattern: str = "*",
    ) -> None:
        self.cluster, self.history, self.settings, self.name = cluster, history, settings, name
        wanted = None if pattern == "*" else lambda group: fnmatch.fnmatchcase(group, pattern)
        self._lake = WalkedLake(lake, wanted)
        self._events = Events(history, settings, name)
        self._checks = deque[tuple[datetime, Mapping[float, tuple[int, int]]]]()
        self._days = RememberedDays()
        self._sizes: dict[str, _Size] = {}
        self._looks = 0

    def close(self) -> None:
        """Close the connection."""
        self.cluster.close()

    def look(self) -> list[ServedCluster]:
        """
        Take a snapshot and evaluate it.

        Raises:
            EvenkeelError: As `take_snapshot`; what is known stays.
        """
        began = time.monotonic()
        newest = take_snapshot(self.cluster, self._lake.lake, None, self.settings, self.name)
        self._lake.stand(newest, self.settings.lookback)
        ran = run_pipeline(
            self._lake,
            self.history,
            self.settings,
            newest,
            watching=False,
            sparing=True,
            ask_next_change=False,
            every=True,
        )
        advised = time.monotonic() - began
        read_at_once(self.history)
        self._check(ran)
        self._ask(ran)
        facts = self._lake.manifest("snapshot", newest).facts
        rows = self.history.served_groups(self.name)
        groups = [
            served_group(
                row,
                self._sizes[row["group_id"]].size
                if row["group_id"] in self._sizes
                else diagnosed_size(row),
                None,
            )
            for row in rows
        ]
        self._forget()
        return [
            ServedCluster(
                cluster=self.name,
                taken_at=ran.at,
                snapshot_seconds=(
                    datetime.fromisoformat(facts["finished_at"]) - ran.at
                ).total_seconds(),
                advice_seconds=advised,
                groups=sorted(groups, key=urgency),
                held={
                    ahead: (
                        sum(one[ahead][0] for _, one in self._checks),
                        sum(one[ahead][1] for _, one in self._checks),
                    )
                    for ahead in AHEAD
                },
            )
        ]

    def _check(self, ran: Ran) -> None:
        """Compare forecasts that are due with what came; the checks of a day count."""
        events = self._events.of(replace(ran, advised=None, advice=()))
        due = [one for one in events if isinstance(one, ForecastCheck)]
        self._checks.append((ran.at, {ahead: coverage(due, ahead) for ahead in AHEAD}))
        while self._checks[0][0] < ran.at - DAY:
            self._checks.popleft()

    def _ask(self, ran: Ran) -> None:
        """Ask groups how many members they need: those that have changed, and those whose answer is oldest."""
        self._looks += 1
        asked = list[tuple[bool, int, SeenGroup]]()
        for groups, observed in ran.looked:
            self._days.see(observed)
            for seen in seen_of(self.settings, groups, observed):
                known = self._sizes.get(seen.group.group)
                changed = known is None or known.now != _now(seen)
                asked.append((not changed, known.look if known else 0, seen))
        names = {seen.group.group for *_, seen in asked}
        self._sizes = {name: size for name, size in self._sizes.items() if name in names}
        self._days.keep(names)
        left = ASKED
        for same, _, seen in sorted(asked, key=lambda one: one[:2]):
            group = seen.group
            strategy = _asked_of(seen)
            if strategy is None:
                self._sizes.pop(group.group, None)
                continue
            cost = len(group.partitions) + len(group.members)
            if cost > left and left < ASKED:
                if same:
                    break
                # an answer about another group than it is now is none
                self._sizes.pop(group.group, None)
                continue
            left -= cost
            try:
                size = self._size(seen, strategy)
            except Exception as problem:  # noqa: BLE001 one group costs the others nothing
                left_out(group.group, problem)
                size = MembersFor()
            self._sizes[group.group] = _Size(now=_now(seen), look=self._looks, size=size)

    def _size(self, seen: SeenGroup, strategy: Assignor) -> MembersFor:
        """How many members a group needs with the strategy that it runs."""
        group = seen.group
        found = sizes_for_a_day(
            self.settings, seen, (), strategy, BUDGET, lambda: self._days.of(group.group)
        )
        members = len(group.members)
        needed = found.enough
        if found.keeps_up and needed is None:
            # fewer would do now, but who knows at the peak of a day; who is idle then is idle now
            needed = min(members, found.most or members)
        return members_for(members, needed, found.most, found.keeps_up)

    def _forget(self) -> None:
        """Forget snapshots and results that nobody looks back on."""
        self.history.thin(self.name, 0)
        *_, oldest = self._lake.snapshots(self.name, limit=self.settings.lookback + 1)
        self.history.expire(taken_at(self._lake, oldest))
        self._lake.lake.expire(split_snapshot_id(oldest)[1])
        self._lake.forget_tables()


def _now(seen: SeenGroup) -> _Now:
    group = seen.group
    return (group.assignor, len(group.members), len(group.partitions), seen.diagnosis)


def _asked_of(seen: SeenGroup) -> Assignor | None:
    """The strategy that a group runs; None if it cannot be asked about other numbers of members."""
    group = seen.group
    if not group.members or group.places_tasks or why_not(seen):
        return None
    return _running(group)


def _running(group: GroupSnapshot) -> Assignor | None:
    """The strategy that a group runs, if it can be asked about other numbers of members."""
    for name, strategy in every().items():
        quick = strategy.deployment in (Deployment.SETTING, Deployment.CLASS)
        if quick and runs(group, name) and not takes_user_data(strategy):
            return strategy
    return None
