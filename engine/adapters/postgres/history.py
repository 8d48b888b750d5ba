"""The history: what steps leave in Postgres, each in one transaction that replaces what an earlier try left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from evenkeel import sql
from evenkeel.engine.adapters.postgres.connecting import engine_for, place, translated
from evenkeel.engine.adapters.postgres.loading import as_json, stage
from evenkeel.engine.adapters.postgres.running import Rows, arguments, execute, find, run
from evenkeel.engine.errors import ClusterBusy, ClusterChanged, HistoryError
from evenkeel.engine.ports import Manifest, Row

_METRICS = (
    ("group_metrics", "group_metrics", "replace_group_metrics"),
    ("member_metrics", "member_metrics", "replace_member_metrics"),
    ("partition_metrics", "partition_latest", "replace_partition_metrics"),
)
"""Each dataset of the metrics, the table whose columns it has, and the statement that moves it there."""


class PostgresHistory:
    """
    The history in a Postgres database (port `History`).

    Every method raises HistoryUnreachable when the server does not answer, and HistoryError when the database is not
    migrated.
    """

    def __init__(self, url: str) -> None:
        """
        Args:
            url: See `connecting.engine_for`. Nothing is connected yet.

        Raises:
            ConfigError: It is not a URL of Postgres.
        """
        self._engine = engine_for(url)

    def __repr__(self) -> str:
        return f"PostgresHistory({place(self._engine.url)})"

    # What steps leave

    def store_snapshot(self, manifest: Manifest, cluster_settings: Row) -> None:
        """
        Upsert the cluster and the row of its snapshot.

        Args:
            manifest: That of the step `snapshot`.
            cluster_settings: `config_version`, if known.

        Raises:
            ClusterChanged: Another Kafka cluster id is stored under this name; nothing is written.
        """
        facts = manifest.facts
        kafka_id = facts.get("kafka_cluster_id")
        with self._transaction() as connection:
            known = execute(
                connection,
                "store_cluster",
                cluster=manifest.cluster,
                kafka_cluster_id=kafka_id,
                started_at=facts["started_at"],
            )[0]["kafka_cluster_id"]
            if kafka_id is not None and known != kafka_id:
                raise ClusterChanged(
                    f"cluster {manifest.cluster!r} was Kafka cluster {known}, now {kafka_id} answers.",
                    fix="Correct its bootstrap address, or configure the other cluster under a name of its own.",
                )
            execute(
                connection,
                "store_snapshot",
                snapshot_id=manifest.snapshot_id,
                cluster=manifest.cluster,
                started_at=facts["started_at"],
                finished_at=facts["finished_at"],
                problems=list(facts.get("problems", ())),
                requests=dict(facts.get("requests", {})),
                bytes_sent=facts.get("bytes_sent"),
                bytes_received=facts.get("bytes_received"),
                group_count=manifest.rows.get("groups"),
                unreadable_groups=facts.get("unreadable_groups"),
                schema_version=manifest.schema_version,
                config_version=cluster_settings.get("config_version"),
                written_at=manifest.written_at,
            )

    def store_validation(self, snapshot_id: str, stage: str, rows: Sequence[Row]) -> None:
        """
        Replace the rows of one stage, and note in the snapshot whether it is rejected.

        Raises:
            HistoryError: The snapshot is not in the history.
        """
        with self._writing(snapshot_id) as (connection, _):
            execute(
                connection,
                "replace_validation",
                snapshot_id=snapshot_id,
                stage=stage,
                rows=as_json([dict(row) for row in rows]),
            )

    def store_metrics(self, snapshot_id: str, tables: Mapping[str, pa.Table]) -> None:
        """
        Replace the metrics of a snapshot: groups, members, and each group's 20 worst partitions.

        All its partitions replace those of earlier snapshots, unless a newer one of the cluster has been measured.

        Raises:
            HistoryError: The snapshot is not in the history.
        """
        with self._writing(snapshot_id) as (connection, _):
            for dataset, target, replace in _METRICS:
                stage(connection, dataset, tables[dataset], target)
                execute(connection, replace, snapshot_id=snapshot_id)

    def store_candidates(self, snapshot_id: str, candidates: pa.Table) -> None:
        """
        Replace the candidates of a snapshot.

        Raises:
            HistoryError: The snapshot is not in the history.
        """
        with self._writing(snapshot_id) as (connection, _):
            stage(connection, "candidates", candidates, "candidate")
            execute(connection, "replace_candidates", snapshot_id=snapshot_id)

    def store_advice(self, snapshot_id: str, rows: Sequence[Row]) -> bool:
        """
        Append the advice of a snapshot; no rows are an advice too, that of a snapshot without groups.

        Args:
            snapshot_id: The snapshot.
            rows: Columns of the table `advice`; under `moves` a list of topic, partition, from_member, to_member.

        Returns:
            False when the snapshot has its advice already, which then stays.

        Raises:
            HistoryError: The snapshot is not in the history.
        """
        with self._writing(snapshot_id) as (connection, advised):
            if advised:
                return False
            given = as_json([dict(row) for row in rows])
            execute(connection, "store_advice", snapshot_id=snapshot_id, rows=given)
            return True

    def record_step(
        self,
        *,
        cluster: str | None,
        snapshot_id: str | None,
        step: str,
        started_at: datetime,
        finished_at: datetime,
        outcome: str,
        error: str | None,
    ) -> None:
        """Note how a run of a step ended: *outcome* is `ok` or `failed`."""
        self.execute(
            "record_step",
            cluster=cluster,
            snapshot_id=snapshot_id,
            step=step,
            started_at=started_at,
            finished_at=finished_at,
            outcome=outcome,
            error=error,
        )

    # What is asked

    def query(self, name: str, **parameters: Any) -> Rows:
        """
        Run a named query of `sql/queries`, in a transaction that cannot write.

        Raises:
            InputError: There is no query of that name, a parameter is missing, unknown, or not of its type.
        """
        statement = find("query", sql.queries(), name)
        values = arguments(statement, parameters)
        with translated(self._engine.url, name), self._engine.connect() as connection:
            connection.execution_options(postgresql_readonly=True)
            return run(connection, statement, values)

    def execute(self, name: str, **parameters: Any) -> Rows:
        """
        Run a named statement of `sql/statements` in a transaction of its own; the rows of its last part.

        Mappings, and lists of them, go in as JSON.

        Raises:
            InputError: There is no statement of that name, a parameter is missing or unknown.
        """
        statement = find("statement", sql.statements(), name)
        values = arguments(statement, parameters)
        with self._transaction() as connection:
            return run(connection, statement, values)

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """
        Hold the lock of a name, for as long as this process and its connection live.

        The lock belongs to a session of the server: a pooler between must not share sessions among clients.

        Raises:
            ClusterBusy: Somebody else holds it.
        """
        with self._session() as connection:
            with translated(self._engine.url):
                got = execute(connection, "try_lock", key=key)[0]["got"]
            if not got:
                raise ClusterBusy(
                    f"{key} is still running.", fix="Let it finish; the next run takes its turn."
                )
            try:
                yield
            finally:
                # a connection that is gone has let go of its lock
                with suppress(DBAPIError):
                    execute(connection, "unlock", key=key)

    @contextmanager
    def _session(self) -> Iterator[Connection]:
        """A connection outside any transaction: a long one would hold back the server's vacuum."""
        with translated(self._engine.url):
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            yield connection
        finally:
            with suppress(DBAPIError):
                connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with translated(self._engine.url), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self, snapshot_id: str) -> Iterator[tuple[Connection, bool]]:
        """A transaction that holds a snapshot of the history, and whether that has its advice."""
        with self._transaction() as connection:
            found = execute(connection, "lock_snapshot", snapshot_id=snapshot_id)
            if not found:
                raise HistoryError(
                    f"the history ({place(self._engine.url)}) has no snapshot {snapshot_id}.",
                    fix="Run `validate_snapshot` for it again, which stores it from the lake.",
                )
            yield connection, found[0]["advised"]
