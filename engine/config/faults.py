"""What is wrong with a key of the configuration, and how it is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from .base import ADDRESS
from .declarations import declared, holds, homes_of, keys_of, model_of
from .file import SECRET_KEYS, SECRET_WEBHOOK_KEYS
from .times import span

SYNONYMS = {
    "address": "url",
    "begin": "from",
    "begins": "from",
    "bootstrap_servers": "bootstrap",
    "brokers": "bootstrap",
    "duration": "for",
    "end": "until",
    "lasts": "for",
    "pattern": "groups",
    "routing_key": "key",
    "slack": "slack_channel",
    "start": "from",
    "team": "owner",
    "token": "key",
    "type": "format",
    "zone": "timezone",
}
"""What people write -> the key that they mean, where a table has it."""

EXAMPLES = {
    "bootstrap": 'bootstrap = "broker1:9092"',
    "reason": 'reason = "what is done then"',
}
"""How a key is written that must be given."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """
    Where the values came from.

    Attributes:
        settings: The model of all of them.
        file: The file, None where there is none.
        content: What it holds.
        connections: What came from Airflow's connections.
        environment: What came from environment variables, by the key at the top.
    """

    settings: type[BaseModel]
    file: Path | None
    content: Mapping[str, Any]
    connections: Mapping[str, Any]
    environment: Mapping[str, Any]


def fault(error: Mapping[str, Any], place: Sequence[str | int], given: Given) -> str:
    """What is wrong with one key, and how it is right."""
    kind, name = error["type"], str(place[-1]) if place else ""
    model, field = declared(given.settings, place)
    if kind == "extra_forbidden":
        return _unknown(name, model, place, given)
    if kind == "missing":
        return _missing(name, field, place, given)
    if kind in ("tuple_type", "dict_type", "model_type", "model_attributes_type"):
        return _shape(name, place, field, given)
    return _value(error, name)


def _unknown(name: str, model: type[BaseModel], place: Sequence[str | int], given: Given) -> str:
    """A key that there is not: the one that is meant, else where it belongs, else all that there are."""
    keys, plain = keys_of(model), re.sub(r"[-.]", "_", name).lower()
    if meant := next((one for one in (plain, SYNONYMS.get(plain)) if one in keys), None):
        return f"no such key, write {meant}{_where_secret(meant, place)}"
    if homes := [home for home, other in homes_of(given.settings) if plain in keys_of(other)]:
        return f"no such key here, it belongs {' or '.join(homes)}"
    near = nearest(name, keys)
    return no_such("key", name, keys) + (_where_secret(near, place) if near else "")


def no_such(noun: str, name: str, keys: Sequence[str]) -> str:
    """
    What is said of a name that there is not: the nearest that there is, else all of them.

    >>> no_such("field", "instanceId", ["id", "instance_id"]), no_such("field", "x", ["id", "topics"])
    ('no such field, the nearest is instance_id', 'no such field, there are id, topics')
    """
    near = nearest(name, keys)
    there = f"the nearest is {near}" if near else f"there are {', '.join(sorted(keys))}"
    return f"no such {noun}, {there}"


def nearest(name: str, keys: Sequence[str]) -> str | None:
    """The key that is written most like a name; None where none is."""
    return next(iter(get_close_matches(re.sub(r"[-.]", "_", name).lower(), keys, 1)), None)


def _where_secret(key: str, place: Sequence[str | int]) -> str:
    """Nobody is sent to a key that the file must not hold."""
    if len(place) == 1 and key in SECRET_KEYS:
        return f", a secret: in EVENKEEL_{key.upper()}"
    if place[0] == "webhooks" and key in SECRET_WEBHOOK_KEYS:
        return ", a secret: in EVENKEEL_WEBHOOKS"
    return ""


def _missing(name: str, field: FieldInfo | None, place: Sequence[str | int], given: Given) -> str:
    """A key that must be given; perhaps the name of the table is wrong, where the file has another."""
    choices = [str(each) for each in get_args(field.annotation)] if field else []
    example = EXAMPLES.get(name) or f"{name} = {' or '.join(repr(one) for one in choices)}"
    table, entry = str(place[0]), str(place[1]) if len(place) > 1 else ""
    known = given.content.get(table)
    others = known if isinstance(known, Mapping) and entry not in known else {}
    near = get_close_matches(entry, map(str, others), 1)
    meant = f", or write {table}.{near[0]}, which the file has" if near else ""
    return f"must be given: write {example.replace(chr(39), chr(34))}{meant}"


def _shape(name: str, place: Sequence[str | int], field: FieldInfo | None, given: Given) -> str:
    """Something else where a table or a list belongs."""
    top = given.settings.model_fields.get(name) if len(place) == 1 else None
    if top is not None and get_origin(top.annotation) is tuple:
        return f"write [[{name}]] with two brackets, once for each"
    if top is not None:
        return f"write [{name}.NAME], a table for each"
    if len(place) == 2 and isinstance(place[1], str):
        return f"write [{place[0]}.NAME], a table for each, and its keys below"
    inner = model_of(field.annotation) if field else None
    if inner is not None:
        return f"write a table, {name} = {{{keys_of(inner)[0]} = ...}}; its keys: {', '.join(keys_of(inner))}"
    if field is not None and holds(field.annotation, tuple):
        return 'write a list, like ["a", "b"]'
    return f"write a table, like {name} = {{name = value}}"


def _value(error: Mapping[str, Any], name: str) -> str:
    """A value that is none for its key."""
    kind, bound = error["type"], error.get("ctx", {})
    if kind == "string_type":
        return _text(error["input"], name)
    if kind.startswith(("float_", "int_")) or kind == "finite_number":
        return _number(kind, error["input"], name)
    if kind.startswith("bool_"):
        return "write true or false, without quotes"
    if kind in _BOUNDS:
        word, key = _BOUNDS[kind]
        share = ": it is a share, 0.5 for half" if bound[key] == 1 and word == "at most" else ""
        return f"must be {word} {bound[key]:g}{share}"
    if kind in ("too_short", "string_too_short"):
        return "must not be empty"
    if kind == "literal_error":
        return f"write {bound['expected']}"
    if kind == "string_pattern_mismatch" and bound["pattern"] == ADDRESS:
        return "write the whole address, like https://pages.example/evenkeel, without blanks, quotes or < > |"
    if kind == "string_pattern_mismatch":
        return "a name has small letters, digits, - and _, at most 40, and begins with a letter or digit"
    return str(error["msg"]).removeprefix("Value error, ")


_BOUNDS = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
}


def _text(value: Any, name: str) -> str:
    """Something else where text belongs."""
    is_several = isinstance(value, list | tuple)
    if is_several and name == "bootstrap":
        return 'write one text, several addresses with commas: "broker1:9092,broker2:9092"'
    if is_several and name in ("groups", "clusters"):
        return "write one pattern as text, and for another one another such table"
    if is_several or isinstance(value, Mapping):
        return f"write one text in quotes, no {'list' if is_several else 'table'}"
    return "write text in quotes"


def _number(kind: str, value: Any, name: str) -> str:
    whole = "whole " if kind.startswith("int_") else ""
    if name.endswith("_seconds") and isinstance(value, str):
        try:
            return f"write a number of seconds: {span(value).total_seconds():g}"
        except ValueError:
            return "write a number of seconds, like 900"
    return f"write a {whole}number, without quotes"
