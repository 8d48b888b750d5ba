"""Random cases of a group that follows a plan, as lines of `plan-cases.jsonl`, and what the rule in Python answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from evenkeel.engine.followers.plan import FALLBACKS, SCHEMA, read_plan
from evenkeel.engine.followers.rule import Present, follow, withhold

EXPIRES = datetime(2026, 3, 8, 12, tzinfo=UTC)
HOSTS = ("10.0.0.1", "10.0.0.2", "/10.0.0.3", "2001:db8:0:0:0:0:0:1")


def random_case(seed: int) -> dict[str, Any]:
    """
    A case: members that come and go, are known by instance or by host, double each other, subscribe unequally.

    Args:
        seed: Each has a case of its own.
    """
    rng = Random(seed)
    topics = {f"t{number}": rng.randint(1, 6) for number in range(rng.randint(1, 3))}
    every = [(topic, number) for topic, size in topics.items() for number in range(size)]
    people = [_person(rng, place) for place in range(rng.randint(1, 6))]
    planned = [one for one in people if rng.random() < 0.8]
    here = [one for one in people if rng.random() < 0.8] or people[:1]
    members = [_here(rng, one, place, list(topics)) for place, one in enumerate(here)]
    for pair in every:  # most are claimed once; what two claim happens, too
        for _ in range(rng.choice((0, 1, 1, 1, 1, 2))):
            rng.choice(members)["owned"].append(list(pair))
    fallback: dict[str, list[Any]] = {one["member_id"]: [] for one in members}
    for topic, number in every:
        if able := [one["member_id"] for one in members if topic in one["topics"]]:
            fallback[rng.choice(able)].append([topic, number])
    fits = rng.random() < 0.9
    late = timedelta(seconds=rng.choice((-86_400, -60, -1, -1, -1, 0, 1)) if fits else 3600)
    return {
        "name": f"random {seed}",
        "group": "app" if rng.random() < 0.95 else "other",
        "now": (EXPIRES + late).isoformat().replace("+00:00", "Z"),
        "plan": _plan(rng, planned, every),
        "present": members,
        "fallback": fallback,
    }


def _person(rng: Random, place: int) -> dict[str, Any]:
    """Who a member is, in the plan and in the group."""
    if rng.random() < 0.4:
        return {"instance_id": f"i{place}", "client_id": None, "host": None}
    host = rng.choice((*HOSTS, None)) if rng.random() < 0.3 else HOSTS[0]
    return {"instance_id": None, "client_id": rng.choice(("x", "x", "y")), "host": host}


def _here(rng: Random, one: dict[str, Any], place: int, topics: list[str]) -> dict[str, Any]:
    hosts = [one["host"].lstrip("/"), *rng.sample(HOSTS, 1)] if one["host"] else []
    instance = one["instance_id"]
    if instance and rng.random() < 0.1:
        instance += "-new"
    return {
        "member_id": f"{rng.choice('mM')}-{rng.randint(0, 99)}-{place}",
        "instance_id": instance,
        "client_id": one["client_id"],
        "addresses": hosts,
        "topics": topics if rng.random() < 0.7 else rng.sample(topics, rng.randint(0, len(topics))),
        "owned": [],
    }


def _plan(
    rng: Random, people: list[dict[str, Any]], every: list[tuple[str, int]]
) -> dict[str, Any]:
    entries: list[dict[str, Any]] = [{**one, "member_id": None, "partitions": {}} for one in people]
    for topic, number in [*every, ("t0", 99), ("gone", 0)]:
        if entries and rng.random() < 0.9:
            rng.choice(entries)["partitions"].setdefault(topic, []).append(number)
    return {
        "schema": SCHEMA,
        "group": "app",
        "made_at": "2026-03-01T12:00:00Z",
        "valid_until": EXPIRES.isoformat(),
        "fallback": rng.choice(FALLBACKS),
        "topics": {},
        "members": entries,
    }


def answered(case: dict[str, Any]) -> dict[str, Any]:
    """What Python's rule answers to a case: `assignment`, `withheld` and `reasons`."""
    here = [
        Present(**one | {"owned": [(topic, number) for topic, number in one["owned"]]})
        for one in case["present"]
    ]
    fallback = {m: [(t, n) for t, n in pairs] for m, pairs in case["fallback"].items()}
    plan = read_plan(json.dumps(case["plan"]))
    followed = follow(plan, case["group"], datetime.fromisoformat(case["now"]), here, fallback)
    return {
        "assignment": _lists(followed.assignment),
        "withheld": _lists(withhold(followed.assignment, here)),
        "reasons": list(followed.reasons),
    }


def _lists(assignment: dict[str, list[tuple[str, int]]]) -> dict[str, list[list[Any]]]:
    return {member: [list(pair) for pair in pairs] for member, pairs in assignment.items()}
