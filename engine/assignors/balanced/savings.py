"""Taking back what costs more than it must: partitions to members whom they cost less, alone or in exchange."""

from __future__ import annotations

from typing import Any

from ..kit.kernels import kernel
from .places import cost_of, put


@kernel
def cheapened(rules: Any, places: Any, cap: float, order: Any, left: int) -> int:  # noqa: C901  one pass
    """
    Give partitions to members whom they cost less, alone or in exchange, until none can be had under *cap*.

    Args:
        rules, places: `Rules`, `Places`.
        cap: Utilisation that nobody may come above.
        order: (n) partitions, the dearest first.
        left: Work left.

    Returns:
        The work left then, below 0 when there was too little.
    """
    weight, capacity, may, topic_class = (
        rules.weight,
        rules.capacity,
        rules.may,
        rules.topic_class,
    )
    load, members, sites = places.load, len(rules.capacity), rules.sites
    better = True
    while better and left >= 0:
        better = False
        for p in order:
            giver = places.owner[p]
            here = cost_of(rules, p, giver)
            if here == 0 or left < 0:
                continue
            row, at, holder = topic_class[p] * members, rules.pattern[p] * sites, rules.holder[p]
            cheaper, only_moved = [(0, 0.0, 0)] * 0, here == 1
            for m in range(holder if only_moved else 0, holder + 1 if only_moved else members):
                cost = rules.toll[p] if rules.crosses[at + rules.site[m]] else 0
                if holder >= 0 and holder != m:
                    cost += 1
                if may[row + m] and cost < here:
                    cheaper.append((cost, (load[m] + weight[p]) / capacity[m], m))
            left -= 1 if only_moved else members
            cheaper.sort()
            taker, taken, least = -1, -1, 0
            for _, share, m in cheaper:
                if share <= cap and (not rules.even or places.owns[m] < places.owns[giver]):
                    taker = m
                    break
            if taker < 0:
                for cost, _, m in cheaper:
                    left -= places.owns[m]
                    if left < 0 or taker >= 0:
                        break
                    q = places.first[m]
                    while q >= 0:
                        shift = weight[p] - weight[q]
                        if (
                            (load[m] + shift) / capacity[m] <= cap
                            and (load[giver] - shift) / capacity[giver] <= cap
                            and may[topic_class[q] * members + giver]
                        ):
                            added = cost - here + cost_of(rules, q, giver) - cost_of(rules, q, m)
                            if added < least:
                                taker, taken, least = m, q, added
                        q = places.after[q]
            if taker >= 0:
                put(rules, places, p, taker)
                better = True
            if taken >= 0:
                put(rules, places, taken, giver)
    return left
