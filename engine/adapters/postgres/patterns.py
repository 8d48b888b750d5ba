"""Shell patterns as regular expressions of Postgres, so that both find the same."""

from __future__ import annotations

import re


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
