"""The dashboard of `sql/grafana`, and its SQL with macros and variables replaced as Grafana does it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "sql" / "grafana" / "evenkeel.json"

_TIME_FILTER = re.compile(r"\$__timeFilter\((\w+)\)")
_VARIABLE = re.compile(r"\$(?!__)(\w+)")


def dashboard() -> dict[str, Any]:
    """The dashboard."""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def panels() -> Iterator[dict[str, Any]]:
    """Its panels that show something: rows only have a title."""
    yield from (panel for panel in dashboard()["panels"] if panel["type"] != "row")


def variables() -> dict[str, dict[str, Any]]:
    """Its variables, by name."""
    return {each["name"]: each for each in dashboard()["templating"]["list"]}


def filled_in(
    query: str, since: datetime, until: datetime, values: Mapping[str, str | Sequence[str]]
) -> str:
    """
    A query as the database gets it.

    A variable with several values becomes a list of literals, one with a single value its text.
    """
    span = f"BETWEEN '{since:%Y-%m-%dT%H:%M:%SZ}' AND '{until:%Y-%m-%dT%H:%M:%SZ}'"

    def value(match: re.Match[str]) -> str:
        chosen = values[match[1]]
        if isinstance(chosen, str):
            return chosen.replace("'", "''")
        return ",".join("'" + one.replace("'", "''") + "'" for one in chosen)

    return _VARIABLE.sub(value, _TIME_FILTER.sub(lambda match: f"{match[1]} {span}", query))
