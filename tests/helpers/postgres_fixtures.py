"""Fixtures for tests that need a real Postgres: ``postgres_server``, and on it a fresh ``history``.

A test module (or the root conftest) asks for them by
``pytest_plugins = ("tests.helpers.postgres_fixtures",)``; one session then has one server.

By default the server is started and ended by the session. EVENKEEL_TEST_DATABASE_URL, a superuser's,
names one that exists: every database and role made there begins with ``evenkeel_test_`` and is removed.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import psycopg
import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory, migrate
from tests.stage.postgres import throw_away_postgres
from tests.stage.postgres_access import PostgresServer

PREFIX = "evenkeel_test_"

MakeDatabase = Callable[..., str]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server of our own, or the one that the environment names."""
    named = os.environ.get("EVENKEEL_TEST_DATABASE_URL")
    if named:
        yield PostgresServer(named)
        return
    with throw_away_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def _session_role(postgres_server: PostgresServer) -> Iterator[str]:
    """The role that owns the databases of this session."""
    role = f"{PREFIX}{secrets.token_hex(4)}"
    yield role
    postgres_server.drop_role(role)


@pytest.fixture(scope="session")
def _template(postgres_server: PostgresServer, _session_role: str) -> Iterator[str]:
    """A migrated database to copy: that is quicker than to migrate one for every test."""
    postgres_server.create_database(_session_role, _session_role)
    migrate(postgres_server.url(_session_role, _session_role))
    yield _session_role
    postgres_server.drop_database(_session_role)


@contextmanager
def _databases(server: PostgresServer, role: str) -> Iterator[MakeDatabase]:
    with ExitStack() as made:

        def make(template: str | None = None) -> str:
            name = f"{PREFIX}{secrets.token_hex(4)}"
            server.create_database(name, role, template=template)
            made.callback(server.drop_database, name)
            return server.url(name, role)

        yield make


@contextmanager
def _reader(server: PostgresServer, database_url: str) -> Iterator[str]:
    name = f"{PREFIX}reader_{secrets.token_hex(4)}"
    server.create_reader(name)
    migrate(database_url, reader=name)
    database = str(psycopg.conninfo.conninfo_to_dict(database_url)["dbname"])
    yield server.url(database, name)
    server.drop_reader(name, database)


@pytest.fixture
def make_database(postgres_server: PostgresServer, _session_role: str) -> Iterator[MakeDatabase]:
    """Makes databases of this test: ``make_database()`` gives the URL of an empty one."""
    with _databases(postgres_server, _session_role) as make:
        yield make


@pytest.fixture(scope="module")
def module_database_url(
    postgres_server: PostgresServer, _session_role: str, _template: str
) -> Iterator[str]:
    """URL of a migrated database that the tests of a module share: for those that only read it."""
    with _databases(postgres_server, _session_role) as make:
        yield make(_template)


@pytest.fixture(scope="module")
def module_reader_url(postgres_server: PostgresServer, module_database_url: str) -> Iterator[str]:
    """URL of the same database for who only reads, as `evenkeel_reader` does; the name is of this module."""
    with _reader(postgres_server, module_database_url) as url:
        yield url


@pytest.fixture(scope="module")
def module_empty_database(postgres_server: PostgresServer, _session_role: str) -> Iterator[str]:
    """URL of a database of a module that was never migrated: Airflow's, for one."""
    with _databases(postgres_server, _session_role) as make:
        yield make()


@pytest.fixture
def empty_database(make_database: MakeDatabase) -> str:
    """URL of a database of this test that was never migrated."""
    return make_database()


@pytest.fixture
def database_url(make_database: MakeDatabase, _template: str) -> str:
    """URL of a migrated database of this test."""
    return make_database(_template)


@pytest.fixture
def reader_url(postgres_server: PostgresServer, database_url: str) -> Iterator[str]:
    """URL of that database for who only reads."""
    with _reader(postgres_server, database_url) as url:
        yield url


@pytest.fixture
def history(database_url: str) -> PostgresHistory:
    """An empty history of this test."""
    return PostgresHistory(database_url)
