"""Lag in offsets, per partition, each with the reason for its number; and what retention took before it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model.arrays import Column, Flags, Ints
from ..model.groups import PartitionTable
from ..model.labels import Labels
from ..model.states import LagBasis


@dataclass(frozen=True, kw_only=True, eq=False)
class Lag:
    """
    Per partition of a group's table.

    Attributes:
        for_people: ReadOffsets; unknown stays unknown.
        for_strategies: The same, but a partition without commit counts as the client's default reset, latest: 0.
        basis: Why each is that number.
        lost: ReadOffsets that retention removed before the group read them: max(0, begin - committed).
    """

    for_people: Column
    for_strategies: Column
    basis: Labels[LagBasis]
    lost: Column


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadOffsets:
    """
    What a lag follows from, per partition; a `PartitionTable` has all of it.

    Attributes:
        begin: Log start offsets.
        end: High watermarks, or last stable offsets.
        committed: The group's commits; unknown where there is none.
        commit_unread: Where a commit could not be read, which is not the same as none.
        reported_lag: What the broker tells of a share group; unknown elsewhere.
    """

    begin: Column
    end: Column
    committed: Column
    commit_unread: Flags
    reported_lag: Column


@dataclass(frozen=True, kw_only=True, eq=False)
class OffsetReset:
    """
    Where a group begins that has no commit: its own `auto.offset.reset`, per partition, or one for all.

    Attributes:
        configured: Whether it is known.
        latest: Whether that is the end of the log.
    """

    configured: Flags | np.bool_
    latest: Flags | np.bool_

    @classmethod
    def of(cls, setting: str | None) -> OffsetReset:
        """Of one group; None when it is not configured."""
        return cls(configured=np.bool_(setting is not None), latest=np.bool_(setting == "latest"))

    @classmethod
    def of_groups(cls, settings: Sequence[str | None], group: Ints) -> OffsetReset:
        """Of many: *settings* per group, and (n) the group of each partition."""
        configured = np.array([each is not None for each in settings], np.bool_)
        latest = np.array([each == "latest" for each in settings], np.bool_)
        return cls(configured=configured[group], latest=latest[group])


def measure_lag(table: PartitionTable | ReadOffsets, reset: OffsetReset) -> Lag:
    """
    How far behind a group is.

    What the broker reports of a share group is the truer number: of the records behind the start offset it counts those
    that are not acknowledged.

    Args:
        table: The group's partitions, or only their offsets; those of many groups, too.
        reset: The group's own setting (KIP-169 uses it where nothing is committed). Where there is nothing to read
            either, the lag is 0 whatever it is.

    Source: `docs/reference/metrics.md` has every case; KIP-169 for the one without a commit, KIP-1226 for share groups.
    """
    begin, end, committed = table.begin, table.end, table.committed
    below = committed.known & begin.known & (committed.values < begin.values)
    beyond = committed.known & end.known & (committed.values > end.values)
    within = committed.known & ~below & ~beyond
    backlog = end.values - begin.values
    since_begin = end.known & begin.known

    reported = within & table.reported_lag.known
    values = np.select(
        [beyond, below, reported],
        [0, backlog, table.reported_lag.values],
        end.values - committed.values,
    )
    known = np.where(below, since_begin, committed.known) & end.known
    without = ~committed.known & ~table.commit_unread
    at_end = reset.latest | ~reset.configured
    values = np.where(without, np.where(at_end, 0, backlog), values)
    # Wherever the group would begin in an empty log, it is at the end.
    empty = without & since_begin & (backlog == 0)
    known_without = empty | np.where(at_end, end.known & reset.latest, since_begin)
    for_people = Column(values, np.where(without, known_without, known))
    by_default = without & end.known & ~reset.configured
    places = {basis: np.int8(code) for code, basis in enumerate(LagBasis)}
    otherwise = np.where(
        reset.configured,
        np.where(reset.latest, places[LagBasis.RESET_LATEST], places[LagBasis.RESET_BEGIN]),
        places[LagBasis.NO_COMMIT],
    )
    return Lag(
        for_people=for_people,
        for_strategies=Column(np.where(by_default, 0, values), for_people.known | by_default),
        basis=Labels.choose(
            LagBasis,
            [~end.known, table.commit_unread, reported, within, below, beyond, empty],
            [
                LagBasis.NO_END,
                LagBasis.UNREAD,
                LagBasis.REPORTED,
                LagBasis.COMMITTED,
                LagBasis.BELOW_BEGIN,
                LagBasis.BEYOND_END,
                LagBasis.NOTHING_TO_READ,
            ],
            np.broadcast_to(otherwise, len(end)),
        ),
        lost=Column(np.maximum(begin.values - committed.values, 0), committed.known & begin.known),
    )
