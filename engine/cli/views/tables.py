"""
Numbers and tables for people, objects for machines.

Unknown is `?`, not applicable is `-`, never 0; a legend follows where either is used. A terminal gets what fits it
(`layout`); a pipe gets plain text of at most `WIDTH` columns, without colors. `--wide` shows everything in full length.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ...model.formats import NOTHING, UNKNOWN
from ...model.text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from .layout import Line

WIDTH = 120
"""No line of a table is longer, unless it is asked for."""

INDENT = 12
"""Where the text behind a label begins."""

LEGEND = {UNKNOWN: "unknown", NOTHING: "not applicable"}
_STYLES = {
    "OK": "green",
    "WARN": "yellow",
    "STALL": "red",
    "STOP": "red",
    "REWIND": "red",
    "FAIL": "red",
    "switch": "bold",
}
_LOOKS = {"title": "bold", "head": "bold", "dim": "dim"}


def text(value: str | None, absent: str = NOTHING) -> str:
    """
    A name; *absent* replaces None and empty text.

    >>> text("orders"), text(None), text("", "?")
    ('orders', '-', '?')
    """
    return printable(value) if value else absent


@dataclass(frozen=True, kw_only=True)
class Table:
    """
    Rows of finished cells.

    Attributes:
        headings: One per column, with its unit; those that start with `>` are numbers, aligned to the right. A terminal
            breaks them where they have a line break, a hyphen before it is not part of the word.
        rows: As many cells each.
        title: A line above it.
        apart: Whether the last column may become a table of its own where the screen is too narrow for both.
        beside: How many of the first columns are repeated beside it.
        spare: Headings of columns that a screen too narrow for all does without first, in this order.
        is_list: Whether each of several rows has one line, and long texts are cut.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str | None = None
    apart: bool = False
    beside: int = 1
    spare: Sequence[str] = ()
    is_list: bool = False

    def __post_init__(self) -> None:
        """Cells and titles hold names of strangers."""
        if not all(cell.isprintable() for row in self.rows for cell in row):
            rows = [tuple(map(printable, row)) for row in self.rows]
            object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "title", self.title and printable(self.title))

    def split(self) -> list[Table]:
        """The table without its last column, and that column beside the first ones, where it has a word."""
        first = Table(
            headings=self.headings[:-1],
            rows=[r[:-1] for r in self.rows],
            title=self.title,
            spare=self.spare,
        )
        said = [(*row[: self.beside], row[-1]) for row in self.rows if row[-1]]
        headings = (*self.headings[: self.beside], self.headings[-1])
        return [first, Table(headings=headings, rows=said)]


def screen_width() -> int:
    """As many columns as may be used: those of a terminal, never more than `WIDTH`."""
    if not sys.stdout.isatty():
        return WIDTH
    from rich.console import Console

    return min(Console().width, WIDTH)


def show(
    tables: Sequence[Table],
    console: Console | None = None,
    *,
    wide: bool = False,
    legend: bool = True,
) -> None:
    """
    Print tables, and a legend for the signs in them.

    Args:
        tables: In order, an empty line between them.
        console: Where to draw; without it the terminal if standard output is one, else plain text.
        wide: Whether lines may be as long as they get.
        legend: Whether the signs are explained here.
    """
    from rich.console import Console

    signs = legend_of(tables) if legend else ""
    if wide or (console is None and not sys.stdout.isatty()):
        lines = [line for table in tables for line in ["", *_within(table, wide=wide)]]
        print("\n".join([*lines[1:], *(["", signs] if signs else [])]))
        return
    screen = console or Console(highlight=False)
    for position, table in enumerate(tables):
        if position:
            screen.print()
        _draw(table, screen)
    if signs:
        screen.print(f"\n{signs}", style="dim", markup=False)


def tell(lines: Sequence[str], hanging: int = 0, *, width: int | None = None) -> None:
    """
    Print sentences, wrapped between words, their indent kept.

    Args:
        lines: One sentence or paragraph each.
        hanging: By how much more each line but the first is indented.
        width: Columns to wrap them to; None: those of a terminal, and no limit elsewhere.
    """
    lines = list(map(printable, lines))
    if width is None and not sys.stdout.isatty():
        print("\n".join(lines))
        return
    from rich.console import Console

    from .layout import wrap

    width = width or Console().width
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        head, body = line[len(indent) :][:hanging], line[len(indent) + hanging :]
        further = indent + " " * hanging
        print(indent + head + f"\n{further}".join(wrap(body, width - len(further))))


def tell_labelled(lines: Iterable[tuple[str, str | None]], width: int) -> None:
    """Print texts, each behind its label, the command of `Next` unbroken; nothing where one is None."""
    for label, told in lines:
        if told:
            line = f"  {label:<{INDENT - 2}}{text(told)}"
            hanging = INDENT - 2 if label else 0
            tell([line], hanging, width=len(line) if label == "Next" else width)


def tell_answer(
    headline: str,
    lines: Iterable[tuple[str, str | None]],
    tables: Sequence[Table] = (),
    *,
    wide: bool = False,
) -> None:
    """Print an answer: its headline, labelled lines, and the tables that show more."""
    width = screen_width()
    tell([headline], width=width)
    print()
    tell_labelled(lines, width)
    if tables:
        print()
        show(tables, wide=wide, legend=False)


def tell_list(heading: str, lines: Iterable[str], width: int) -> None:
    """Print a paragraph per line below a heading, after an empty line; nothing without lines."""
    if shown := [f"  {text(line)}" for line in lines]:
        print(f"\n{heading}")
        tell(shown, 2, width=width)


def tell_legend(tables: Iterable[Table], *more: str, width: int) -> None:
    """Print what the signs in tables mean and what else helps to read them, after an empty line."""
    if told := "; ".join(filter(None, [legend_of(tables), *more])):
        tell(["", f"({told})"], width=width)


def plain(table: Table) -> list[str]:
    """The lines of a table: columns two spaces apart, nothing cut."""
    from rich.cells import cell_len

    from .layout import plain_heading

    headings = [plain_heading(h) for h in table.headings]
    lines = [headings, *table.rows]
    widths = [max(cell_len(row[i]) for row in lines) for i in range(len(headings))]

    def line(cells: Sequence[str]) -> str:
        padded = []
        for heading, cell, width in zip(table.headings, cells, widths, strict=True):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if heading.startswith(">") else cell + space)
        return "  ".join(padded).rstrip()

    return [*([table.title] if table.title else []), *(line(row) for row in lines)]


def _within(table: Table, *, wide: bool) -> list[str]:
    """The lines of a table as plain text, laid out where they would be longer than allowed."""
    from rich.cells import cell_len

    from .layout import lay_out, wrap

    lines = plain(replace(table, title=None))
    if wide or max(map(cell_len, lines)) <= WIDTH:
        return [*(wrap(table.title, WIDTH) if table.title else []), *lines]
    if parts := _parted(table, WIDTH):
        return [line for part in parts for line in ["", *_within(part, wide=wide)]][1:]
    drawn = ("".join(span.text for span in line).rstrip() for line in lay_out(table, WIDTH))
    return [line for line in drawn if not line.startswith("──")]


def _parted(table: Table, width: int) -> list[Table]:
    """The two tables of one that is too wide and may be split; else nothing."""
    if not table.apart or max(map(len, plain(table))) <= width:
        return []
    return [part for part in table.split() if part.rows]


def _draw(table: Table, screen: Console) -> None:
    from .layout import lay_out

    for place, part in enumerate(parts := _parted(table, screen.width)):
        if place:
            screen.print()
        _draw(part, screen)
    if parts:
        return
    for line in lay_out(table, screen.width):
        screen.print(colored(line), no_wrap=True, overflow="ignore", crop=False)


def colored(line: Line) -> Text:
    """A line of a table as a terminal shows it."""
    from rich.text import Text

    styled = ((s.text, _LOOKS.get(s.style) or _STYLES.get(s.text, "")) for s in line)
    drawn = Text.assemble(*styled)
    drawn.rstrip()
    return drawn


def legend_of(tables: Iterable[Table]) -> str:
    """What the signs in tables mean, on one line; nothing where none is used."""
    used = {cell for table in tables for row in table.rows for cell in row}
    return ", ".join(f"{sign} {meaning}" for sign, meaning in LEGEND.items() if sign in used)


def emit(rows: Iterable[Mapping[str, Any]]) -> None:
    """Print one JSON object per line."""
    for row in rows:
        print(to_json(row))


def emit_csv(rows: Iterable[Mapping[str, Any]], *, raw: bool = False) -> None:
    r"""
    Print rows of the same keys as comma-separated values, the keys above them.

    Values are as in JSON, but text unquoted, null as nothing, and lists and objects as JSON. Unless *raw*, text is
    printable and no formula for a spreadsheet.

    >>> emit_csv([{"group": 'a,b', "lag": None, "findings": ["late"]}])
    group,lag,findings
    "a,b",,"[""late""]"
    """
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for place, row in enumerate(rows):
        if not place:
            writer.writerow(row)
        given = (v if raw or not isinstance(v, str) else _no_formula(v) for v in row.values())
        values = map(_plain, given)
        writer.writerow([json.dumps(v) if isinstance(v, bool | list | dict) else v for v in values])


def _no_formula(value: str) -> str:
    """
    >>> _no_formula("=1+1"), _no_formula("orders")
    ("'=1+1", 'orders')
    """
    # before a tab and a carriage return are shown by their escapes
    is_formula = value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{printable(value)}" if is_formula else printable(value)


def to_json(row: Mapping[str, Any]) -> str:
    """
    An object on one line: moments as ISO text, unknown as null, "never" as the text Infinity.

    JSON has no infinity; Postgres writes it the same way.

    >>> to_json({"lag": None, "drain_seconds": math.inf})
    '{"lag": null, "drain_seconds": "Infinity"}'
    """
    return json.dumps(_plain(row), allow_nan=False)


def _plain(value: Any) -> Any:
    """The value in what JSON knows."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
