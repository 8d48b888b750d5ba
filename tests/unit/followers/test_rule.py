"""The rule by which a plan is followed; its answers are asked of the followers."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from evenkeel.engine.followers.plan import read_plan
from evenkeel.engine.followers.rule import Present, anchors, follow

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
