"""The history in one Postgres database: every port of it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import make_url, text
from sqlalchemy.schema import DropSchema

from .advice import AdviceTables
from .alerts import IncidentTables, OutboxTables
from .operation import NamedLocks, NamedQueries, StepTables
from .results import ResultTables, SnapshotTables
from .rollups import RollupTables
from .silences import SilenceTables

SHELVES = "rules_"
"""How the names of the schemas begin that hold what past days say by other rules."""


def in_schema(url: str, schema: str) -> str:
    """
    The address of what stands in another schema of a database.

    >>> in_schema("postgresql://me:secret@db/evenkeel", "rules_c0ffee_1_0")
    'postgresql://me:secret@db/evenkeel?options=-csearch_path%3Drules_c0ffee_1_0'
    """
    parsed = make_url(url)
    given = parsed.query.get("options", ())
    options = [given] if isinstance(given, str) else [*given]
    path = " ".join([*options, f"-csearch_path={schema}"])
    return parsed.update_query_dict({"options": path}).render_as_string(hide_password=False)


class PostgresHistory(
    SnapshotTables,
    ResultTables,
    RollupTables,
    AdviceTables,
    OutboxTables,
    IncidentTables,
    SilenceTables,
    StepTables,
    NamedLocks,
    NamedQueries,
):
    """The port `History`; each method is one transaction."""

    def expire(self, before: datetime) -> list[str]:
        """Likewise in the schemas of other rules; one of which nothing is left goes."""
        gone = super().expire(before)
        url = self._engine.url.render_as_string(hide_password=False)
        for rules in self._shelves():
            SnapshotTables(in_schema(url, rules)).expire(before)
            with self._long_transaction() as connection:
                left = connection.exec_driver_sql(f"SELECT FROM {rules}.snapshot LIMIT 1")
                if left.rowcount == 0:
                    connection.execute(DropSchema(rules, cascade=True))
        return gone

    def _shelves(self) -> list[str]:
        """Those of which this user has the tables."""
        names = text(
            "SELECT nspname FROM pg_namespace INNER JOIN pg_tables ON schemaname = nspname"
            " WHERE starts_with(nspname, :prefix) AND tablename = 'snapshot' AND tableowner = current_user"
        )
        with self._transaction() as connection:
            return list(connection.execute(names, {"prefix": SHELVES}).scalars())
