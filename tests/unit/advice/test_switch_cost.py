"""What a switch costs, by how members restart and what they give up meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.advice.feasibility import no_follower
from evenkeel.engine.advice.rolling_restarts import in_short
from evenkeel.engine.advice.switch_cost import gives_up_everything, price
from evenkeel.engine.config import Policy
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.facts import step
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic

NOW, THEN = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])
DYNAMIC, STATIC = np.zeros(3, np.bool_), np.ones(3, np.bool_)
PAUSES = Policy(rebalance_seconds=4, restart_seconds=20)


def _price(how, static=DYNAMIC, owner=NOW, new_owner=THEN, eager=True):
    paid = price(how, static, owner, new_owner, eager=eager, pauses=PAUSES)
    assert paid is not None
    return paid.restarts, paid.held_up_seconds.tolist()


def test_two_bounces_cost_twice_as_much_as_one():
    """Each of three members leaves and joins once per bounce, and everybody stands still each time."""
    once = _price(in_short("sticky", "range", (("range", "sticky"),) * 3))
    twice = _price(in_short("cooperative-sticky", "range", (("range",),) * 3))

    assert once == (3, [24.0] * 4)
    assert twice == (6, [48.0] * 4)


def test_a_static_member_is_waited_for():
    """What it has waits for its restart, and all for the one rebalance in which the new strategy is elected."""
    assert _price([step("put_first")], static=STATIC) == (3, [24.0] * 4)
    mixed = np.array([True, False, False])
    assert _price([step("put_first")], static=mixed) == (3, [40.0, 40.0, 20.0, 20.0])


def test_where_only_what_moves_stands_still_a_switch_is_cheaper():
    """Each partition when its owner leaves and when it comes back, and the one that moves once more."""
    how = [step("ask_broker", ["uniform"])]
    assert _price(how, eager=False) == (3, [8.0, 12.0, 8.0, 8.0])
    assert _price(how, eager=False, static=STATIC) == (3, [20.0, 24.0, 20.0, 20.0])


def test_nobody_waits_for_what_nobody_has():
    """A partition without owner loses nothing when it gets one."""
    unowned = np.array([NONE, 0, 1, 2])
    held_up = _price([step("ask_broker")], eager=False, owner=unowned)[1]
    assert held_up[0] == 0


def test_what_runs_already_takes_one_restart_or_none():
    """One member leaves and comes back; which one is not known, so each is as likely."""
    assert _price([step("restart_one")]) == (1, [8.0] * 4)
    restarts, held_up = _price([step("restart_one")], eager=False, new_owner=NOW)
    assert (restarts, held_up) == (1, pytest.approx([8 / 3] * 4))
    assert _price([step("already_running")]) == (0, [0.0] * 4)


def test_what_nobody_knows_how_to_get_has_no_price():
    """A plan that no member follows."""
    assert price(no_follower().how, DYNAMIC, NOW, THEN, eager=True, pauses=PAUSES) is None


@pytest.mark.parametrize(
    ("header", "strategy", "measure", "everything"),
    [
        ({"group_type": "classic", "assignor": "range"}, "cooperative-sticky", "two", True),
        ({"group_type": "classic", "assignor": "cooperative-sticky"}, "range", "one", True),
        (
            {"group_type": "classic", "assignor": "cooperative-sticky"},
            "cooperative-sticky",
            "restart_one",
            False,
        ),
        (
            {"group_type": "classic", "assignor": "cooperative-sticky"},
            "cooperative-sticky",
            "list_alone",
            True,
        ),
        ({"group_type": "classic", "assignor": "acme"}, "cooperative-sticky", "two", True),
        ({"group_type": "consumer", "assignor": "range"}, "uniform", "ask_broker", False),
    ],
)
def test_an_eager_strategy_on_the_way_makes_everybody_give_up(
    header, strategy, measure, everything
):
    """So does one listed beside it, and one that nobody knows; a broker takes only what moves."""
    members = [member("a", ["orders"], {"orders": [0]})]
    one = group("g", members=members, **header)
    [found] = groups(make_snapshot(topics=[topic("orders", 1)], groups=[one]))

    assert gives_up_everything(found, strategy, [step(measure)]) is everything
