"""
Some groups in a stretch of past snapshots, judged again one snapshot after the other: each with what was known by then.

The steps' own functions, without lake and history between them: each snapshot is read once, and its metrics, and for
some its candidates and the strategy that wins, become rows that stand beside what was said then.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from evenkeel.engine.batch import GroupBatch
from evenkeel.engine.config import Settings
from evenkeel.engine.errors import EvenkeelError, SnapshotNotFound
from evenkeel.engine.model import Diagnosis, Verdict
from evenkeel.engine.ports import AdviceAsOf, Lake
from evenkeel.engine.records import (
    BackfilledCandidate,
    BackfilledGroup,
    Course,
    GroupMetrics,
    arrow_schema,
    records_of,
    rows_to_table,
)
from evenkeel.engine.steps.advise import advise_groups
from evenkeel.engine.steps.candidate_rows import candidate_table
from evenkeel.engine.steps.kept_past import may_switch
from evenkeel.engine.steps.measure import observed_of, tables_of
from evenkeel.engine.steps.measured import measured_of
from evenkeel.engine.steps.propose import propose_anyway
from evenkeel.engine.steps.reading import BatchWithPast, intervals_of, learned_before, read_batch
from evenkeel.engine.steps.sights import of_tables
from evenkeel.engine.steps.validation import distrusted, withheld_groups

GROUPS = arrow_schema(BackfilledGroup)
CANDIDATES = arrow_schema(BackfilledCandidate)

Winners = Mapping[str, tuple[bool, str | None]]
"""By group id whether it could be judged, and the strategy that wins; None where none does."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """
    Snapshots of a cluster that are judged in one go.

    Attributes:
        cluster: The configured name of the cluster.
        ids: The snapshots, oldest first; those that validation rejected are passed over.
        earlier: Those that the first of them looks back on, newest first.
        rejected: Of all snapshots from the oldest of `earlier` on, those that validation rejected.
        covered_seconds: Seconds that each of `ids` stands for; of one that is the first of all there is none.
        proposed: Those of `ids` that candidates are made of.
        learned: Seconds between the commits of groups as this backfill learned them before, by group id.
        advice: Of each of `proposed`, what groups were told as of it, by group id.
    """

    cluster: str
    ids: tuple[str, ...]
    earlier: tuple[str, ...]
    rejected: frozenset[str] = frozenset()
    covered_seconds: Mapping[str, float] = field(default_factory=dict)
    proposed: frozenset[str] = frozenset()
    learned: Mapping[str, float] = field(default_factory=dict)
    advice: Mapping[str, Mapping[str, AdviceAsOf]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """Rows of `BackfilledGroup` and of `BackfilledCandidate`; what they say of `backfill_id` has no meaning."""

    groups: pa.Table
    candidates: pa.Table

    @classmethod
    def of(cls, parts: Sequence[Judged]) -> Judged:
        """The rows of all of them."""
        return cls(
            groups=pa.concat_tables([GROUPS.empty_table(), *(part.groups for part in parts)]),
            candidates=pa.concat_tables(
                [CANDIDATES.empty_table(), *(part.candidates for part in parts)]
            ),
        )


def judge_stretch(lake: Lake, settings: Settings, stretch: Stretch, names: Sequence[str]) -> Judged:
    """
    Judge some groups again in each snapshot of a stretch.

    A group that cannot be worked on costs the others nothing: it has no row, and the log says why.
    """
    try:
        return Judged.of(list(_Walk(lake, settings, stretch, names)))
    except EvenkeelError:
        raise  # the lake or the configuration: nothing that a single group could be blamed for
    except Exception:  # noqa: BLE001
        if len(names) == 1:
            _log.exception("group %s cannot be judged again", names[0])
            return Judged.of([])
    half = len(names) // 2
    parts = (names[:half], names[half:])
    return Judged.of([judge_stretch(lake, settings, stretch, some) for some in parts])


class _Walk:
    """From snapshot to snapshot, with what is known of the groups from before."""

    def __init__(
        self, lake: Lake, settings: Settings, stretch: Stretch, names: Sequence[str]
    ) -> None:
        self.lake, self.settings, self.stretch, self.names = lake, settings, stretch, names
        self.earlier: list[GroupBatch | None] = []
        self.learned: Mapping[str, float] = {}

    def __iter__(self) -> Iterator[Judged]:
        self._look_back()
        for snapshot_id in self.stretch.ids:
            if snapshot_id in self.stretch.rejected:
                self._remember(None)
            else:
                yield self._judged(snapshot_id)

    def _look_back(self) -> None:
        """Read what the first snapshot looks back on."""
        before = [one for one in self.stretch.earlier if one not in self.stretch.rejected]
        doubted = distrusted(self.lake, before)
        for snapshot_id in self.stretch.earlier:
            if snapshot_id in self.stretch.rejected:
                self.earlier.append(None)
                continue
            trusted = [name for name in self.names if (snapshot_id, name) not in doubted]
            like = next((batch for batch in self.earlier[::-1] if batch is not None), None)
            self.earlier.append(
                read_batch(self.lake, self.settings, snapshot_id, trusted, whole=False, like=like)
            )
        own = {
            name: self.stretch.learned[name] for name in self.names if name in self.stretch.learned
        }
        self.learned = {**learned_before(self.lake, before, self.names), **own}

    def _judged(self, snapshot_id: str) -> Judged:
        withheld = withheld_groups(self.lake, snapshot_id)
        batch = read_batch(self.lake, self.settings, snapshot_id, self.names)
        groups = BatchWithPast(
            batch=batch,
            earlier=tuple(one for one in self.earlier if one is not None),
            withheld={name: withheld[name] for name in self.names if name in withheld},
            learned=self.learned,
        )
        seen = observed_of(self.settings, groups)
        tables = tables_of(self.settings, groups, seen)
        winners = self._propose(snapshot_id, groups, tables)
        self.learned = intervals_of(tables["group_metrics"])
        self._remember(self._trusted(snapshot_id, batch, groups.withheld))
        return self._rows(snapshot_id, batch, tables, winners)

    def _trusted(
        self, snapshot_id: str, batch: GroupBatch, withheld: Mapping[str, str]
    ) -> GroupBatch:
        if not withheld:
            return batch
        trusted = [name for name in self.names if name not in withheld]
        return read_batch(self.lake, self.settings, snapshot_id, trusted, whole=False)

    def _remember(self, batch: GroupBatch | None) -> None:
        """What is looked back on; a snapshot that was rejected (None) takes the place of one, too."""
        self.earlier = [batch, *self.earlier][: self.settings.lookback]

    def _propose(
        self, snapshot_id: str, groups: BatchWithPast, tables: dict[str, pa.Table]
    ) -> Winners | None:
        """
        Add the candidates to the tables of a snapshot; by group id whether it could be judged, and the winner.

        None where no candidates are made of the snapshot. How far advice had come counts as it was then.
        """
        if snapshot_id not in self.stretch.proposed:
            return None
        cluster = self.stretch.cluster
        courses = self._courses(snapshot_id)
        metrics = {row.group_id: row for row in records_of(GroupMetrics, tables["group_metrics"])}
        proposals = []
        for each in measured_of(groups.batch, tables, groups.withheld):
            name = each.group.group
            policy = self.settings.policy(cluster, name)
            live_only = not may_switch(metrics[name], courses.get(name), policy)
            proposals += propose_anyway(
                self.settings, each, ask_next_change=False, live_only=live_only
            )
        tables["candidates"] = candidate_table(proposals)
        read, at = of_tables(tables), _taken_at(groups.batch)
        followed = advise_groups(read, self.settings, cluster, at, courses, groups.withheld)
        return {
            each.advice.group: _winner(each.advice.verdict, each.advice.strategy)
            for each in followed
        }

    def _courses(self, snapshot_id: str) -> dict[str, Course]:
        known = self.stretch.advice.get(snapshot_id, {})
        courses = ((name, known[name].course) for name in self.names if name in known)
        return {name: course for name, course in courses if course is not None}

    def _rows(
        self,
        snapshot_id: str,
        batch: GroupBatch,
        tables: Mapping[str, pa.Table],
        winners: Winners | None,
    ) -> Judged:
        if not batch.headers:
            return Judged.of([])
        at = _taken_at(batch)
        then = self._diagnoses_then(snapshot_id)
        advice = self.stretch.advice.get(snapshot_id, {})
        known = set(GROUPS.names)
        rows = []
        for row in tables["group_metrics"].to_pylist():
            name = row["group_id"]
            numbers = {key: value for key, value in row.items() if key in known}
            compared = _compared(
                row, then.get(name), winners.get(name) if winners else None, advice.get(name)
            )
            key = {
                "backfill_id": 0,
                "taken_at": at,
                "covered_seconds": self.stretch.covered_seconds.get(snapshot_id),
            }
            rows.append(numbers | compared | key)
        return Judged(
            groups=rows_to_table(rows, GROUPS),
            candidates=_candidates(tables.get("candidates"), at),
        )

    def _diagnoses_then(self, snapshot_id: str) -> dict[str, str]:
        """What the pipeline said then, as the lake has it; nothing where it was not measured."""
        columns = ["group_id", "diagnosis"]
        with suppress(SnapshotNotFound):
            rows = self.lake.read(
                "group_metrics", [snapshot_id], groups=self.names, columns=columns
            )
            pairs = zip(*(rows[column].to_pylist() for column in columns), strict=True)
            return {name: known or Diagnosis.UNKNOWN.value for name, known in pairs}
        return {}


def _taken_at(batch: GroupBatch) -> datetime:
    return batch.headers[0].taken_at


def _winner(verdict: Verdict, strategy: str | None) -> tuple[bool, str | None]:
    judged = verdict is not Verdict.NOT_JUDGED
    return judged, strategy if judged else None


def _compared(
    row: Mapping[str, Any],
    diagnosis_then: str | None,
    winner: tuple[bool, str | None] | None,
    advice: AdviceAsOf | None,
) -> dict[str, Any]:
    """The columns of `Compared`."""
    diagnosis = row["diagnosis"] or Diagnosis.UNKNOWN.value
    is_other = diagnosis_then is not None and diagnosis != diagnosis_then
    is_judged, strategy = winner or (None, None)
    was_judged = advice.judged if winner and advice else None
    winner_then = advice.strategy if winner and advice else None
    other_wins = bool(is_judged and was_judged and strategy != winner_then)
    return {
        "diagnosis": diagnosis,
        "diagnosis_then": diagnosis_then,
        "diagnosis_reason": row["diagnosis_reason"] if diagnosis != diagnosis_then else None,
        "is_judged": is_judged,
        "winner": strategy,
        "was_judged": was_judged,
        "winner_then": winner_then,
        "differs": is_other or other_wins,
    }


def _candidates(table: pa.Table | None, at: datetime) -> pa.Table:
    if table is None:
        return CANDIDATES.empty_table()
    made = {
        "backfill_id": pa.repeat(pa.scalar(0, pa.int64()), len(table)),
        "taken_at": pa.repeat(pa.scalar(at, CANDIDATES.field("taken_at").type), len(table)),
    }
    columns = {name: made[name] if name in made else table[name] for name in CANDIDATES.names}
    return pa.table(columns, schema=CANDIDATES)
