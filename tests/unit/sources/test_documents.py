"""The clauses in `engine/assignors/documents.md` name code and tests that exist, and every test of a document."""

import ast
import re
from functools import cache

from tests.helpers.made_tables import ROOT

HERE = ROOT / "tests" / "unit" / "sources"
ROWS = [
    line.strip("| \n").split(" | ")
    for line in (ROOT / "engine/assignors/documents.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| clause"))
]
TESTS = re.compile(r"`([\w/]+\.py)::(\w+)`")


@cache
def found(path):
    """The names of the tests in a file."""
    return {
        each.name for each in ast.parse(path.read_text()).body if isinstance(each, ast.FunctionDef)
    }


def test_a_clause_has_code_a_test_and_a_place_where_you_meet_it():
    """Four cells, none empty; each path and each test exists."""
    for clause, code, tests, met in ROWS:
        assert clause
        assert met, clause
        paths = re.findall(r"`([\w/]+\.(?:py|java))`", code)
        assert paths, clause
        assert [path for path in paths if not (ROOT / "engine" / path).is_file()] == []
        named = TESTS.findall(tests)
        assert named, clause
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
