"""Numbers, tables and JSON as people and machines get them: heads and cells as declared, whole on a screen."""

from __future__ import annotations

import io
import json
import math
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from evenkeel.engine.cli.views.columns import cell, head, pick, table
from evenkeel.engine.cli.views.layout import LEFT_OUT, lay_out, plain_heading
from evenkeel.engine.cli.views.tables import Table, plain, show, tell, to_json
from evenkeel.engine.model.columns import Unit, Where, column, columns_of, missing_where
from evenkeel.engine.model.columns import record as record_class
from evenkeel.engine.model.formats import number
from evenkeel.engine.records import CandidateRow, GroupMetrics, MemberMetrics, PartitionMetrics

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
    """What a terminal of that width shows, without colors."""
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
    assert capsys.readouterr().out.splitlines()[-1] == "? unknown, - not applicable"
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


def on_screen(table: Table, width: int) -> list[str]:
    """The lines of the screen without styles."""
    return ["".join(span.text for span in line) for line in lay_out(table, width)]


@given(tables(), st.sampled_from([40, 80, 120, 160]))
def test_every_word_and_number_of_a_shown_column_is_whole_and_the_others_are_named(table, width):
    """A column is there with all its words, or said once for all rows, or named as left out."""
    lines = on_screen(table, width)
    words = {word for line in lines for word in line.replace(";", " ").split()}
    note = " ".join(lines).partition(LEFT_OUT)[2]
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
    assert all(cell_len(line.rstrip()) <= width for line in on_screen(table, width))


NINE = Table(
    headings=["cluster", "group_id", ">lag", "verdict", ">moves_of_it", "member", "reason"],
    rows=[
        ["prod", f"group-{n}", f"{10**n:,}", "stay", "7", f"member-{n}", f"{n} reasons " * 9]
        for n in range(9)
    ],
    spare=["reason", "member"],
)


def test_what_is_the_same_in_every_row_is_said_once():
    """So that there is room for what differs."""
    lines = on_screen(NINE, 60)
    assert lines[0] == "In every row: cluster prod; moves_of_it 7"
    assert lines[1].split() == ["group_id", "lag", "verdict", "member", "reason"]


@pytest.mark.parametrize(
    ("width", "left"), [(60, []), (45, ["reason"]), (34, ["reason"]), (30, [])]
)
def test_the_columns_a_table_can_spare_go_first(width, left):
    """What is left out is named; where too little would be left, rows become blocks and nothing is."""
    lines = on_screen(NINE, width)
    note = " ".join(lines).partition(LEFT_OUT)[2]
    assert [name for name in left if name not in note] == []
    assert bool(left) == bool(note)


def test_a_few_rows_become_blocks():
    """One row of many columns has a line for each."""
    lines = on_screen(Table(headings=NINE.headings, rows=NINE.rows[8:]), 60)
    assert lines[:4] == [
        "cluster      prod",
        "group_id     group-8",
        "lag          100,000,000",
        "verdict      stay",
    ]


@pytest.mark.parametrize(
    ("width", "longest", "shown"),
    [
        (120, 50, ["cluster", "group_id", "lag", "why", "member", "moves"]),
        (80, 50, ["group_id", "lag", "why"]),
        (40, 16, ["group_id", "lag", "member", "moves"]),
    ],
)
def test_a_list_has_one_line_per_row_and_keeps_its_first_columns(width, longest, shown):
    """A long text is cut, or left out for what follows it; behind another column without room there is none."""
    headings = ["cluster", "group_id", ">lag", "why", "member", ">moves"]
    rows = [
        ["prod", f"g{n}", f"{n}", f"{n} reasons " * 9, f"{n}" * longest, f"{n}"] for n in range(3)
    ]
    lines = on_screen(Table(headings=headings, rows=rows, is_list=True), width)
    head = next(line for line in lines if "lag" in line.split())
    assert head.split() == shown
    assert sum(" 0 " in f"{line} " for line in lines) == 1
    assert all(cell_len(line.rstrip()) <= width for line in lines)


@pytest.mark.parametrize("width", [80, 200])
def test_a_long_heading_breaks_behind_an_underscore(width):
    """A number of five digits needs no column of 23."""
    lines = on_screen(
        Table(headings=[">consumption_per_second", "a"], rows=[["12,345", "b"]]), width
    )
    assert [line.split() for line in lines[:2]] == [["consumption_", "a"], ["per_second"]]


@record_class
class Inner:
    """A record inside another."""

    most: int = column("Most.", unit=Unit.PARTITIONS)
    least: int | None = column("Least.", unit=Unit.PARTITIONS)


@record_class
class Sample:
    """One column of each kind."""

    cross_rack_bytes_per_second: float | None = column("Bytes.", unit=Unit.BYTES_PER_SECOND)
    production_per_second: float | None = column("Rate.", unit=Unit.OFFSETS_PER_SECOND)
    seconds_to_advice: float | None = column("Time.", unit=Unit.SECONDS)
    cost_per_month: float | None = column("Cost.", unit=Unit.MONEY_PER_MONTH)
    failed_steps: int | None = column("Steps.", unit=Unit.STEPS)
    seen: int | None = column("How often.", unit=Unit.SNAPSHOTS)
    partition: int = column("A name.", head="Part.")
    is_live: bool | None = column("Whether.")
    opened_at: datetime | None = column("When.")
    who: tuple[str, ...] | None = column("Who.", none_where=(Where("seen", 0),))
    owner: str | None = column("Id of a member.", names_member=True, none=True)
    inner: Inner | None = missing_where("most", default=None)


SPECS = {spec.name: spec for spec in columns_of(Sample)}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("cross_rack_bytes_per_second", ">Cross-rack\nbytes"),
        ("production_per_second", ">Production\n(offsets/s)"),
        ("seconds_to_advice", ">To advice"),
        ("cost_per_month", ">Cost\n(per 30 days)"),
        ("failed_steps", ">Failed steps"),
        ("seen", ">Seen\n(snapshots)"),
        ("partition", ">Part."),
        ("is_live", "Live"),
        ("opened_at", "Opened"),
    ],
)
def test_a_head_is_the_name_in_words_with_its_unit(name, told):
    """The unit once, and not where the cell or a word of the name says it; a short head stands as declared."""
    assert head(SPECS[name]) == told


def test_money_of_one_currency_says_which():
    """Where rows may differ the currency is a column of its own."""
    assert head(SPECS["cost_per_month"], "EUR") == ">EUR\na month"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("cross_rack_bytes_per_second", 1_234_000.0, "1.2 MB/s"),
        ("production_per_second", 1234.5, "1,234.50"),
        ("seconds_to_advice", 95.0, "1 min 35 s"),
        ("cost_per_month", 1234.5, "1,234.50"),
        ("failed_steps", 1234, "1,234"),
        ("partition", 1234, "1234"),
        ("is_live", False, "no"),
        ("opened_at", datetime(2026, 3, 1, 2, tzinfo=timezone(timedelta(hours=2))), "2026-03-01 00:00:00"),
        ("who", ["a", "b"], "a; b"),
        ("who", [], "-"),
        ("owner", "x-1", "x-1"),
    ],
)  # fmt: skip
def test_a_cell_says_its_value_as_its_unit_is_said(name, value, told):
    """Counts with separators, a partition's number as the name that it is, moments in UTC."""
    assert cell(SPECS[name], value) == told


@pytest.mark.parametrize(
    ("name", "row", "told"),
    [
        ("failed_steps", {}, "?"),
        ("owner", {}, "-"),
        ("opened_at", {}, "-"),
        ("partition", {}, "-"),
        ("who", {}, "?"),
        ("who", {"seen": None}, "?"),
        ("who", {"seen": 3}, "?"),
        ("who", {"seen": 0}, "-"),
        ("least", {"most": 3}, "?"),
        ("least", {"most": None}, "-"),
        ("least", {}, "?"),
    ],
)
def test_null_is_unknown_unless_its_declaration_says_none(name, row, told):
    """By itself, beside another value, or with the record that it is embedded with; a moment has not been."""
    assert cell(SPECS[name], None, row) == told


def test_no_cell_is_empty():
    """What must not be null and is empty text is not known: the state of a group that could not be read."""
    state, error = pick(GroupMetrics, "state", "error")
    assert (cell(state, ""), cell(error, "")) == ("?", "-")


def test_a_member_is_called_by_its_short_name():
    """Where a row names it beside what the row is about."""
    owner, own = *pick(PartitionMetrics, "member_id"), *pick(MemberMetrics, "member_id")
    assert cell(owner, "app-0a1b2c3d", names={"app-0a1b2c3d": "app"}) == "app"
    assert cell(own, "app-0a1b2c3d", names={"app-0a1b2c3d": "app"}) == "app-0a1b2c3d"


def test_a_candidate_without_score_has_nothing_to_show():
    """There are no numbers of what could not be asked, which is not the same as unknown ones."""
    columns = pick(CandidateRow, "largest_member_lag", "lag_skew", "moves")
    nothing = dict.fromkeys(("largest_member_lag", "lag_skew", "moves"))
    shown = table(columns, [nothing, nothing | {"moves": 0}])
    assert shown.headings == [head(one) for one in columns]
    assert shown.rows == [["-", "-", "-"], ["?", "?", "0"]]
