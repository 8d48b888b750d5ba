"""A lake as a walk over its snapshots sees it: up to the one it stands at, and nothing is written to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..model.batch import GroupBatch
from ..model.errors import SnapshotNotFound
from ..model.tables import Table, concat, empty
from ..ports import Compacted, Lake, LakeDay, Manifest, WrittenPart
from . import METRICS, SNAPSHOT, STEPS, new_manifest, picked, split_snapshot_id
from .learned import Learned, rows_of


def _key(names: Collection[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


class OverLake:
    """
    A lake as it is (port `Lake`); what a subclass answers comes first.

    Args:
        lake: What lies below.
    """

    def __init__(self, lake: Lake) -> None:
        self.lake = lake

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
        return self.lake.read(dataset, snapshot_ids, groups=groups, topics=topics, columns=columns)

    def write(
        self, step: str, snapshot_id: str, tables: Mapping[str, Table], facts: Mapping[str, Any]
    ) -> Manifest:
        """As of `Lake`."""
        return self.lake.write(step, snapshot_id, tables, facts)

    def write_part(
        self, step: str, snapshot_id: str, run: str, part: int, tables: Mapping[str, Table]
    ) -> WrittenPart:
        """As of `Lake`."""
        return self.lake.write_part(step, snapshot_id, run, part, tables)

    def finish(
        self,
        step: str,
        snapshot_id: str,
        run: str,
        parts: Iterable[WrittenPart],
        facts: Mapping[str, Any],
    ) -> Manifest:
        """As of `Lake`."""
        return self.lake.finish(step, snapshot_id, run, parts, facts)

    def manifest(self, step: str, snapshot_id: str) -> Manifest:
        """As of `Lake`."""
        return self.lake.manifest(step, snapshot_id)

    def snapshots(self, cluster: str, *, until: str | None = None, limit: int = 1) -> list[str]:
        """As of `Lake`."""
        return self.lake.snapshots(cluster, until=until, limit=limit)

    def clusters(self) -> list[str]:
        """As of `Lake`."""
        return self.lake.clusters()

    def expire(self, before: datetime) -> int:
        """As of `Lake`."""
        return self.lake.expire(before)

    def finished_days(
        self, before: datetime, *, whole: datetime | None = None, waiting: Collection[str] = ()
    ) -> list[LakeDay]:
        """As of `Lake`."""
        return self.lake.finished_days(before, whole=whole, waiting=waiting)

    def compact(self, day: LakeDay, before: datetime) -> Compacted:
        """As of `Lake`."""
        return self.lake.compact(day, before)


class ReadOnce(OverLake):
    """A lake whose tables are kept until they are read again: to check and then to store them."""

    def __init__(self, lake: Lake) -> None:
        super().__init__(lake)
        self._tables: dict[tuple[object, ...], Table] = {}

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
        key = (dataset, *map(_key, (snapshot_ids, groups, topics, columns)))
        if key in self._tables:
            return self._tables.pop(key)
        found = super().read(dataset, snapshot_ids, groups=groups, topics=topics, columns=columns)
        self._tables[key] = found
        return found


MADE = ("metrics", "candidates")
"""The steps whose results a walk makes anew, whatever lies below."""

KEPT = 2
"""Of so many snapshots what was made is kept: the newest, and the one before, from which metrics learn."""

_OF_GROUPS = frozenset(name for name, schema in SNAPSHOT.items() if "group_id" in schema)
_STEP_OF = {dataset: step for step, datasets in STEPS.items() for dataset in datasets}


class WalkedLake(OverLake):
    """
    A lake whose snapshots are gone through; metrics and candidates are kept in memory, of the newest snapshots only.

    Args:
        lake: What lies below.
        wanted: Which groups there are, by their ids.
    """

    def __init__(self, lake: Lake, wanted: Callable[[str], bool] | None = None) -> None:
        super().__init__(lake)
        self.until: str | None = None
        self.batches: dict[tuple[str, bool, tuple[str, ...]], GroupBatch] = {}
        """Groups of a snapshot, by the snapshot, whether they are whole, and their names."""
        self.work: dict[tuple[str, str], dict[str, int]] = {}
        """How much work each group is (`chunks.work_of`), by the snapshot and a pattern of groups."""
        self._tables: dict[tuple[object, ...], Table] = {}
        self._wanted = wanted
        self._names: dict[str, list[str]] = {}
        self._made: dict[str, dict[str, tuple[Manifest, Mapping[str, Table]]]] = {
            step: {} for step in MADE
        }

    def stand(self, snapshot_id: str, lookback: int) -> None:
        """Go on to a snapshot, and forget what nobody looks back on any more."""
        self.until = snapshot_id
        *_, oldest = self.snapshots(split_snapshot_id(snapshot_id)[0], limit=lookback + 1)
        # whole groups are asked for where the walk stands; ids of one cluster sort by time
        self.batches = {
            (one, whole, names): batch
            for (one, whole, names), batch in self.batches.items()
            if one >= (snapshot_id if whole else oldest)
        }
        self.work = {key: work for key, work in self.work.items() if key[0] >= oldest}
        self._tables = {key: table for key, table in self._tables.items() if str(key[0]) >= oldest}

    def forget_tables(self) -> None:
        """Forget the tables that were read, where what lies below has them at hand."""
        self._tables = {}

    def write(
        self, step: str, snapshot_id: str, tables: Mapping[str, Table], facts: Mapping[str, Any]
    ) -> Manifest:
        """Keep it in memory, and forget what was made of older snapshots."""
        manifest = new_manifest(
            step, snapshot_id, {name: len(table) for name, table in tables.items()}, facts
        )
        made = self._made[step]
        made[snapshot_id] = (manifest, tables)
        for old in [*made][:-KEPT]:
            del made[old]
        return manifest

    def read(
        self,
        dataset: str,
        snapshot_ids: Sequence[str],
        *,
        groups: Collection[str] | None = None,
        topics: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Table:
        """The rows of a dataset, as of `Lake`; of the groups that are wanted."""
        step = _STEP_OF[dataset]
        if step in MADE:
            made = [self._of(step, one)[1][dataset] for one in snapshot_ids]
            whole = concat([empty(STEPS[step][dataset]), *made])
            return picked(whole, groups, topics, columns)
        if groups is None and self._wanted is not None and dataset in _OF_GROUPS:
            groups = [name for one in snapshot_ids for name in self._wanted_of(one)]
        if len(snapshot_ids) != 1 or step != "snapshot":
            return super().read(
                dataset, snapshot_ids, groups=groups, topics=topics, columns=columns
            )
        asked = (_key(groups), _key(topics), _key(columns))
        key = (snapshot_ids[0], dataset, *asked)
        if key not in self._tables:
            self._tables[key] = super().read(
                dataset, snapshot_ids, groups=groups, topics=topics, columns=columns
            )
        return self._tables[key]

    def _wanted_of(self, snapshot_id: str) -> list[str]:
        if snapshot_id not in self._names:
            table = super().read("groups", [snapshot_id], columns=["group_id"])
            names = table["group_id"].to_pylist()
            self._names[snapshot_id] = [
                name for name in names if self._wanted and self._wanted(name)
            ]
        return self._names[snapshot_id]

    def learn(self, snapshot_id: str, learned: Mapping[str, Learned]) -> None:
        """Take what was learned of groups for what metrics of a snapshot say; nothing else of them is known."""
        rows = [{"snapshot_id": snapshot_id} | row for row in rows_of(learned)]
        table = Table.from_rows(rows, METRICS["group_metrics"])
        self.write("metrics", snapshot_id, {"group_metrics": table}, {})

    def has_made(self, step: str, snapshot_id: str) -> bool:
        """Whether the walk has made something of a snapshot, and knows it yet."""
        return snapshot_id in self._made[step]

    def made(self, step: str, snapshot_id: str) -> Mapping[str, Table]:
        """
        What the walk made of a snapshot.

        Raises:
            SnapshotNotFound: Nothing.
        """
        return self._of(step, snapshot_id)[1]

    def manifest(self, step: str, snapshot_id: str) -> Manifest:
        """As of `Lake`."""
        return (
            self._of(step, snapshot_id)[0] if step in MADE else super().manifest(step, snapshot_id)
        )

    def _of(self, step: str, snapshot_id: str) -> tuple[Manifest, Mapping[str, Table]]:
        if snapshot_id not in self._made[step]:
            raise SnapshotNotFound(f"nothing was made of snapshot {snapshot_id} by step {step!r}.")
        return self._made[step][snapshot_id]

    def snapshots(self, cluster: str, *, until: str | None = None, limit: int = 1) -> list[str]:
        """As of `Lake`, but none that is newer than the one the walk stands at."""
        known = [one for one in (until, self.until) if one is not None]
        until = min(known, key=lambda one: one[-23:], default=None)
        return super().snapshots(cluster, until=until, limit=limit)
