"""The history in one Postgres database: every port of it."""

from __future__ import annotations

from evenkeel.engine.adapters.postgres.advice import AdviceTables
from evenkeel.engine.adapters.postgres.alerts import (
    IncidentTables,
    OutboxTables,
)
from evenkeel.engine.adapters.postgres.backfill import BackfillTables
from evenkeel.engine.adapters.postgres.operation import NamedLocks, NamedQueries, StepTables
from evenkeel.engine.adapters.postgres.results import ResultTables, SnapshotTables
from evenkeel.engine.adapters.postgres.rollups import RollupTables
from evenkeel.engine.adapters.postgres.silences import SilenceTables


class PostgresHistory(
    SnapshotTables,
    ResultTables,
    RollupTables,
    AdviceTables,
    OutboxTables,
    IncidentTables,
    SilenceTables,
    BackfillTables,
    StepTables,
    NamedLocks,
    NamedQueries,
):
    """The port `History`; each method is one transaction."""
