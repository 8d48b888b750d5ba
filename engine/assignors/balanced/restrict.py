"""What a cap on member lag, and owners already decided, leave of the leeway."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Set
from dataclasses import replace
from functools import cached_property

import numpy as np

from evenkeel.engine.assignors.balanced.leeway import Leeway
from evenkeel.engine.model import NONE, Flags, Ints


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
        self._ascending = [order[a:b] for a, b in itertools.pairwise(cuts)]

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
        found = self._bounds(fixed)
        if found is None:
            return None
        limit, owned = found
        decided = (owned != NONE).any() or len(banned) > 0
        if not decided and limit.min(initial=self.cap) >= leeway.lag.max(initial=0):
            return leeway
        special = owned + 1
        names = sorted(p for p in banned if owned[p] == NONE)
        special[names] = np.arange(1, len(names) + 1) + leeway.members
        steps = np.unique(limit)
        height = np.searchsorted(steps, leeway.lag)  # the first step that is high enough
        keys = (special * (len(steps) + 1) + height) * len(leeway.may) + leeway.realm
        _, first, realm = np.unique(keys, return_index=True, return_inverse=True)
        may: Flags = leeway.may[leeway.realm[first]] & (leeway.lag[first][:, None] <= limit)
        settled = np.flatnonzero(owned[first] != NONE)
        may[settled] = leeway.may[leeway.realm[first[settled]]]
        may[settled] &= np.arange(leeway.members) == owned[first[settled], None]
        for partition, members in banned.items():
            if owned[partition] == NONE:
                may[realm[partition], sorted(members)] = False
            elif owned[partition] in members:
                return None
        if not may.any(axis=1).all():
            return None
        return self._with(may, realm.astype(np.int64))

    def _bounds(self, fixed: Mapping[int, int]) -> tuple[Ints, Ints] | None:
        """(M) the largest lag of a partition that a member could still own; (N) who must own it, NONE where open."""
        leeway = self.leeway
        owned = np.full(leeway.partitions, NONE, np.int64)
        owned[list(fixed)] = list(fixed.values())
        decided = np.flatnonzero(owned != NONE)
        load, count = np.zeros(leeway.members, np.int64), np.zeros(leeway.members, np.int64)
        np.add.at(load, owned[decided], leeway.lag[decided])
        np.add.at(count, owned[decided], 1)
        limit = np.full(leeway.members, self.cap, np.int64)
        lacking = np.maximum(leeway.least - count, 0)
        for number, mine in enumerate(self._ascending):
            free = mine[owned[mine] == NONE]
            company = _sums(leeway.lag[free])
            who = np.flatnonzero(leeway.island == number)
            need = lacking[who]
            if (need >= len(company)).any() or (load[who] + company[need] > self.cap).any():
                return None
            limit[who] = self.cap - load[who] - company[np.maximum(need - 1, 0)]
            if not self._forced(free, who, need, self.cap - load[who] - company[need], owned):
                return None
        limit[(count >= leeway.most) & (leeway.island != NONE)] = -1
        return limit, owned

    def _forced(self, free: Ints, who: Ints, need: Ints, slack: Ints, owned: Ints) -> bool:
        """Mark partitions without which a member's company would be too much; False where two need the same."""
        lag = self.leeway.lag
        for member, number, left in zip(who.tolist(), need.tolist(), slack.tolist(), strict=True):
            if not 0 < number < len(free) or lag[free[number]] - lag[free[0]] <= left:
                continue
            must = free[:number][lag[free[number]] - lag[free[:number]] > left]
            if (owned[must] != NONE).any():
                return False
            owned[must] = member
        return True

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
