"""The clauses in `docs/explanation/documents.md` name code and tests that exist, and every test of a document."""

import ast
import re
from functools import cache

from tests.helpers.made_tables import ROOT

HERE = ROOT / "tests" / "unit" / "sources"
PAGE = (ROOT / "docs/explanation/documents.md").read_text(encoding="utf-8")
TESTS = re.compile(r"`(?:([\w/]+\.py)::)?(test_\w+)`")


def rows():
    """The files of a document's section with the cells of each clause in it."""
    for section in PAGE.split("\n## ")[1:]:
        named = re.search(r"Tests: (.*)\.$", section, re.MULTILINE)
        if named is None:
            continue
        files = [HERE / name for name in re.findall(r"`(test_\w+\.py)`", named[1])]
        for line in section.splitlines():
            if line.startswith("| ") and not line.startswith(("| ---", "| Clause")):
                yield files, line.strip("| ").split(" | ")


ROWS = list(rows())


@cache
def found(path):
    """The names of the tests in a file."""
    return {
        each.name for each in ast.parse(path.read_text()).body if isinstance(each, ast.FunctionDef)
    }


def test_a_clause_has_code_and_a_test():
    """Three cells, none empty; each path and each test exists."""
    assert ROWS
    for files, (clause, code, tests) in ROWS:
        assert clause
        paths = re.findall(r"`([\w/]+\.(?:py|java))`", code)
        assert paths, clause
        assert [path for path in paths if not (ROOT / "engine" / path).is_file()] == []
        named = TESTS.findall(tests)
        assert named, clause
        for path, test in named:
            places = [ROOT / path] if path else files
            assert all(place.is_file() for place in places), (path, clause)
            assert any(test in found(place) for place in places), test


def test_every_test_of_a_document_has_its_clause():
    """A clause that is tested is listed."""
    listed = {
        (file.name, test)
        for files, cells in ROWS
        for path, test in TESTS.findall(cells[2])
        if not path
        for file in files
    }
    tested = {
        (path.name, name)
        for path in (*HERE.glob("test_article*.py"), *HERE.glob("test_kip*.py"))
        for name in found(path)
        if name.startswith("test_")
    }
    assert tested <= listed, tested - listed
