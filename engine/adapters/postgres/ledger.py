"""The ledger of advice: port `LedgerHistory`, and its rows, which only `AdviceTables` adds."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert, select

from ...advice.ledger import next_row
from ...ports import LedgerEntry
from ...records import AdviceDigest, LedgerRow, record_of, row_of
from ...records.tables import LEDGER
from .database import Database
from .statements import Rows, execute, write

AS_TEXT = "SET LOCAL TimeZone = 'UTC'; SET LOCAL extra_float_digits = 1"
"""Digests are those of texts, which depend on these settings of a session."""


class LedgerTable(Database):
    """The port `LedgerHistory`."""

    def ledger(self, cluster: str | None = None) -> list[LedgerEntry]:
        with self._long_transaction() as connection:
            return [_entry(row) for row in _rows(connection, cluster)]


def enter(connection: Connection, cluster: str, snapshot_id: str) -> None:
    """Add the row of a snapshot whose advice this transaction stores, while it holds the cluster."""
    (stored,) = _rows(connection, cluster, snapshot_id)
    found = _entry(stored).found
    assert found is not None
    newest = select(LEDGER).where(LEDGER.c.cluster == cluster).order_by(LEDGER.c.number.desc())
    last = connection.execute(newest.limit(1)).first()
    before = record_of(LedgerRow, last._asdict()) if last else None
    write(connection, insert(LEDGER), row_of(next_row(before, found, stored["now"])))


def _rows(connection: Connection, cluster: str | None, snapshot_id: str | None = None) -> Rows:
    connection.exec_driver_sql(AS_TEXT)
    return execute(connection, "report_ledger", cluster=cluster, snapshot_id=snapshot_id)


def _entry(row: dict[str, Any]) -> LedgerEntry:
    written, found = row["written"], row["found"]
    return LedgerEntry(
        written=written and record_of(LedgerRow, written),
        found=found and record_of(AdviceDigest, found),
        is_thinned=bool(found and found["is_thinned"]),
    )
