"""What verbs print on a pseudo-terminal and in a pipe: as it was reviewed, and within its width."""

from __future__ import annotations

import pytest

from evenkeel.engine.cli.views.columns import head
from evenkeel.engine.cli.views.layout import LEFT_OUT, plain_heading
from evenkeel.engine.cli.views.tables import WIDTH
from evenkeel.engine.records import columns_of_query
from tests.helpers.printed_tables import FILE, GROUPS, VERBS, WIDTHS, printed, sample

pytestmark = pytest.mark.slow

MANY, ONE = len(VERBS) - 2, len(VERBS) - 1
WHOLE = ("evenkeel ", "partition.assignment.strategy=")
"""What is copied is not broken."""


@pytest.fixture(scope="module")
def shown() -> dict[str, list[list[str]]]:
    """The lines of all verbs, by where they were printed."""
    return {name: printed(columns) for name, columns in WIDTHS.items()}


def test_tables_read_as_they_were_reviewed(shown):
    """`python -m tests.helpers.printed_tables` writes the file anew."""
    assert sample(shown) == FILE.read_text(encoding="utf-8").splitlines()


def test_no_line_is_too_long(shown):
    """In a pipe as on a terminal of 120 columns; but a single word, a command and a setting are whole."""
    long = [
        line
        for name, columns in WIDTHS.items()
        for verb in shown[name]
        for line in verb
        if len(line) > (columns or WIDTH)
        and len(line.split()) > 1
        and not any(each in line for each in WHOLE)
    ]
    assert long == []


def test_a_query_keeps_its_first_columns_and_says_what_it_leaves_out(shown):
    """28 columns fit nowhere: what matters of every group is there, on one line each, and the rest is named."""
    for lines in (each[MANY] for each in shown.values()):
        text, _, note = " ".join(lines).partition(LEFT_OUT)
        kept = ("Lag", "Time lag", "Incident", "Lasting", "Verdict")
        assert all(f" {column} " in text for column in kept)
        named = [line.split()[0] for line in lines if line.startswith("orders-")]
        assert named == [group["group_id"] for group in GROUPS]
        assert all(column in note for column in ("Status", "Advised on", "Findings"))


def test_one_row_of_a_query_is_a_block_with_all_columns(shown):
    """Nothing is left out where there is room for a line per column."""
    lines = [line for line in shown["80 columns"][ONE] if line and not line.startswith(" ")]
    declared = columns_of_query("groups")
    names = [plain_heading(head(declared[column])) for column in GROUPS[0]]
    assert [line[: len(name) + 2] for line, name in zip(lines, names, strict=False)] == [
        f"{name:<{len(name) + 2}}" for name in names
    ]
