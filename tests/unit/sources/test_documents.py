"""The clauses in `engine/assignors/documents.md` name code and tests that exist, and every test of a document."""

import ast
import re

import pytest

from tests.helpers.made_tables import ROOT

HERE = ROOT / "tests" / "unit" / "sources"
ROWS = [
    line.strip("| \n").split(" | ")
    for line in (ROOT / "engine/assignors/documents.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| clause"))
]
TESTS = re.compile(r"`([\w/]+\.py)::(\w+)`")


def found(path):
    """The names of the tests in a file."""
    return {
        each.name for each in ast.parse(path.read_text()).body if isinstance(each, ast.FunctionDef)
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_clause_has_code_a_test_and_a_place_where_you_meet_it(row):
    """Four cells, none empty; each path and each test exists."""
    clause, code, tests, met = row
    assert clause
    assert met
    paths = re.findall(r"`([\w/]+\.(?:py|java))`", code)
    assert paths
    assert all((ROOT / "engine" / path).is_file() for path in paths)
    named = TESTS.findall(tests)
    assert named
    for path, test in named:
        place = ROOT / path if "/" in path else HERE / path
        assert place.is_file(), path
        assert test in found(place), test


def test_every_test_of_a_document_has_its_clause():
    """A clause that is tested is listed."""
    listed = {pair for row in ROWS for pair in TESTS.findall(row[2])}
    tested = {
        (path.name, name)
        for path in (*HERE.glob("test_article*.py"), *HERE.glob("test_kip*.py"))
        for name in found(path)
        if name.startswith("test_")
    }
    assert tested <= listed, tested - listed
