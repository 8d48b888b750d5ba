"""The file of a plan: what is written is what is read, and what is wrong with one is said."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from evenkeel.engine.followers.plan import Plan, PlanError, PlannedMember, PlannedTopic, read_plan

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLAN = Plan(
    group="größe <app>",
    members=(
        PlannedMember(instance_id="a", partitions={"t": (0, 3)}),
        PlannedMember(client_id="c", host="10.0.0.1", member_id="c-1", partitions={}),
    ),
    made_at=AT,
    valid_until=AT.replace(day=8),
    fallback="range",
    strategy="balanced",
    cluster="eu",
    snapshot_id="eu-20260301T120000Z-000000",
    topics={"t": PlannedTopic(id=None, partitions=4)},
)


def test_what_is_written_is_what_is_read() -> None:
    """Every attribute; whatever else stands in it is passed over."""
    assert read_plan(PLAN.to_json()) == PLAN
    more = json.loads(PLAN.to_json()) | {"later": 1}
    assert read_plan(json.dumps(more).encode()) == PLAN


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"schema": "evenkeel-plan/2"}, "its schema is 'evenkeel-plan/2'"),
        ({"fallback": "fair"}, "its fallback 'fair' is none of"),
        ({"members": None}, "something in it is not what it should be: "),
        ({"valid_until": "2026-03-08T12:00:00"}, "names no time zone"),
        ({"valid_until": "soon"}, "something in it is not what it should be: "),
        ({"members": [{"partitionz": {}}]}, "it lacks 'partitions'"),
        ({"members": [{"partitions": {"t": [True]}}]}, "True is no partition"),
        ({"members": [{"partitions": {"t": ["3"]}}]}, "'3' is no partition"),
        ({"members": [{"partitions": {"t": [3.7]}}]}, "3.7 is no partition"),
        ({"members": [{"partitions": {"t": [-1]}}]}, "-1 is no partition"),
        ({"members": [{"partitions": {"t": [0]}}, {"partitions": {"t": [0]}}]}, "t-0 to two"),
    ],
)
def test_what_is_wrong_with_a_plan_is_said(change: dict[str, Any], told: str) -> None:
    """Of a plan that was cut off, written by a later version, or by hand."""
    with pytest.raises(PlanError, match=told):
        read_plan(json.dumps(json.loads(PLAN.to_json()) | change))


@pytest.mark.parametrize("text", ["", "[]", "{", b"\xff"])
def test_what_is_no_json_is_no_plan(text: str | bytes) -> None:
    """Half a file, another kind of file."""
    with pytest.raises(PlanError):
        read_plan(text)
