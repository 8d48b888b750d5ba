"""What a member can consume: configured, or the most it was seen to consume while it had lag to consume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from evenkeel.engine.metrics.history import Past
from evenkeel.engine.model import NONE, Column, Floats, GroupSnapshot, Indices


def seen_capacity(
    group: GroupSnapshot, earlier: Sequence[GroupSnapshot], past: Past, lags: Sequence[Column]
) -> Floats:
    """
    (M) offsets/s, nan where never seen.

    Between two consecutive snapshots, a member's consumption is the growth of the commits of the partitions it owned
    in both; it counts when those partitions had lag at the start. A member is recognised by its id while it lives,
    over restarts by `Member.identity`, unless another member has the same.

    Args:
        group: The group now.
        earlier: Its earlier snapshots, newest first, aligned in *past*.
        past: Their partitions in the order of the present ones.
        lags: Lag of the present partitions now and at each earlier snapshot.
    """
    owners = [group.partitions.owner]
    for sample, old in enumerate(earlier):
        owners.append(_owners_now(group, old, past, sample))
    commits = [group.partitions.committed]
    moments = [group.partitions.committed_at_ms]
    for sample in range(len(earlier)):
        commits.append(past.column("committed", sample))
        moments.append(past.column("committed_at_ms", sample))
    best = np.full(len(group.members), np.nan)
    for new in range(len(earlier)):
        then = new + 1
        seconds = (moments[new].values - moments[then].values) / 1000
        grown = commits[new].values - commits[then].values
        usable = (owners[new] != NONE) & (owners[new] == owners[then]) & (seconds > 0)
        usable &= commits[new].known & commits[then].known & (grown >= 0)
        usable &= moments[new].known & moments[then].known
        seen = np.zeros(len(best))
        np.add.at(seen, owners[new][usable], grown[usable] / seconds[usable])
        behind = usable & lags[then].known & (lags[then].values > 0)
        had_lag = np.bincount(owners[new][behind], minlength=len(best)) > 0
        best = np.where(had_lag & (seen > 0), np.fmax(best, seen), best)
    return best


def _owners_now(now: GroupSnapshot, old: GroupSnapshot, past: Past, sample: int) -> Indices:
    """Owner of each present partition at an earlier snapshot, as an index into the present members."""
    by_id = {m.id: i for i, m in enumerate(now.members)}
    by_identity = {m.identity: i for i, m in enumerate(now.members)}
    several = _shared_identities(now) | _shared_identities(old)
    same = [
        by_id.get(m.id, NONE if m.identity in several else by_identity.get(m.identity, NONE))
        for m in old.members
    ]
    translated = np.array([*same, NONE], np.int32)
    row = past.rows[sample]
    if not len(old.partitions):
        return np.full(len(row), NONE, np.int32)
    owner = translated[old.partitions.owner[row]]
    return np.where(row == NONE, np.int32(NONE), owner)


def _shared_identities(group: GroupSnapshot) -> set[str]:
    """Identities that more than one member has, as consumers of one program may."""
    count = Counter(m.identity for m in group.members)
    return {identity for identity, members in count.items() if members > 1}
