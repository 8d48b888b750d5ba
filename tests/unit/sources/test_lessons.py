"""The cases of `engine/assignors/lessons.md` are answered as the page shows, steps included."""

import json
import re

import pytest

from evenkeel.engine.cli.assign_cases import answer
from tests.helpers.made_tables import ROOT

PAGE = (ROOT / "engine/assignors/lessons.md").read_text(encoding="utf-8")
BLOCKS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


@pytest.mark.parametrize(("case", "shown"), [*zip(BLOCKS[::2], BLOCKS[1::2], strict=True)])
def test_a_lesson_is_answered_as_it_shows(case, shown):
    """Every strategy of the documents, and evenkeel's own."""
    assert answer(case) == shown
