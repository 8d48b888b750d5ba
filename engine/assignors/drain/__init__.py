"""
evenkeel's own strategy for a backlog: the least lag summed up over the coming hour, restarts and moves included.

Promises, each before all that follow it; every partition of a subscribed topic goes to a subscriber:

1. The lag integral of the coming hour (offset-seconds) is the least. A member with a backlog of L that can do S more
   than arrives works it off in L / S seconds: `L L / 2 S` offset-seconds. One that gets as much as it can do or more is
   behind by `L - S t` after t seconds to the end of the hour. What partitions stand still for counts: all of them while
   one member restarts to bring the plan, those that are reassigned for one rebalance more (`model.pauses`, as in
   `advice.switch_cost`); what arrives meanwhile is backlog. Keeping the assignment costs nothing, so it is the answer
   if no change is worth its pauses: no group is ever worse off.
2. Among those, the fewest partitions are reassigned.

Without a backlog nothing moves; what has no owner goes where it costs least.

KIP-169's example, where c1 can do twice as much as c0. `lag-aware` evens out lag, whoever has to work it off, and would
have c0 need 2,632 seconds; `drain` gives c0 the 60,000. The last is read after 1,974 seconds.

>>> from evenkeel.engine.assignors.interface import spec
>>> group = spec({"c0": ["t0"], "c1": ["t0"]}, {"t0": 3}, lags={"t0": [100_000, 60_000, 50_000]},
...              rates={"t0": [2, 2, 2]}, capacities={"c0": 40, "c1": 80},
...              owned={"c0": [("t0", 0), ("t0", 1)], "c1": [("t0", 2)]})
>>> answer = Drain().assign(group)
>>> group.lists(answer)
{'c0': [('t0', 1)], 'c1': [('t0', 0), ('t0', 2)]}
>>> [(fact.kind.value, fact.measure, round(fact.before or 0), round(fact.after or 0)) for fact in answer.proof]
[('exact', 'lag_integral', 358745641, 195469744), ('exact', 'moves', 0, 0)]

That of `lag-aware`, had as a plan too, is 8 % more; where both can do the same the two agree:

>>> from evenkeel.engine.assignors.drain.search import integrals
>>> found = backlogged(group, group.lag.values.astype(float))
>>> lag_aware = np.array([0, 1, 1])
>>> round(integrals(found.queues, lag_aware, found.queues.lag).sum())
211253955

An unknown capacity counts as the median of the known ones, an unknown rate as their mean. Where no capacity is known
all members count as equals, arrivals and pauses are left aside, and the sum of the squared member lags is the least.

What is proven stands in `Assignment.proof`. Dividing a backlog up is a packing problem (NP-hard): groups with few
enough assignments have all of them tried, a test does so with up to four members and six partitions; others are
searched, from what there is and from nothing, by moves and exchanges that each save more than 0.001 % of the whole, and
it is told what no assignment is below. Searches take at most *work* elementary steps, which are counted, so that the
same group gets the same answer on any machine. Ties go to what comes first with members and topics in order of name.

Cost: 0.05 ms where there is no backlog. With one, in processor time, 11 ms for 10 members and 100 partitions, half of
one once compiled, 0.4 s for 1,000 and 50,000; 4 ms a group of up to 20 members and 120 partitions.
Source: work-conserving queues as fluids, over the horizon of `metrics.forecast`; longest processing time first
(Graham, 1969).

What it does not do: look at racks, or make numbers of partitions or arrivals even, as `balanced` does; where it moves
something, partitions without backlog may lie unevenly. Arrivals are taken to stay as they are, and all of a member's
capacity to go into whatever waits. A floor is that of one pooled queue, or of each partition by itself, so a gap may be
smaller than told. Nothing in Kafka follows such a plan: it takes an assignor that does.

Read it in this order. `queues` says what a member's backlog costs, and has the loops; `search` puts a group into
canonical order, runs them, and says what came of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ...model.arrays import NONE, Flags, Floats
from ...model.assignments import Assignment, Deployment
from ...model.batch import count_by
from ...model.errors import Infeasible
from ...model.facts import Fact, FactKind, reason
from ..interface import USUAL_PROMISES, Answers, GroupSpec, Promise, each
from ..kit.members import Seats, seats, subscribers_by_member_order, subscribes, unknown_lags
from ..kit.why import Steps, stays_or_moves
from .search import backlogged, filled, integrals, proof, solve

WORK = 500_000
"""Elementary steps of search per group."""

NO_BACKLOG: tuple[Fact, ...] = (Fact(kind=FactKind.REMARK, measure="no_backlog"),)
"""All there is to say of a group without one."""


class Drain:
    """evenkeel's own strategy for a backlog."""

    name: ClassVar[str] = "drain"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset({"lag"})
    deployment: ClassVar[Deployment] = Deployment.PLAN
    source: ClassVar[str] = "evenkeel; fluid queues, longest processing time first"
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES

    def __init__(self, work: int = WORK) -> None:
        """
        Args:
            work: Elementary steps the search may take; with 0 the answer is quick, and its gap larger.
        """
        self.work = work

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic, and in *proof* what is proven of them.

        Raises:
            Infeasible: The lag of a partition of a subscribed topic is unknown.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        parts = each(groups)
        backlog, problems = _backlogs(groups, parts)
        waits = count_by(backlog != 0, groups.partition_start) > 0
        stays = (_can_stay(groups) & ~waits).tolist()
        nobody = Assignment(owner=np.full(groups.partition_count, NONE, np.int32))
        spans = [slice(a, b) for a, b in pairwise(groups.partition_start.tolist())]
        own = {
            number: Assignment(owner=part.owner.copy(), proof=NO_BACKLOG)
            if stays[number]
            else self._changed(part, backlog[spans[number]], seats(groups)[number])
            for number, part in enumerate(parts)
            if number not in problems
        }
        return Answers(assignment=nobody, problems=problems, own=own)

    def _changed(self, group: GroupSpec, backlog: Floats, its_seats: Seats) -> Assignment:
        """Where something has to be worked off, or has no owner."""
        found, told = backlogged(group, backlog, its_seats), NO_BACKLOG
        if backlog.any():
            answer = solve(found, self.work)
            places, told = answer.owner, proof(found, answer)
        else:
            places = filled(found)
        owner = np.full(group.partition_count, NONE, np.int32)
        owner[found.partition] = found.member[places]
        return Assignment(owner=owner, proof=told)

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """What the lag of the hour adds up to with its owner, and with the next best; then whether it moves."""
        backlog, problems = _backlogs(group, (group,))
        for problem in problems.values():
            raise problem
        if not backlog.any():
            owner = int(self.assign(group).owner[partition])
            if owner == NONE:
                return ()
            return reason("why_no_backlog"), stays_or_moves(group, partition, owner)
        found = backlogged(group, backlog)
        if partition not in found.partition:
            return ()
        queues, places = found.queues, solve(found, self.work).owner
        at = int(np.flatnonzero(found.partition == partition)[0])
        owner = int(found.member[places[at]])
        last = stays_or_moves(group, partition, owner)
        if found.in_proportion:
            return reason("why_even_backlog", [group.members[owner]]), last
        may = queues.may.reshape(-1, len(queues.capacity))[queues.topic_class[at]]
        costs = {}
        for place in np.flatnonzero(may).tolist():
            instead = places.copy()
            instead[at] = place
            costs[int(found.member[place])] = float(integrals(queues, instead, queues.lag).sum())
        steps = [reason("why_integral", [group.members[owner]], after=costs.pop(owner))]
        if costs:
            other = min(costs, key=costs.__getitem__)
            steps.append(
                reason("why_integral_elsewhere", [group.members[other]], after=costs[other])
            )
        return *steps, last


def _backlogs(
    groups: GroupSpec, parts: Sequence[GroupSpec]
) -> tuple[Floats, dict[int, Infeasible]]:
    """(P) offsets, 0 of what nobody subscribes to; and why there is no answer, by the number of the group."""
    subscribers = subscribers_by_member_order(groups)
    subscribed = (subscribers.count > 0)[groups.topic_of]
    lacking = unknown_lags(groups, subscribers, Drain.name)
    told = [part.lag.values if part.backlog is None else part.backlog for part in parts]
    backlog = np.where(subscribed, np.concatenate(told), 0).astype(np.float64)
    return backlog, {n: why for n, why in lacking.items() if parts[n].backlog is None}


def _can_stay(groups: GroupSpec) -> Flags:
    """(G) whether each partition that somebody subscribes to has an owner, who does, and no other has one."""
    subscribed = (subscribers_by_member_order(groups).count > 0)[groups.topic_of]
    owned = np.flatnonzero(groups.owner != NONE)
    fine = subscribed == (groups.owner != NONE)
    fine[owned] &= subscribes(groups, groups.owner[owned], groups.topic_of[owned])
    stays: Flags = count_by(~fine, groups.partition_start) == 0
    return stays
