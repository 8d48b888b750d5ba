"""Columns of views and named queries: those of tables, and their own as declared in the header of the SQL file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from evenkeel import sql

from ..model.columns import ColumnSpec, Meaning, Unit, Where, column, columns_of, record, unit_in

_KINDS: Mapping[str, tuple[Any, Any, int]] = {
    "text": (str, None, 64),
    "text[]": (tuple, str, 64),
    "boolean": (bool, None, 64),
    "integer": (int, None, 32),
    "bigint": (int, None, 64),
    "real": (float, None, 32),
    "double precision": (float, None, 64),
    "timestamptz": (datetime, None, 64),
    "jsonb": (Mapping, None, 64),
}
"""Type, item type and bits of a column by its SQL type."""


@record
class Taken:
    """Columns for the time of a row, which every view and query may have."""

    taken_at: datetime = column("Start of its snapshot.")
    age_seconds: float = column("Seconds since the start of its snapshot.")


@cache
def columns_of_query(name: str) -> Mapping[str, ColumnSpec]:
    """All columns that a named query can have, by name."""
    return _columns(sql.queries()[name].text)


@cache
def columns_of_view(name: str) -> Mapping[str, ColumnSpec]:
    """All columns that a view can have, by name."""
    return _columns(sql.views()[name])


def _columns(text: str) -> Mapping[str, ColumnSpec]:
    from . import TABLES

    stated = sql.columns(text)
    known: dict[str, ColumnSpec] = {}
    for source in reversed(stated.sources):
        if source in TABLES:
            known |= {spec.name: spec for spec in columns_of(TABLES[source])}
        else:
            known |= columns_of_view(source)
    taken = {spec.name: spec for spec in columns_of(Taken)}
    return known | taken | {each.name: _spec(each) for each in stated.own}


def _spec(own: sql.OwnColumn) -> ColumnSpec:
    kind, item, bits = _KINDS[own.type]
    unit = Unit(own.unit) if own.unit else unit_in(own.name)
    meaning = Meaning(
        comment=own.meaning,
        unit=unit,
        none=own.none and not own.where,
        none_where=tuple(Where(other, None) for other in own.where),
    )
    return ColumnSpec(
        name=own.name, kind=kind, item=item, bits=bits, nullable=True, meaning=meaning
    )
