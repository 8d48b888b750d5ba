"""What pays in simulated groups: nothing in healthy ones, what mends them in lopsided ones, and then it comes true."""

from __future__ import annotations

from evenkeel.engine.model import Verdict
from evenkeel.engine.wording import because
from tests.helpers.fluid import SITUATIONS
from tests.helpers.fluid.decisions import decisions


def test_what_crosses_racks_pays_by_its_bytes():
    """Two terabytes a day do, with the price beside them; a fifth of a GB a day is told and restarts nobody."""
    (much,) = decisions(SITUATIONS["racks-much"].group, (13,))
    (little,) = decisions(SITUATIONS["healthy-racks-little"].group, (13,))

    assert (much.advice.verdict, much.advice.strategy) == (Verdict.SWITCH, "range")
    assert "TB a day less across racks" in because(much.advice.facts)
    assert "restarts hold up about" in because(much.advice.facts)
    assert "would save is too little for a switch: " in because(little.advice.facts)


def test_members_that_subscribe_differently_hear_what_is_more_even():
    """As a remark, with the counts and the strategy."""
    (decision,) = decisions(SITUATIONS["healthy-unequal-subscriptions"].group, (13,))

    assert "could be more even with sticky (14/2/2 -> 12/3/3)" in because(decision.advice.facts)
