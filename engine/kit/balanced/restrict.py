"""What a cap on member lag, and owners already decided, leave of the leeway."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from functools import cached_property

import numpy as np

from engine.kit.balanced.leeway import Leeway
from engine.model import NONE, Flags, Ints


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
        order = np.lexsort((leeway.lag, leeway.island_of))
        cuts = np.searchsorted(leeway.island_of[order], np.arange(leeway.islands + 1))
        self._ascending = [order[a:b] for a, b in zip(cuts[:-1], cuts[1:], strict=True)]

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
        nth = np.arange(len(held)) - first[holder] + 1  # so many are kept: those of least lag, of most lag
        lags = leeway.lag[held]
        before = _sums(lags)
        lightest = before[first[holder] + nth] - before[first[holder]]
        last = (first + count)[holder]
        heaviest = before[last] - before[last - nth]
        for number, mine in enumerate(self._ascending):
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
        limit = self._limits(fixed)
        if limit is None:
            return None
        special = np.zeros(leeway.partitions, np.int64)
        names = sorted({*fixed, *banned})
        special[names] = np.arange(1, len(names) + 1)
        if not names and limit.min(initial=self.cap) >= leeway.lag.max(initial=0):
            return leeway
        steps = np.unique(limit)
        height = np.searchsorted(steps, leeway.lag)  # the first step that is high enough
        keys = (special * (len(steps) + 1) + height) * len(leeway.may) + leeway.realm
        found, first, realm = np.unique(keys, return_index=True, return_inverse=True)
        may: Flags = leeway.may[leeway.realm[first]] & (leeway.lag[first][:, None] <= limit)
        for partition in names:
            row = int(realm[partition])
            if partition in fixed:
                may[row] = False
                may[row, fixed[partition]] = True
            may[row, sorted(banned.get(partition, ()))] = False
        if not may.any(axis=1).all():
            return None
        return self._with(may, realm.astype(np.int64))

    def _limits(self, fixed: Mapping[int, int]) -> Ints | None:
        """(M) the largest lag of a partition that a member could still own."""
        leeway = self.leeway
        load, count = np.zeros(leeway.members, np.int64), np.zeros(leeway.members, np.int64)
        for partition, member in fixed.items():
            load[member] += leeway.lag[partition]
            count[member] += 1
        limit = np.full(leeway.members, self.cap, np.int64)
        lacking = np.maximum(leeway.least - count, 0)
        for number, mine in enumerate(self._ascending):
            free = mine[[p not in fixed for p in mine.tolist()]] if fixed else mine
            company = _sums(leeway.lag[free])
            who = np.flatnonzero(leeway.island == number)
            need = lacking[who]
            if (need >= len(company)).any() or (load[who] + company[need] > self.cap).any():
                return None
            limit[who] = self.cap - load[who] - company[np.maximum(need - 1, 0)]
        limit[(count >= leeway.most) & (leeway.island != NONE)] = -1
        return limit

    def _with(self, may: Flags, realm: Ints) -> Leeway:
        leeway = self.leeway
        rows, member = np.nonzero(may)
        holder = np.where(may[realm, leeway.holder], leeway.holder, NONE)
        lost = int((leeway.holder != NONE).sum() - (holder != NONE).sum())
        return replace(
            leeway,
            realm=realm,
            start=np.searchsorted(rows, np.arange(len(may) + 1)).astype(np.int64),
            member=member,
            may=may,
            holder=holder,
            forced_moves=leeway.forced_moves + lost,
        )


def _sums(values: Ints) -> Ints:
    """Entry i is the sum of the first i."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
