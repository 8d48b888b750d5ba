"""
Members as queues that a backlog fills and a capacity empties, and the loops that deal partitions out to them.

A member with a backlog of L (offsets) and S (offsets/s) to spare has `max(0, L - S t)` left after t seconds. Over the
horizon H that is a lag integral of

    I(L, S) = T (L - S T / 2),   T = L / S where it drains before H, else H,

which is what `metrics.forecast` has of arrivals that do not vary. It is the largest of `T (L - S T / 2)` over all T up
to H, so it is convex, and T is the price of an offset and `T T / 2` that of an arrival per second: what a member loses
by taking a partition is never less than these say, which spares most of what there would be to try.

The loops are kernels over flat lists or arrays (`evenkeel.engine.assignors.kit.kernels`); of equally good ways the
first is taken, in either form.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...model.arrays import NONE, Flags, Floats, Ints
from ..kit.kernels import kernel

NEIGHBORS = 16
"""With so many members, those that drain first, a partition may be exchanged."""


class Queues(NamedTuple):
    """
    What the loops look at, flat; n partitions, M members, K classes of topics.

    Attributes:
        lag: (n) offsets, those a change of the assignment holds up among them.
        extra: (n) offsets more where it is not its holder who has it.
        rate: (n) offsets/s that arrive.
        capacity: (M) offsets/s.
        topic_class: (n) class of the partition's topic.
        may: (K x M) whether the member subscribes to the class.
        holder: (n) who owns it now, NONE for nobody who may.
        horizon: Seconds.
    """

    lag: Floats
    extra: Floats
    rate: Floats
    capacity: Floats
    topic_class: Ints
    may: Flags
    holder: Ints
    horizon: float


class Held(NamedTuple):
    """
    Who owns what, and what follows from it.

    Attributes:
        owner: (n) NONE while nobody does.
        backlog, spare, seconds: (M) offsets, offsets/s left, and until it is drained, the horizon at most.
        owns: (M) partitions owned.
        first: (M) one of a member's partitions; *after*, *before* (n): its others, one from the other; -1 ends.
        ring, spot: (M) members, who drains first before others; where each stands.
    """

    owner: Ints
    backlog: Floats
    spare: Floats
    seconds: Floats
    owns: Ints
    first: Ints
    after: Ints
    before: Ints
    ring: Ints
    spot: Ints

    @staticmethod
    def nothing(queues: Queues) -> Held:
        """Where nobody owns anything."""
        members = len(queues.capacity)
        zeros, ring = np.zeros(members), np.arange(members)
        nobody, nothing = np.full((3, len(queues.lag)), NONE), np.full(members, NONE)
        return Held(
            owner=nobody[0],
            backlog=zeros,
            spare=queues.capacity.copy(),
            seconds=zeros.copy(),
            owns=np.zeros(members, np.int64),
            first=nothing,
            after=nobody[1],
            before=nobody[2],
            ring=ring,
            spot=ring.copy(),
        )


@kernel
def until_drained(backlog: float, spare: float, horizon: float) -> float:
    """Seconds, the horizon at most."""
    if backlog <= 0 and spare >= 0:
        return 0.0
    return backlog / spare if backlog < spare * horizon else horizon


@kernel
def put(queues: Any, held: Any, p: int, member: int) -> None:
    """Give a partition to a member, whoever had it; both find their place among those who drain first."""
    owner, backlog, spare, seconds, owns, first, after, before, ring, spot = held
    old, home = owner[p], queues.holder[p]
    if old >= 0:
        backlog[old] -= queues.lag[p] + (queues.extra[p] if home != old else 0.0)
        spare[old] += queues.rate[p]
        owns[old] -= 1
        if before[p] >= 0:
            after[before[p]] = after[p]
        else:
            first[old] = after[p]
        if after[p] >= 0:
            before[after[p]] = before[p]
    owner[p] = member
    backlog[member] += queues.lag[p] + (queues.extra[p] if home != member else 0.0)
    spare[member] -= queues.rate[p]
    owns[member] += 1
    before[p], after[p] = -1, first[member]
    if first[member] >= 0:
        before[first[member]] = p
    first[member] = p
    for m in (member, old):
        if m < 0:
            continue
        seconds[m] = until_drained(backlog[m], spare[m], queues.horizon)
        at = spot[m]
        while at > 0 and seconds[m] < seconds[ring[at - 1]]:
            ring[at], spot[ring[at - 1]] = ring[at - 1], at
            at -= 1
        while at + 1 < len(ring) and seconds[m] > seconds[ring[at + 1]]:
            ring[at], spot[ring[at + 1]] = ring[at + 1], at
            at += 1
        ring[at], spot[m] = m, at


@kernel
def dealt(queues: Any, held: Any, order: Any, owners: Any) -> None:
    """
    Give out all partitions, to *owners* (n) first, and those of nobody where they cost least.

    Of equal ways its holder is preferred, then who has most to spare, then who owns fewest.
    """
    backlog, spare, seconds, ring = held.backlog, held.spare, held.seconds, held.ring
    for p in order:
        if owners[p] >= 0:
            put(queues, held, p, owners[p])
    for p in order:
        if owners[p] >= 0:
            continue
        row, rate, home = queues.topic_class[p] * len(ring), queues.rate[p], queues.holder[p]
        taker, least, moves = -1, 0.0, 0
        for m in ring:
            t = seconds[m]
            if taker >= 0 and queues.lag[p] * t + rate * t * t / 2 > least:
                break
            if not queues.may[row + m]:
                continue
            moved = 1 if home >= 0 and home != m else 0
            lag = backlog[m] + queues.lag[p] + moved * queues.extra[p]
            then = until_drained(lag, spare[m] - rate, queues.horizon)
            cost = then * (lag - (spare[m] - rate) * then / 2) - t * (backlog[m] - spare[m] * t / 2)
            if (
                taker < 0
                or cost < least
                or (
                    cost == least
                    and (moved, -spare[m], held.owns[m]) < (moves, -spare[taker], held.owns[taker])
                )
            ):
                taker, least, moves = m, cost, moved
        put(queues, held, p, taker)


@kernel
def improved(queues: Any, held: Any, tiny: float, left: int) -> int:  # noqa: C901  one pass
    """
    Take from who drains last, by the one move that saves most, or the one exchange, until none saves anything.

    Args:
        queues, held: `Queues`, `Held`.
        tiny: Offset-seconds that are nothing.
        left: Work left.

    Returns:
        The work left then, below 0 when there was too little.
    """
    lags, extra, rates, holder = queues.lag, queues.extra, queues.rate, queues.holder
    may, topic_class, horizon = queues.may, queues.topic_class, queues.horizon
    _, backlog, spare, seconds, owns, first, after, _, ring, _ = held
    members = len(ring)
    tired, better = [False] * members, False
    while left >= 0:
        at = members - 1
        while at >= 0 and (tired[ring[at]] or owns[ring[at]] == 0):
            at -= 1
        left -= members - at
        if at <= 0 or seconds[ring[at]] <= 0:
            if not better:
                break
            tired, better = [False] * members, False
            continue
        a = ring[at]
        ta, best, given, taker, taken = seconds[a], -tiny, -1, -1, -1
        whole = ta * (backlog[a] - spare[a] * ta / 2)
        for swaps in range(2):
            if given >= 0 or left < 0:
                break
            p = first[a]
            while p >= 0:
                mine = lags[p] + (extra[p] if holder[p] != a else 0.0)
                gives = mine * ta + rates[p] * ta * ta / 2
                row = topic_class[p] * members
                for place in range(min(at, NEIGHBORS) if swaps else at):
                    b = ring[place]
                    tb = seconds[b]
                    left -= 1
                    if tb >= ta or lags[p] * tb + rates[p] * tb * tb / 2 - gives >= best * (
                        1 - swaps
                    ):
                        break  # nor do those that drain later
                    if not may[row + b]:
                        continue
                    theirs = lags[p] + (extra[p] if holder[p] != b else 0.0)
                    both = whole + tb * (backlog[b] - spare[b] * tb / 2)
                    if swaps:  # as one queue they would save more than by any exchange
                        lag, free = backlog[a] + backlog[b], spare[a] + spare[b]
                        t = until_drained(lag, free, horizon)
                        if t * (lag - free * t / 2) - both >= best:
                            continue
                    q = first[b] if swaps else -1
                    while True:
                        from_a, to_b, rate = mine, theirs, rates[p]
                        if q >= 0:
                            left -= 1
                            from_a -= lags[q] + (extra[q] if holder[q] != a else 0.0)
                            to_b -= lags[q] + (extra[q] if holder[q] != b else 0.0)
                            rate -= rates[q]
                        low = to_b * tb - from_a * ta + rate * (tb * tb - ta * ta) / 2
                        if low < best and (q < 0 or may[topic_class[q] * members + a]):
                            la, sa = backlog[a] - from_a, spare[a] + rate
                            lb, sb = backlog[b] + to_b, spare[b] - rate
                            t, u = until_drained(la, sa, horizon), until_drained(lb, sb, horizon)
                            saved = t * (la - sa * t / 2) + u * (lb - sb * u / 2) - both
                            if saved < best:
                                best, given, taker, taken = saved, p, b, q
                        q = after[q] if q >= 0 else -1
                        if q < 0:
                            break
                p = after[p]
        if given < 0:
            tired[a] = True
            continue
        put(queues, held, given, taker)
        if taken >= 0:
            put(queues, held, taken, a)
        better = True
    return left


@kernel
def searched(queues: Any, held: Any, order: Any, owners: Any, share: float, left: int) -> int:
    """
    Deal out and improve.

    Args:
        queues, held: `Queues`, `Held` of nothing.
        order, owners: As of `dealt`.
        share: Of the lag integral that is nothing.
        left: Work left.

    Returns:
        The work left then, below 0 when there was too little.
    """
    dealt(queues, held, order, owners)
    total = 0.0
    for m in range(len(held.ring)):
        t = held.seconds[m]
        total += t * (held.backlog[m] - held.spare[m] * t / 2)
    return improved(queues, held, share * total, left)


@kernel
def tried(
    queues: Any, order: Any, rest: Any, best: float, moves: int, owner: Any, left: int
) -> tuple[float, int]:
    """
    The best assignment there is: of least lag integral, then of fewest moves.

    Args:
        queues: `Queues`.
        order: (n) partitions, the longest backlog first.
        rest: (n + 1) what the partitions from each place of *order* on cost at least.
        best, moves: Of the best known way, to stay included.
        owner: (n) changed to a better one, if there is any.
        left: Work left.

    Returns:
        The least there is, and the work left: below 0 where not all were tried.
    """
    count, members = len(order), len(queues.capacity)
    backlog, spare, value = [0.0] * members, [c for c in queues.capacity], [0.0] * members
    member, kept, moved = [-1] * count, [(0.0, 0.0, 0.0)] * count, [0] * (count + 1)
    sums, depth, tiny = [0.0] * (count + 1), 0, best * 1e-12
    while depth >= 0 and left >= 0:
        p, m = order[depth], member[depth]
        if m >= 0:
            backlog[m], spare[m], value[m] = kept[depth]
        m += 1
        member[depth] = m
        if m == members:
            member[depth] = -1
            depth -= 1
            continue
        left -= 1
        kept[depth] = (backlog[m], spare[m], value[m])
        if not queues.may[queues.topic_class[p] * members + m]:
            continue
        moved[depth + 1] = moved[depth]
        backlog[m] += queues.lag[p]
        if queues.holder[p] >= 0 and queues.holder[p] != m:
            backlog[m] += queues.extra[p]
            moved[depth + 1] += 1
        spare[m] -= queues.rate[p]
        t = until_drained(backlog[m], spare[m], queues.horizon)
        value[m] = t * (backlog[m] - spare[m] * t / 2)
        sums[depth + 1] = sums[depth] + value[m] - kept[depth][2]
        low = sums[depth + 1] + rest[depth + 1]
        if low > best + tiny or (low > best - tiny and moved[depth + 1] >= moves):
            continue
        if depth + 1 < count:
            depth += 1
            continue
        best, moves = sums[count], moved[count]
        for place in range(count):
            owner[order[place]] = member[place]
    return best, left
