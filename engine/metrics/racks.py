"""What crosses racks: a partition read from a rack that holds none of its replicas costs money in most clouds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..model.arrays import NONE, Flags, Indices, Ints


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Nearness:
    """
    In which racks partitions have replicas.

    Attributes:
        near: (P, racks + 1) whether a replica that counts is in that rack; never in the last, which NONE reads.
        racked: (P) whether all replicas that count have a rack, and there is one.
    """

    near: Flags
    racked: Flags

    @classmethod
    def of(
        cls, replica_start: Ints, replica_rack: Indices, racks: int, counts: Flags | None = None
    ) -> Nearness:
        """
        Args:
            replica_start, replica_rack: Ragged racks of the replicas, NONE without.
            racks: How many there are.
            counts: Per replica entry, whether it counts (in-sync ones only); all without it.
        """
        size = replica_start[1:] - replica_start[:-1]
        row = np.arange(len(size)).repeat(size)
        if counts is not None:
            row, replica_rack = row[counts], replica_rack[counts]
        near = np.zeros((len(size), racks + 1), np.bool_)
        near[row, replica_rack] = True
        some, unracked = near.any(axis=1), near[:, NONE].copy()
        near[:, NONE] = False
        return cls(near=near, racked=some & ~unracked)

    def crossing(self, owner_rack: Indices) -> Crossing:
        """Whether each partition's owner (by rack, NONE unknown or unowned) is in a rack without a replica."""
        match = self.near[np.arange(len(owner_rack)), owner_rack]
        known = (owner_rack != NONE) & (match | self.racked)
        return Crossing(crosses=known & ~match, known=known)


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
    racks = 1 + max(int(replica_rack.max(initial=NONE)), int(owner_rack.max(initial=NONE)))
    return Nearness.of(replica_start, replica_rack, racks, counts).crossing(owner_rack)


def leader_crossing(owner_rack: Indices, leader_rack: Indices) -> Crossing:
    """Whether each partition's leader is in another rack: what costs without follower fetching."""
    known = (owner_rack != NONE) & (leader_rack != NONE)
    return Crossing(crosses=known & (owner_rack != leader_rack), known=known)
