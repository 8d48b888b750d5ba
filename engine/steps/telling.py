"""
What the pipeline would have advised after each of many snapshots, one after the other, and told of it.

The steps' own functions, without lake and history between them. Of a group that cannot be told to switch only the
assignment it has is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from evenkeel.engine.alerting.digest import MOVES, section
from evenkeel.engine.alerting.outbox import news_of, owners_of
from evenkeel.engine.columns import columns_of
from evenkeel.engine.config import Policy, Settings
from evenkeel.engine.message import Announcement, NewsKind, Section
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model import Deployment, Diagnosis, GroupSnapshot, Member
from evenkeel.engine.ports import PreviousAdvice, ScoredAdvice
from evenkeel.engine.records import (
    AdviceCheck,
    AdviceColumns,
    AdviceRow,
    CandidateRow,
    Course,
    GroupMetrics,
    records_of,
)
from evenkeel.engine.steps.advise import advice_row, advise_groups
from evenkeel.engine.steps.candidate_rows import Proposal, candidate_table
from evenkeel.engine.steps.measured import MeasuredGroup, measured_of
from evenkeel.engine.steps.metric_rows import MetricRows
from evenkeel.engine.steps.propose import propose_group

SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the readers of a group would have been told."""

    at: datetime
    cluster: str
    group: str
    kind: NewsKind
    section: Section


class Telling:
    """
    From snapshot to snapshot: what was advised and told before.

    Args:
        settings: The configuration.
        cluster: The configured name of the cluster.
    """

    def __init__(self, settings: Settings, cluster: str) -> None:
        self.settings, self.cluster = settings, cluster
        self.previous: dict[str, PreviousAdvice] = {}
        self.announced: dict[str, Announcement] = {}
        self.won: dict[str, list[datetime]] = {}
        self.checks: dict[str, tuple[AdviceCheck, ...]] = {}

    def step(
        self, seen: Observation, withheld: Mapping[str, str], ended_at: datetime
    ) -> list[Told]:
        """
        The next snapshot.

        Args:
            seen: What the numbers say of its groups.
            withheld: Why a group is withheld from judgement, by group id.
            ended_at: When its reading ended.
        """
        rows = MetricRows(self.settings, seen, withheld)
        tables = {
            "group_metrics": rows.of_groups(),
            "member_metrics": rows.of_members(),
            "partition_metrics": rows.of_partitions(),
        }
        metrics = {row.group_id: row for row in records_of(GroupMetrics, tables["group_metrics"])}
        groups = {one.group.group: one for one in measured_of(seen.batch, tables, withheld)}
        proposed = {
            name: self._proposed(group, metrics[name]) for name, group in groups.items()
        }
        candidates = candidate_table([one for own in proposed.values() for one in own])
        advised = self._advised(candidates, tables["group_metrics"], withheld)
        given = []
        for row in advised:
            self._remember(row, seen)
            if row.state is not None:
                given.append(self._scored(row, groups, proposed, metrics))
        news = news_of(self.settings, self.cluster, given, self.announced, ended_at)
        owners = owners_of(self.settings, self.cluster, news)
        moves = {row.group_id: row.moves for row in advised}
        self.announced |= {one.group_id: one.announcement for one in news}
        return [
            Told(
                at=groups[one.group_id].group.taken_at,
                news=one,
                section=section(one, _first(moves[one.group_id]), owners),
            )
            for one in news
        ]
