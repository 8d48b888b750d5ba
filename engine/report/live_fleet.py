"""
A live cluster, one snapshot after another, as numbers that metrics serve.

Each snapshot goes through the pipeline over a history in memory, which remembers what the next one needs.
"""

from __future__ import annotations

import fnmatch
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from ..advice.feasibility import runs
from ..assignors import every, takes_user_data
from ..assignors.interface import Assignor
from ..config import Settings
from ..metrics.forecast import AHEAD
from ..model.assignments import Deployment
from ..model.groups import GroupSnapshot
from ..model.states import places_tasks
from ..pipeline.backtest import Events, ForecastCheck, coverage
from ..pipeline.pipeline import Ran, read_at_once, run_pipeline
from ..pipeline.snapshot import take_snapshot
from ..pipeline.stored_metrics import measured_chunk
from ..pipeline.whatif import DAY, RememberedDays, SeenGroup, sizes_for_a_day, sizes_of, why_not
from ..ports import Cluster, Lake, ServedCluster
from ..snapshots import split_snapshot_id
from ..snapshots.groups_with_past import left_out, taken_at
from ..snapshots.walk_lake import WalkedLake
from .report import ReadableHistory
from .served import MembersFor, keeps_up, members_for, served_group, size_now, urgency

ASKED = 100_000
"""Partitions and members that strategies are asked about after a snapshot, over all groups: some seconds at most."""

BUDGET = 20_000
"""The same for one group, see `whatif.sizes`."""

AGAIN = timedelta(hours=1)
"""How long an answer of a group that keeps up stays: that is about the peak of a day."""

Row = Mapping[str, Any]
"""A row of `ReportHistory.served_groups`."""

_Now = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """What a group was like when it was asked about other numbers of members, when, and the answer if it has one."""

    now: _Now
    look: int
    at: datetime
    of_day: bool
    size: MembersFor | None


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
        facts = self._lake.manifest("snapshot", newest).facts
        rows = self.history.served_groups(self.name)
        self._ask(ran, rows)
        groups = [served_group(row, self._size_of(row), None) for row in rows]
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

    def _size_of(self, row: Row) -> MembersFor:
        asked = self._sizes.get(row["group_id"])
        return (asked and asked.size) or size_now(row)

    def _ask(self, ran: Ran, rows: Sequence[Row]) -> None:
        """
        Ask the strategies that groups run how many members they need.

        First for groups that have changed, then for those whose answer is oldest. For a group that keeps up they are
        asked only what its row does not say: how many members would have a partition, and after a day, whether fewer
        would do. While nothing is known of what arrives, no number is known to be enough.
        """
        self._looks += 1
        for _, observed in ran.looked:
            self._days.see(observed)
        now = {row["group_id"]: _now(row) for row in rows}
        self._days.keep(now)
        # an answer about another group than it is now is none
        self._sizes = {name: one for name, one in self._sizes.items() if now.get(name) == one.now}
        left, turn = ASKED, dict[str, Row]()
        for row in sorted(rows, key=lambda row: (self._last_look(row), not _is_enough(row))):
            if left > 0 and self._is_due(row, ran.at):
                turn[row["group_id"]] = row
                left -= row["partitions"] + row["members"]
        left = ASKED
        for seen in self._seen(ran, turn):
            if left <= 0:
                break
            name = seen.group.group
            of_day, size = self._days.of(name).is_whole, None
            try:
                if (strategy := _asked_of(seen)) is not None:
                    size, asked = self._size(seen, turn[name], strategy, of_day)
                    left -= asked
            except Exception as problem:  # noqa: BLE001 one group costs the others nothing
                left_out(name, problem)
            self._sizes[name] = _Size(
                now=now[name], look=self._looks, at=ran.at, of_day=of_day, size=size
            )

    def _last_look(self, row: Row) -> int:
        asked = self._sizes.get(row["group_id"])
        return asked.look if asked else 0

    def _is_due(self, row: Row, at: datetime) -> bool:
        """Whether strategies have to be asked about a group."""
        if not (row["members"] and row["partitions"]) or places_tasks(
            row["group_type"], row["assignor"]
        ):
            return False
        if not _is_enough(row):
            return True
        asked, known = self._sizes.get(row["group_id"]), size_now(row)
        of_day = known.needed != 1 and self._days.of(row["group_id"]).is_whole
        if asked is None:
            return of_day or known.useful is None
        return of_day and (not asked.of_day or at - asked.at >= AGAIN)

    def _seen(self, ran: Ran, wanted: Collection[str]) -> list[SeenGroup]:
        """Some groups as they are, by the metrics that are stored already, in the order of their names here."""
        found = dict[str, SeenGroup]()
        for groups, observed in ran.looked:
            numbers = {header.group: n for n, header in enumerate(groups.batch.headers)}
            names = [name for name in wanted if name in numbers]
            for one in measured_chunk(
                self._lake, self.settings, ran.snapshot_id, names, groups.withheld
            ):
                number = numbers[one.group.group]
                diagnosed = observed.diagnoses[number]
                found[one.group.group] = SeenGroup(
                    measured_group=one,
                    observation=observed,
                    number=number,
                    diagnosis=diagnosed.diagnosis,
                    facts=diagnosed.facts,
                )
        return [found[name] for name in wanted if name in found]

    def _size(
        self, seen: SeenGroup, row: Row, strategy: Assignor, of_day: bool
    ) -> tuple[MembersFor, int]:
        """How many members a group needs with the strategy that it runs, and how much that was asked about."""
        group, members, now = seen.group, len(seen.group.members), size_now(row)
        partitions = int(group.partitions.assignable.sum())
        if _is_enough(row) and not of_day:
            once = partitions + max(partitions, members)
            most = sizes_of(self.settings, seen, (), strategy, once).most
            return members_for(members, now.needed, most, keeps_up(row)), once
        found = sizes_for_a_day(
            self.settings, seen, (), strategy, BUDGET, lambda: self._days.of(group.group)
        )
        needed = found.enough
        if found.keeps_up and needed is None:
            # fewer would do now, but who knows at the peak of a day; who is idle then is idle now
            needed = min(members, found.most or members)
        if keeps_up(row) and now.needed is not None:
            # as it does now, whatever its next rebalance would make of it
            needed = min(needed or now.needed, now.needed)
        size = members_for(members, needed, found.most, keeps_up(row) or found.keeps_up)
        tried = needed or found.most or members
        return size, min(BUDGET, tried * (partitions + members))

    def _forget(self) -> None:
        """Forget snapshots and results that nobody looks back on."""
        self.history.thin(self.name, 0)
        *_, oldest = self._lake.snapshots(self.name, limit=self.settings.lookback + 1)
        self.history.expire(taken_at(self._lake, oldest))
        self._lake.lake.expire(split_snapshot_id(oldest)[1])
        self._lake.forget_tables()


def _now(row: Row) -> _Now:
    names = ("assignor", "members", "idle_members", "partitions", "diagnosis")
    return tuple(row[name] for name in names)


def _is_enough(row: Row) -> bool:
    """Whether its row says of a group what is to be known of how many members it needs, but after a day."""
    return bool(keeps_up(row)) or row["production_per_second"] is None


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
