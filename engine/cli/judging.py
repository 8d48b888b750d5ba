"""
The plain form of metrics, candidates and advice, for the newest snapshot of a source.

Advice is confirmed over several snapshots, so a group for which something pays now is followed through all of them,
from the oldest, as the pipeline would. Of any other group the newest is enough to say that nothing pays; that it may
have been told to switch before, and that this is not withdrawn yet, only the pipeline knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from evenkeel.engine.advice.past_changes import PastChanges
from evenkeel.engine.advice.sight import Followed
from evenkeel.engine.batch import GroupBatch, batch_of
from evenkeel.engine.cli.sources import Source
from evenkeel.engine.metrics.observe import Observation, observe
from evenkeel.engine.model import Advice, AdviceState, Feasibility, GroupSnapshot, Member
from evenkeel.engine.records import Course
from evenkeel.engine.steps.advise import advise_groups, to_be_done
from evenkeel.engine.steps.candidate_rows import candidate_table
from evenkeel.engine.steps.measure import known_of
from evenkeel.engine.steps.measured import measured_at_once
from evenkeel.engine.steps.past import past_changes
from evenkeel.engine.steps.propose import propose_group
from evenkeel.engine.steps.reading import BatchWithPast, groups_at, taken_at
from evenkeel.engine.steps.sights import of_tables
from evenkeel.engine.steps.validation import BEFORE_ADVICE, withheld_groups
from evenkeel.engine.steps.whatif import Seen, seen_of
from evenkeel.engine.wording import because, how

PLAIN_FORM = "plain form: no Spark, no validation"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """
    A group: its members, its row of `group_metrics`, its rows of `candidates`, what it is told, and its snapshots,
    oldest first.
    """

    members: Sequence[Member]
    metrics: Mapping[str, Any]
    candidates: Sequence[Mapping[str, Any]]
    advice: Advice
    snapshots: Sequence[GroupSnapshot] = ()

    @cached_property
    def past(self) -> Mapping[str, PastChanges]:
        """What changes of its members would have moved, by strategies that it could run; nothing without a change."""
        runnable = (Feasibility.CAN_RUN, Feasibility.COULD_RUN)
        could = [row["strategy"] for row in self.candidates if row["feasibility"] in runnable]
        return past_changes(self.snapshots, could)

    def to_json(self) -> dict[str, Any]:
        """One object: the metrics, the advice with its moves, and every strategy's row."""
        advice = asdict(self.advice)
        moves = advice.pop("moves")
        group = advice.pop("group")
        # the group has a state, too: that of the broker
        advice["advice_state"] = advice.pop("state")
        metrics = {key: value for key, value in self.metrics.items() if key != "group_id"}
        strategies = [_own(row) for row in self.candidates]
        return {
            "group": group,
            **metrics,
            **advice,
            "reason": because(self.advice.facts),
            "how": how(self.advice.how),
            "yardstick_reason": because(self.advice.yardstick_facts) or None,
            "facts": [*(self.metrics["facts"] or ()), *advice["facts"], *advice["how"]],
            "moves": moves,
            "strategies": strategies,
            "past_changes": {name: asdict(changes) for name, changes in self.past.items()},
            "form": PLAIN_FORM,
        }


def judge(source: Source, pattern: str = "*") -> list[Judged]:
    """
    Judge the matching groups of the newest snapshot, by group id.

    Args:
        source: Where the groups come from.
        pattern: Shell pattern of group ids.
    """
    walk = _Walk(source, pattern)
    walk.learn()
    now = walk.step(0, walk.groups(0))
    followed = [each.advice for each in now.advise({}) if each.course is not None]
    paying = {advice.group: advice.strategy for advice in followed}
    courses: Mapping[str, Course] = {}
    for position in reversed(range(1, walk.length if paying else 1)):
        passed = walk.step(position, paying).advise(courses)
        known = {**courses, **{each.advice.group: each.course for each in passed}}
        courses = {group: course for group, course in known.items() if course is not None}
    return now.judged(walk.histories(), courses)


def look(source: Source, pattern: str = "*") -> list[Seen]:
    """
    The matching groups of the newest snapshot, measured as `judge` measures them, by group id.

    Args:
        source: Where the groups come from.
        pattern: Shell pattern of group ids.
    """
    walk = _Walk(source, pattern)
    walk.learn()
    found = seen_of(source.settings, walk.with_past(0, walk.groups(0)))
    return sorted(found, key=lambda seen: seen.group.group)


@dataclass(frozen=True, kw_only=True)
class _JudgedSnapshot:
    """One snapshot's metrics and candidates of some groups."""

    source: Source
    at: datetime
    tables: Mapping[str, pa.Table]
    withheld: Mapping[str, str]

    def advise(self, courses: Mapping[str, Course]) -> list[Followed]:
        settings, cluster = self.source.settings, self.source.cluster
        read = of_tables(self.tables)
        followed = advise_groups(read, settings, cluster, self.at, courses, self.withheld)
        return to_be_done(followed, read, AdviceState.PROPOSED)

    def judged(
        self,
        histories: Mapping[str, Sequence[GroupSnapshot]],
        courses: Mapping[str, Course],
    ) -> list[Judged]:
        metrics = {row["group_id"]: row for row in self.tables["group_metrics"].to_pylist()}
        candidates: dict[str, list[Mapping[str, Any]]] = {name: [] for name in metrics}
        for row in self.tables["candidates"].sort_by("position").to_pylist():
            candidates[row["group_id"]].append(row)
        return [
            Judged(
                members=histories[one.group][-1].members,
                metrics=metrics[one.group],
                candidates=candidates[one.group],
                advice=one,
                snapshots=histories[one.group],
            )
            for one in (each.advice for each in self.advise(courses))
        ]


class _Walk:
    """The snapshots of a source, newest first, each group assembled once."""

    def __init__(self, source: Source, pattern: str) -> None:
        self.source, self.pattern = source, pattern
        self._read: dict[str, dict[str, GroupSnapshot]] = {}
        self._lookback = source.settings.lookback
        self._ids = source.ids(2 * self._lookback + 1)[::-1]
        self._learned: dict[str, float] = {}
        self._newest: Observation | None = None

    @property
    def length(self) -> int:
        """How many snapshots may be judged: the newest, and as many as metrics look back on."""
        return min(len(self._ids), self._lookback + 1)

    def groups(self, position: int) -> Mapping[str, GroupSnapshot]:
        """The matching groups of a snapshot; position 0 is the newest."""
        snapshot_id = self._ids[position]
        if snapshot_id not in self._read:
            found = groups_at(self.source.lake, self.source.settings, snapshot_id, self.pattern)
            self._read[snapshot_id] = {group.group: group for group in found}
        return self._read[snapshot_id]

    def histories(self) -> Mapping[str, Sequence[GroupSnapshot]]:
        """The groups of the newest snapshot in all that may be judged, oldest first."""
        every = [self.groups(position) for position in reversed(range(self.length))]
        return {name: [own[name] for own in every if name in own] for name in self.groups(0)}

    def learn(self) -> None:
        """Find how often groups commit that do not show it now, as the pipeline remembers it between snapshots."""
        names = list(self.groups(0))
        for position in range(self.length):
            own = self.groups(position)
            batch = batch_of([own[name] for name in names if name in own])
            if not len(batch):
                return
            known = known_of(self.source.settings, batch)
            seen = observe(batch, self._past(position, names), known)
            intervals = {
                batch.headers[place].group: float(seen.commit_interval[place])
                for place in np.flatnonzero(~np.isnan(seen.commit_interval)).tolist()
            }
            if position:
                self._learned |= intervals
            else:
                self._newest = seen
            names = [name for name in names if name not in intervals]

    def step(self, position: int, names: Mapping[str, Any]) -> _JudgedSnapshot:
        """Measure and replay some groups of a snapshot, each with its past."""
        source = self.source
        tables, measured = measured_at_once(
            source.settings,
            self.with_past(position, names),
            # without anything learned it is what it was
            seen=None if position or self._learned else self._newest,
        )
        proposals = [
            row
            for each in measured
            for row in propose_group(source.settings, each, ask_next_change=not position)
        ]
        return _JudgedSnapshot(
            source=source,
            at=taken_at(source.lake, self._ids[position]),
            tables={**tables, "candidates": candidate_table(proposals)},
            withheld=withheld_groups(source.lake, self._ids[position], *BEFORE_ADVICE),
        )

    def with_past(self, position: int, names: Iterable[str]) -> BatchWithPast:
        """Some groups of a snapshot, each with its past."""
        own, names = self.groups(position), list(names)
        return BatchWithPast(
            batch=batch_of([own[name] for name in names if name in own]),
            earlier=self._past(position, names),
            withheld=withheld_groups(self.source.lake, self._ids[position]),
            learned=self._learned,
        )

    def _past(self, position: int, names: Iterable[str]) -> tuple[GroupBatch, ...]:
        earlier = range(position + 1, min(position + 1 + self._lookback, len(self._ids)))
        return tuple(
            batch_of([own[name] for name in names if name in own])
            for own in (self.groups(older) for older in earlier)
        )


def _own(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a candidate row says beyond its group."""
    of_group = ("snapshot_id", "cluster", "group_id", "config_version", "position")
    return {key: value for key, value in row.items() if key not in of_group}
