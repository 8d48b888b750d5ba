"""Lag in offsets, per partition, each with the reason for its number; and what retention took before it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evenkeel.engine.model import Column, Flags, LagBasis


@dataclass(frozen=True, kw_only=True, eq=False)
class Lag:
    """
    Per partition of a group's table.

    Attributes:
        shown: Offsets; unknown stays unknown.
        for_strategies: The same, but a partition without commit counts as the client's default reset, latest: 0.
        basis: One `LagBasis` per partition.
        lost: Offsets that retention removed before the group read them: max(0, begin - committed).
    """

    shown: Column
    for_strategies: Column
    basis: list[LagBasis]
    lost: Column


class Offsets(Protocol):
    """What a lag follows from, per partition: log start, end, commit, and whether the commit could not be read."""

    @property
    def begin(self) -> Column:
        """Log start offsets."""

    @property
    def end(self) -> Column:
        """High watermarks, or last stable offsets."""

    @property
    def committed(self) -> Column:
        """The group's commits; unknown where there is none."""

    @property
    def commit_unread(self) -> Flags:
        """Where a commit could not be read, which is not the same as none."""


def measure_lag(table: Offsets, auto_offset_reset: str | None) -> Lag:
    """
    How far behind a group is.

    Args:
        table: The group's partitions, or only their offsets.
        auto_offset_reset: The group's own setting (KIP-169 uses it where nothing is committed);
            None when not configured. Where there is nothing to read either, the lag is 0 whatever it is.

    Source: `engine/metrics/README.md` has every case; KIP-169 for the one without a commit.
    """
    begin, end, committed = table.begin, table.end, table.committed
    below = committed.known & begin.known & (committed.values < begin.values)
    beyond = committed.known & end.known & (committed.values > end.values)
    within = committed.known & ~below & ~beyond
    backlog = end.values - begin.values
    since_begin = end.known & begin.known

    values = np.select([beyond, below], [0, backlog], end.values - committed.values)
    known = np.where(below, since_begin, committed.known) & end.known
    without = ~committed.known & ~table.commit_unread
    latest, resets = auto_offset_reset == "latest", auto_offset_reset is not None
    values = np.where(without, 0 if latest or not resets else backlog, values)
    # Wherever the group would begin in an empty log, it is at the end.
    empty = without & since_begin & (backlog == 0)
    known_without = empty | (end.known & latest if latest or not resets else since_begin)
    shown = Column(values, np.where(without, known_without, known))
    by_default = without & end.known & (not resets)
    return Lag(
        shown=shown,
        for_strategies=Column(np.where(by_default, 0, values), shown.known | by_default),
        basis=_bases(
            end.known, table.commit_unread, within, below, beyond, empty, auto_offset_reset
        ),
        lost=Column(np.maximum(begin.values - committed.values, 0), committed.known & begin.known),
    )


def _bases(
    end_known: Flags,
    unread: Flags,
    within: Flags,
    below: Flags,
    beyond: Flags,
    empty: Flags,
    reset: str | None,
) -> list[LagBasis]:
    if reset is None:
        otherwise = LagBasis.NO_COMMIT
    else:
        otherwise = LagBasis.RESET_LATEST if reset == "latest" else LagBasis.RESET_BEGIN
    chosen = np.select(
        [~end_known, unread, within, below, beyond, empty],
        [
            LagBasis.NO_END,
            LagBasis.UNREAD,
            LagBasis.COMMITTED,
            LagBasis.BELOW_BEGIN,
            LagBasis.BEYOND_END,
            LagBasis.NOTHING_TO_READ,
        ],
        otherwise,
    )
    return [LagBasis(str(b)) for b in chosen.tolist()]
