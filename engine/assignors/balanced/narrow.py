"""What a cap and decided owners leave, in one pass over partitions and members: see `restrict`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenkeel.engine.kit.compiled import kernel
from evenkeel.engine.model import Flags, Ints

_IMPOSSIBLE = 0
UNCHANGED = -1


class Bounds(NamedTuple):
    """
    What stays as it is, flat.

    Attributes:
        lag, realm, may, holder, least, most, island: As in `Leeway`.
        ascending, cuts: Ragged, island -> its partitions in ascending lag.
    """

    lag: Ints
    realm: Ints
    may: Flags
    holder: Ints
    least: Ints
    most: Ints
    island: Ints
    ascending: Ints
    cuts: Ints

    def lists(self) -> Bounds:
        """For the interpreter, which walks lists faster than arrays."""
        return Bounds(*(array.tolist() for array in self))


@kernel
def bounds_of(rules: Any, cap: int, owned: Any, limit: Any) -> bool:  # noqa: C901  one pass
    """
    Work out which lags a member could still own, and mark partitions without which its company would be too much.

    Args:
        rules: `Bounds`.
        cap: Offsets.
        owned: (N) who owns it by decision, NONE where open; changed to who must own it.
        limit: (M) filled with the largest lag of a partition that the member could still own.

    Returns:
        False where a member would break the cap in any case, or two need the same.
    """
    lag, least, most, island = rules.lag, rules.least, rules.most, rules.island
    ascending, cuts = rules.ascending, rules.cuts
    members = len(least)
    load, count = [0] * members, [0] * members
    for p in range(len(owned)):
        if owned[p] >= 0:
            load[owned[p]] += lag[p]
            count[owned[p]] += 1
    for m in range(members):
        limit[m] = cap
    free, company = [0] * len(owned), [0] * (len(owned) + 1)
    for number in range(len(cuts) - 1):
        size = 0
        for at in range(cuts[number], cuts[number + 1]):
            p = ascending[at]
            if owned[p] < 0:
                free[size] = p
                company[size + 1] = company[size] + lag[p]
                size += 1
        for m in range(members):
            if island[m] != number:
                continue
            need = max(least[m] - count[m], 0)
            if need > size or load[m] + company[need] > cap:
                return False
            limit[m] = cap - load[m] - company[max(need - 1, 0)]
            if not 0 < need < size:
                continue
            left, next_lag = cap - load[m] - company[need], lag[free[need]]
            for at in range(need):
                if next_lag - lag[free[at]] <= left:
                    break  # the larger ones can be done without, too
                if owned[free[at]] >= 0:
                    return False
                owned[free[at]] = m
    for m in range(members):
        if count[m] >= most[m] and island[m] >= 0:
            limit[m] = -1
    return True


@kernel
def narrow(  # noqa: C901  one pass
    rules: Any, cap: int, owned: Any, partition: Any, member: Any, limit: Any
) -> Any:
    """
    Who may own what under a cap.

    Args:
        rules: `Bounds`.
        cap: Offsets.
        owned: (N) who owns it by decision, NONE where open; changed.
        partition, member: (bans) who is decided not to own what, by partition.
        limit: (M) room to work in.

    Returns:
        How many realms there are, 0 where no assignment obeys, UNCHANGED where all do; then as `Leeway` has them
        realm, may (flat), start, member and holder.
    """
    lag, realm, may, holder = rules.lag, rules.realm, rules.may, rules.holder
    members, count = len(limit), len(owned)
    nothing = np.zeros(0, np.int64)
    none = np.zeros(0, np.bool_)
    if not bounds_of(rules, cap, owned, limit):
        return _IMPOSSIBLE, nothing, none, nothing, nothing, nothing
    decided, least, most = len(partition) > 0, cap, 0
    for p in range(count):
        decided = decided or owned[p] >= 0
        most = max(most, lag[p])
    for m in range(members):
        least = min(least, limit[m])
    if not decided and least >= most:
        return UNCHANGED, nothing, none, nothing, nothing, nothing
    special = [owned[p] + 1 for p in range(count)]
    last, name = -1, members
    for at in range(len(partition)):
        p = partition[at]
        if owned[p] >= 0:
            if owned[p] == member[at]:
                return _IMPOSSIBLE, nothing, none, nothing, nothing, nothing
        else:
            name += p != last
            special[p] = name
        last = p
    steps = [limit[m] for m in range(members)]
    steps.sort()
    realms = len(may) // members
    keys = [(0, 0)] * count
    for p in range(count):
        low, high = 0, members  # the first step that is high enough
        while low < high:
            middle = (low + high) // 2
            if steps[middle] < lag[p]:
                low = middle + 1
            else:
                high = middle
        keys[p] = ((special[p] * (members + 1) + low) * realms + realm[p], p)
    keys.sort()
    new_realm, first, last = [0] * count, [0] * 0, -1
    for key, p in keys:
        if key != last:
            first.append(p)
            last = key
        new_realm[p] = len(first) - 1
    table = [False] * (len(first) * members)
    for row in range(len(first)):
        p = first[row]
        own, base, at = owned[p], row * members, realm[p] * members
        if own >= 0:
            table[base + own] = bool(may[at + own])
        else:
            for m in range(members):
                table[base + m] = may[at + m] and lag[p] <= limit[m]
    for at in range(len(partition)):
        if owned[partition[at]] < 0:
            table[new_realm[partition[at]] * members + member[at]] = False
    start, those = [0] * (len(first) + 1), [0] * 0
    for row in range(len(first)):
        for m in range(members):
            if table[row * members + m]:
                those.append(m)
        start[row + 1] = len(those)
        if start[row + 1] == start[row]:
            return _IMPOSSIBLE, nothing, none, nothing, nothing, nothing
    goes_on = [-1] * count
    for p in range(count):
        if holder[p] >= 0 and table[new_realm[p] * members + holder[p]]:
            goes_on[p] = holder[p]
    return (
        len(first),
        np.array(new_realm),
        np.array(table),
        np.array(start),
        np.array(those),
        np.array(goes_on),
    )
