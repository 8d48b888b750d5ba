"""The views as people build on them: columns that stay, rows as their README shows them, and plans that scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from tests.helpers.view_samples import VOLATILE, columns, fill, noted, public, sample

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def shown(module_database_url: str) -> str:
    """The history that the README shows rows of."""
    fill(PostgresHistory(module_database_url))
    return module_database_url


def test_every_public_view_is_noted() -> None:
    """Those that other views read are not promised to anybody."""
    assert sorted(noted()) == public()


@pytest.mark.parametrize("view", public())
def test_columns_of_a_view_keep_name_type_and_place(shown: str, view: str) -> None:
    """A new one comes at the end, and is noted by `python -m tests.helpers.view_samples`."""
    before = [(each["name"], each["type"]) for each in noted()[view]]
    assert columns(shown, view) == before


@pytest.mark.parametrize("view", public())
def test_a_view_shows_what_its_readme_shows(shown: str, view: str) -> None:
    """The row of the README comes from a database, but for what is another each time."""
    row = sample(shown, view)
    assert row
    expected = {each["name"]: each["value"] for each in noted()[view]}
    assert lasting(row) == lasting(expected)


def lasting(row: Mapping[str, Any]) -> dict[str, Any]:
    """What is not another each time, as exact as every machine has it."""
    return {name: rounded(value) for name, value in row.items() if name not in VOLATILE}


def rounded(value: Any) -> Any:
    """The value, its fractions to six digits."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


NOW = {
    "advice_scorecard": "checks have come due",
    **dict.fromkeys(("advice_history", "incident_history", "validation_history"), "what was"),
    **dict.fromkeys(
        ("lag_history", "group_lag_trend", "strategy_wins", "rack_cost_daily", "churn_weekly"),
        "what was",
    ),
    "snapshot_health": "has started_at",
}
"""Views that do not tell of now, and why."""


@pytest.mark.parametrize("view", sorted(set(public()) - NOW.keys()))
def test_what_tells_of_now_says_how_old_it_is(view: str) -> None:
    """By the moment when its snapshot was taken, and by its age."""
    assert {"taken_at", "age_seconds"} <= {each["name"] for each in noted()[view]}
