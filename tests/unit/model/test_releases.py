"""To which releases of Kafka the answers of strategies are true."""

from __future__ import annotations

import re
from pathlib import Path

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.model.assignments import Deployment
from evenkeel.engine.model.releases import TRUE_TO, written
from evenkeel.engine.streams.settings import RackStrategy, StickyTasks

PAGE = Path(__file__).parents[3] / "docs/reference/compatibility.md"


def test_every_strategy_of_kafkas_says_which_releases_it_is_true_to():
    """And none that is ours does."""
    kafkas = {
        name
        for name, each in ASSIGNORS.items()
        if each.deployment is Deployment.SETTING and each.source.startswith("org.apache.kafka")
    }
    assert TRUE_TO.keys() == kafkas | {*RackStrategy, *StickyTasks}


def test_the_page_of_releases_has_what_the_code_has():
    """A row each, with the first and the last release."""
    rows = re.findall(r"^\| `([\w-]+)` \| ([\d.]+) to ([\d.]+) \|", PAGE.read_text(), re.MULTILINE)
    assert {name: (since, until) for name, since, until in rows} == {
        name: (written(each.since), written(each.until)) for name, each in TRUE_TO.items()
    }
