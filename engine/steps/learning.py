"""
How often groups commit, learned from snapshot to snapshot where no metrics remember it.

The pipeline keeps what it learned as `commit_interval_seconds` of `group_metrics`; a recording has no metrics.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Container, Sequence

import numpy as np
import pyarrow as pa

from evenkeel.engine.config import Settings
from evenkeel.engine.datasets import METRICS, picked, with_nulls
from evenkeel.engine.errors import EvenkeelError, SnapshotNotFound
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.ports import Lake
from evenkeel.engine.steps.chunks import chunks_of
from evenkeel.engine.steps.measure import observed_of
from evenkeel.engine.steps.over_lake import OverLake
from evenkeel.engine.steps.reading import Lookback, lookback_of, read_with_past
from evenkeel.engine.steps.validation import rejected_as_a_whole

_log = logging.getLogger(__name__)


def learned_of(seen: Observation, withheld: Container[str]) -> dict[str, float]:
    """
    Seconds between the commits of groups, by their ids, as the metrics of a snapshot keep it.

    Args:
        seen: What the numbers say of the groups, by what was learned before.
        withheld: Groups that are withheld from judgement: of them nothing is kept, nor of those that were not read.
    """
    return {
        header.group: seconds
        for header, seconds in zip(seen.batch.headers, seen.commit_interval.tolist(), strict=True)
        if not np.isnan(seconds) and header.error is None and header.group not in withheld
    }


class LearningLake(OverLake):
    """
    A lake that also knows the commit intervals of snapshots without metrics, once it was told to learn them.

    Args:
        lake: Where the snapshots are.
        settings: The configuration.
    """

    def __init__(self, lake: Lake, settings: Settings) -> None:
        super().__init__(lake)
        self.settings = settings
        self._learned: dict[str, pa.Table] = {}

    def learn(self, snapshot_id: str) -> None:
        """Learn from a snapshot, after all that came before it; one that validation rejected shows nothing."""
        rejected = rejected_as_a_whole(self.lake, snapshot_id, "snapshot")
        if rejected or self._is_measured(snapshot_id):
            return
        lookback = lookback_of(self, self.settings, snapshot_id)
        learned: dict[str, float] = {}
        for chunk in chunks_of(self, snapshot_id):
            learned |= self._of_groups(lookback, chunk.groups)
        rows = pa.table(
            {
                "group_id": pa.array(learned, pa.string()),
                "commit_interval_seconds": pa.array(learned.values(), pa.float64()),
            }
        )
        self._learned[snapshot_id] = with_nulls(rows, METRICS["group_metrics"])

    def _is_measured(self, snapshot_id: str) -> bool:
        try:
            self.lake.manifest("metrics", snapshot_id)
        except SnapshotNotFound:
            return False
        return True

    def _of_groups(self, lookback: Lookback, names: Sequence[str]) -> dict[str, float]:
        """A group that cannot be worked on costs the others nothing."""
        try:
            groups = read_with_past(self, self.settings, lookback, names)
            return learned_of(observed_of(self.settings, groups), groups.withheld)
        except EvenkeelError:
            raise
        except Exception:  # noqa: BLE001
            if len(names) == 1:
                _log.exception("group %s cannot be measured", names[0])
                return {}
        half = len(names) // 2
        return self._of_groups(lookback, names[:half]) | self._of_groups(lookback, names[half:])

    def read(
        self,
        dataset: str,
        snapshot_ids: Sequence[str],
        *,
        groups: Collection[str] | None = None,
        topics: Collection[str] | None = None,
        columns: Sequence[str] | None = None,
        coded: bool = False,
    ) -> pa.Table:
        """The rows of a dataset, as of `Lake`; of metrics that were not stored, what was learned."""
        learned = self._learned.get(snapshot_ids[0]) if len(snapshot_ids) == 1 else None
        if dataset == "group_metrics" and learned is not None:
            return picked(learned, groups, topics, columns, coded=coded)
        return super().read(
            dataset, snapshot_ids, groups=groups, topics=topics, columns=columns, coded=coded
        )
