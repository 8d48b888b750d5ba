"""Fixtures for tests that need a real Postgres: ``postgres_server``, and on it a fresh ``history``.

A test module (or the root conftest) asks for them by
``pytest_plugins = ("tests.helpers.postgres_fixtures",)``; one session then has one server.

By default the server is started and ended by the session. EVENKEEL_TEST_DATABASE_URL, a superuser's,
names one that exists: every database and role made there begins with ``evenkeel_test_`` and is removed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

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
def _shared(server: PostgresServer, folder: Path) -> Iterator[dict[str, Any]]:
    """What the workers of a run know of the cookbook's database of a server; while one changes it, the others wait."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    own = hashlib.sha256(server.administrator_url.encode()).hexdigest()
    with (folder / f"cookbook-{own}.json").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        known = json.loads(file.read() or "{}")
        yield known
        file.truncate(0)
        file.write(json.dumps(known))


@pytest.fixture(scope="session")
def _cookbook(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """
    A database with the cookbook's history, to copy, and its owner; ``_reader`` behind the name is who may ask.

    It takes a minute to make, so that the workers of a run share it: the first one makes it, the last one drops it.
    """
    from tests.stage import example

    folder = tmp_path_factory.getbasetemp()
    with _shared(postgres_server, folder) as known:
        if not known.get("users"):
            name = f"{PREFIX}{secrets.token_hex(4)}"
            postgres_server.create_reader(f"{name}_reader")
            example.make(postgres_server, name, reader=f"{name}_reader")
            known |= {"name": name, "users": 0, "passwords": postgres_server.passwords}
        known["users"] += 1
        postgres_server.passwords |= known["passwords"]
        name = known["name"]
    yield name
    with _shared(postgres_server, folder) as known:
        known["users"] -= 1
        if not known["users"]:
            postgres_server.drop_database(name)
            postgres_server.drop_role(name)
            postgres_server.drop_role(f"{name}_reader")


@contextmanager
def _reader(server: PostgresServer, database_url: str) -> Iterator[str]:
    name = f"{PREFIX}reader_{secrets.token_hex(4)}"
    server.create_reader(name)
    migrate(database_url, reader=name)
    database = _database_of(database_url)
    yield server.url(database, name)
    server.drop_reader(name, database)


def _database_of(url: str) -> str:
    return str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])


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
def module_cookbook_url(postgres_server: PostgresServer, _cookbook: str) -> Iterator[str]:
    """URL of a copy of the cookbook's history, which the tests of a module share."""
    with _databases(postgres_server, _cookbook) as make:
        yield make(_cookbook)


@pytest.fixture(scope="module")
def module_cookbook_reader_url(
    postgres_server: PostgresServer, module_cookbook_url: str, _cookbook: str
) -> str:
    """URL of the same database for who only reads, other rules' schemas included."""
    reader = f"{_cookbook}_reader"
    migrate(module_cookbook_url, reader=reader)
    return postgres_server.url(_database_of(module_cookbook_url), reader)


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
