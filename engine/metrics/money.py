"""
What crosses racks in bytes, and what that costs.

A record weighs what it takes on its leader's disk: brokers send batches as they keep them, compressed. On average over
what a log holds, that is its size over its offsets. Of two kinds of topics this says nothing: compaction thins a log
out without closing its gaps, and a log whose start is moved by its readers (DeleteRecords, as Kafka Streams does with
repartition topics) keeps whole segments on disk that it no longer counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Flags, Floats
from ..model.groups import PartitionTable
from ..model.labels import Labels
from ..model.states import SizeBasis
from .racks import Crossing

SECONDS_PER_MONTH = 30 * 24 * 3600
BYTES_PER_GB = 10**9

CENT = 0.01
"""What is below this, in any currency, is not spoken of."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordSize:
    """(n) bytes per record of each partition, nan where unknown, and how it is known."""

    bytes: Floats
    basis: Labels[SizeBasis]


def record_size(table: PartitionTable, configured: Floats | float = np.nan) -> RecordSize:
    """
    The average size of a record in each partition of a table.

    From its own log; where that is empty or unknown, from the other logs of its topic; else as configured.

    Args:
        table: The partitions.
        configured: Bytes per record where logs do not tell, for all partitions or for each; nan when not configured.
    """
    offsets = np.where(
        table.end.known & table.begin.known, table.end.values - table.begin.values, 0
    )
    from_log = table.log_bytes.known & (offsets > 0) & _tells(table)
    held = np.where(from_log, table.log_bytes.values, 0).astype(np.float64)
    count = np.where(from_log, offsets, 0).astype(np.float64)
    of_topic = _ratio(_by_topic(table, held), _by_topic(table, count))[table.topic]
    sizes, of_rule = _ratio(held, count), np.broadcast_to(configured, len(table))
    from_topic = ~from_log & table.exists & ~np.isnan(of_topic)
    from_rule = ~from_log & table.exists & ~from_topic & ~np.isnan(of_rule)
    return RecordSize(
        bytes=np.select([from_topic, from_rule], [of_topic, of_rule], sizes),
        basis=Labels.choose(
            SizeBasis,
            [from_log, from_topic, from_rule],
            [SizeBasis.LOG, SizeBasis.TOPIC, SizeBasis.CONFIGURED],
            SizeBasis.UNKNOWN,
        ),
    )


def _tells(table: PartitionTable) -> Flags:
    """(n) whether a log is known to be neither compacted nor purged: one kept for ever begins at 0, else it was."""
    plain = [p is not None and "compact" not in p for p in table.cleanup_policies]
    for_ever = [r == -1 for r in table.retention_ms]
    purged = np.array(for_ever, np.bool_)[table.topic] & (table.begin.filled(1) > 0)
    tells: Flags = np.array(plain, np.bool_)[table.topic] & ~purged
    return tells


def _by_topic(table: PartitionTable, values: Floats) -> Floats:
    """(topics) the sum over each topic's partitions."""
    sums: Floats = np.bincount(table.topic, values, minlength=len(table.topics)).astype(np.float64)
    return sums


def _ratio(dividend: Floats, divisor: Floats) -> Floats:
    """nan where there is nothing to divide by."""
    nothing = np.full(len(dividend), np.nan)
    ratio: Floats = np.divide(dividend, divisor, out=nothing, where=divisor > 0)
    return ratio


@dataclass(frozen=True, kw_only=True, eq=False)
class Tariff:
    """
    What reading some partitions across racks carries and costs.

    Attributes:
        bytes_per_second: (P) what is produced to each, nan where unknown.
        price_per_gb: What 10^9 bytes cost, in *currency*; None where nobody said.
    """

    bytes_per_second: Floats
    price_per_gb: float | None = None
    currency: str | None = None

    def carried(self, crossing: Crossing) -> float | None:
        """
        Bytes/s read across racks, by the partitions of which that is known.

        None where it is known of none, or where the size or rate of one that crosses is unknown.
        """
        total = float(self.bytes_per_second[crossing.crosses].sum())
        return total if bool(crossing.known.any()) and not np.isnan(total) else None

    def cost_per_month(self, bytes_per_second: float | None) -> float | None:
        """What a steady stream across racks costs in 30 days."""
        if bytes_per_second is None or self.price_per_gb is None:
            return None
        return bytes_per_second * SECONDS_PER_MONTH / BYTES_PER_GB * self.price_per_gb


def tariff(
    bytes_per_record: Floats,
    rate: Floats,
    rows: Flags,
    price_per_gb: float | None = None,
    currency: str | None = None,
) -> Tariff:
    """
    Args:
        bytes_per_record: (n) of the partitions of a table, nan where unknown.
        rate: Records/s produced to each, nan where unknown.
        rows: Which of them count.
        price_per_gb, currency: As in `Tariff`; a currency without price is left out.
    """
    # nothing produced weighs nothing, whatever a record would weigh
    carried = np.where(rate == 0, 0.0, bytes_per_record * rate)
    return Tariff(
        bytes_per_second=carried[rows],
        price_per_gb=price_per_gb,
        currency=None if price_per_gb is None else currency,
    )
