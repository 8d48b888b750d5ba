"""
The samples of partitions side by side: what stood where, when, and how old the record at each commit was.

Row 0 is now, row k the k-th newest earlier sample of each partition's group; nan is unknown. Interval i lies between
sample i + 1 and sample i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.arrays import NONE, Column, Flags, Floats, Indices
from .past import Past, owned_together

STILL_SECONDS = 30.0
"""A commit that stands still for less may be the next one's turn: snapshots can be seconds apart."""

STILL_INTERVALS = 3
"""
So many intervals a commit must stand still, or so many it must have moved before it did: a group may commit more rarely
than it is looked at.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """
    Offsets, times and owners of n partitions at S moments, newest first.

    Attributes:
        begin, end: (S, n) offsets; nan unknown.
        committed: (S, n) the committed offset; without one, where the group would begin; nan unknown.
        at: (S, n) seconds since the epoch at which the end was read; nan unknown.
        owner: (S, n) the present member who owned it; NONE for nobody and for somebody who is gone. The members of a
            share group own its partitions together: the first of them stands for all (`past.owned_together`).
    """

    begin: Floats
    end: Floats
    committed: Floats
    at: Floats
    owner: Indices

    @classmethod
    def of(cls, past: Past, lags: Sequence[Column], owners: npt.NDArray[Any]) -> Samples:
        """
        The present partitions of a batch and their past.

        Args:
            past: The groups and their earlier samples.
            lags: (n) lag now and at each earlier sample.
            owners: (samples, n) owners at the earlier samples, as present members.
        """
        table = past.now.partitions

        def stacked(name: str) -> Floats:
            columns: list[Column] = [getattr(table, name)]
            columns += [past.column(name, sample) for sample in range(past.samples)]
            return np.array([column.floats() for column in columns], np.float64)

        end, committed = stacked("end"), stacked("committed")
        lag = np.array([column.floats() for column in lags], np.float64)
        # a share group may have acknowledged all, and its start offset not have moved on yet
        is_done = (lag == 0) & (committed < end)
        return cls(
            begin=stacked("begin"),
            end=end,
            committed=np.where(np.isnan(committed) | is_done, end - lag, committed),
            at=stacked("end_at_ms") / 1000,
            owner=owned_together(
                past, np.concatenate([table.owner[None], owners]).astype(np.int32)
            ),
        )

    def __len__(self) -> int:
        return len(self.end)

    @cached_property
    def seconds(self) -> Floats:
        """(S - 1, n) how long each interval is; nan unknown."""
        seconds: Floats = self.at[:-1] - self.at[1:]
        return np.where(seconds > 0, seconds, np.nan)

    @cached_property
    def arrived(self) -> Floats:
        """(S - 1, n) offsets produced in each interval; nan unknown, and where a log was cut at its end."""
        grown: Floats = self.end[:-1] - self.end[1:]
        return np.where(grown >= 0, grown, np.nan)

    @cached_property
    def consumed(self) -> Floats:
        """(S - 1, n) how far the commit went in each interval: below 0 where it was set back; nan unknown."""
        consumed: Floats = self.committed[:-1] - self.committed[1:]
        return consumed

    @cached_property
    def moved(self) -> Flags:
        """(S - 1, n) whether the commit went on in each interval."""
        moved: Flags = self.consumed > 0
        return moved

    @cached_property
    def current(self) -> Flags:
        """(S - 1, n) whether the commit at an interval's end had all that was there at its beginning."""
        current: Flags = self.committed[:-1] >= self.end[1:]
        return current

    @cached_property
    def stayed(self) -> Flags:
        """(S - 1, n) whether the same member had it at both ends of each interval."""
        stayed: Flags = (self.owner[:-1] == self.owner[1:]) & (self.owner[:-1] != NONE)
        return stayed

    @cached_property
    def stood(self) -> Flags:
        """(S - 1, n) whether the commit stood still through each interval, with one owner."""
        stood: Flags = self.stayed & (self.consumed == 0)
        return stood

    @cached_property
    def stands(self) -> Flags:
        """(n) whether the commit has stood still up to now, with one owner, for long enough to mean something."""
        on, passed = np.ones(self.end.shape[1], np.bool_), np.zeros(self.end.shape[1])
        intervals = np.zeros(self.end.shape[1], np.int64)
        for stood, seconds in zip(self.stood, self.seconds, strict=True):
            on &= stood
            passed += np.where(on, np.nan_to_num(seconds), 0)
            intervals += on
        used_to_move = self.moved.sum(axis=0) >= STILL_INTERVALS
        stands: Flags = (passed >= STILL_SECONDS) & (
            (intervals >= STILL_INTERVALS) | ((intervals > 0) & used_to_move)
        )
        return stands

    @cached_property
    def goes_on(self) -> Flags:
        """(n) whether the commit went on within the time after which standing still would mean something."""
        went, passed = np.zeros(self.end.shape[1], np.bool_), np.zeros(self.end.shape[1])
        for moved, seconds in zip(self.moved, self.seconds, strict=True):
            went |= moved & (passed < STILL_SECONDS)
            passed += np.nan_to_num(seconds)
        return went

    @cached_property
    def age(self) -> Floats:
        """
        (S, n) seconds since the end stood where the commit stands, at each sample; 0 where all is committed.

        Interpolated between samples. Before the oldest one, records are taken to have arrived as fast as since; where
        nothing has, it is at least the time since then, and unknown without a past.
        """
        return np.array([self._age_at(sample) for sample in range(len(self))], np.float64)

    def _age_at(self, sample: int) -> Floats:
        age = np.where(self.committed[sample] >= self.end[sample], 0.0, np.nan)
        rows = np.flatnonzero(self.committed[sample] < self.end[sample])
        """Whose age is not found yet."""
        committed, newer, at = (each[sample][rows] for each in (self.committed, self.end, self.at))
        newer_at = at
        for end, end_at in zip(self.end[sample + 1 :], self.at[sample + 1 :], strict=True):
            older, older_at = end[rows], end_at[rows]
            usable = (older <= newer) & (older_at < newer_at)
            inside = usable & (committed >= older) & (older < newer)
            with np.errstate(invalid="ignore", divide="ignore"):
                share = (committed - older) / (newer - older)
                then = older_at + share * (newer_at - older_at)
            age[rows[inside]] = (at - then)[inside]
            newer, newer_at = np.where(usable, older, newer), np.where(usable, older_at, newer_at)
            left = ~inside
            rows, committed, at = rows[left], committed[left], at[left]
            newer, newer_at = newer[left], newer_at[left]
        with np.errstate(invalid="ignore", divide="ignore"):
            before = np.nan_to_num((newer - committed) / self._speed[rows])
        oldest = at - newer_at + before
        age[rows[oldest > 0]] = oldest[oldest > 0]
        return age

    def arrivals(self, newest: int) -> Floats:
        """(n) offsets/s over so many of the newest intervals; nan where none of them is known."""
        known = ~np.isnan(self.arrived[:newest]) & ~np.isnan(self.seconds[:newest])
        arrived = np.where(known, self.arrived[:newest], 0).sum(axis=0)
        seconds = np.where(known, self.seconds[:newest], 0).sum(axis=0)
        return np.where(seconds > 0, arrived / np.where(seconds > 0, seconds, 1), np.nan)

    @cached_property
    def _speed(self) -> Floats:
        """(n) offsets/s that arrived over all samples; nan unknown, or none."""
        speed = self.arrivals(len(self))
        return np.where(speed > 0, speed, np.nan)


def sums_by_owner(values: Floats, owner: Indices, chosen: Flags, members: int) -> Floats:
    """
    (M) the sum of each member's chosen partitions.

    Args:
        values: (n) numbers, known where chosen.
        owner: (n) a member, or NONE.
        chosen: (n) those that count; of nobody's partitions none does.
        members: M.
    """
    mine = chosen & (owner != NONE)
    return np.bincount(owner[mine], values[mine], minlength=members).astype(np.float64)


def any_of_owner(chosen: Flags, owner: Indices, members: int) -> Flags:
    """(M) whether one of each member's partitions is chosen."""
    mine = chosen & (owner != NONE)
    found: Flags = np.bincount(owner[mine], minlength=members) > 0
    return found


def silent_members(still: Flags, moved: Flags, owner: Indices, members: int) -> Flags:
    """(M) members of whom a partition that is behind stands still, and none moves."""
    return any_of_owner(still, owner, members) & ~any_of_owner(moved, owner, members)


def stack_of(rows: Sequence[npt.NDArray[Any]], width: int, kind: Any) -> npt.NDArray[Any]:
    """(rows, width) some rows below each other, also none."""
    return np.array(rows, kind).reshape(len(rows), width)
