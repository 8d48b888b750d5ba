"""The history in one Postgres database: every port of it."""

from __future__ import annotations

from evenkeel.engine.adapters.postgres.advice import AdviceTables
from evenkeel.engine.adapters.postgres.alerts import IncidentTables, OutboxTables
from evenkeel.engine.adapters.postgres.operation import NamedLocks, NamedQueries, StepTables
from evenkeel.engine.adapters.postgres.results import ResultTables, SnapshotTables


class PostgresHistory(
    SnapshotTables,
    ResultTables,
    AdviceTables,
    OutboxTables,
    IncidentTables,
    StepTables,
    NamedLocks,
    NamedQueries,
):
    """The port `History`; each method is one transaction."""
