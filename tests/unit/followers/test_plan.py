"""A plan as it is written and read, by which rule it is followed, and what of it followers tell each other."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.followers.plan import Plan, PlanError, PlannedMember, PlannedTopic, read_plan
from evenkeel.engine.followers.rule import Present, anchors, follow
from evenkeel.engine.followers.user_data import (
    addresses_of,
    followed_of,
    plan_told,
)

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


@given(st.text(alphabet='aß\x1b\x9b\u202e\u2028\n\0\U000e0001"\\', max_size=9))
def test_a_plan_can_be_shown(name: str) -> None:
    """No escape, no other end of a line, no sign that turns it; it is read as it was."""
    member = PlannedMember(instance_id=name, partitions={name: (0,)})
    plan = replace(PLAN, group=name, members=(member,))
    assert all(line.isprintable() for line in plan.to_json().split("\n"))
    assert read_plan(plan.to_json()) == plan


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


@pytest.mark.parametrize("strategy", ["balanced", None])
def test_which_plan_is_followed_is_told(strategy: str | None) -> None:
    """By which strategy it was made, if it says so, and when."""
    told = plan_told(replace(PLAN, strategy=strategy))
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


CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/plan-cases.jsonl").read_text().splitlines()
]


def present(found: dict[str, Any]) -> Present:
    """A member of a case."""
    return Present(**found | {"owned": [(topic, number) for topic, number in found["owned"]]})


def test_a_sticky_fallback_starts_from_what_the_plan_gives_to_who_is_here() -> None:
    """Of the topics they subscribe to; whatever they claim, and whoever else is here."""
    case = next(one for one in CASES if one["name"] == "one of three has left")
    plan = read_plan(json.dumps(case["plan"]))
    a, b = (present(each) for each in case["present"])
    stranger = Present(member_id="x-1", topics=("t",), owned=[("t", 0)])
    here = [replace(a, owned=[("t", 5)]), replace(b, topics=()), stranger]
    assert anchors(plan, here) == {"a-1": [("t", 0), ("t", 3)], "b-1": []}
    assert anchors(plan, [stranger]) == {}


def test_what_does_not_fit_is_named() -> None:
    """Members that are missing or new, and how many partitions the fallback gives; nothing where all fits."""
    told = {case["name"]: case for case in CASES}

    def reasons(name: str) -> tuple[str, ...]:
        case = told[name]
        here = [present(each) for each in case["present"]]
        fallback = {m: [(t, n) for t, n in pairs] for m, pairs in case["fallback"].items()}
        now = datetime.fromisoformat(case["now"])
        return follow(
            read_plan(json.dumps(case["plan"])), case["group"], now, here, fallback
        ).reasons

    assert reasons("all fits") == ()
    assert reasons("half of the members have new names") == (
        "not here, but in the plan: b",
        "here, but not in the plan: q-1",
        "3 partitions are given by range, not by the plan",
    )
    assert reasons("expired") == ("the plan expired at 2026-03-08 12:00:00 UTC",)
    assert reasons("made for another group") == (
        "the plan is made for group 'other', this is 'app'",
    )
