"""Members across snapshots: which of the present ones an earlier one is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from ..model.arrays import NONE, Indices, Ints
from ..model.batch import Members


class Recognised:
    """Who of the present members earlier ones are: by id while they live, over restarts by identity unless shared."""

    def __init__(self, members: Members) -> None:
        self.members = members
        self.ids = np.array(members.ids, np.object_)

    def among(self, then: Members, group: Ints) -> Indices:
        """
        (earlier members) the number of each among the present ones, NONE for one who is gone.

        Args:
            then: Members of an earlier snapshot.
            group: (earlier members) the present number of the group of each, NONE for none.
        """
        now = self.members.start
        at = now[group] + np.arange(len(then)) - then.start[then.group]
        there = np.flatnonzero((group != NONE) & (at < now[group + 1]))
        # most stay where they were: only the others have to be looked for
        stayed = there[np.array(then.ids, np.object_)[there] == self.ids[at[there]]]
        same = np.full(len(then), NONE, np.int32)
        same[stayed] = at[stayed]
        self._look_for(then, group, same)
        return same

    def _look_for(self, then: Members, group: Ints, same: Indices) -> None:
        """Fill in who does not stand where it stood."""
        wanted = np.zeros(len(self.members.start), np.bool_)
        wanted[group[(same == NONE) & (group != NONE)]] = True
        rows = np.flatnonzero(wanted[group]).tolist()
        known = [
            (g, then.identities[row]) for g, row in zip(group[rows].tolist(), rows, strict=True)
        ]
        several = self._shared | _shared(known)
        for row, who in zip(rows, known, strict=True):
            if same[row] == NONE:
                by_identity = NONE if who in several else self._by_identity.get(who, NONE)
                same[row] = self._by_id.get((who[0], then.ids[row]), by_identity)

    @cached_property
    def _by_id(self) -> dict[tuple[int, str], int]:
        members = self.members
        return {
            key: i for i, key in enumerate(zip(members.group.tolist(), members.ids, strict=True))
        }

    @cached_property
    def _identities(self) -> list[tuple[int, str]]:
        return list(zip(self.members.group.tolist(), self.members.identities, strict=True))

    @cached_property
    def _by_identity(self) -> dict[tuple[int, str], int]:
        return {who: i for i, who in enumerate(self._identities)}

    @cached_property
    def _shared(self) -> set[tuple[int, str]]:
        return _shared(self._identities)


def _shared(identities: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """Identities that more than one member of a group has, as consumers of one program may."""
    return {identity for identity, members in Counter(identities).items() if members > 1}
