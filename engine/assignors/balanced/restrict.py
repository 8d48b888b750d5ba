"""What a cap on member lag, and owners already decided, leave of the leeway."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Set
from dataclasses import replace
from functools import cached_property

import numpy as np

from evenkeel.engine.assignors.balanced.leeway import Leeway
from evenkeel.engine.assignors.balanced.narrow import UNCHANGED, Bounds, narrow
from evenkeel.engine.assignors.balanced.work import ASKED
from evenkeel.engine.kit.compiled import at_work
from evenkeel.engine.model import NONE, Ints


class Capped:
    """
    A leeway under a cap on the lag of every member.

    Attributes:
        leeway: The leeway.
        cap: Offsets.
    """

    def __init__(self, leeway: Leeway, cap: int) -> None:
        """
        Args:
            leeway: What is open.
            cap: No member may own more lag (offsets).
        """
        self.leeway, self.cap = leeway, cap
        self._order = np.lexsort((leeway.lag, leeway.island_of))
        cuts = np.searchsorted(leeway.island_of[self._order], np.arange(leeway.islands + 1))
        self._cuts = cuts.astype(np.int64)

    @cached_property
    def keep(self) -> Ints:
        """(M) how many of what it holds a member can keep, so that neither it nor all others must break the cap."""
        leeway, cap = self.leeway, self.cap
        keep = np.zeros(leeway.members, np.int64)
        held = np.flatnonzero(leeway.holder != NONE)
        held = held[np.lexsort((leeway.lag[held], leeway.holder[held]))]
        holder = leeway.holder[held]
        count = np.bincount(holder, minlength=leeway.members)
        first = np.cumsum(count) - count
        nth = (
            np.arange(len(held)) - first[holder] + 1
        )  # so many are kept: those of least lag, of most lag
        lags = leeway.lag[held]
        before = _sums(lags)
        lightest = before[first[holder] + nth] - before[first[holder]]
        last = (first + count)[holder]
        heaviest = before[last] - before[last - nth]
        for number, (begin, end) in enumerate(itertools.pairwise(self._cuts.tolist())):
            mine = self._order[begin:end]
            ascending = _sums(leeway.lag[mine])
            own = leeway.island[holder] == number
            others = np.count_nonzero(leeway.island == number) - 1
            need = max(int(ascending[-1]) - others * cap, 0)
            who, kept = holder[own], nth[own]
            lacking = np.maximum(leeway.least[who] - kept, 0)
            rest = np.maximum(leeway.most[who] - kept, 0)
            fits = lightest[own] + ascending[lacking] <= cap
            fits &= heaviest[own] + ascending[-1] - ascending[len(mine) - rest] >= need
            fits &= kept <= leeway.most[who]
            np.maximum.at(keep, who[fits], kept[fits])
        return keep

    def narrowed(self, fixed: Mapping[int, int], banned: Mapping[int, Set[int]]) -> Leeway | None:
        """
        The leeway without owners that would break the cap; None where a member would break it in any case.

        Args:
            fixed: Partition -> its owner, decided.
            banned: Partition -> members decided not to own it.
        """
        leeway = self.leeway
        owned, limit = (
            np.full(leeway.partitions, NONE, np.int64),
            np.empty(leeway.members, np.int64),
        )
        owned[list(fixed)] = list(fixed.values())
        bans = sorted((p, m) for p, members in banned.items() for m in members)
        partition, member = np.array(bans, np.int64).reshape(-1, 2).T.copy()
        run = at_work(narrow, 4 * leeway.partitions + 2 * len(leeway.member), ASKED)
        if run is not narrow:
            found = run(self._bounds, self.cap, owned, partition, member, limit)
        else:
            lists = (array.tolist() for array in (owned, partition, member, limit))
            found = run(self._lists, self.cap, *lists)
        realms, realm, may, start, those, holder = found
        if realms <= 0:
            return leeway if realms == UNCHANGED else None
        lost = int((leeway.holder != NONE).sum() - (holder != NONE).sum())
        return replace(
            leeway,
            realm=realm,
            start=start,
            member=those,
            may=may.reshape(realms, leeway.members),
            holder=holder,
            forced_moves=leeway.forced_moves + lost,
        )

    @cached_property
    def _bounds(self) -> Bounds:
        leeway = self.leeway
        return Bounds(
            lag=leeway.lag,
            realm=leeway.realm,
            may=leeway.may.ravel(),
            holder=leeway.holder,
            least=leeway.least,
            most=leeway.most,
            island=leeway.island,
            ascending=self._order,
            cuts=self._cuts,
        )

    @cached_property
    def _lists(self) -> Bounds:
        return self._bounds.lists()


def _sums(values: Ints) -> Ints:
    """Entry i is the sum of the first i."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
