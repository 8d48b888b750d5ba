"""
What arrived at a group in 24 hours, before fewer members are advised: the last hour knows no peak.

Fewer members than now must keep up with the 99th percentile of the incoming rates of a day, between snapshots. Without
such a day of snapshots fewer members are not advised.

Cost: a read of the group's partitions in up to 289 snapshots.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from ...assignors.interface import Assignor
from ...config import Settings
from ...metrics.observe import Observation
from ...model.arrays import Floats
from ...model.facts import reason
from ...model.groups import GroupSnapshot
from ...model.tables import Table
from ...ports import Lake
from ...snapshots import split_snapshot_id
from ...snapshots.arrays import floats_of
from ...snapshots.groups_with_past import of_the_past
from .changed_group import SeenGroup, suppose
from .changes import Change
from .sizes import Sizes, sizes_of

DAY = timedelta(hours=24)

WHOLE = 0.95
"""The share of a day that its snapshots must cover."""

APART = timedelta(seconds=240)
"""Snapshots that are closer to each other are passed over."""

MOST = 24 * 60 + 1
"""Snapshots of a day at most: one a minute."""

LONGEST = timedelta(hours=1)
"""A longer time between two snapshots counts as a gap."""

PEAK = 0.99
"""The percentile of the incoming rates, as a share."""


@dataclass(frozen=True, kw_only=True)
class PastDay:
    """
    What arrived at a group in the 24 hours before a snapshot.

    Attributes:
        covered_seconds: Seconds of which it is known.
        peak_per_second: The 99th percentile of the incoming rates, in offsets/s; None unknown.
    """

    covered_seconds: float = 0.0
    peak_per_second: float | None = None

    @property
    def is_whole(self) -> bool:
        """Whether enough of the day is known."""
        return self.covered_seconds >= WHOLE * DAY.total_seconds()


def day_of(lake: Lake, newest: str, group: GroupSnapshot) -> PastDay:
    """
    What arrived at a group in the 24 hours before a snapshot.

    Args:
        lake: The lake.
        newest: Id of the snapshot.
        group: The group in it.
    """
    columns = ["topic", "partition", "end_offset"]
    topics = sorted(group.partitions.topics)
    seconds, rates, later = 0.0, list[float](), None

    def read(snapshot_id: str) -> tuple[Table, Floats]:
        rows = lake.read("partitions", [snapshot_id], topics=topics, columns=columns)
        rows = rows.sorted_by("topic", "partition")
        return rows.select(columns[:2]), floats_of(rows["end_offset"])

    for snapshot_id, (names, ends) in of_the_past(_ids(lake, newest), read):
        at = split_snapshot_id(snapshot_id)[1]
        if later is not None and later[1].equals(names) and later[0] - at <= LONGEST:
            took, came = (later[0] - at).total_seconds(), later[2] - ends
            # an end that falls is another topic's, and one that is unknown tells nothing
            if len(came) and bool((came >= 0).all()):
                seconds += took
                rates.append(float(came.sum()) / took)
        later = (at, names, ends)
    peak = float(np.quantile(rates, PEAK, method="higher")) if rates else None
    return PastDay(covered_seconds=seconds, peak_per_second=peak)


def _ids(lake: Lake, newest: str) -> Iterator[str]:
    """The snapshots of the day, newest first."""
    cluster, until = split_snapshot_id(newest)
    last = None
    for snapshot_id in lake.snapshots(cluster, until=newest, limit=MOST):
        at = split_snapshot_id(snapshot_id)[1]
        if until - at > DAY:
            return
        if last is None or last - at >= APART:
            last = at
            yield snapshot_id


class RememberedDays:
    """
    What arrived at groups in the last 24 hours, where snapshots are seen one after another and none is kept.

    Cost: 8 bytes per group and `APART`.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[datetime, int, float]] = {}
        self._seen: dict[str, array[float]] = {}

    def see(self, observed: Observation) -> None:
        """Take in the groups of the next snapshot."""
        for number, header in enumerate(observed.batch.headers):
            rows = observed.batch.rows(number)
            ends = observed.samples.end[0, rows][observed.counted[rows]]
            name, at, total = header.group, header.taken_at, float(ends.sum())
            was_at, partitions, was = self._last.get(name, (at, 0, np.nan))
            took = (at - was_at).total_seconds()
            if name in self._last and took < APART.total_seconds():
                continue
            self._last[name] = (at, len(ends), total)
            if partitions == len(ends) > 0 and total >= was and took <= LONGEST.total_seconds():
                pairs = self._seen.setdefault(name, array("f"))
                pairs.extend((took, (total - was) / took))
                while sum(pairs[::2]) > DAY.total_seconds():
                    del pairs[:2]
            else:
                self._seen.pop(name, None)

    def keep(self, groups: Collection[str]) -> None:
        """Forget all other groups."""
        self._last = {name: last for name, last in self._last.items() if name in groups}
        self._seen = {name: pairs for name, pairs in self._seen.items() if name in groups}

    def of(self, group: str) -> PastDay:
        """What is known of a group."""
        pairs = self._seen.get(group)
        if not pairs:
            return PastDay()
        peak = float(np.quantile(pairs[1::2], PEAK, method="higher"))
        return PastDay(covered_seconds=sum(pairs[::2]), peak_per_second=peak)


def sizes_for_a_day(
    settings: Settings,
    seen: SeenGroup,
    changes: tuple[Change, ...],
    strategy: Assignor,
    budget: int,
    day: Callable[[], PastDay],
) -> Sizes:
    """
    Numbers of members under a strategy; fewer than now only if they keep up with the peak of a day.

    Args:
        settings: The configuration.
        seen: The group as it is.
        changes: What else is different.
        strategy: Who assigns.
        budget: See `sizes_of`.
        day: Says what arrived in it, which takes a while: it is asked only where fewer would do.
    """
    found = sizes_of(settings, seen, changes, strategy, budget)
    members = len(seen.group.members)
    if found.enough is None or found.enough >= members:
        return found
    past = day()
    peak = past.peak_per_second
    if not past.is_whole or peak is None:
        why = reason("day_unknown", after=past.covered_seconds, bound=members)
        return replace(found, fewest=None, enough=None, why=(why,))
    condition = suppose(seen, changes).condition
    arrives = float(condition.arrivals[condition.counted].sum())
    if not arrives > 0 or peak <= arrives:
        return found
    then = sizes_of(settings, replace(seen, busier=peak / arrives), changes, strategy, budget)
    peak_of_day = reason("day_peak", after=peak)
    if then.enough is None or then.enough >= members:
        # more members than now are advised by what arrives now
        return replace(found, fewest=members, enough=members, why=(peak_of_day,))
    return replace(then, why=(peak_of_day, *then.why))
