"""
What a switch costs: how long each partition pauses until the group has the other assignment.

Members restart to get a strategy (`rolling_restarts`), and each restart delays consumption:

* A dynamic member leaves and joins again: two rebalances. Under an eager protocol everybody gives up everything at
  each, so all partitions stand still for both. Under a cooperative one, and where the broker reconciles (KIP-848), only
  what the member has stands still: once when others take it over, once when it gets it back.
* A static member is waited for: what it has stands still while it restarts, nothing else does. It lists something
  new when it is back, which takes one rebalance of all in a rolling restart.
* What changes hands in the end stands still once more where nobody else does.

Three dynamic members that list an eager strategy, one rolling restart: six rebalances of 5 s for every partition. The
same under a cooperative one: 10 s each, and 5 s more for the third, which moves.

>>> import numpy as np
>>> from evenkeel.engine.config import Policy
>>> from evenkeel.engine.model.facts import step
>>> now, then, dynamic = np.array([0, 1, 2]), np.array([0, 1, 1]), np.zeros(3, bool)
>>> way = [step("put_first", ["roundrobin"])]
>>> paid = price(way, dynamic, now, then, eager=True, pauses=Policy())
>>> paid.restarts, paid.held_up_seconds.tolist()
(3, [30.0, 30.0, 30.0])
>>> price(way, dynamic, now, then, eager=False, pauses=Policy()).held_up_seconds.tolist()
[10.0, 10.0, 15.0]

Every member is restarted where a majority would do, and while one list holds an eager strategy, all partitions pause.
A member that is behind loses what it could have consumed meanwhile, another only catches up what arrived: the lag that
this adds to the coming hour is computed by `metrics.forecast.forecasts`.

Source: KIP-429 (cooperative rebalancing), KIP-345 (static members), KIP-848.

A task of Kafka Streams that moves to a client without its stores stands still until these are restored, as well
(`streams.restoring`).

What it does not do: know that a rebalance takes longer in a group of a thousand than in one of ten, unless the policy
says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..assignors.kafka.protocol_names import cooperative, wire_name
from ..config import Policy
from ..model.arrays import Flags, Floats, Indices
from ..model.facts import Fact
from ..model.groups import GroupSnapshot
from ..model.pauses import Standstill
from ..model.states import GroupType

_ROLLS = {
    "already_running": 0,
    "list_alone": 1,
    "put_first": 1,
    "one_restart": 1,
    "ask_broker": 1,
    "set_client_rack": 1,
    "two_restarts": 2,
}
"""How often every member is restarted, by what is to be done."""

_RESTART_ONE = frozenset({"restart_one", "follow_plan", "next_rebalance_brings_it"})
"""What takes the restart of one member, whichever."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Price(Standstill):
    """
    What a switch costs.

    Attributes:
        restarts: How many members, or instances of Kafka Streams, are restarted, one counted as often as it is.
    """

    restarts: int


def price(
    how: Sequence[Fact],
    static: Flags,
    owner: Indices,
    new_owner: Indices,
    *,
    eager: bool,
    pauses: Policy,
    instances: int | None = None,
    restoring: Floats | None = None,
) -> Price | None:
    """
    The price of a switch; None where it is not known what has to be done for it.

    Args:
        how: What has to be done, as `feasibility` says it.
        static: (M) which members have an instance id.
        owner: (P) who has each partition now, NONE for nobody.
        new_owner: (P) who gets it.
        eager: Whether members give up everything at a rebalance on the way.
        pauses: For how long partitions stand still in a rebalance, and while a static member restarts.
        instances: As how many the members restart, as threads of Kafka Streams do; None: each by itself.
        restoring: (P) seconds for which each stands still besides, until its stores are restored; None: no time.
    """
    measures = [fact.measure for fact in how]
    members = len(static)
    restarting = instances or members
    known = [_ROLLS[measure] for measure in measures if measure in _ROLLS]
    if known:
        rolls, times = max(known), float(max(known))
    elif _RESTART_ONE.intersection(measures):
        rolls, times = 1, 1 / restarting  # which one it will be is not known
    else:
        return None
    stands_still = pauses.pauses(eager=eager)
    held_up = stands_still.held_up_seconds(static, owner, new_owner, rolls=rolls, times=times)
    if restoring is not None:
        held_up = held_up + restoring
    return Price(
        restarts=round(times * restarting),
        held_up_seconds=held_up,
        lost_seconds=stands_still.lost_seconds(static, new_owner, held_up, times=times),
    )


def instances_of(group: GroupSnapshot) -> int | None:
    """As how many processes the members of a group restart; None where each is one, or that is not known."""
    if not group.places_tasks or any(member.process_id is None for member in group.members):
        return None
    return len({member.process_id for member in group.members})


def gives_up_everything(group: GroupSnapshot, strategy: str, how: Sequence[Fact]) -> bool:
    """
    Whether members give up all they have at rebalances on the way to a strategy: what a class of somebody's own does is
    not known, and an eager one is the rule.

    Args:
        group: The group.
        strategy: Our name of the strategy.
        how: What has to be done for it.
    """
    if group.type is GroupType.CONSUMER:
        return False
    if any(fact.measure == "list_alone" for fact in how):
        return True  # somebody lists an eager one beside it
    return cooperative([group.assignor or "", wire_name(strategy)]) is not True
