"""Numbers, tables and JSON as people and machines get them."""

from __future__ import annotations

import io
import json
import math
import sys
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

from rich.console import Console

from evenkeel.engine.cli.views.tables import Table, plain, show, tell, to_json
from evenkeel.engine.model.formats import number

WIDE = Table(
    title="A title",
    headings=["Group", ">Lag\n(offsets)", "Why"],
    rows=[
        ["orders", number(1234567), "because " * 20],
        ["[red]x", number(None), "-"],
    ],
    apart=True,
)


def drawn(table: Table, width: int) -> str:
    """What a terminal of that width shows, without colours."""
    sink = io.StringIO()
    show([table], Console(file=sink, force_terminal=True, width=width, no_color=True))
    return sink.getvalue()


def test_numbers_line_up_on_the_right_with_thousands_separators():
    """Digits of one magnitude stand under each other, in plain text too."""
    lines = plain(Table(headings=["Name", ">Lag"], rows=[["a", number(5)], ["b", number(1234)]]))
    assert lines == ["Name    Lag", "a         5", "b     1,234"]


def test_plain_text_is_never_cut():
    """What goes into a file or a pipe is complete."""
    assert "because " * 19 + "because" in "\n".join(plain(WIDE))


def test_a_terminal_of_100_columns_is_enough():
    """Nothing is wider than the screen, and the long column becomes a table of its own."""
    text = drawn(WIDE, 100)
    assert "Why" in text
    assert text.count("orders") == 2
    assert all(len(line.rstrip()) <= 100 for line in text.splitlines() if "\x1b" not in line)


def test_what_stands_apart_keeps_its_first_columns_where_it_has_a_word():
    """A message is told with its group and its moment; rows without one are not told again."""
    rows = [["orders", "1:00", "a" * 60, ""], ["orders", "2:00", "b" * 60, "switch " * 5]]
    table = Table(headings=["Group", "At", "Why", "Message"], rows=rows, apart=True, beside=2)
    lines = [line.split() for line in drawn(table, 80).splitlines() if line.startswith("orders")]

    assert [line[1] for line in lines] == ["1:00", "2:00", "2:00"]
    assert drawn(replace(table, rows=rows[:1]), 60).count("Message") == 0


def test_a_wide_terminal_gets_one_table():
    """Where all columns fit they stay together; a name that looks like markup is shown as it is."""
    text = drawn(WIDE, 220)
    assert text.count("orders") == 1
    assert "[red]x" in text


def test_sentences_on_a_terminal_break_between_words_and_keep_their_indent(capsys, monkeypatch):
    """A class or a path stays in one piece; what hangs stands below its own beginning."""
    monkeypatch.setenv("COLUMNS", "24")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    tell(["  How: org.apache.kafka.StickyAssignor first", ""])
    tell(["OK  lake folder/of/the/lake is writable"])
    tell(["OK  lake  it is a folder of snapshots"], hanging=10)
    assert capsys.readouterr().out.splitlines() == [
        "  How:",
        "  org.apache.kafka.StickyAssignor",
        "  first",
        "",
        "OK  lake",
        "folder/of/the/lake is",
        "writable",
        "OK  lake  it is a folder",
        "          of snapshots",
    ]


def test_a_legend_explains_the_signs_that_stand_in_the_table(capsys):
    """Unknown and none are told apart, and only explained when used."""
    show([WIDE])
    assert capsys.readouterr().out.splitlines()[-1] == "? unknown   - none"
    show([Table(headings=["A"], rows=[["b"]])])
    assert capsys.readouterr().out.splitlines() == ["A", "b"]


def test_json_is_strict():
    """Moments are ISO text, not-a-number is null, never is Infinity as text, exact numbers stay numbers."""
    row = {
        "at": datetime(2026, 3, 1, tzinfo=UTC),
        "nan": math.nan,
        "never": [math.inf],
        "exact": Decimal(12),
        "nested": {"share": Decimal("0.5")},
    }
    assert json.loads(to_json(row), parse_constant=lambda _: 1 / 0) == {
        "at": "2026-03-01T00:00:00+00:00",
        "nan": None,
        "never": ["Infinity"],
        "exact": 12,
        "nested": {"share": 0.5},
    }
