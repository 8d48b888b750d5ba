"""
evenkeel's own strategy: nobody busier than need be, then the fewest bytes across racks, then the fewest moves.

Promises, each before all that follow it; every partition of a subscribed topic goes to a subscriber:

1. The utilization of the busiest member is the least: what there is to do for it over what it can do, in offsets/s.
   That is what arrives, and where the group is behind its backlog, worked off within the coming hour. So a member that
   can do twice as much gets twice as much. An unknown capacity counts as the median of the known ones, an unknown rate
   as the mean; where no capacity is known all are equal.
2. Among those, the fewest bytes/s are read across racks, by owners whose rack is known and holds no replica. An
   unknown record size counts as the median of the known ones; where none is known offsets count.
3. Among those, the fewest partitions for which something arrives change hands.
4. Idle partitions, for which nothing arrives, make the numbers of partitions as even as they then can be, with the
   fewest moves of their own.

>>> from evenkeel.engine.assignors.interface import spec
>>> group = spec({"C0": ["t"], "C1": ["t"]}, {"t": 6}, rates={"t": [50, 20, 10, 10, 0, 0]},
...              capacities={"C0": 80, "C1": 40}, owned={"C0": [("t", 0), ("t", 1), ("t", 2)]})
>>> answer = Balanced().assign(group)
>>> group.lists(answer)
{'C0': [('t', 0), ('t', 2), ('t', 4)], 'C1': [('t', 1), ('t', 3), ('t', 5)]}
>>> [(fact.kind.value, fact.measure, fact.after) for fact in answer.proof]
[('exact', 'peak_utilization', 0.75), ('exact', 'moves', 1)]

Backlog is what `GroupSpec.backlog` says: what merely waits for the next commit is none, so a group that keeps up is not
moved for its commits' sake. Here C0 has both partitions that wait, 360,000 offsets or 100/s for an hour each:

>>> group = spec({"C0": ["t"], "C1": ["t"]}, {"t": 4}, rates={"t": [10, 10, 10, 10]},
...              capacities={"C0": 80, "C1": 80}, backlogs={"t": [360_000, 360_000, 0, 0]},
...              owned={"C0": [("t", 0), ("t", 1)], "C1": [("t", 2), ("t", 3)]})
>>> answer = Balanced().assign(group)
>>> group.lists(answer)
{'C0': [('t', 1), ('t', 2)], 'C1': [('t', 0), ('t', 3)]}
>>> answer.proof[0].after == (110 + 10) / 80, answer.proof[-1].measure, answer.proof[-1].partitions
(True, 'backlog_counted', 2)

Where no arrivals are known, or all are 0, partitions count alike: first the sum of the squared numbers of partitions is
the least (no member with two partitions fewer could take one over, not even along a chain of others), then the largest
member lag (offsets), then the number of partitions read across racks, then moves. Where all arrivals, capacities and
record sizes are equal, the fairest counts are also a way to the least peak: then they come first as well, and lag is
left aside.

>>> group = spec({"C0": ["t"], "C1": ["t"]}, {"t": 4}, lags={"t": [90, 50, 40, 0]},
...              owned={"C0": [("t", 0), ("t", 1)], "C1": [("t", 2), ("t", 3)]})
>>> answer = Balanced().assign(group)
>>> group.lists(answer), {fact.kind.value for fact in answer.proof}
({'C0': [('t', 1), ('t', 2)], 'C1': [('t', 0), ('t', 3)]}, {'exact'})

What is proven stands in `Assignment.proof`: of each criterion that it is exact, or its floor, or that nothing is. To
bring a peak down is a packing problem (NP-hard), so exact it is where it meets its floor. Groups with few enough
assignments have all of them tried; a test does so with up to four members and six partitions. In others a peak of
arrivals within 1 % of its floor counts as least, so that what crosses and what moves may be had under it. Nobody gets
busier than the busiest is now. Searches take at most *work* elementary steps, which are counted, so that the same group
gets the same answer on any machine. Ties go to the answer that comes first with members and topics in order of name.

Cost: about 3 ms for a group of 100 partitions, a fifth of a millisecond for one among many and once compiled, a third
of a second for 50,000 partitions and 1,000 members. The loops are kernels (`evenkeel.engine.assignors.kit.kernels`):
one call goes through all groups, compiled from some hundred groups in one process on.
Source: the rate floor of the design, section 3; longest processing time first (Graham, 1969); convex flow after Frank
and Murota (2022).

What it does not do: find the assignment that drains first. A backlog is spread as if it were to last an hour, so of one
that is gone sooner arrivals have more say, and of one of a day less, than in the time it takes. Lag that is no known
backlog it leaves aside by arrivals, and partitions with few arrivals may lie unevenly where that costs no utilization.
Floors look at one criterion at a time, as if partitions could be cut and numbers of them did not count, so a gap may be
smaller than told. By counts it leaves capacities aside, and the largest member lag where a lag is unknown, and says so.
Nothing in Kafka follows such a plan: it takes an assignor that does.

Read it in this order. `problem` puts groups into canonical order, and `loads` says what there is to weigh. `even` makes
numbers of partitions even. `places` deals out by weight or tries all, `relief` relieves the busiest and saves costs.
`lower_bounds` has what no assignment can go below. `criteria` goes through these in group after group. `search` runs
it in the form that suits the work, and says what came of it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...model.arrays import NONE
from ...model.assignments import Assignment, Deployment
from ...model.facts import Fact, reason
from ..interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from ..kit.why import Steps, by_racks, stays_or_moves
from .loads import LoadProblem, loads_of, weighed
from .problem import Problem, problems_of
from .search import proof, solve

WORK = 500_000
"""Elementary steps of search per group."""


class Balanced:
    """evenkeel's own strategy."""

    name: ClassVar[str] = "balanced"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset({"racks", "lag"})
    deployment: ClassVar[Deployment] = Deployment.PLAN
    source: ClassVar[str] = (
        "evenkeel; longest processing time first, convex flow after Frank and Murota"
    )
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES

    def __init__(self, work: int = WORK, enough: float = 0.0) -> None:
        """
        Args:
            work: Elementary steps the searches may take; with 0 the answer is quick, and its gap larger.
            enough: Utilization that needs no relief: peaks up to it count as least, so that less moves.
        """
        self.work, self.enough = work, enough

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic, and in *proof* what is proven of them.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        problems = problems_of(groups)
        loads = weighed(groups, problems, self.enough)
        found = solve(problems, loads, self.work)
        own = dict[int, Assignment]()
        for problem, load, one in zip(problems, loads, found, strict=True):
            start = groups.partition_start[len(own) : len(own) + 2]
            owner = np.full(int(start[1] - start[0]), NONE, np.int32)
            owner[problem.partition] = problem.member[one[0]]
            own[len(own)] = Assignment(owner=owner, proof=proof(problem, load, *one))
        nobody = np.full(groups.partition_count, NONE, np.int32)
        return Answers(assignment=Assignment(owner=nobody), own=own)

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """What its owner takes with it, who would be next, then its racks and whether it moves."""
        (problem,) = problems_of(group)
        (load,) = weighed(group, [problem], self.enough)
        ((places, _, _),) = solve([problem], [load], self.work)
        at = np.flatnonzero(problem.partition == partition)
        if not len(at):
            return ()
        place = int(places[at[0]])
        owner = int(problem.member[place])
        racks = by_racks(group, partition, owner, group.member_rack)
        last = *racks, stays_or_moves(group, partition, owner)
        found = np.flatnonzero(load.partition == at[0])
        if not len(found):
            return (reason("why_idle", [group.members[owner]]), *last)
        weight, capacity = load.rules.weight[found[0]], load.rules.capacity
        loads = loads_of(load.rules, places[load.partition])
        may = problem.may[problem.topic_class[at[0]]].copy()
        may[place] = False
        steps = [self._busy("why_load", group, problem, load, place, loads[place])]
        if may.any():
            instead = np.where(may, (loads + weight) / capacity, np.inf)
            other = int(instead.argmin())
            steps.append(
                self._busy("why_next_best", group, problem, load, other, loads[other] + weight)
            )
        return (*steps, *last)

    @staticmethod
    def _busy(
        measure: str, group: GroupSpec, problem: Problem, load: LoadProblem, place: int, weight: int
    ) -> Fact:
        """What a member has to do, in the unit of the peak that is brought down."""
        member = group.members[problem.member[place]]
        return reason(
            measure,
            [member],
            after=float(weight / load.rules.capacity[place]),
            unit=load.peak,
        )
