"""
How a table fits a screen without cropping a number or a name.

Text wraps between words only. Where that is not enough, columns that are the same in every row are named once above
the table, and of the others the first ones stay, as many as fit; those left out are named below it. A table of few
rows becomes one block per row, which has room for all of its columns. A list has one line per row instead: its long
texts are cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

if TYPE_CHECKING:
    from .tables import Table

GAP = 2
"""Spaces between two columns."""

READABLE = (28, 16)
"""Columns of long text get this width; the second where the first is too much for the screen."""

FEW = 3
"""So many rows are still read as blocks."""

LEFT_OUT = "Not shown: "
"""Begins the line below a table that names the columns for which there was no room."""

MEANT = 3
"""A table has at least so many columns; with fewer left, its rows become blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Text of one style: `head`, `title`, `dim`, or `cell`, whose style depends on its text (a status has a color)."""

    text: str
    style: str = "cell"


Line = list[Span]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measure:
    """The width of a column with nothing wrapped, that of its longest word, and whether it may wrap at all."""

    natural: int
    longest: int
    wraps: bool

    def least(self, readable: int) -> int:
        return min(self.natural, max(self.longest, readable)) if self.wraps else self.longest


def lay_out(table: Table, width: int) -> list[Line]:
    """
    The lines of a table on a screen.

    Args:
        table: Any table.
        width: Columns of the screen. Only a word longer than that makes a longer line.
    """
    title = _sentence(table.title, width, "title") if table.title else []
    measures = [_measure(table, place) for place in range(len(table.headings))]
    every = range(len(table.headings))
    if (widths := _widths(measures, width)) is not None:
        return title + _drawn(table, every, widths)
    if len(table.rows) <= (1 if table.is_list else FEW):
        return title + _blocks(table, width)
    kept, same = _kept(table, measures, _same(table, measures, width), width)
    if len(kept) < min(MEANT, len(table.headings) - len(same)):
        return title + _blocks(table, width)
    widths = _widths([measures[p] for p in kept], width)
    assert widths is not None
    left_out = [plain_heading(table.headings[p]) for p in every if p not in {*kept, *same}]
    once = (f"{plain_heading(table.headings[p])} {table.rows[0][p]}" for p in same)
    note = f"{LEFT_OUT}{', '.join(left_out)} (--wide or --json shows all)"
    return [
        *title,
        *(_sentence(f"In every row: {'; '.join(once)}", width) if same else ()),
        *_drawn(table, kept, widths),
        *(_sentence(note, width) if left_out else ()),
    ]


def plain_heading(heading: str) -> str:
    """
    A heading on one line.

    >>> plain_heading(">Mem-\\nbers"), plain_heading(">Lag\\n(offsets)")
    ('Members', 'Lag (offsets)')
    """
    return heading.removeprefix(">").replace("-\n", "").replace("\n", " ")


def _same(table: Table, measures: Sequence[_Measure], width: int) -> list[int]:
    """Columns that are the same in every row, the widest first, as many as leave room for the rest."""
    every = range(len(table.headings))
    alike = [place for place in every if len({row[place] for row in table.rows}) == 1]
    taken: list[int] = []
    for place in sorted(alike, key=lambda place: -measures[place].natural):
        if _widths([measures[p] for p in every if p not in taken], width) is not None:
            break
        taken.append(place)
    return sorted(taken)


def _measure(table: Table, place: int) -> _Measure:
    heading = table.headings[place]
    cells = [row[place] for row in table.rows]
    head = max(cell_len(part) for part in _head(heading))
    natural = max([head, *map(cell_len, cells)])
    if heading.startswith(">"):
        return _Measure(natural=natural, longest=natural, wraps=False)
    if table.is_list:
        is_prose = all(" " in cell for cell in cells if cell_len(cell) > READABLE[0])
        wraps = natural > READABLE[0] and is_prose
        return _Measure(natural=natural, longest=READABLE[0] if wraps else natural, wraps=wraps)
    words = [cell_len(word) for cell in cells for word in cell.split(" ")]
    return _Measure(natural=natural, longest=max([head, *words]), wraps=True)


def _head(heading: str) -> list[str]:
    """
    The lines of a heading: broken at line breaks and behind underscores.

    >>> _head(">consumption_per_second"), _head(">Mem-\\nbers")
    (['consumption_', 'per_second'], ['Mem-', 'bers'])
    """
    lines: list[str] = []
    for piece in heading.removeprefix(">").split("\n"):
        parts = piece.replace("_", "_\n").split("\n")
        lines.append(parts[0])
        for part in parts[1:]:
            together = lines[-1] + part
            if cell_len(together) <= _HEAD:
                lines[-1] = together
            else:
                lines.append(part)
    return lines


_HEAD = 12
"""A heading of one word is broken only where it is longer."""


def _widths(measures: Sequence[_Measure], width: int) -> list[int] | None:
    """A width for each column, the room that is left shared among those that wrap; None where they do not fit."""
    for readable in READABLE:
        widths = [measure.least(readable) for measure in measures]
        spare = width - sum(widths) - GAP * (len(widths) - 1)
        if spare < 0:
            continue
        wanting = [p for p, m in enumerate(measures) if widths[p] < m.natural]
        wanting.sort(key=lambda p: measures[p].natural - widths[p])
        for place, column in enumerate(wanting):
            more = min(measures[column].natural - widths[column], spare // (len(wanting) - place))
            widths[column] += more
            spare -= more
        return widths
    return None


def _kept(
    table: Table, measures: Sequence[_Measure], same: Sequence[int], width: int
) -> tuple[list[int], list[int]]:
    """
    The columns that fit, and those named once: the first ones, and last those that the table can spare. In a list the
    first column without room ends them, unless it is a long text.
    """
    every = range(len(table.headings))
    names = {plain_heading(table.headings[place]): place for place in every}
    last = [names[name] for name in reversed([*map(plain_heading, table.spare)]) if name in names]
    kept: list[int] = []
    once: list[int] = []
    for place in (*(place for place in every if place not in last), *last):
        tried = [*kept, place]
        if place in same:
            once.append(place)
        elif sum(measures[p].least(READABLE[-1]) for p in tried) + GAP * len(kept) <= width:
            kept = tried
        elif table.is_list and not measures[place].wraps:
            break
    return sorted(kept), sorted(once)


def _drawn(table: Table, places: Sequence[int], widths: Sequence[int]) -> list[Line]:
    right = [table.headings[p].startswith(">") for p in places]
    heads = [_head(table.headings[p]) for p in places]
    lines = _row(heads, widths, right, ["head"] * len(heads))
    lines.append([Span(text="─" * (sum(widths) + GAP * (len(widths) - 1)), style="dim")])
    for row in table.rows:
        cells = [row[p] for p in places]
        fitted = _cut if table.is_list else wrap
        wrapped = [fitted(cell, w) for cell, w in zip(cells, widths, strict=True)]
        lines += _row(wrapped, widths, right, ["cell"] * len(cells))
    return lines


def _row(
    cells: Sequence[Sequence[str]],
    widths: Sequence[int],
    right: Sequence[bool],
    styles: Sequence[str],
) -> list[Line]:
    lines = []
    for depth in range(max(map(len, cells))):
        line: Line = []
        for cell, width, aligned, style in zip(cells, widths, right, styles, strict=True):
            part = cell[depth] if depth < len(cell) else ""
            space = " " * max(width - cell_len(part), 0)
            gap = [Span(text=" " * GAP)] if line else []
            padded = [Span(text=space), Span(text=part, style=style)]
            line += [*gap, *(padded if aligned else padded[::-1])]
        lines.append(line)
    return lines


def _blocks(table: Table, width: int) -> list[Line]:
    """
    Each row as lines of heading and value, an empty line between two rows.

    A value with a word for which there is no room beside the headings is below its heading.
    """
    names = [plain_heading(heading) for heading in table.headings]
    left = max(map(cell_len, names))
    lines: list[Line] = []
    for row in table.rows:
        lines += [[]] if lines else []
        for name, cell in zip(names, row, strict=True):
            room, longest = width - left - GAP, max(map(cell_len, cell.split(" ")))
            if longest <= room or longest > width:
                values = wrap(cell, max(room, 1))
                lines += _row([[name], values], [left, 0], [False, False], ["head", "cell"])
                continue
            indent = min(GAP, width - longest)
            lines += [[Span(text=name, style="head")]]
            below = wrap(cell, width - indent)
            lines += [[Span(text=" " * indent + line, style="cell")] for line in below]
    return lines


def _sentence(text: str, width: int, style: str = "dim") -> list[Line]:
    return [[Span(text=line, style=style)] for line in wrap(text, width)]


def _cut(text: str, width: int) -> list[str]:
    """
    >>> _cut("one two three", 9), _cut("one two", 9)
    (['one two …'], ['one two'])
    """
    return [text if cell_len(text) <= width else f"{set_cell_size(text, width - 1)}…"]


def wrap(text: str, width: int) -> list[str]:
    """
    Text in lines of that width, broken between words only: a longer word has a longer line of its own.

    >>> wrap("one group-with-a-name two", 9)
    ['one', 'group-with-a-name', 'two']
    """
    lines = [""]
    for word in text.split(" "):
        together = f"{lines[-1]} {word}" if lines[-1] else word
        if not lines[-1] or cell_len(together) <= width:
            lines[-1] = together
        else:
            lines.append(word)
    return lines
