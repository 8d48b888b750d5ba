"""The clauses in `docs/explanation/documents.md` name code that exists; each document has its file of tests."""

import ast
import re
from functools import cache

from tests.helpers.made_tables import ROOT

HERE = ROOT / "tests" / "unit" / "sources"
PAGE = (ROOT / "docs/explanation/documents.md").read_text(encoding="utf-8")


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


def test_a_clause_has_code_and_tests():
    """Each path exists, and the document's file has tests."""
    assert ROWS
    for files, (clause, code) in ROWS:
        assert clause
        assert all(map(found, files)), clause
        paths = re.findall(r"`([\w/]+\.(?:py|java))`", code)
        assert paths, clause
        assert [path for path in paths if not (ROOT / "engine" / path).is_file()] == []


def test_every_file_of_tests_belongs_to_a_document():
    """No document is tested and left out of the page."""
    listed = {file.name for files, _ in ROWS for file in files}
    assert listed == {path.name for path in (*HERE.glob("test_article*"), *HERE.glob("test_kip*"))}
