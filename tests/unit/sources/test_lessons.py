"""The documents' examples in `tests/data/lessons.jsonl` are answered as noted, steps included."""

import json
import re

import pytest

from evenkeel.engine.cli.assign_cases import answer
from tests.helpers.made_tables import ROOT

DATA = ROOT / "tests" / "data"


def _lines(name):
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


CASES, ANSWERS = _lines("lessons.jsonl"), _lines("lessons-answers.jsonl")


@pytest.mark.parametrize(("case", "noted"), [*zip(CASES, ANSWERS, strict=True)])
def test_a_lesson_is_answered_as_noted(case, noted):
    """Every strategy of the documents, and evenkeel's own."""
    assert answer(case) == noted


def test_the_page_has_every_lesson():
    """In the order of the file."""
    page = (ROOT / "docs/explanation/documents.md").read_text(encoding="utf-8")
    examples = page.split("\n## Examples\n")[1].split("\n## ")[0]

    assert re.findall(r"^\* `([\w-]+)`", examples, re.MULTILINE) == [c["id"] for c in CASES]
