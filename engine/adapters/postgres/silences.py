"""Of which groups less is said for a while: port `Silences`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, text, update
from sqlalchemy.dialects.postgresql import insert

from ...records import SilenceRow, record_of, row_of
from ...records.tables import SILENCE
from .database import Database


class SilenceTables(Database):
    """The port `Silences`. A pattern is stored as a regular expression, too, which SQL can read."""

    def silences(self, now: datetime) -> list[SilenceRow]:
        return [record_of(SilenceRow, row) for row in self._execute("silences", now=now)]

    def add_silence(self, silence: SilenceRow) -> int:
        given = row_of(silence)
        names = ("kind", "cluster", "groups", "starts_at", "ends_at", "reason", "who")
        values = {name: given[name] for name in names} | {
            "cluster_regex": as_regex(silence.cluster),
            "groups_regex": as_regex(silence.groups),
        }
        new = insert(SILENCE)
        clause = new.on_conflict_do_update(
            index_elements=("cluster", "groups", "starts_at"),
            index_where=text("kind = 'maintenance' AND ended_at IS NULL"),
            set_={
                "ends_at": new.excluded.ends_at,
                "reason": new.excluded.reason,
                "end_notified_at": None,
            },
        )
        (row,) = self._write(clause.returning(SILENCE.c.silence_id), values)
        number: int = row["silence_id"]
        return number

    def end_silence(self, silence_id: int, now: datetime) -> SilenceRow | None:
        until = func.coalesce(func.least(SILENCE.c.ends_at, SILENCE.c.ended_at), text("'infinity'"))
        held = update(SILENCE).where(SILENCE.c.silence_id == silence_id, until > now)
        rows = self._write(held.values(ended_at=now).returning(SILENCE))
        return record_of(SilenceRow, rows[0]) if rows else None

    def note_silence(
        self, silence_id: int, channels: Sequence[str], end_notified_at: datetime | None
    ) -> None:
        one = update(SILENCE).where(SILENCE.c.silence_id == silence_id)
        self._write(one, {"channels": list(channels), "end_notified_at": end_notified_at})

    def newest_groups(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for row in self._execute("newest_groups"):
            groups.setdefault(row["cluster"], []).append(row["group_id"])
        return groups


def as_regex(pattern: str) -> str:
    r"""
    A regular expression that matches in Postgres (`~`) what `fnmatch.fnmatchcase` matches here.

    >>> as_regex("orders-*"), as_regex("a?[!b-d]"), as_regex("[")
    ('^orders\\u002d.*$', '^a.[^b-d]$', '^\\u005b$')
    """
    parts, place = [], 0
    while place < len(pattern):
        sign, place = pattern[place], place + 1
        end = _class_end(pattern, place) if sign == "[" else None
        if end is not None:
            parts.append(_class(pattern[place:end]))
            place = end + 1
        else:
            parts.append({"*": ".*", "?": "."}.get(sign) or _literal(sign))
    return f"^{''.join(parts)}$"


def _class_end(pattern: str, start: int) -> int | None:
    """Where a class ends whose first sign is at *start*; a bracket that begins it is one of its signs."""
    first = start + pattern.startswith("!", start)
    end = pattern.find("]", first + 1)
    return None if end < 0 else end


def _class(signs: str) -> str:
    """What stands in brackets, as a class: a range whose end is before its beginning holds nothing."""
    inverted, signs = signs.startswith("!"), signs.removeprefix("!")
    ranges = []
    while signs:
        wide = re.match(r"(.)-(.)", signs, re.DOTALL)
        if wide is None:
            ranges.append(_literal(signs[0]))
            signs = signs[1:]
        else:
            signs = signs[3:]
            if wide[1] <= wide[2]:
                ranges.append(f"{_literal(wide[1])}-{_literal(wide[2])}")
    if not ranges:
        return "." if inverted else "(?!)"
    return f"[{'^' if inverted else ''}{''.join(ranges)}]"


def _literal(sign: str) -> str:
    """A sign that means itself, also in a class."""
    if sign.isalnum() and sign.isascii():
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) <= 0xFFFF else f"\\U{ord(sign):08x}"
