"""What `docs/reference/queries.md` shows is what the history database answers, asked again."""

from __future__ import annotations

import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from tests.helpers import cookbook

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def reader_url(module_cookbook_reader_url: str) -> str:
    """The address for who only reads, of a copy of what `make demo` makes."""
    return module_cookbook_reader_url


def test_the_cookbook_shows_what_is_answered(reader_url: str) -> None:
    """Who only reads asks; `python -m tests.helpers.cookbook` writes it anew."""
    history = PostgresHistory(reader_url)
    found = {each.command: cookbook.ask(history, each).to_json() for each in cookbook.EXAMPLES}
    assert found == cookbook.kept()


def test_every_command_of_the_cookbook_prints_what_the_page_shows(reader_url: str) -> None:
    """The columns that are shown, row by row."""
    for each in cookbook.EXAMPLES:
        assert cookbook.printed(each, reader_url) == cookbook.kept()[each.command]["rows"]
