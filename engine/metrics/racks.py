"""What crosses racks: a partition read from a rack that holds none of its replicas costs money in most clouds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenkeel.engine.model import NONE, Flags, Indices, Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class Crossing:
    """Per partition: whether it is known to cross, and whether that could be told at all (owner and replicas known)."""

    crosses: Flags
    known: Flags

    def share(self, weight: npt.NDArray[np.float64] | None = None) -> float | None:
        """
        Crossing partitions over those that could be told, or their weights (offsets/s).

        None when none could be told, a weight among them is unknown, or all weights are 0.
        """
        if weight is None:
            told = int(self.known.sum())
            return int(self.crosses.sum()) / told if told else None
        total = float(weight[self.known].sum())
        if np.isnan(total) or total == 0:
            return None
        return float(weight[self.crosses].sum()) / total


def replica_crossing(
    owner_rack: Indices, replica_start: Ints, replica_rack: Indices, counts: Flags | None = None
) -> Crossing:
    """
    Whether each partition's owner is in a rack without a replica.

    A replica on a broker without rack leaves it open unless another one matches; no replicas at all leave it open too.

    Args:
        owner_rack: (P) rack of the owner, NONE when unknown or unowned.
        replica_start, replica_rack: Ragged racks of the replicas.
        counts: Per replica entry, whether it counts (in-sync ones only); all without it.
    """
    size = np.diff(replica_start)
    row = np.repeat(np.arange(len(size)), size)
    counted = np.ones(len(row), np.bool_) if counts is None else counts
    match = _any_of(row, counted & (replica_rack == owner_rack[row]), len(size))
    unracked = _any_of(row, counted & (replica_rack == NONE), len(size))
    has_any = _any_of(row, counted, len(size))
    owned = owner_rack != NONE
    known = owned & has_any & (match | ~unracked)
    return Crossing(crosses=known & ~match, known=known)


def leader_crossing(owner_rack: Indices, leader_rack: Indices) -> Crossing:
    """Whether each partition's leader is in another rack: what costs without follower fetching."""
    known = (owner_rack != NONE) & (leader_rack != NONE)
    return Crossing(crosses=known & (owner_rack != leader_rack), known=known)


def _any_of(row: Ints, condition: Flags, count: int) -> Flags:
    """(count) whether the condition holds for any entry of each row."""
    return np.bincount(row[condition], minlength=count).astype(np.bool_)
