"""The role of those who only ask, in databases of their own and under a name of its own: roles belong to the server."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from evenkeel import sql
from evenkeel.engine.adapters.postgres import PostgresHistory, migrate
from evenkeel.engine.records import TABLES
from tests.helpers.history_rows import fill
from tests.helpers.postgres_fixtures import PREFIX, MakeDatabase
from tests.stage.postgres_access import PostgresServer

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres


@pytest.fixture
def reader(postgres_server: PostgresServer, make_database: MakeDatabase) -> Iterator[str]:
    """A name that no other test uses; the role goes afterwards, with all that was granted to it."""
    name = f"{PREFIX}reader_{secrets.token_hex(4)}"
    yield name
    if exists(postgres_server, name):
        question = """
            SELECT DISTINCT datname FROM pg_shdepend JOIN pg_database ON pg_database.oid = dbid
            WHERE refobjid = %s::regrole"""
        with psycopg.connect(postgres_server.administrator_url) as connection:
            granted = [row[0] for row in connection.execute(question, [name])]
        for database in granted:
            administer(postgres_server, "DROP OWNED BY {}", name, database)
        administer(postgres_server, "DROP ROLE {}", name)


def administer(
    server: PostgresServer, command: Any, role: str, database: str | None = None
) -> None:
    """Run a command about a role as the administrator of the server."""
    given = {} if database is None else {"dbname": database}
    with psycopg.connect(server.administrator_url, autocommit=True, **given) as connection:
        connection.execute(SQL(command).format(Identifier(role)))


def exists(server: PostgresServer, role: str) -> bool:
    """Whether there is such a role, without login."""
    question = "SELECT rolcanlogin FROM pg_roles WHERE rolname = %s"
    with psycopg.connect(server.administrator_url) as connection:
        found = connection.execute(question, [role]).fetchall()
    assert found in ([], [(False,)])
    return bool(found)


def asked(server: PostgresServer, url: str, role: str, *questions: str) -> list[int]:
    """How many rows each question has for that role."""
    database = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    with psycopg.connect(server.administrator_url, dbname=database) as connection:
        connection.execute(SQL("SET SESSION AUTHORIZATION {}").format(Identifier(role)))
        return [connection.execute(question.encode()).rowcount for question in questions]


def test_who_may_not_create_roles_is_told_and_migrates(
    postgres_server: PostgresServer, empty_database: str, reader: str
) -> None:
    """The schema does not wait for an administrator; a line says what is missing."""
    told: list[str] = []
    assert migrate(empty_database, reader=reader, tell=told.append) != []
    assert PostgresHistory(empty_database).query("groups") == []
    (line,) = told
    assert f"CREATE ROLE {reader} NOLOGIN" in line
    assert not exists(postgres_server, reader)


def test_a_reader_reads_every_view_and_writes_nothing(
    postgres_server: PostgresServer, database_url: str, reader: str
) -> None:
    """No table is open to it but for the named queries; what the views show it has, in its own session."""
    administer(postgres_server, "CREATE ROLE {} NOLOGIN", reader)
    told: list[str] = []
    assert migrate(database_url, reader=reader, tell=told.append) == []
    assert told == []
    history = PostgresHistory(database_url)
    fill(history)
    unfilled = ("incident_history", "message_history")
    names = [name for name in sql.views() if name not in unfilled]
    counts = asked(postgres_server, database_url, reader, *(f"SELECT * FROM {n}" for n in names))
    assert [name for name, count in zip(names, counts, strict=True) if not count] == []
    asked(postgres_server, database_url, reader, *(f"SELECT * FROM {n}" for n in unfilled))
    for refused in (
        "SELECT * FROM incident_course",
        "SELECT * FROM group_hour",
        "DELETE FROM incident_history",
        "UPDATE advice SET verdict = 'stay'",
        "DELETE FROM silence",
        "UPDATE rack_cost_daily SET currency = 'EUR'",
        "INSERT INTO incident_history (cluster) VALUES ('demo')",
        "TRUNCATE alert",
        "CREATE TABLE mine (a int)",
        "CREATE VIEW mine AS SELECT 1",
    ):
        with pytest.raises(
            (psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState)
        ):
            asked(postgres_server, database_url, reader, refused)
    question = "SELECT has_database_privilege(%s, current_database(), 'CONNECT')"
    with psycopg.connect(database_url) as connection:
        assert connection.execute(question, [reader]).fetchone() == (True,)


RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
RELATIONS = """
    SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
    AND has_table_privilege(%(role)s, oid, %(right)s)"""
COLUMNS = """
    SELECT relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
    AND has_any_column_privilege(%(role)s, oid, 'INSERT, UPDATE, REFERENCES')"""
SEQUENCES = """
    SELECT sequencename FROM pg_sequences
    WHERE schemaname = 'public' AND has_sequence_privilege(%(role)s, sequencename, 'USAGE, SELECT, UPDATE')"""
FUNCTIONS = """
    SELECT proname FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND has_function_privilege(%(role)s, oid, 'EXECUTE')"""
CREATES = """
    SELECT right_to FROM (VALUES
        ('schema', has_schema_privilege(%(role)s, 'public', 'CREATE')),
        ('database', has_database_privilege(%(role)s, current_database(), 'CREATE')),
        ('temporary', has_database_privilege(%(role)s, current_database(), 'TEMP'))) AS r (right_to, given)
    WHERE given"""


def asking() -> list[str]:
    """What the named queries and the reports ask, as SQL."""
    reports = [each for name, each in sql.statements().items() if name.startswith("report_")]
    return [part for each in (*sql.queries().values(), *reports) for part in each.parts]


def test_a_reader_has_views_and_what_queries_read_and_nothing_else(
    postgres_server: PostgresServer, database_url: str, reader: str
) -> None:
    """Of all relations and functions of the schema; what an earlier version granted is taken back."""
    administer(postgres_server, "CREATE ROLE {} NOLOGIN", reader)
    with psycopg.connect(database_url) as connection:
        grant = SQL("GRANT ALL ON alert, held_lock, advice TO {}")
        connection.execute(grant.format(Identifier(reader)))
    migrate(database_url, reader=reader)
    with psycopg.connect(database_url) as connection:

        def found(question: str, **given: str) -> set[str]:
            rows = connection.execute(question.encode(), {"role": reader, **given})
            return {row[0] for row in rows}

        rights = {right: found(RELATIONS, right=right) for right in RIGHTS}
        others = [found(question) for question in (COLUMNS, SEQUENCES, CREATES)]
        functions = found(FUNCTIONS)
    words = set(re.findall(r"\w+", " ".join((*asking(), *sql.views().values()))))
    tables = rights.pop("SELECT") - {*sql.views()}
    assert tables == {*TABLES} & sql.read_by_people()
    assert tables.isdisjoint({"alert", "held_lock", "incident_course"})
    assert {name: rights[name] for name in rights if rights[name]} == {}
    assert others == [set()] * 3
    assert functions == words & set(re.findall(r"FUNCTION (\w+)", sql.functions()))
    assert functions == {"has_come", "is_rebalancing", "newest_rules", "said_otherwise"}


def test_a_reader_has_no_table_that_no_query_needs(
    postgres_server: PostgresServer, database_url: str, reader: str
) -> None:
    """Without any one of them some query or report is refused."""
    administer(postgres_server, "CREATE ROLE {} NOLOGIN", reader)
    migrate(database_url, reader=reader)
    database = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
    prepared = [re.sub(r"(?<!:):[a-z_]\w*", "NULL", part) for part in asking()]
    with psycopg.connect(postgres_server.administrator_url, dbname=database) as connection:

        def is_refused(part: str) -> bool:
            try:
                with connection.transaction():
                    connection.execute(f"EXPLAIN {part}".encode())
            except psycopg.errors.InsufficientPrivilege:
                return True
            return False

        role = Identifier(reader)
        granted = connection.execute(RELATIONS.encode(), {"role": reader, "right": "SELECT"})
        tables = {row[0] for row in granted} & {*TABLES}
        assert len(tables) > 9
        needed = set()
        for table in tables:
            with connection.transaction(force_rollback=True):
                revoke = SQL("REVOKE SELECT ON {} FROM {}").format(Identifier(table), role)
                connection.execute(revoke)
                connection.execute(SQL("SET LOCAL SESSION AUTHORIZATION {}").format(role))
                if any(map(is_refused, prepared)):
                    needed.add(table)
        connection.execute(SQL("SET LOCAL SESSION AUTHORIZATION {}").format(role))
        assert not any(map(is_refused, prepared))
    assert tables == needed


def test_a_view_that_had_to_go_first_can_be_read_again(
    postgres_server: PostgresServer, database_url: str, reader: str
) -> None:
    """With a view goes what was granted on it: the next migrate grants it again."""
    administer(postgres_server, "CREATE ROLE {} NOLOGIN", reader)
    migrate(database_url, reader=reader)
    with psycopg.connect(database_url) as connection:
        connection.execute("DROP VIEW latest_lag CASCADE")
        connection.execute("CREATE VIEW latest_lag AS SELECT 1 AS other")
    migrate(database_url, reader=reader)
    questions = ("SELECT taken_at FROM latest_lag", "SELECT * FROM group_status")
    assert asked(postgres_server, database_url, reader, *questions) == [0, 0]


def test_who_may_create_roles_makes_it_once_for_all_databases(
    postgres_server: PostgresServer, make_database: MakeDatabase, reader: str
) -> None:
    """Also when two databases of a server are migrated at the same moment."""
    urls = [make_database() for _ in range(2)]
    owner = psycopg.conninfo.conninfo_to_dict(urls[0])["user"]
    administer(postgres_server, "ALTER ROLE {} CREATEROLE", str(owner))
    told: list[str] = []
    try:
        with ThreadPoolExecutor() as pool:
            done = list(pool.map(lambda url: migrate(url, reader=reader, tell=told.append), urls))
    finally:
        administer(postgres_server, "ALTER ROLE {} NOCREATEROLE", str(owner))
    assert all(done)
    assert told == []
    assert exists(postgres_server, reader)
    for url in urls:
        assert asked(postgres_server, url, reader, "SELECT * FROM group_status") == [0]
