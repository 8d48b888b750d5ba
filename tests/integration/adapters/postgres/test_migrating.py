"""The migrations against a real Postgres."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from evenkeel import sql
from evenkeel.engine.adapters.postgres import PostgresHistory, migrate, pending
from evenkeel.engine.model.errors import HistoryError
from evenkeel.engine.records import TABLES
from tests.helpers.history_rows import fill

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

NAMES = [file.stem for file in sorted((sql.MIGRATIONS / "versions").glob("*.py"))]

CATALOG = {
    "columns": """
        SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attcollation,
            pg_get_expr(adbin, adrelid), col_description(attrelid, attnum)
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
        ORDER BY relname, attname""",
    "tables": """
        SELECT relname, relkind, obj_description(oid, 'pg_class') FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S') ORDER BY relname""",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY 1, 2""",
    "indices": """
        SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
        JOIN pg_class ON pg_class.oid = indrelid WHERE relnamespace = 'public'::regnamespace ORDER BY 1""",
    "routines": "SELECT proname, prosrc, proconfig FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1",
}


def catalog(url: str) -> dict[str, list[tuple[object, ...]]]:
    """What the database says of its tables, but not in which order columns were added."""
    with psycopg.connect(url) as connection:
        return {name: connection.execute(q.encode()).fetchall() for name, q in CATALOG.items()}


def run(url: str, script: str) -> None:
    """Run a script without the adapter."""
    with psycopg.connect(url) as connection:
        connection.execute(script.encode())


def test_the_migrations_make_what_the_records_say(make_database: Callable[..., str]) -> None:
    """
    A database that was migrated, and one that is made from the records, have the same catalogue.

    `python -m tests.helpers.new_migration` writes what is missing.
    """
    migrated, described = make_database(), make_database()
    migrate(migrated)
    run(migrated, "DROP TABLE alembic_version")
    run(described, (sql.MIGRATIONS.parent / "schema.sql").read_text() + sql.functions())
    found = catalog(migrated)
    assert found == catalog(described)
    assert len([row for row in found["tables"] if row[1] != "S"]) == len(TABLES)


def test_every_table_and_column_has_a_comment(database_url: str) -> None:
    """The database explains itself."""
    found = catalog(database_url)
    assert [row for row in found["columns"] if not row[-1]] == []
    assert [row for row in found["tables"] if row[1] != "S" and not row[-1]] == []


def test_migrating_again_does_nothing(empty_database: str) -> None:
    """What is pending is told, applied once and remembered; rows stay."""
    assert pending(empty_database) == NAMES
    assert migrate(empty_database) == NAMES
    assert pending(empty_database) == []
    snapshot_id = fill(PostgresHistory(empty_database))
    assert migrate(empty_database) == []
    assert PostgresHistory(empty_database).query("snapshot_health")[0]["snapshot_id"] == snapshot_id


def test_two_that_migrate_at_once_wait_for_each_other(empty_database: str) -> None:
    """Each migration is applied by exactly one of them, and neither fails."""
    with ThreadPoolExecutor(3) as pool:
        applied = [name for names in pool.map(migrate, [empty_database] * 3) for name in names]
    assert sorted(applied) == NAMES
    assert pending(empty_database) == []


def test_a_migration_that_is_unknown_here_is_refused(database_url: str) -> None:
    """A newer evenkeel has been at this database: nothing is done, and it is said what to install."""
    run(database_url, "UPDATE alembic_version SET version_num = '9999'")
    for ask in (migrate, pending):
        with pytest.raises(HistoryError, match=r"unknown migrations: 9999.*newer evenkeel"):
            ask(database_url)


def test_a_migration_that_fails_leaves_nothing(
    empty_database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The database is as it was, and all is still pending."""
    copy = shutil.copytree(sql.MIGRATIONS, tmp_path / "migrations")
    (copy / "versions" / "9000_bad.py").write_text(
        f"from alembic import op\nrevision, down_revision = '9000', '{NAMES[-1][:4]}'\n"
        "def upgrade():\n    op.execute('SELECT * FROM no_such_table')\n"
    )
    monkeypatch.setattr(sql, "MIGRATIONS", copy)
    with pytest.raises(HistoryError, match="no_such_table"):
        migrate(empty_database)
    assert pending(empty_database) == [*NAMES, "9000_bad"]
    assert catalog(empty_database)["tables"] == []


def test_a_history_can_be_in_a_schema_of_its_own(database_url: str) -> None:
    """All of it is where `search_path` leads, beside another history that does not notice."""
    run(database_url, "CREATE SCHEMA other_rules")
    mark = "&" if "?" in database_url else "?"
    aside = f"{database_url}{mark}options=-csearch_path%3Dother_rules"
    fill(PostgresHistory(database_url))
    assert migrate(aside) == NAMES
    assert PostgresHistory(aside).query("snapshot_health") == []
    fill(PostgresHistory(aside), cluster="other")
    for url, cluster in ((database_url, "demo"), (aside, "other")):
        assert [row["cluster"] for row in PostgresHistory(url).query("snapshot_health")] == [
            cluster
        ]


def test_views_follow_their_files(database_url: str) -> None:
    """A view that lost or changed columns is as its file says after the next migrate; a grant on it survives."""
    run(database_url, "GRANT SELECT ON latest_lag TO public")
    migrate(database_url)
    grants = "SELECT count(*) FROM information_schema.role_table_grants WHERE grantee = 'PUBLIC'"
    with psycopg.connect(database_url) as connection:
        row = connection.execute(grants + " AND table_name = 'latest_lag'").fetchone()
    assert row == (1,)
    run(
        database_url,
        "DROP VIEW latest_advice CASCADE; CREATE VIEW latest_advice AS SELECT 1 AS other, 2 AS cluster",
    )
    migrate(database_url)
    fill(PostgresHistory(database_url))
    assert len(PostgresHistory(database_url).query("advised_moves", group="orders-app")) == 1


def test_a_view_of_somebody_else_survives(database_url: str) -> None:
    """People may build views on ours; migrating again does not take them away."""
    run(database_url, "CREATE VIEW mine AS SELECT group_id FROM latest_lag")
    assert migrate(database_url) == []
    run(database_url, "SELECT * FROM mine")
