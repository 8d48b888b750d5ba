"""What `evenkeel rebalances` prints: per group the causes, the cost, and the settings that reduce it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ...advice.rebalance_settings import advised
from ...messages.wording.rebalances import SETTINGS
from ...model.formats import brief, percent
from ...model.states import PauseBasis
from ...model.text import printable, several
from .tables import tell


def show_bill(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the rows of the query `rebalance_bill`, group by group."""
    listed = groupby(rows, key=lambda row: (row["cluster"], row["group_id"]))
    for place, (_, own) in enumerate(listed):
        tell([*([""] if place else []), *_of_group([*own])])


def _of_group(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    first = rows[0]
    causes = sorted(first["causes"].items(), key=lambda each: -each[1])
    why = ", ".join(f"{cause} {number:,}" for cause, number in causes)
    number = several(first["rebalances"], "rebalance")
    yield f"{printable(first['group_id'])} ({printable(first['cluster'])}): {number} ({why})"
    records = first["delayed_records"]
    late = "unknown number of records" if records is None else f"{brief(records)} records"
    moved = first["partitions_moved"]
    yield (
        f"  {brief(first['partition_seconds'])} partition-seconds paused, {late} delayed"
        + ("" if moved is None else f", {several(moved, 'partition')} reassigned")
    )
    if PauseBasis.USUAL in first["pause_bases"]:
        yield "  The pauses are estimated from heartbeats: set policy.rebalance_seconds of the group if you know them."
    for each in advised(rows):
        yield f"  {each.remedy}: -{percent(each.saves)}. To get it, {SETTINGS[each.remedy]}."
