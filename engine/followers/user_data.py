"""User data that followers send to each other: small JSON objects, described in docs/reference/plan-format.md."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any

from .plan import Plan

VERSION = 1


def addresses_of(user_data: bytes | None) -> tuple[str, ...]:
    """The addresses that a member sent; none where it sent something else."""
    found = object_told(user_data).get("addresses")
    return tuple(str(one) for one in found) if isinstance(found, list) else ()


def plan_told(plan: Plan | None) -> bytes:
    """
    What the leader sends along with each member's partitions: which plan is followed; without one, that none is.

    >>> followed_of(plan_told(None)) is None
    True
    """
    told: dict[str, Any] = {"evenkeel": VERSION, "follows": None}
    if plan is not None:
        made = plan.made_at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        told |= {"follows": plan.strategy or "", "made_at": made}
    return json.dumps(told, separators=(",", ":")).encode()


def followed_of(user_data: bytes | None) -> str | None:
    """By which strategy the plan was made that is followed; None: none is, as far as is told."""
    found = object_told(user_data).get("follows")
    return found if isinstance(found, str) else None


def object_told(user_data: Any) -> dict[str, Any]:
    """What a follower says in user data; empty where something else stands there."""
    try:
        found = json.loads(bytes(user_data or b"{}"))
    except (ValueError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) and found.get("evenkeel") == VERSION else {}
