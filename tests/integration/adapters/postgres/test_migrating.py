"""The migrations against a real Postgres."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from evenkeel import sql
from evenkeel.engine.adapters.postgres import PostgresHistory, migrate, pending
from evenkeel.engine.errors import HistoryError
from tests.helpers.history_rows import fill

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

NAMES = [migration.name for migration in sql.migrations()]

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


def test_the_schema_file_equals_the_sum_of_the_migrations(
    make_database: Callable[..., str],
) -> None:
    """A database made by the migrations and one made by schema.sql have the same catalogue."""
    migrated, described = make_database(), make_database()
    migrate(migrated)
    run(described, sql.schema())
    found = catalog(migrated)
    assert found == catalog(described)
    assert len(found["tables"]) > 14


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


def test_a_changed_migration_is_refused_by_its_name(database_url: str) -> None:
    """A migration whose file is not what was applied stops everything; so does one that is unknown."""
    run(database_url, f"UPDATE schema_migrations SET sha256 = 'other' WHERE name = '{NAMES[0]}'")
    for ask in (migrate, pending):
        with pytest.raises(HistoryError, match=rf"{NAMES[0]}.* was changed.*Restore the file"):
            ask(database_url)
    run(
        database_url, f"UPDATE schema_migrations SET name = '9999_future' WHERE name = '{NAMES[0]}'"
    )
    with pytest.raises(HistoryError, match=r"unknown here: 9999_future.*newer evenkeel"):
        migrate(database_url)


def test_a_migration_that_fails_leaves_nothing_of_itself(
    empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The migrations before it stay applied, its own first half does not, and it is still pending."""
    text = "CREATE TABLE half (a int); SELECT * FROM no_such_table;"
    bad = dataclasses.replace(sql.migrations()[0], name="9000_bad", text=text)
    every = (*sql.migrations(), bad)
    monkeypatch.setattr(sql, "migrations", lambda: every)
    with pytest.raises(HistoryError, match="no_such_table"):
        migrate(empty_database)
    assert pending(empty_database) == ["9000_bad"]
    with pytest.raises(psycopg.errors.UndefinedTable):
        run(empty_database, "SELECT * FROM half")


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


def test_the_moves_of_candidates_go_and_their_rows_stay(empty_database: str) -> None:
    """A history from before is brought up to date although a view shows the column that goes."""
    name = "0017_moves_stay_in_the_lake"
    migrate(empty_database)
    history = PostgresHistory(empty_database)
    fill(history)
    run(empty_database, "ALTER TABLE candidate ADD COLUMN moved jsonb NOT NULL DEFAULT '[]'")
    run(empty_database, "DROP VIEW strategy_scoreboard")
    run(empty_database, "CREATE VIEW strategy_scoreboard AS SELECT moved FROM candidate")
    run(empty_database, f"DELETE FROM schema_migrations WHERE name = '{name}'")
    assert migrate(empty_database) == [name]
    assert [row["strategy"] for row in history.query("scoreboard")] == ["live", "range"]
    run(empty_database, "SELECT * FROM strategy_scoreboard WHERE is_live")
