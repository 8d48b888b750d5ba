"""Where in a TOML file a key stands: what the parser does not tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

Place: TypeAlias = tuple[str | int, ...]
"""A key with those of the tables around it, and the number of each block of a list, from 0."""

_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*(?:\.|$)""")
_HEAD = re.compile(r"""\s*(\[\[?)((?:[^\]"'#]|"[^"]*"|'[^']*')+)\]""")
_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w.-])(?:[^="'#\[\]{}]|"[^"]*"|'[^']*')*)=""")


def line_of(text: str, place: Sequence[str | int]) -> int | None:
    """
    The line of a key, from 1; that of the nearest table around it where it does not stand on a line of its own.

    >>> line_of("[[rules]]\\nowner = 'a'\\n[[rules]]\\npolicy = {near = 1}", ("rules", 1, "policy", "near"))
    4

    Returns:
        None where neither is found.
    """
    lines: dict[Place, int] = {}
    for number, one in enumerate(_places(text), 1):
        for end in range(1, len(one or ()) + 1):
            lines.setdefault((one or ())[:end], number)
    whole = tuple(place)
    ends = range(len(whole), 0, -1)
    return next((lines[whole[:end]] for end in ends if whole[:end] in lines), None)


def _places(text: str) -> Iterator[Place | None]:
    """What each line begins: a table or a key. Lines of a text or list that spans several may be taken for keys."""
    around: Place = ()
    counted: dict[Place, int] = {}
    for line in text.splitlines():
        if head := _HEAD.match(line):
            around = _within(_parts(head[2]), counted)
            if head[1] == "[[":
                counted[around] = counted.get(around, -1) + 1
                around = (*around, counted[around])
            yield around
        elif key := _KEY.match(line):
            yield (*around, *_parts(key[1]))
        else:
            yield None


def _within(names: Sequence[str], counted: dict[Place, int]) -> Place:
    """A table's place: within the newest block of each list that it is part of."""
    place: Place = ()
    for number, name in enumerate(names, 1):
        place = (*place, name)
        if number < len(names) and place in counted:
            place = (*place, counted[place])
    return place


def _parts(key: str) -> list[str]:
    return [next(filter(None, found), "") for found in _PART.findall(key)]
