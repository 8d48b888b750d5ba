"""Stored snapshots with the racks that the configuration gives to members that told none."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..config import Settings
from ..model.groups import CONFIGURED
from ..model.tables import Table
from ..ports import Lake
from ..snapshots.walk_lake import OverLake

_ASKED = ("cluster", "group_id", "client_id", "client_host", "rack", "rack_source")
"""What of a member's row tells its rack."""


class RackedLake(OverLake):
    """A lake to read from; members without a rack of their own get that of today's rules, else what was stored."""

    def __init__(self, lake: Lake, settings: Settings) -> None:
        super().__init__(lake)
        self.settings = settings

    def read(
        self,
        dataset: str,
        snapshot_ids: Sequence[str],
        *,
        groups: Collection[str] | None = None,
        topics: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Table:
        """The rows of a dataset, as of `Lake`."""
        if dataset != "members" or not any(rule.racks for rule in self.settings.rules):
            return self.lake.read(
                dataset, snapshot_ids, groups=groups, topics=topics, columns=columns
            )
        more = None if columns is None else [*dict.fromkeys([*columns, *_ASKED])]
        table = self.lake.read(dataset, snapshot_ids, groups=groups, topics=topics, columns=more)
        rows = table.to_pylist()
        for row in rows:
            if row["rack_source"] in (None, CONFIGURED):
                rule = self.settings.rule(row["cluster"], row["group_id"])
                host = (row["client_host"] or "").removeprefix("/")
                rack = rule.rack_of(row["client_id"] or "", host)
                row |= {} if rack is None else {"rack": rack, "rack_source": CONFIGURED}
        racked = Table.from_rows(rows, table.schema)
        return racked if columns is None else racked.select(columns)
