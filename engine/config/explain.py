"""What is wrong with a configuration, in words: where it stands, and the fault of each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .faults import Given, fault
from .key_lines import line_of

CONNECTION = {"clusters": "evenkeel_", "webhooks": "evenkeel_webhook_"}
"""Table of the settings -> what the Airflow connection of one of its entries is called, before its name."""


def explained(errors: Sequence[Any], given: Given) -> str:
    """
    One clause per wrong key, by where it stands. A value is left out: it may be a secret.

    Args:
        errors: Of pydantic, each with its input.
        given: Where the values came from.
    """
    text = given.file.read_text(encoding="utf-8") if given.file else ""
    clauses: dict[str, list[str]] = {}
    for error in errors:
        place = tuple(part for part in error["loc"] if part != "[key]")
        source = _source(place, error["type"], given)
        line = line_of(text, place) if given.file and source == str(given.file) else None
        key = ".".join(map(str, place)) or "(top level)"
        clause = f"{f'line {line}, ' if line else ''}{key}: {fault(error, place, given)}"
        clauses.setdefault(source, []).append(clause)
    return "; ".join(f"in {source}: {'; '.join(own)}" for source, own in clauses.items()) + "."


def _source(place: Sequence[str | int], kind: str, given: Given) -> str:
    """What holds the key, or most of the way to it: what beats the others first, but a key is missed in the file."""
    if not place:
        return str(given.file or "the environment")
    top, before = str(place[0]), CONNECTION.get(str(place[0]))
    is_named = before is not None and len(place) > 1
    connection = f"{before}{place[1]}" if is_named else f"of {top}"
    sources = [
        (_depth(given.environment, place), f"the environment variable EVENKEEL_{top.upper()}"),
        (_depth(given.connections, place), f"the Airflow connection {connection}"),
        (_depth(given.content, place), str(given.file)),
    ]
    if kind == "missing":
        sources.reverse()
    depth, name = max(sources, key=lambda one: one[0])
    return name if depth else str(given.file or "the environment (no evenkeel.toml was found)")


def _depth(values: Any, place: Sequence[str | int]) -> int:
    """How many parts of a place some values have."""
    for depth, part in enumerate(place):
        if isinstance(values, list | tuple):
            values = dict(enumerate(values))
        if not isinstance(values, Mapping) or part not in values:
            return depth
        values = values[part]
    return len(place)
