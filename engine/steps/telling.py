"""
What the pipeline would have advised after each of many snapshots, one after the other, and told of it.

The steps' own functions, without lake and history between them. Of a group that cannot be told to switch only the
assignment it has is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import pyarrow as pa

from evenkeel.engine.advice.course import gone
from evenkeel.engine.alerting.advice_news import News
from evenkeel.engine.alerting.digest import MOVES, section
from evenkeel.engine.alerting.queueing import news_of, owners_of
from evenkeel.engine.columns import columns_of
from evenkeel.engine.config import Policy, Settings
from evenkeel.engine.message import Announcement, NewsKind, Section
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model import Move
from evenkeel.engine.ports import ScoredAdvice
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
from evenkeel.engine.steps.kept_past import needs_forecast
from evenkeel.engine.steps.measure import tables_of
from evenkeel.engine.steps.measured import MeasuredGroup, measured_of
from evenkeel.engine.steps.propose import propose_anyway
from evenkeel.engine.steps.reading import BatchWithPast
from evenkeel.engine.steps.sights import of_tables


@dataclass(frozen=True, kw_only=True, eq=False)
class Message:
    """What the readers of a group would have been told after the snapshot that was taken at some moment."""

    at: datetime
    cluster: str
    news: News
    section: Section

    @property
    def group(self) -> str:
        """The group."""
        return self.news.group_id

    @property
    def groups(self) -> tuple[str, ...]:
        """The group, as one of many."""
        return (self.group,)

    @property
    def kind(self) -> NewsKind:
        """What was told of it."""
        return self.news.kind

    @property
    def title(self) -> str:
        """One line."""
        return self.section.heading


@dataclass(frozen=True, kw_only=True, eq=False)
class Looked:
    """
    A snapshot as the pipeline has it before it advises.

    Attributes:
        snapshot_id: The snapshot.
        at: When its reading began.
        ended_at: When its reading ended.
        groups: Those of its groups that are asked about, and their past.
        seen: What the numbers say of them.
        listed: All groups that it has; None where some could not be read.
    """

    snapshot_id: str
    at: datetime
    ended_at: datetime
    groups: BatchWithPast
    seen: Observation
    listed: Collection[str] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Advised:
    """
    What the pipeline makes of a snapshot.

    Attributes:
        tables: Its metrics, and its candidates as far as they were looked at.
        groups: The groups beside their metrics.
        advice: What each was advised, by group id; also groups that are gone and had advice.
    """

    tables: Mapping[str, pa.Table]
    groups: Sequence[MeasuredGroup]
    advice: Mapping[str, AdviceRow]


class Telling:
    """
    From snapshot to snapshot: what was advised and told before, and in *newest* what the last one was made into.

    Args:
        settings: The configuration.
        cluster: The configured name of the cluster.
    """

    def __init__(self, settings: Settings, cluster: str) -> None:
        self.settings, self.cluster = settings, cluster
        self.courses: dict[str, Course] = {}
        self.announced: dict[str, Announcement] = {}
        self.advised: dict[str, list[datetime]] = {}
        self.checks: dict[str, tuple[AdviceCheck, ...]] = {}
        self.newest: Advised | None = None

    def step(self, looked: Looked) -> list[Message]:
        """The next snapshot."""
        tables = tables_of(self.settings, looked.groups, looked.seen)
        groups = measured_of(looked.groups.batch, tables, looked.groups.withheld)
        metrics = records_of(GroupMetrics, tables["group_metrics"])
        proposals = {
            row.group_id: self._proposals(group, row)
            for group, row in zip(groups, metrics, strict=True)
        }
        tables["candidates"] = candidate_table([one for own in proposals.values() for one in own])
        advice = {row.group_id: row for row in self._advice(looked, tables)}
        self.newest = Advised(tables=tables, groups=groups, advice=advice)
        given = [
            self._scored(advice[row.group_id], row, group, proposals[row.group_id])
            for group, row in zip(groups, metrics, strict=True)
        ]
        news = news_of(self.settings, self.cluster, given, self.announced, looked.ended_at)
        self.announced |= {one.group_id: one.announcement for one in news}
        owners = owners_of(self.settings, self.cluster, news)
        return [
            Message(
                at=looked.at,
                cluster=self.cluster,
                news=one,
                section=section(one, _first(advice[one.group_id].moves), owners),
            )
            for one in news
        ]

    def _proposals(self, group: MeasuredGroup, metrics: GroupMetrics) -> list[Proposal]:
        policy = self.settings.policy(self.cluster, metrics.group_id)
        announced = self.announced.get(metrics.group_id)
        # what is said of its end may have to be told yet, with the reason
        is_open = announced is not None and announced.kind in (NewsKind.SWITCH, NewsKind.TAKEN_UP)
        course = self.courses.get(metrics.group_id)
        live_only = not (is_open or may_switch(metrics, course, policy))
        return propose_anyway(self.settings, group, ask_next_change=False, live_only=live_only)

    def _advice(self, looked: Looked, tables: Mapping[str, pa.Table]) -> list[AdviceRow]:
        """What is advised, and how it goes on; the course of a group that is gone ends."""
        followed = advise_groups(
            of_tables(tables),
            self.settings,
            self.cluster,
            looked.at,
            self.courses,
            looked.groups.withheld,
        )
        if looked.listed is not None:
            left = (
                gone(course, group, looked.at)
                for group, course in self.courses.items()
                if group not in looked.listed
            )
            followed += [each for each in left if each is not None]
        rows = [
            advice_row(each, looked.snapshot_id, self.cluster, self.settings) for each in followed
        ]
        for row in rows:
            # a group that was not read goes on where it was
            self.courses.pop(row.group_id, None)
            if row.course is not None:
                self.courses[row.group_id] = row.course
            self.advised.setdefault(row.group_id, []).append(looked.at)
            self.checks[row.group_id] = (*self.checks.get(row.group_id, ()), *row.checks)
        return rows

    def _scored(
        self,
        row: AdviceRow,
        metrics: GroupMetrics,
        group: MeasuredGroup,
        proposals: Sequence[Proposal],
    ) -> ScoredAdvice:
        """The advice with what it rests on, as the history has it."""
        own = {one.row.strategy: one.row for one in proposals}
        live, proposed = own.get("live"), own.get(row.strategy or "")
        times = self.advised[row.group_id]
        scored = ScoredAdvice(
            **{spec.name: getattr(row, spec.name) for spec in columns_of(AdviceColumns)},
            seen_since=times[-row.seen] if 0 < row.seen <= len(times) else None,
            live=live.score if live else None,
            proposed=proposed.score if proposed else None,
            metrics=metrics,
            running={name: one.is_running for name, one in own.items()},
            members=group.group.members,
            notes=_notes(live, proposed),
            live_forecast=live.forecast if live else None,
            forecast=proposed.forecast if proposed else None,
        )
        at = scored.uptake and scored.uptake.at
        checks = (one for one in self.checks[row.group_id] if one.taken_up_at == at)
        return replace(scored, checks=tuple(checks))


def may_switch(metrics: GroupMetrics, course: Course | None, policy: Policy) -> bool:
    """
    Whether a group may be told to switch, or held to what it was told.

    It may not where nobody asks for its forecast and all its partitions have an owner.
    """
    if course is not None and (course.proposal or any(u.outcome is None for u in course.uptakes)):
        return True
    return bool(metrics.unowned_partitions) or needs_forecast(metrics, policy)


def _notes(*rows: CandidateRow | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for row in rows if row for note in row.notes or ()))


def _first(moves: Sequence[Move]) -> list[Move]:
    """As many as a message lists, in its order."""
    return sorted(moves, key=lambda move: (move.topic, move.partition))[:MOVES]
