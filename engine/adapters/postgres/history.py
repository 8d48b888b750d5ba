"""
The history in one Postgres database, every port of it; and shelves: past days judged again by other rules.

A shelf has the same tables and views, in a schema of its own beside the history's. `search_path` names the schema, so
whatever asks the history asks them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import collate, func, literal, make_url, or_, select, text
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.schema import CreateSchema

from ...ports import PreviousAdvice
from ...records import Course, record_of
from ...records.tables import ADVICE, GROUP_METRICS, SNAPSHOT
from ...snapshots import split_snapshot_id
from ...snapshots.learned import LEARNED, Learned, learned_of
from .advice import AdviceTables
from .alerts import IncidentTables, OutboxTables
from .ledger import LedgerTable
from .migration import migrate
from .operation import NamedLocks, NamedQueries, StepTables
from .reader import READER
from .results import ResultTables, RollupTables, SnapshotTables
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
    LedgerTable,
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
                    connection.execute(select(func.drop_rules(rules)))
        return gone

    def _shelves(self) -> list[str]:
        """Those of which this user has the tables."""
        names = text(
            "SELECT nspname FROM pg_namespace INNER JOIN pg_tables ON schemaname = nspname"
            " WHERE starts_with(nspname, :prefix) AND tablename = 'snapshot' AND tableowner = current_user"
        )
        with self._transaction() as connection:
            return list(connection.execute(names, {"prefix": SHELVES}).scalars())


class PostgresShelf(PostgresHistory):
    """
    A history in the schema of some rules (`pipeline.backfill.Shelf`).

    What went before its first advice the main history knows.

    Args:
        url: Where the history is.
        rules: The name of the schema.
        reader: The role that may ask.
    """

    def __init__(self, url: str, rules: str, *, reader: str = READER) -> None:
        self._url, self._rules, self._reader = in_schema(url, rules), rules, reader
        self._beside = NamedLocks(url)
        super().__init__(self._url)

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """One of the main history: two shelves have it in common, and it is there before the schema is."""
        with self._beside.lock(key):
            yield

    def make(self, about: str) -> None:
        """Create the schema where it is missing, with a comment, and migrate it."""
        with self._transaction() as connection:
            connection.execute(CreateSchema(self._rules, if_not_exists=True))
            quoted = about.replace("'", "''")
            connection.exec_driver_sql(f"COMMENT ON SCHEMA {self._rules} IS '{quoted}'")
        migrate(self._url, reader=self._reader)

    def done(self, cluster: str, since: datetime, until: datetime) -> dict[str, bool]:
        """Those that are measured or rejected; rejected ones get no advice."""
        is_over = SNAPSHOT.c.rejected.is_(True)
        own = select(
            SNAPSHOT.c.snapshot_id, or_(SNAPSHOT.c.advised_at.is_not(None), is_over)
        ).where(
            SNAPSHOT.c.cluster == cluster,
            SNAPSHOT.c.started_at >= since,
            SNAPSHOT.c.started_at < until,
            or_(SNAPSHOT.c.measured_at.is_not(None), is_over),
        )
        with self._transaction() as connection:
            there = connection.exec_driver_sql("SELECT to_regclass('snapshot')").scalar()
            return {row[0]: row[1] for row in connection.execute(own)} if there else {}

    def learned(self, snapshot_id: str) -> dict[str, Learned]:
        """As the rows of its groups have it."""
        own = select(*(GROUP_METRICS.c[name] for name in LEARNED))
        with self._transaction() as connection:
            rows = connection.execute(own.where(GROUP_METRICS.c.snapshot_id == snapshot_id))
            return learned_of(tuple(row) for row in rows)

    def previous_advice(self, snapshot_id: str) -> list[PreviousAdvice]:
        """Its own; of a group of the snapshot that it has none of, that of the history as of then."""
        own = super().previous_advice(snapshot_id)
        left = self.learned(snapshot_id).keys() - {one.group_id for one in own}
        if not left:
            return own
        cluster, _ = split_snapshot_id(snapshot_id)
        advice = ADVICE.c
        then = (
            select(advice.group_id, advice.course)
            .ext(distinct_on(advice.group_id))
            .where(
                advice.cluster == cluster,
                advice.group_id.in_(left),
                advice.snapshot_id < collate(literal(snapshot_id), "C"),
            )
            .order_by(advice.group_id, advice.snapshot_id.desc())
        )
        with self._beside._transaction() as connection:
            told = connection.execute(then).all()
        before = [
            PreviousAdvice(group_id=group, course=course and record_of(Course, course))
            for group, course in told
        ]
        return sorted([*own, *before], key=lambda one: one.group_id)
