"""A table on a screen: whole numbers and whole names, or a word about what was left out."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from evenkeel.engine.cli.views.layout import lay_out, plain_heading
from evenkeel.engine.cli.views.tables import Table

NAME = st.text("abc-_0 é界", min_size=1, max_size=24).map(str.strip).filter(bool)
WORDS = NAME | st.just("because it pays " * 5)
NUMBER = st.integers(0, 10**12).map("{:,}".format)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Up to nine columns of names, prose and numbers, with headings as queries have them."""
    columns = draw(st.lists(st.booleans(), min_size=1, max_size=9))
    rows = draw(st.integers(1, 7))
    cells = [
        draw(st.lists(NUMBER if numeric else WORDS, min_size=rows, max_size=rows))
        for numeric in columns
    ]
    headings = [f"{'>' * numeric}heading_{place}_of_it" for place, numeric in enumerate(columns)]
    return Table(
        headings=headings,
        rows=list(zip(*cells, strict=True)),
        title=draw(st.none() | st.just("A title")),
        spare=headings[:1],
    )


def shown(table: Table, width: int) -> list[str]:
    """The lines of the screen without styles."""
    return ["".join(span.text for span in line) for line in lay_out(table, width)]


@given(tables(), st.sampled_from([40, 80, 120, 160]))
def test_every_word_and_number_of_a_shown_column_is_whole_and_the_others_are_named(table, width):
    """A column is there with all its words, or said once for all rows, or named as left out."""
    lines = shown(table, width)
    words = {word for line in lines for word in line.replace(";", " ").split()}
    note = " ".join(lines).partition("Left out on this narrow screen: ")[2]
    left_out = note.partition(" (")[0].replace(" ", "").split(",")
    for place, heading in enumerate(table.headings):
        if plain_heading(heading) in left_out:
            continue
        assert {word for row in table.rows for word in row[place].split()} <= words


LONG_WORD = Table(
    headings=["heading_0_of_it", "heading_1_of_it"],
    rows=[("because it pays " * 5, "0" * 24)],
    spare=["heading_0_of_it"],
)
"""The second value fits the narrowest screen, though not beside its heading."""


@given(tables(), st.sampled_from([40, 80, 120, 160]))
@example(LONG_WORD, 40)
def test_no_line_is_longer_than_the_screen(table, width):
    """All words of these tables are shorter than the narrowest screen."""
    assert all(cell_len(line.rstrip()) <= width for line in shown(table, width))


WIDE = Table(
    headings=["cluster", "group_id", ">lag", "verdict", ">moves_of_it", "member", "reason"],
    rows=[
        ["prod", f"group-{n}", f"{10**n:,}", "stay", "7", f"member-{n}", f"{n} reasons " * 9]
        for n in range(9)
    ],
    spare=["reason", "member"],
)


def test_what_is_the_same_in_every_row_is_said_once():
    """So that there is room for what differs."""
    lines = shown(WIDE, 60)
    assert lines[0] == "In every row: cluster prod; moves_of_it 7"
    assert lines[1].split() == ["group_id", "lag", "verdict", "member", "reason"]


@pytest.mark.parametrize(
    ("width", "left"), [(60, []), (45, ["reason"]), (34, ["reason"]), (30, [])]
)
def test_the_columns_a_table_can_spare_go_first(width, left):
    """What is left out is named; where too little would be left, rows become blocks and nothing is."""
    lines = shown(WIDE, width)
    note = " ".join(lines).partition("Left out on this narrow screen: ")[2]
    assert [name for name in left if name not in note] == []
    assert bool(left) == bool(note)


def test_a_few_rows_become_blocks():
    """One row of many columns has a line for each."""
    lines = shown(Table(headings=WIDE.headings, rows=WIDE.rows[8:]), 60)
    assert lines[:4] == [
        "cluster      prod",
        "group_id     group-8",
        "lag          100,000,000",
        "verdict      stay",
    ]


@pytest.mark.parametrize("width", [80, 200])
def test_a_long_heading_breaks_behind_an_underscore(width):
    """A number of five digits needs no column of 23."""
    lines = shown(Table(headings=[">consumption_per_second", "a"], rows=[["12,345", "b"]]), width)
    assert [line.split() for line in lines[:2]] == [["consumption_", "a"], ["per_second"]]
