"""What `docs/reference/queries.md` shows is what the history database answers, asked again."""

from __future__ import annotations

import secrets
from pathlib import Path

import psycopg
import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from tests.helpers import cookbook
from tests.helpers.postgres_fixtures import PREFIX
from tests.stage import example
from tests.stage.postgres_access import PostgresServer

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def reader_url(module_cookbook_reader_url: str) -> str:
    """The address for who only reads, of a copy of what `make demo` makes."""
    return module_cookbook_reader_url


def number(server: PostgresServer, database: str) -> int:
    """By which a server knows a database: another one has another."""
    with psycopg.connect(server.administrator_url) as connection:
        question = "SELECT oid FROM pg_database WHERE datname = %s"
        row = connection.execute(question, [database]).fetchone()
    assert row is not None
    return int(row[0])


def test_the_cookbook_shows_what_is_answered(reader_url: str) -> None:
    """Who only reads asks; `python -m tests.helpers.cookbook` writes it anew."""
    history = PostgresHistory(reader_url)
    found = {each.command: cookbook.ask(history, each).to_json() for each in cookbook.EXAMPLES}
    assert found == cookbook.kept()


def test_every_command_of_the_cookbook_prints_what_the_page_shows(reader_url: str) -> None:
    """The columns that are shown, row by row."""
    for each in cookbook.EXAMPLES:
        assert cookbook.printed(each, reader_url) == cookbook.kept()[each.command]["rows"]


def test_other_answers_are_made_anew(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there is not made again, unless the page shows other answers: then the database is another."""
    name = f"{PREFIX}{secrets.token_hex(4)}"
    reader = f"{name}_reader"
    postgres_server.create_reader(reader)
    monkeypatch.setattr(example.cookbook_history, "write_with_backfill", lambda *url: None)
    try:
        example.make(postgres_server, name, reader=reader)
        first = number(postgres_server, name)
        example.make(postgres_server, name, reader=reader)
        assert number(postgres_server, name) == first
        monkeypatch.setattr(cookbook, "FILE", Path(__file__))
        example.make(postgres_server, name, reader=reader)
        assert number(postgres_server, name) != first
    finally:
        postgres_server.drop_database(name)
        postgres_server.drop_role(name)
        postgres_server.drop_role(reader)
