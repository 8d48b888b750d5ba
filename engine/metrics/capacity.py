"""What a member can consume: configured, or the most it was seen to consume while it had lag to consume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from evenkeel.engine.metrics.past import Past
from evenkeel.engine.model import NONE, Column, Floats, Indices


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
    now = past.now
    of_now = list(now.members.group.tolist())
    by_id = {key: i for i, key in enumerate(zip(of_now, now.members.ids, strict=True))}
    known = list(zip(of_now, now.members.identities, strict=True))
    by_identity = {key: i for i, key in enumerate(known)}
    shared_now = _shared(known)
    owners = []
    for old, of_group in zip(past.earlier, past.of_group, strict=True):
        numbers = np.full(len(old) + 1, NONE, np.int64)
        numbers[of_group[of_group != NONE]] = np.flatnonzero(of_group != NONE)
        group = numbers[old.members.group].tolist()
        then = list(zip(group, old.members.identities, strict=True))
        several = shared_now | _shared(then)
        same = [
            by_id.get((g, member), NONE if who in several else by_identity.get(who, NONE))
            for g, member, who in zip(group, old.members.ids, then, strict=True)
        ]
        owners.append(np.array([*same, NONE], np.int32)[old.partitions.owner])
    return owners


def _shared(identities: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """Identities that more than one member of a group has, as consumers of one program may."""
    return {identity for identity, members in Counter(identities).items() if members > 1}
