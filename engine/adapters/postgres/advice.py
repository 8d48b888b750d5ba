"""What was advised: port `AdviceHistory`."""

from __future__ import annotations

from collections.abc import Sequence

from evenkeel.engine.adapters.postgres.database import Database
from evenkeel.engine.adapters.postgres.loading import as_json
from evenkeel.engine.adapters.postgres.running import execute
from evenkeel.engine.datasets import split_snapshot_id
from evenkeel.engine.model import Move
from evenkeel.engine.ports import AdvisedSnapshot, PreviousAdvice, Row


class AdviceTables(Database):
    """The port `AdviceHistory`."""

    def store_advice(self, snapshot_id: str, rows: Sequence[Row]) -> bool:
        """Insert advice and moves, unless the snapshot is noted as advised."""
        with self._writing(snapshot_id) as (connection, advised):
            if advised:
                return False
            given = as_json([dict(row) for row in rows])
            execute(connection, "store_advice", snapshot_id=snapshot_id, rows=given)
            return True

    def previous_advice(self, snapshot_id: str) -> list[PreviousAdvice]:
        """The advice of the cluster's newest advised snapshot before this one."""
        cluster, _ = split_snapshot_id(snapshot_id)
        rows = self._execute("previous_advice", cluster=cluster, snapshot_id=snapshot_id)
        return [PreviousAdvice(**row) for row in rows]

    def advised_snapshot(self, snapshot_id: str) -> AdvisedSnapshot | None:
        """One snapshot beside the newest of its cluster."""
        rows = self._execute("alert_snapshot", snapshot_id=snapshot_id)
        return AdvisedSnapshot(**rows[0]) if rows else None

    def advice_with_scores(self, snapshot_id: str) -> list[Row]:
        """Advice, scores and metrics of one snapshot, joined."""
        return list(self._execute("alert_advice", snapshot_id=snapshot_id))

    def first_moves(self, advice_ids: Sequence[int], most: int) -> dict[int, list[Move]]:
        """The first moves of each advice."""
        moves: dict[int, list[Move]] = {}
        for row in self._execute("alert_moves", advice_ids=list(advice_ids), most=most):
            moves.setdefault(row.pop("advice_id"), []).append(Move(**row))
        return moves
