"""Tests of lakes over a lake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenkeel.engine.model.tables import TEXT, Table, column
from evenkeel.engine.snapshots.walk_lake import OverLake, ReadOnce


class Counting(OverLake):
    """A lake of one table that notes what was read."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Sequence[str] | None]] = []

    def read(self, dataset: str, snapshot_ids: Sequence[str], **some: Any) -> Table:
        """The table."""
        self.asked.append((dataset, some["columns"]))
        return Table({"group_id": column([dataset], TEXT)})


def test_a_table_is_kept_until_it_is_read_again() -> None:
    """The same rows are read once for two readers, and then forgotten; other columns are other rows."""
    below = Counting()
    lake = ReadOnce(below)
    first = lake.read("groups", ["s"])
    assert lake.read("groups", ["s"]) is first
    assert lake.read("groups", ["s"], columns=["group_id"]) is not first
    assert below.asked == [("groups", None), ("groups", ["group_id"])]
    lake.read("groups", ["s"])
    assert len(below.asked) == 3
