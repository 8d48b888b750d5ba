"""
evenkeel's own strategy: the fairest spread, then the least lag on one member, then the nearest racks, then the fewest
moves.

Promises, each before all that follow it; every partition of a subscribed topic goes to a subscriber:

1. The sum of the squared numbers of partitions of the members is the least there is: no member with two partitions
   fewer could take one over, not even along a chain of others.
2. Among those, the largest member lag (offsets) is the least.
3. Among those, the cross-rack share as the judge counts it is the least: partitions whose owner's rack is known and
   holds no replica, over those where both are known; nothing known counts as 0.
4. Among those, the fewest partitions change hands.

>>> from evenkeel.engine.assignor import spec
>>> group = spec({"C0": ["t"], "C1": ["t"]}, {"t": 4}, lags={"t": [90, 50, 40, 0]},
...              owned={"C0": [("t", 0), ("t", 1)], "C1": [("t", 2), ("t", 3)]})
>>> answer = Balanced().assign(group)
>>> group.lists(answer), {fact.kind.value for fact in answer.proof}
({'C0': [('t', 0), ('t', 3)], 'C1': [('t', 1), ('t', 2)]}, {'exact'})

What is proven stands in `Assignment.proof`. Counts are always exact: they are a convex flow. Without lag, or with
equal lags, racks and moves are one too, and the whole answer is exact. Otherwise to bring the largest member lag down
is a packing problem (NP-hard): bounds meet a construction, else a search within *work* elementary steps, which are
counted, so that the same group gets the same answer on any machine. Where it ends early the proof says how far each
criterion is from its floor at most, or that nothing is proven of it. Groups with few enough assignments are always
searched to the end; a test tries all assignments of up to four members and six partitions. Ties go to the answer that
comes first with members and topics in order of name.

Cost: about a millisecond for a small group without lag, and at most *work* steps of search above a near-linear start.
The loops of the search are kernels (`evenkeel.engine.kit.compiled`): interpreted they take some 15 ms of processor time
a group of a realistic fleet (mean 96 partitions), compiled, from some hundred such groups in one process on, 4 ms.
Source: convex flow after Frank and Murota; fractions after Dinkelbach (1967); branch and bound over min-cost flows.

What it does not do: it looks at neither the rate nor the history of lag; where a lag is unknown it leaves the second
criterion out and says so. Nothing in Kafka follows such a plan: it takes an assignor that does.

Read the search behind it in this order. `problem` puts a group into canonical order, `counts` (with `thresholds`)
finds every fairest count vector at once, and `leeway` holds what they leave open. `share` and `flow` (with `network`)
find the least cross-rack share and the fewest moves where lags are left aside, `deal` gives that plan partitions.
`floors` bounds the largest member lag from below; `level` (with `swaps` and `subsets`), `pack` and `lowest` bring it
down. `restrict` (with `narrow`) and `branch` find the cheapest assignment under that lag, `refund` a cheaper one.
`solve` runs them in order, `proof` says what came of it, `work` how much they may do.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from evenkeel.engine.assignor import USUAL_PROMISES, GroupSpec, Promise
from evenkeel.engine.assignors.balanced.problem import problem_of
from evenkeel.engine.assignors.balanced.solve import solve as search
from evenkeel.engine.model import NONE, Assignment, Deployment

WORK = 500_000
"""Elementary steps of search per group."""


class Balanced:
    """evenkeel's own strategy."""

    name: ClassVar[str] = "balanced"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset({"racks", "lag"})
    deployment: ClassVar[Deployment] = Deployment.PLAN
    source: ClassVar[str] = (
        "evenkeel; convex flow after Frank and Murota, branch and bound over minimum-cost flows"
    )
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES | {Promise.EVEN_GROUP}

    def __init__(self, work: int = WORK) -> None:
        """
        Args:
            work: Elementary steps the searches may take; with 0 the answer is quick, and its gap larger.
        """
        self.work = work

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic, and in *proof* what is proven of them.
        """
        problem = problem_of(group)
        places, proof = search(problem, self.work)
        owner = np.full(group.partition_count, NONE, np.int32)
        owner[problem.partition] = problem.member[places]
        return Assignment(owner=owner, proof=proof.facts())
