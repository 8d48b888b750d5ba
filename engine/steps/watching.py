"""What would have been told of the incidents of groups over many snapshots in a row: the watch without a history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from evenkeel.engine.alerting.events import GroupEvent
from evenkeel.engine.alerting.rounds import round_of
from evenkeel.engine.config import Settings
from evenkeel.engine.incidents.judged import Judged, Judgement
from evenkeel.engine.incidents.quiet import quieting
from evenkeel.engine.incidents.troubles import judged_of
from evenkeel.engine.incidents.vanished import vanished_of
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model import Diagnosis
from evenkeel.engine.ports import GroupWatch, Lake
from evenkeel.engine.steps.telling import Looked

_ENDS = ("topic", "partition", "end_offset", "end_at")
"""What of a snapshot's partitions tells whether records arrive."""


class Watching:
    """
    From snapshot to snapshot: what is wrong with groups, and what was told of it.

    Args:
        lake: Where the snapshots are.
        settings: The configuration.
        cluster: The configured name of the cluster.
    """

    def __init__(self, lake: Lake, settings: Settings, cluster: str) -> None:
        self.lake, self.settings = lake, settings
        self.watch = GroupWatch(cluster=cluster)
        self.last: dict[str, tuple[Observation, int]] = {}
        self.gone: dict[str, datetime] = {}

    def step(self, looked: Looked) -> tuple[GroupEvent, ...]:
        """The next snapshot: what is told then, with the time at which it was taken."""
        judgement = Judgement(
            cluster=self.watch.cluster,
            snapshot_id=looked.snapshot_id,
            at=looked.ended_at,
            earlier=self.watch.snapshot_id,
            listed=[header.group for header in looked.groups.batch.headers],
            odd={**self._odd(looked), **self._gone(looked)},
        )
        quiet = quieting((), self.settings.maintenance, self.watch.cluster, self.watch.courses)
        done = round_of(self.watch, judgement, self.settings, quiet=quiet)
        self.watch = done.after(self.watch, judgement)
        self._remember(looked)
        return tuple(replace(event, at=looked.at) for event in done.events)

    def _odd(self, looked: Looked) -> Mapping[str, Judged]:
        """The groups that are there and not plainly well."""
        groups, cluster = looked.groups, self.watch.cluster
        rules = [self.settings.incidents(cluster, header.group) for header in groups.batch.headers]
        judged = judged_of(looked.seen, rules, groups.earlier, groups.withheld)
        return {
            one.group_id: one for one in judged if one.troubles or one.recovering or not one.known
        }

    def _gone(self, looked: Looked) -> Mapping[str, Judged]:
        """The groups that are not there any more; one that nobody misses is well."""
        if looked.listed is None:
            return {}
        left = self.last.keys() - frozenset(looked.listed)
        if not left:
            return {}
        partitions = self.lake.read("partitions", [looked.snapshot_id], columns=_ENDS)
        judged = {}
        for group in left:
            since = self.gone.setdefault(group, looked.at)
            missed = vanished_of(*self.last[group], partitions, since)
            judged[group] = missed or Judged(group_id=group, diagnosis=Diagnosis.UNKNOWN)
        return judged

    def _remember(self, looked: Looked) -> None:
        """What is known of groups that are there, and of those that are missed."""
        missed = {course.group_id for course in self.watch.courses} - frozenset(looked.listed or ())
        here = {header.group: number for number, header in enumerate(looked.groups.batch.headers)}
        if looked.listed is None:
            missed |= self.last.keys()
        kept = {group: seen for group, seen in self.last.items() if group in missed}
        self.last = kept | {group: (looked.seen, number) for group, number in here.items()}
        self.gone = {
            group: at for group, at in self.gone.items() if group in kept and group not in here
        }
