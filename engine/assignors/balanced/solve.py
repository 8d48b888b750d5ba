"""The four criteria of `balanced` one after another, each under what the ones before it left open."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from evenkeel.engine.assignors.balanced.branch import cheapest_under
from evenkeel.engine.assignors.balanced.counts import fairest
from evenkeel.engine.assignors.balanced.deal import deal_by_lag, deal_evenly
from evenkeel.engine.assignors.balanced.flow import FlowPlan, cheapest
from evenkeel.engine.assignors.balanced.holding import Price, loads
from evenkeel.engine.assignors.balanced.leeway import Leeway, leeway_of
from evenkeel.engine.assignors.balanced.lowest import Lowest, lowest
from evenkeel.engine.assignors.balanced.problem import Problem
from evenkeel.engine.assignors.balanced.proof import Proof
from evenkeel.engine.assignors.balanced.refund import refunded
from evenkeel.engine.assignors.balanced.restrict import Capped
from evenkeel.engine.assignors.balanced.share import of_a_toll, share, steady, tolls
from evenkeel.engine.assignors.balanced.work import Effort
from evenkeel.engine.facts import Fact
from evenkeel.engine.model import NONE, Ints

COMPLETE = 5_000
"""With no more assignments than this, counts aside, every search goes on to its end."""


def solve(problem: Problem, steps: int) -> tuple[Ints, Proof]:
    """(N) who owns what, as places in the problem's order of members, and what is proven of it."""
    leeway = leeway_of(problem, fairest(problem))
    if not leeway.partitions:
        return leeway.holder, _proof(leeway, leeway.holder, problem.lagless)
    plan, toll = _relaxed(leeway)
    if problem.lag is None or int(leeway.lag.min()) == int(leeway.lag.max()):
        owner = deal_evenly(plan)
        return owner, _proof(leeway, owner, problem.lagless)
    owner = deal_by_lag(plan, leeway.lag, leeway.members)
    relaxed = share(leeway, owner)
    effort = Effort(steps, complete=_assignments(leeway) <= COMPLETE)
    best = lowest(leeway, Price(leeway, toll), owner, effort)
    if best.largest > best.floor:
        owner = refunded(best.owner, best.largest, Price(leeway, toll), effort.refund())
        proof = _proof(leeway, owner)
        return owner, replace(proof, largest_floor=best.floor, share_floor=None, moves_floor=None)
    if best.owner is owner:  # the cheapest of all has the least lag too
        return owner, _proof(leeway, owner)
    return _cheapest(leeway, best, relaxed, effort)


def _assignments(leeway: Leeway) -> float:
    """How many there are, counts aside."""
    return float(np.exp2(np.log2(leeway.may.sum(axis=1))[leeway.realm].sum().clip(0, 99)))


def _proof(leeway: Leeway, owner: Ints, lagless: Fact | None = None) -> Proof:
    """An exact proof of these owners."""
    moved = int(((leeway.holder != NONE) & (leeway.holder != owner)).sum()) + leeway.forced_moves
    crossing, largest = share(leeway, owner), int(loads(leeway, owner).max(initial=0))
    return Proof(
        largest=largest,
        largest_floor=largest,
        lagless=lagless,
        share=crossing,
        share_floor=crossing,
        moves=moved,
        moves_floor=moved,
        racked=leeway.racks_matter,
    )


def _relaxed(leeway: Leeway) -> tuple[FlowPlan, Ints]:
    """The cheapest plan whatever the lags, and the tolls that make it so."""
    toll = tolls(leeway, Fraction(0))
    plan = _planned(leeway, toll)
    if steady(leeway) or plan.cost < of_a_toll(leeway):  # or nothing crosses
        return plan, toll
    while True:
        toll = tolls(leeway, share(leeway, deal_evenly(plan)))
        plan = _planned(leeway, toll)
        if plan.cost >= 0:
            return plan, toll


def _planned(leeway: Leeway, toll: Ints) -> FlowPlan:
    plan = cheapest(leeway, toll)
    assert plan is not None, "the fairest counts can always be reached"
    return plan


def _cheapest(
    leeway: Leeway, best: Lowest, relaxed: Fraction, effort: Effort
) -> tuple[Ints, Proof]:
    """
    The least share, then the fewest moves, under the least largest lag.

    Args:
        leeway: What the fairest counts leave open.
        best: Owners of least largest lag.
        relaxed: The least share whatever the lags.
        effort: What it may take.
    """
    capped, unit = Capped(leeway, best.largest), of_a_toll(leeway)
    owner, work, refunds = best.owner, effort.branch(leeway, best.largest), effort.refund()
    base, fixed = Fraction(0), steady(leeway)
    while True:
        price = Price(leeway, tolls(leeway, base))
        owner = refunded(owner, best.largest, price, refunds)
        result = cheapest_under(capped, price, owner, work, complete=effort.complete)
        assert result.owner is not None, "an assignment under the cap is known"
        owner = result.owner
        least, most = result.floor // unit, result.cost // unit
        if fixed or least < most or most == 0:
            break
        base = share(
            leeway, owner
        )  # something crosses in all assignments, so it is known of something
    proof = _proof(leeway, owner)
    if least == most:
        return owner, replace(proof, moves_floor=result.floor % unit + leeway.forced_moves)
    known = int(leeway.known[leeway.pattern, leeway.site[owner]].sum())
    floor = max(relaxed, Fraction(least, max(known, 1))) if fixed else relaxed
    return owner, replace(proof, share_floor=min(floor, proof.share), moves_floor=None)
