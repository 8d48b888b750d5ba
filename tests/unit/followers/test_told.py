"""What followers tell each other, and whoever looks."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from evenkeel.engine.followers.plan import Plan
from evenkeel.engine.followers.user_data import (
    addresses_of,
    followed_of,
    plan_told,
)

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def plan(strategy: str | None) -> Plan:
    """An empty plan made by that strategy."""
    return Plan(
        group="g", members=(), made_at=AT, valid_until=AT, fallback="range", strategy=strategy
    )


@pytest.mark.parametrize("strategy", ["balanced", None])
def test_which_plan_is_followed_is_told(strategy: str | None) -> None:
    """By which strategy it was made, if it says so, and when."""
    told = plan_told(plan(strategy))
    assert followed_of(told) == (strategy or "")
    assert json.loads(told)["made_at"] == "2026-03-01T12:00:00Z"
    assert addresses_of(told) == ()


def test_that_no_plan_is_followed_is_told() -> None:
    """So that it is not taken for what the plan before gave."""
    assert followed_of(plan_told(None)) is None
    assert "made_at" not in json.loads(plan_told(None))


@pytest.mark.parametrize("told", [None, b"", b"\xff\x00", b"[]", b'{"evenkeel": 2}', b"7"])
def test_what_somebody_else_tells_is_passed_over(told: bytes | None) -> None:
    """User data of another strategy, of a later version, of nobody."""
    assert (addresses_of(told), followed_of(told)) == ((), None)
