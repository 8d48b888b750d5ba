"""What `docs/reference/queries.md` shows is what the history database answers, asked again."""

from __future__ import annotations

import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from tests.helpers import cookbook

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres


def test_the_cookbook_shows_what_is_answered(module_cookbook_reader_url: str) -> None:
    """Who only reads asks; `python -m tests.helpers.cookbook` writes it anew."""
    history = PostgresHistory(module_cookbook_reader_url)
    found = {each.command: cookbook.ask(history, each).to_json() for each in cookbook.EXAMPLES}
    assert found == cookbook.kept()


def test_every_command_of_the_cookbook_prints_what_the_page_shows(
    module_cookbook_reader_url: str,
) -> None:
    """The columns that are shown, row by row."""
    for each in cookbook.EXAMPLES:
        assert (
            cookbook.printed(each, module_cookbook_reader_url)
            == cookbook.kept()[each.command]["rows"]
        )
