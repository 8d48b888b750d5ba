"""What was advised: port `AdviceHistory`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...model.assignments import AdviceState, Move
from ...model.columns import columns_of
from ...model.figures import Forecast, Score
from ...model.groups import Member
from ...model.tables import Table
from ...ports import AdvisedSnapshot, PreviousAdvice, ScoredAdvice
from ...records import (
    AdviceCheck,
    AdviceColumns,
    AdviceRow,
    CheckRow,
    Course,
    EventRow,
    GroupMetrics,
    MoveRow,
    RegretRow,
    record_of,
    table_of,
)
from ...snapshots import split_snapshot_id
from .copy import load
from .database import Database
from .ledger import enter
from .statements import execute

WHOLE = 3
"""Newest snapshots that keep their candidates, and every check: the one at work, the one told of, and one to spare."""

THINNED_AT_ONCE = 12
"""Older ones that lose theirs in a turn: usually one is due, after an upgrade all are, and the alert waits for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """The score and the forecast among the columns of a candidate."""

    score: Score | None
    forecast: Forecast | None


class AdviceTables(Database):
    """The port `AdviceHistory`."""

    def store_advice(self, snapshot_id: str, rows: Sequence[AdviceRow]) -> bool:
        with self._writing(snapshot_id) as (connection, held):
            if held.advised:
                return False
            load(connection, table_of(AdviceColumns, rows), "advice")
            stored = execute(connection, "note_advice", snapshot_id=snapshot_id)
            ids = {row["group_id"]: row["advice_id"] for row in stored}
            for table, (record, of) in LISTED.items():
                load(connection, _listed(rows, ids, record, of), table)
            enter(connection, held.cluster, snapshot_id)
            return True

    def thin(self, cluster: str, detail_hours: float) -> None:
        with self._long_transaction() as connection:
            given = {"cluster": cluster, "detail_hours": detail_hours}
            execute(connection, "thin", **given, whole=WHOLE, most=THINNED_AT_ONCE)

    def previous_advice(self, snapshot_id: str) -> list[PreviousAdvice]:
        cluster, _ = split_snapshot_id(snapshot_id)
        rows = self._execute("previous_advice", cluster=cluster, snapshot_id=snapshot_id)
        return [
            PreviousAdvice(**row | {"course": row["course"] and record_of(Course, row["course"])})
            for row in rows
        ]

    def advised_snapshot(self, snapshot_id: str) -> AdvisedSnapshot | None:
        rows = self._execute("advised_snapshot", snapshot_id=snapshot_id)
        return AdvisedSnapshot(**rows[0]) if rows else None

    def advice_with_scores(
        self, snapshot_id: str, states: Collection[AdviceState] | None = None
    ) -> list[ScoredAdvice]:
        among = None if states is None else [*states]
        rows = self._execute("advice_with_scores", snapshot_id=snapshot_id, states=among)
        return [_scored(row) for row in rows]

    def first_moves(self, advice_ids: Sequence[int], most: int) -> dict[int, list[Move]]:
        moves: dict[int, list[Move]] = {}
        for row in self._execute("first_moves", advice_ids=list(advice_ids), most=most):
            moves.setdefault(row.pop("advice_id"), []).append(Move(**row))
        return moves


LISTED: Mapping[str, tuple[type, Callable[[AdviceRow], Sequence[Any]]]] = {
    "advice_move": (MoveRow, lambda row: row.moves),
    "advice_event": (EventRow, lambda row: row.events),
    "advice_check": (CheckRow, lambda row: row.checks),
    "advice_regret": (RegretRow, lambda row: row.regrets),
}
"""What an advice lists in tables of their own: a row there, and the list."""


def _listed(
    rows: Sequence[AdviceRow],
    ids: Mapping[str, int],
    record: type,
    of: Callable[[AdviceRow], Sequence[Any]],
) -> Table:
    """What all advice lists, each with the number of its advice."""
    own = [spec.name for spec in columns_of(record) if spec.name != "advice_id"]
    every = [
        record(advice_id=ids[row.group_id], **{name: getattr(each, name) for name in own})
        for row in rows
        for each in of(row)
    ]
    return table_of(record, every)


def _scored(row: dict[str, Any]) -> ScoredAdvice:
    advice = record_of(AdviceColumns, row)
    live, proposed = (record_of(_Scored, row[name] or {}) for name in ("live", "proposed"))
    return ScoredAdvice(
        **{spec.name: getattr(advice, spec.name) for spec in columns_of(AdviceColumns)},
        live=live.score,
        proposed=proposed.score,
        live_forecast=live.forecast,
        forecast=proposed.forecast,
        metrics=row["metrics"] and record_of(GroupMetrics, row["metrics"]),
        running=row["running"] or {},
        members=tuple(Member(**member) for member in row["members"] or ()),
        notes=tuple(dict.fromkeys((*_notes(row["live"]), *_notes(row["proposed"])))),
        checks=tuple(record_of(AdviceCheck, check) for check in row["checks"] or ()),
    )


def _notes(candidate: Mapping[str, Any] | None) -> Sequence[str]:
    notes: Sequence[str] = (candidate and candidate["notes"]) or ()
    return notes
