"""
Rates and time, from the earlier snapshots of the same partitions.

A partition is the same while its topic id is: a recreated topic starts afresh. Unknown is nan; "never" is infinity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Column, Floats
from ..model.groups import PartitionTable
from ..model.labels import Labels
from ..model.states import TimeLagBasis
from .past import Past


@dataclass(frozen=True, kw_only=True, eq=False)
class Rate:
    """Offsets/s per partition (nan unknown), measured since *since_ms*."""

    per_second: Floats
    since_ms: Column


def rate(table: PartitionTable, past: Past, what: str, read_at: str) -> Rate:
    """
    Growth of a column from the oldest sample that it never fell below since, to now.

    Args:
        table: The present partitions.
        past: Their earlier samples.
        what: `end`, `begin` or `committed`.
        read_at: The column that says when that was read.
    """
    value: Column = getattr(table, what)
    moment: Column = getattr(table, read_at)
    first_value, first_at = value.values.copy(), moment.values.copy()
    rising = value.known & moment.known
    for sample in range(past.samples):
        old, old_at = past.column(what, sample), past.column(read_at, sample)
        present = old.known & old_at.known
        rising &= ~present | (old.values <= first_value)
        usable = rising & present & (old_at.values < first_at)
        first_value = np.where(usable, old.values, first_value)
        first_at = np.where(usable, old_at.values, first_at)
    seconds = (moment.values - first_at) / 1000
    known = value.known & moment.known & (seconds > 0)
    grown = (value.values - first_value) / np.where(known, seconds, 1)
    return Rate(per_second=np.where(known, grown, np.nan), since_ms=Column(first_at, known))


def deviation(table: PartitionTable, past: Past, what: str, read_at: str) -> Floats:
    """
    (n) how much a rate varies: the standard deviation (offsets/s) of the growth from one sample to the next.

    nan below two spans over which the growth is known; a column that fell was reset, and that span is left out.

    Args:
        table, past, what, read_at: As for `rate`.
    """
    value: Column = getattr(table, what)
    moment: Column = getattr(table, read_at)
    rates, spans = np.zeros((2, past.samples, len(table)))
    for sample in range(past.samples):
        old, old_at = past.column(what, sample), past.column(read_at, sample)
        seconds = (moment.values - old_at.values) / 1000
        known = value.known & moment.known & old.known & old_at.known & (seconds > 0)
        known &= old.values <= value.values
        # times 0 where it is not known, which is faster than to choose; two readings are a millisecond apart at least
        rates[sample] = (value.values - old.values) / np.maximum(seconds, 0.001) * known
        spans[sample] = known
        value, moment = old, old_at
    known_spans = spans.sum(axis=0)
    mean = rates.sum(axis=0) / np.maximum(known_spans, 1)
    square = ((rates - mean) ** 2 * spans).sum(axis=0) / np.maximum(known_spans, 1)
    return np.where(known_spans >= 2, np.sqrt(square), np.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class TimeLag:
    """Age in seconds of the record at the committed offset (nan unknown), and how it was found."""

    seconds: Floats
    basis: Labels[TimeLagBasis]


def time_lag(table: PartitionTable, past: Past, production: Rate) -> TimeLag:
    """
    When the log's end stood where the group's commit stands now.

    Interpolated between samples of (end, when read). A commit older than the oldest sample is extrapolated by the
    production rate, at most by one more span of the history: beyond that the age is *at least* so much.
    """
    committed, end, end_at = table.committed, table.end, table.end_at_ms
    usable = committed.known & end.known & end_at.known
    is_done = table.reported_lag.known & (table.reported_lag.values == 0)
    caught_up = usable & ((committed.values >= end.values) | is_done)
    at = np.where(caught_up, end_at.values, np.nan).astype(np.float64)
    newer_end, newer_at = end.values, end_at.values
    open_rows = usable & ~caught_up
    for sample in range(past.samples):
        old, old_at = past.column("end", sample), past.column("end_at_ms", sample)
        present = old.known & old_at.known & (old.values <= newer_end) & (old_at.values < newer_at)
        inside = open_rows & present & (committed.values >= old.values) & (newer_end > old.values)
        share = (committed.values - old.values) / np.maximum(newer_end - old.values, 1)
        at = np.where(inside, old_at.values + share * (newer_at - old_at.values), at)
        open_rows &= ~inside
        newer_end = np.where(present, old.values, newer_end)
        newer_at = np.where(present, old_at.values, newer_at)
    span = end_at.values - newer_at
    speed = production.per_second
    can = open_rows & (span > 0) & (speed > 0)
    back = (newer_end - committed.values) / np.where(can, speed, 1) * 1000
    at = np.where(can, newer_at - np.minimum(back, span), at)
    seconds = np.where(np.isnan(at), np.nan, (end_at.values - at) / 1000)
    capped = can & (back > span)
    basis = Labels.choose(
        TimeLagBasis,
        [caught_up, capped, can, ~np.isnan(at)],
        [
            TimeLagBasis.CAUGHT_UP,
            TimeLagBasis.AT_LEAST,
            TimeLagBasis.EXTRAPOLATED,
            TimeLagBasis.INTERPOLATED,
        ],
        TimeLagBasis.UNKNOWN,
    )
    return TimeLag(seconds=seconds, basis=basis)
