"""What pays in simulated groups: nothing in healthy ones, what mends them in lopsided ones, and then it comes true."""

from __future__ import annotations

import pytest

from evenkeel.engine.model import Verdict
from evenkeel.engine.wording import because
from tests.helpers.fluid import SITUATIONS, fork
from tests.helpers.fluid.decisions import decisions

HEALTHY = [name for name, each in SITUATIONS.items() if each.healthy]
LOPSIDED = ("skewed-load", "skewed-modern", "hot-shared", "catching-up-skewed")
HELPLESS = (
    *("slow-member", "two-slow-members", "silent-member", "stuck-partition"),
    *("hot-alone", "hot-shared-plan-only", "too-few-members", "catching-up"),
)
HOUR = 3600


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_pays_in_a_healthy_group(name):
    """Not in its first snapshot, nor after an hour, nor later."""
    told = decisions(SITUATIONS[name].group, (0, 1, 13, 30))

    assert [each.snapshot for each in told if each.advice.verdict is Verdict.SWITCH] == []


@pytest.mark.parametrize("name", HELPLESS)
def test_nothing_pays_where_no_assignment_mends_it(name):
    """Whoever is restarted for nothing does not believe the next advice."""
    told = decisions(SITUATIONS[name].group, (16, 28, 40))

    assert [each.snapshot for each in told if each.advice.verdict is Verdict.SWITCH] == []


@pytest.mark.parametrize("name", LOPSIDED)
def test_what_mends_a_lopsided_group_pays_and_comes_true(name):
    """Over the next hour the lag integral falls by more than the price, and both ways end up within what was said."""
    situation = SITUATIONS[name]
    (decision,) = decisions(situation.group, (26,))
    strategy = decision.advice.strategy

    assert decision.advice.verdict is Verdict.SWITCH
    assert strategy in situation.cures
    stays, switches = decision.forecasts["live"], decision.forecasts[strategy]
    bounces = switches.price_restarts // len(situation.group.members)
    real = fork(situation.group, 26, strategy, bounces=bounces)
    assert real.gain(HOUR) > switches.price_offset_seconds
    assert stays.forecast_lag_low <= real.stays.lag(HOUR) <= stays.forecast_lag_high
    assert real.switches.lag(HOUR) <= switches.forecast_lag_high


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
