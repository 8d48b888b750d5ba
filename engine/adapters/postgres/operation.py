"""How the pipeline runs: ports `StepRuns`, `PipelineHistory`, `Locks` and `Queries`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, update
from sqlalchemy.dialects.postgresql import insert

from evenkeel import sql

from ...model.errors import ClusterBusy
from ...ports import CLOCKS_APART, ClusterFacts, FailingStep, ToldOutage
from ...records import AlertState, IncidentRow, MemberMetrics, StepRun, record_of, row_of
from ...records.tables import ALERT, INCIDENT, STEP_RUN
from .alerts import enqueue
from .connection import translated
from .database import Database
from .statements import Rows, arguments, execute, find, run, write
from .timeouts import take_time


class StepTables(Database):
    """The ports `StepRuns` and `PipelineHistory`."""

    def record_step(self, run: StepRun) -> None:
        self._write(insert(STEP_RUN), _row(run, "step_run_id"))

    def note_missed(self, runs: Sequence[StepRun], outage: ToldOutage | None = None) -> bool:
        with self._transaction() as connection:
            if outage is not None and not _keep(connection, outage):
                return False
            if runs:
                write(connection, insert(STEP_RUN), [_row(run, "step_run_id") for run in runs])
        return True

    def cluster_facts(
        self, clusters: Sequence[str], now: datetime | None = None
    ) -> list[ClusterFacts]:
        names, until = list(clusters), "infinity" if now is None else now + CLOCKS_APART
        with self._transaction() as connection:
            steps = execute(connection, "cluster_facts_of_steps", clusters=names)
            waiting = execute(connection, "cluster_facts_of_alerts", clusters=names)
            snapshots = execute(
                connection, "cluster_facts_of_snapshots", clusters=names, until=until
            )
        failing: dict[str, list[FailingStep]] = {}
        for row in steps:
            failing.setdefault(row.pop("cluster"), []).append(FailingStep(**row))
        unsent = {row["cluster"]: row for row in waiting}
        known = {row["cluster"]: row for row in snapshots}
        return [
            ClusterFacts(
                **known[name]
                | {"partial_problems": tuple(known[name]["partial_problems"])}
                | unsent.get(name, {})
                | {"unsent_channels": tuple(unsent.get(name, {}).get("unsent_channels", ()))},
                failing=tuple(failing.get(name, ())),
            )
            for name in names
        ]


def _row(record: StepRun | IncidentRow, number: str) -> dict[str, Any]:
    """Without the number, which the database gives."""
    return {name: value for name, value in row_of(record).items() if name != number}


def _keep(connection: Connection, outage: ToldOutage) -> bool:
    """An incident that is over, with what was told of it as an alert that was sent; whether it was not there yet."""
    incident, opened = outage.incident, outage.opened
    once = insert(INCIDENT).on_conflict_do_nothing(index_elements=("key",))
    row = _row(incident, "incident_id")
    if not write(connection, once.returning(INCIDENT.c.incident_id), row):
        return False
    enqueue(connection, [opened], incident.cluster)
    sent = {
        "state": AlertState.SENT.value,
        "attempts": 1,
        "created_at": incident.opened_at,
        "sent_at": incident.opened_at,
        "sent_channel": outage.delivered.channel,
        "sent_timestamp": outage.delivered.timestamp,
    }
    write(connection, update(ALERT).where(ALERT.c.key == opened.key), sent)
    enqueue(connection, outage.ends, incident.cluster)
    return True


class NamedLocks(Database):
    """The port `Locks`."""

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Hold a lock for as long as this process and its connection live."""
        with self._hold(key) as holder:
            if not holder.is_ours:
                raise ClusterBusy(
                    f"{key} is still running: {holder}.",
                    fix="Let it finish; the next run takes its turn.",
                )
            yield


class NamedQueries(Database):
    """The port `Queries`."""

    def query(self, name: str, **parameters: Any) -> Rows:
        """Run a named query of `sql/queries`, in a transaction that cannot write."""
        statement = find("query", sql.queries(), name)
        values = arguments(statement, parameters)
        with translated(self._engine.url, name), self._engine.connect() as connection:
            take_time(connection)
            connection.execution_options(postgresql_readonly=True)
            return run(connection, statement, values)

    def members_of_groups_with(self, member_ids: Sequence[str]) -> list[MemberMetrics]:
        rows = self._execute("members_of_groups_with", member_ids=list(member_ids))
        return [record_of(MemberMetrics, row) for row in rows]
