"""From a plan (how many of which kind go where) to partitions: the largest lag first, to whoever has least."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenkeel.engine.assignors.balanced.flow import FlowPlan
from evenkeel.engine.assignors.balanced.work import ASKED
from evenkeel.engine.kit.compiled import at_work, kernel
from evenkeel.engine.model import Ints


def deal_evenly(plan: FlowPlan) -> Ints:
    """
    (N) owners in the order of partitions, where lags do not matter.

    >>> one = np.zeros(1, np.int64)
    >>> plan = FlowPlan(cost=0, kind=np.zeros(3, np.int64), holder=one - 1, batch=one, size=one + 3, kept=one,
    ...             way_batch=one, way_hub=one, way_amount=one + 3,
    ...             out_hub=np.array([0, 0]), out_member=np.array([0, 1]), out_amount=np.array([1, 2]))
    >>> deal_evenly(plan).tolist()
    [0, 1, 1]
    """
    owner = plan.holder[plan.kind]
    order = np.argsort(plan.kind, kind="stable")
    nth = np.arange(len(order)) - np.repeat(np.cumsum(plan.size) - plan.size, plan.size)
    leaving = order[nth >= plan.kept[plan.kind[order]]]
    leaving = leaving[np.argsort(plan.batch[plan.kind[leaving]], kind="stable")]
    hub = np.repeat(plan.way_hub, plan.way_amount)
    owner[leaving[np.argsort(hub, kind="stable")]] = np.repeat(plan.out_member, plan.out_amount)
    return owner


def deal_by_lag(plan: FlowPlan, lag: Ints, members: int) -> Ints:
    """
    (N) owners: in descending lag, each partition goes where the plan has room for its kind and least lag is owned.

    Graham's rule of the longest job first (1969), under the plan's counts.
    """
    batches, hubs = (
        int(plan.batch.max()) + 1,
        1 + int(max(plan.way_hub.max(initial=0), plan.out_hub.max(initial=0))),
    )
    arrays = (
        np.lexsort((np.arange(len(lag)), -lag)),
        lag,
        plan.kind,
        plan.kept.copy(),
        plan.size - plan.kept,
        plan.holder,
        plan.batch,
        np.searchsorted(plan.way_batch, np.arange(batches + 1)),
        plan.way_hub,
        plan.way_amount.copy(),
        np.searchsorted(plan.out_hub, np.arange(hubs + 1)),
        plan.out_member,
        plan.out_amount.copy(),
        np.zeros(members, np.int64),
        np.zeros(members, np.int64),
        np.empty(len(lag), np.int64),
    )
    run = at_work(dealt, len(lag) * (1 + members // 4), ASKED)
    if run is not dealt:
        run(*arrays)
        return arrays[-1]
    lists = [array.tolist() for array in arrays]
    dealt(*lists)
    return np.array(lists[-1], np.int64)


@kernel
def dealt(
    order: Any,
    lag: Any,
    kind: Any,
    kept: Any,
    leaving: Any,
    holder: Any,
    batch: Any,
    way_start: Any,
    way_hub: Any,
    way_amount: Any,
    out_start: Any,
    out_member: Any,
    out_amount: Any,
    load: Any,
    count: Any,
    owner: Any,
) -> None:
    """
    Deal partitions out in *order*, each to the least loaded member the plan has room for, its holder first.

    Args:
        order: (N) partitions.
        lag, kind: (N) of each.
        kept, leaving, holder, batch: (kinds) as in the plan; how many stay and go is counted down.
        way_start, way_hub, way_amount: Ragged, batch -> hubs; amounts are counted down.
        out_start, out_member, out_amount: Ragged, hub -> members; amounts are counted down.
        load, count: (M) of each member so far; added to.
        owner: (N) filled.
    """
    for p in order:
        k = kind[p]
        way, out, taker, least, few = -1, -1, -1, 0, 0
        if kept[k]:
            taker = holder[k]
            least, few = load[taker], count[taker]
        if leaving[k]:
            for w in range(way_start[batch[k]], way_start[batch[k] + 1]):
                if not way_amount[w]:
                    continue
                for o in range(out_start[way_hub[w]], out_start[way_hub[w] + 1]):
                    m = out_member[o]
                    if not out_amount[o] or (taker >= 0 and load[m] > least):
                        continue
                    if (
                        taker < 0
                        or load[m] < least
                        or count[m] < few
                        or (count[m] == few and m < taker)
                    ):
                        taker, least, few, way, out = m, load[m], count[m], w, o
        if way < 0:
            kept[k] -= 1
        else:
            leaving[k] -= 1
            way_amount[way] -= 1
            out_amount[out] -= 1
        owner[p] = taker
        load[taker] += lag[p]
        count[taker] += 1
