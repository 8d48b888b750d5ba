"""What the fairest counts leave open: who may own what, how many each, and what the later criteria look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenkeel.engine.assignors.balanced.counts import Counts
from evenkeel.engine.assignors.balanced.problem import Problem
from evenkeel.engine.model import NONE, Flags, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leeway:
    """
    M members, N partitions; classes of topics that the same members may own from now on are one *realm*.

    Attributes:
        least, most: (M) partitions a member owns, at most one more than at least.
        pool, island: (M) as in `Counts`; extra: (pools) how many members of each pool own their most.
        realm: (N) which members may own a partition; island_of: (N) the island of all of them.
        start, member: Ragged, realm -> those members, ascending; may: (realms, M) the same as a table.
        lag: (N) offsets, 0 where lags are left out.
        holder: (N) who owns it now and may go on; NONE otherwise.
        forced_moves: Partitions that change hands whatever is done.
        site, pattern, crosses, known: As in `Problem`.
    """

    least: Ints
    most: Ints
    pool: Ints
    island: Ints
    extra: Ints
    realm: Ints
    island_of: Ints
    start: Ints
    member: Ints
    may: Flags
    lag: Ints
    holder: Ints
    forced_moves: int
    site: Ints
    pattern: Ints
    crosses: Flags
    known: Flags

    @property
    def members(self) -> int:
        """M."""
        return len(self.least)

    @property
    def partitions(self) -> int:
        """N."""
        return len(self.realm)

    @property
    def islands(self) -> int:
        """One more than the last island's number; some may be empty."""
        return int(self.island.max(initial=NONE)) + 1

    @property
    def racks_matter(self) -> bool:
        """Whether the choice of owners can change the cross-rack share."""
        return self.crosses.shape != (1, 1)


def leeway_of(problem: Problem, counts: Counts) -> Leeway:
    """
    >>> from evenkeel.engine.assignor import spec
    >>> from evenkeel.engine.assignors.balanced.counts import fairest
    >>> from evenkeel.engine.assignors.balanced.problem import problem_of
    >>> group = spec({"a": ["t"], "b": ["t", "u"]}, {"t": 1, "u": 2}, owned={"b": [("t", 0)]})
    >>> problem = problem_of(group)
    >>> leeway = leeway_of(problem, fairest(problem))  # b has two of u, so t must go to a
    >>> leeway.most.tolist(), leeway.may.tolist(), leeway.forced_moves
    ([1, 2], [[True, False], [False, True]], 1)
    """
    realms: dict[bytes, int] = {}
    members: list[Ints] = []
    realm_of_class = np.zeros(problem.classes, np.int64)
    for one in range(problem.classes):
        mine = counts.member[counts.start[one] : counts.start[one + 1]]
        realm_of_class[one] = realms.setdefault(mine.tobytes(), len(members))
        if realm_of_class[one] == len(members):
            members.append(mine)
    start = np.zeros(len(members) + 1, np.int64)
    np.cumsum([len(m) for m in members], out=start[1:])
    may = np.zeros((len(members), problem.members + 1), np.bool_)  # the last column is NONE's
    for row, mine in enumerate(members):
        may[row, mine] = True
    realm = realm_of_class[problem.topic_class]
    first = np.array([m[0] for m in members], np.int64)
    holder = np.where(may[realm, problem.holder], problem.holder, NONE)
    lost = (problem.holder != NONE).sum() - (holder != NONE).sum()
    lag = np.zeros(problem.partitions, np.int64) if problem.lag is None else problem.lag
    return Leeway(
        least=counts.least,
        most=counts.most,
        pool=counts.pool,
        island=counts.island,
        extra=counts.extra,
        realm=realm,
        island_of=counts.island[first][realm],
        start=start,
        member=np.concatenate([np.zeros(0, np.int64), *members]),
        may=may[:, :-1],
        lag=lag,
        holder=holder,
        forced_moves=problem.forced_moves + int(lost),
        site=problem.site,
        pattern=problem.pattern,
        crosses=problem.crosses,
        known=problem.known,
    )
