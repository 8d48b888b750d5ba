"""The row all strategies are compared with."""

from __future__ import annotations

from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS
from tests.helpers.strategies import groups

LIVE = ASSIGNORS["live"]


@given(groups())
def test_live_answers_the_current_owners(group):
    """Whoever owns a partition now, subscribed or not, stands in the answer."""
    assert LIVE.assign(group).owner.tolist() == group.owner.tolist()
