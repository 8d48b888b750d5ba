"""What a member can consume: configured, or the most it was seen to consume while it had lag to consume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from evenkeel.engine.batch import Members
from evenkeel.engine.metrics.past import Past
from evenkeel.engine.model import NONE, Column, Floats, Indices, Ints


def seen_capacity(past: Past, lags: Sequence[Column]) -> Floats:
    """
    (M) offsets/s of each member of a batch, nan where never seen.

    Between two consecutive snapshots, a member's consumption is the growth of the commits of the partitions it owned
    in both; it counts when those partitions had lag at the start. A member is recognised by its id while it lives,
    over restarts by `Member.identity`, unless another member has the same.

    Args:
        past: The groups and their earlier samples.
        lags: (n) lag of the present partitions now and at each earlier sample.
    """
    table, members = past.now.partitions, len(past.now.members)
    owners = [table.owner, *past.gather(_owners(past), NONE, np.int32)]
    commits, moments = [table.committed], [table.committed_at_ms]
    for sample in range(past.samples):
        commits.append(past.column("committed", sample))
        moments.append(past.column("committed_at_ms", sample))
    best = np.full(members, np.nan)
    for new in range(past.samples):
        then = new + 1
        seconds = (moments[new].values - moments[then].values) / 1000
        grown = commits[new].values - commits[then].values
        usable = (owners[new] != NONE) & (owners[new] == owners[then]) & (seconds > 0)
        usable &= commits[new].known & commits[then].known & (grown >= 0)
        usable &= moments[new].known & moments[then].known
        speeds = grown[usable] / seconds[usable]
        consumed = np.bincount(owners[new][usable], speeds, minlength=members)
        behind = usable & lags[then].known & (lags[then].values > 0)
        had_lag = np.bincount(owners[new][behind], minlength=members) > 0
        best = np.where(had_lag & (consumed > 0), np.fmax(best, consumed), best)
    return best


def _owners(past: Past) -> list[Indices]:
    """Per earlier snapshot, the owner of each of its partitions as a present member; NONE for one who is gone."""
    recognised = _Recognised(past.now.members)
    owners = []
    for old, of_group in zip(past.earlier, past.of_group, strict=True):
        numbers = np.full(len(old) + 1, NONE, np.int64)
        numbers[of_group[of_group != NONE]] = np.flatnonzero(of_group != NONE)
        same = recognised.among(old.members, numbers[old.members.group])
        owners.append(np.append(same, np.int32(NONE))[old.partitions.owner])
    return owners


class _Recognised:
    """Who of the present members earlier ones are."""

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
