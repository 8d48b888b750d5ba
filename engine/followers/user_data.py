"""What followers tell each other, and whoever looks at the group: small JSON objects as user data (see the README)."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from .plan import Plan

VERSION = 1


def addresses_told(addresses: Collection[str]) -> bytes:
    """
    What a member sends along when it joins.

    >>> addresses_of(addresses_told(["10.0.0.2"]))
    ('10.0.0.2',)
    """
    return _bytes({"evenkeel": VERSION, "addresses": sorted(addresses)})


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
    if plan is None:
        return _bytes({"evenkeel": VERSION, "follows": None})
    made = plan.made_at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return _bytes({"evenkeel": VERSION, "follows": plan.strategy or "", "made_at": made})


def followed_of(user_data: bytes | None) -> str | None:
    """By which strategy the plan was made that is followed; None: none is, as far as is told."""
    found = object_told(user_data).get("follows")
    return found if isinstance(found, str) else None


def made_at_of(user_data: bytes | None) -> datetime | None:
    """When that plan was made."""
    found = object_told(user_data).get("made_at")
    try:
        return datetime.fromisoformat(found) if isinstance(found, str) else None
    except ValueError:
        return None


def object_told(user_data: Any) -> dict[str, Any]:
    """What a follower says in user data; empty where something else stands there."""
    try:
        found = json.loads(bytes(user_data or b"{}"))
    except (ValueError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) and found.get("evenkeel") == VERSION else {}


def _bytes(words: dict[str, Any]) -> bytes:
    return json.dumps(words, separators=(",", ":")).encode()
