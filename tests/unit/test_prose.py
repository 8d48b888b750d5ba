"""Documents for users: short sentences, the words of the field, and not too many of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import prose
from tests.helpers.made_tables import ROOT, written

PAGES = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in written()]

SHOWN = [
    path
    for place in ("engine", "dags", "spark_tasks", "expectations", "sql")
    for path in sorted((ROOT / place).rglob("*"))
    if path.suffix in (".py", ".sql", ".html", ".txt") and "__pycache__" not in path.parts
] + [ROOT / "tests" / "data" / name for name in ("advise.txt", "messages.txt")]


@pytest.mark.parametrize("page", PAGES)
def test_no_sentence_is_long(page: Path) -> None:
    """Nor an item, a heading or the cell of a table."""
    found = [
        f"{page.relative_to(ROOT)}:{number}: split {sentence!r}"
        for number, sentence in prose.too_long(page.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize("page", PAGES)
def test_no_forbidden_term_is_written(page: Path) -> None:
    """With the line, and what to write instead."""
    found = [
        f"{page.relative_to(ROOT)}:{number}: write {new} for {term!r}"
        for number, term, new in prose.former(page.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_no_forbidden_term_is_shown() -> None:
    """In help, messages, errors, the comments of SQL, templates and samples; docstrings are not looked at."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: write {new} for {term!r}"
        for path in SHOWN
        for number, term, new in prose.former_shown(path)
    ]
    assert found == []


def test_the_documents_together_are_short() -> None:
    """All words that are written by hand, code included; tables that are made from the code are not counted."""
    counts = {
        str(page.relative_to(ROOT)): prose.words(page.read_text(encoding="utf-8"))
        for page in written()
    }
    longest = sorted(counts, key=counts.__getitem__)[-10:]
    assert sum(counts.values()) <= prose.MOST_WORDS, f"the longest: {longest}"


@pytest.mark.parametrize(
    "line", ["Nobody reads.", "| a | as evenkeel tells you |", "# Its behaviour", "It can not run."]
)
def test_a_forbidden_term_is_found(line: str) -> None:
    """In a paragraph, a cell and a heading."""
    assert [number for number, _, _ in prose.former(f"first\n\n{line}")] == [3]


@pytest.mark.parametrize(
    "text",
    [
        "```\nnobody\n```",
        "    nobody",
        "`nobody`",
        "<!-- made: views -->\nnobody\n<!-- end -->",
        "It takes up to two connections, which is well known; strategies keep their promises.",
    ],
)
def test_code_and_made_tables_are_left_alone(text: str) -> None:
    """Nor is a term found in what only looks like it."""
    assert list(prose.former(text)) == []


def test_a_sentence_ends_where_the_next_begins() -> None:
    """Also before a name in small letters; a link counts as its text, code as a word."""
    text = "See [the page](CHANGELOG.md). evenkeel reads `a b c`, e.g. once. `x` is next: Done."
    found = prose.sentences(text)
    assert found == ["See the page.", "evenkeel reads Code, e.g. once.", "Code is next:", "Done."]


def test_an_item_belongs_to_its_list() -> None:
    """What is indented below it is text; what is indented by four more is code."""
    text = "1. One\n   two\n\n   three\n\n       ls\n\nEnd\n\n    ls"
    assert list(prose.prose(text)) == [(1, "One two"), (4, "three"), (8, "End")]


def test_marks_are_no_words() -> None:
    """Nor is what is made from the code."""
    text = "# Lag\n\n| a | `b c` |\n| --- | --- |\n\n<!-- made: views -->\nd\n<!-- end -->\n"
    assert prose.words(text) == 4
