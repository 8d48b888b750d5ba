"""
The columns of the views, with a row of each: `python -m tests.helpers.view_samples` notes what is new.

People build on the views, so a column keeps its name, its type and its place, and new ones come at the end. What was
noted is in `tests/data/views.json`, from which `made_tables` writes `docs/reference/views.md`; a test compares the
database with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg

from evenkeel import sql
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.records import columns_of_view
from tests.helpers import cookbook_history
from tests.helpers.history_rows import checks, validation

FILE = Path(__file__).parents[1] / "data" / "views.json"

INTERNAL = (
    *("candidate_day_open", "candidate_hour_fresh", "candidate_hour_open"),
    *("group_day_open", "group_hour_open", "newest_snapshot"),
)
"""Views that other views read: nothing for people."""

LONGEST = 70
"""Characters of a value that are shown."""

VOLATILE = (
    *(
        "age_seconds",
        "snapshot_id",
        "advice_id",
        "config_version",
        "created_at",
        "written_at",
        "validated_at",
    ),
    *(
        "measured_at",
        "proposed_at",
        "advised_at",
        "seconds_to_advice",
        "seconds_since_previous",
        "adopted_at",
    ),
    *("duration_seconds", "superseded_by"),
    *("notified_at", "incident_notified_at", "seconds_to_notified", "sent_at"),
)
"""Columns whose values are others each time."""

_COLUMNS = """
    SELECT attname, format_type(atttypid, atttypmod)
    FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"""


def doubt(url: str) -> None:
    """To the cookbook's history, add an expectation that did not hold."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT max(snapshot_id) FROM snapshot").fetchone()
    assert row is not None
    found = checks(validation("billing", success=False))
    PostgresHistory(url).store_validation(row[0], "candidates", found)


Columns = list[tuple[str, str]]


def public() -> list[str]:
    """The views that people build on."""
    return sorted(name for name in sql.views() if name not in INTERNAL)


def columns(url: str, view: str) -> Columns:
    """Name and type of its columns, in order."""
    with psycopg.connect(url) as connection:
        return connection.execute(_COLUMNS.encode(), [view]).fetchall()


def sample(url: str, view: str) -> dict[str, Any]:
    """The row that says most; none where there is no row."""
    with psycopg.connect(url) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        rows = connection.execute(f"SELECT to_jsonb(v) FROM {view} AS v".encode()).fetchall()
    return max((row for (row,) in rows), key=_says, default={})


def _says(row: Mapping[str, Any]) -> tuple[int, str]:
    told = {name: value for name, value in row.items() if name not in VOLATILE}
    return len([v for v in told.values() if v not in (None, [], {})]), json.dumps(told)


def noted() -> dict[str, list[dict[str, Any]]]:
    """What is in the file: of each view its columns with a value each."""
    kept: dict[str, list[dict[str, Any]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return kept


def page(view: str) -> str:
    """What a view shows, column by column, in Markdown."""
    meaning = {name: spec.meaning.comment for name, spec in columns_of_view(view).items()}
    lines = ["| column | type | example | meaning |", "| --- | --- | --- | --- |"]
    for each in noted()[view]:
        cells = (f"`{each['name']}`", each["type"], _shown(each["value"]), meaning[each["name"]])
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) <= LONGEST else f"`{text[:LONGEST].rstrip()} ...`"


def note(url: str) -> None:
    """
    Note the columns that are new, and a row of each view.

    Raises:
        SystemExit: A column that was noted is gone, or another, or elsewhere.
    """
    kept: Mapping[str, Sequence[Mapping[str, Any]]] = noted() if FILE.exists() else {}
    made = {}
    for view in public():
        there, row = columns(url, view), sample(url, view)
        before = [(each["name"], each["type"]) for each in kept.get(view, ())]
        if there[: len(before)] != before:
            raise SystemExit(
                f"{view}: a column that people may use has changed; new ones come at the end."
            )
        made[view] = [{"name": name, "type": kind, "value": row.get(name)} for name, kind in there]
    FILE.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    """Make the cookbook's history anew, note its views, and write the page."""
    from tests.helpers import made_tables
    from tests.stage.postgres import throw_away_history

    with throw_away_history() as url:
        cookbook_history.write_with_backfill(url)
        doubt(url)
        note(url)
    made_tables.main()


if __name__ == "__main__":
    main()
