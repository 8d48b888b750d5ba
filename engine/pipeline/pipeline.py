"""
The pipeline as one function, for one snapshot and for many in sequence.

Notifications go to the outbox of the given history only.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ..config import Settings
from ..messages.notifications import ToldRound
from ..messages.outbox_entries import AdviceNews, advice_news, queue_news
from ..metrics.observe import Observation
from ..model.errors import SnapshotNotFound
from ..model.message import NewsKind
from ..model.tables import Table
from ..ports import (
    ALL,
    AdviceHistory,
    Delivered,
    Incidents,
    Lake,
    Outbox,
    ResultHistory,
    Silences,
    SnapshotHistory,
)
from ..records import AdviceRow, GroupMetrics, records_of
from ..snapshots import split_snapshot_id
from ..snapshots.groups_with_past import BatchWithPast, taken_at
from ..snapshots.validation import STEP_OF_STAGE, rejected_as_a_whole
from ..snapshots.walk_lake import WalkedLake
from .advise import advise
from .forecast_columns import may_switch
from .measure import compute_metrics, record_metrics
from .propose import propose_candidates, record_candidates
from .watch_groups import queue_groups


class WholeHistory(
    SnapshotHistory, ResultHistory, AdviceHistory, Incidents, Silences, Outbox, Protocol
):
    """Results of steps, and the outbox."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Ran:
    """
    A processed snapshot.

    Attributes:
        snapshot_id: The snapshot.
        at: Start of the snapshot.
        looked: Its groups with their past and observations; empty if validation rejected it, like all else.
        watched: Incidents of groups.
        advised: News about advice.
        advice: The advice of all groups.
    """

    snapshot_id: str
    at: datetime
    looked: Sequence[tuple[BatchWithPast, Observation]] = ()
    watched: ToldRound | None = None
    advised: AdviceNews | None = None
    advice: Sequence[AdviceRow] = ()

    @property
    def seen(self) -> Sequence[Observation]:
        """The observations of its groups."""
        return [observed for _, observed in self.looked]


def run_pipeline(
    lake: Lake,
    history: WholeHistory,
    settings: Settings,
    snapshot_id: str,
    *,
    watching: bool = True,
    advising: bool = True,
    sparing: bool = False,
    ask_next_change: bool = True,
    every: bool = False,
) -> Ran:
    """
    All steps after `take_snapshot`, without Spark and validation; existing validation results count.

    Args:
        lake: The lake with the snapshot; receives metrics and candidates.
        history: Earlier results; receives all results.
        settings: The configuration.
        snapshot_id: The snapshot.
        watching: Whether to evaluate incidents of groups.
        advising: Whether to advise; otherwise it ends after metrics.
        sparing: Whether to score only the current assignment of groups that cannot be advised to switch.
        ask_next_change: Whether to simulate membership changes, a third of the work.
        every: As for `compute_metrics`.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    history.store_snapshot(lake.manifest("snapshot", snapshot_id), settings.version)
    for stage, dataset in STEP_OF_STAGE.items():
        # what validation found of it, where it has run
        with suppress(SnapshotNotFound):
            history.store_validation(snapshot_id, stage, lake.read(dataset, [snapshot_id]))
    at = taken_at(lake, snapshot_id)
    looked = list[tuple[BatchWithPast, Observation]]()
    if rejected_as_a_whole(lake, snapshot_id, "snapshot"):
        return Ran(snapshot_id=snapshot_id, at=at)
    metrics = compute_metrics(
        lake, settings, snapshot_id, every=every, see=lambda *groups: looked.append(groups)
    )
    watched = queue_groups(lake, history, settings, snapshot_id, seen=looked) if watching else None
    record_metrics(lake, snapshot_id, metrics)
    history.store_metrics(snapshot_id, metrics)
    if not advising:
        return Ran(snapshot_id=snapshot_id, at=at, looked=looked, watched=watched)
    settled = _settled(history, settings, snapshot_id, metrics["group_metrics"]) if sparing else ()
    candidates = propose_candidates(
        lake, settings, snapshot_id, live_only=settled, ask_next_change=ask_next_change
    )
    record_candidates(lake, snapshot_id, candidates)
    history.store_candidates(snapshot_id, candidates["candidates"])
    advice = advise(lake, history, settings, snapshot_id)
    advised = advice_news(history, settings, snapshot_id)
    if advised is not None:
        queue_news(history, settings, advised)
    return Ran(
        snapshot_id=snapshot_id,
        at=at,
        looked=looked,
        watched=watched,
        advised=advised,
        advice=advice,
    )


def _settled(
    history: WholeHistory, settings: Settings, snapshot_id: str, metrics: Table
) -> set[str]:
    """The groups that cannot be advised to switch, nor have to hear what became of a switch."""
    cluster, _ = split_snapshot_id(snapshot_id)
    courses = {one.group_id: one.course for one in history.previous_advice(snapshot_id)}
    # what is said of its end may have to be told yet, with the reason
    open_to = {
        one.group_id
        for one in history.announced_advice(cluster)
        if one.kind in (NewsKind.SWITCH, NewsKind.ADOPTED)
    }
    return {
        row.group_id
        for row in records_of(GroupMetrics, metrics)
        if row.group_id not in open_to
        and not may_switch(row, courses.get(row.group_id), settings.policy(cluster, row.group_id))
    }


def walk(
    lake: Lake,
    history: WholeHistory,
    settings: Settings,
    cluster: str,
    pattern: str = "*",
    limit: int = ALL,
    *,
    advising: bool = True,
    whole_newest: bool = False,
) -> Iterator[Ran]:
    """
    Process the snapshots of a cluster, oldest first, each with the data known at its time.

    Nothing is written to the lake, and notifications count as delivered.

    Args:
        lake: The lake.
        history: Receives the results; usually an empty history in memory.
        settings: The configuration.
        cluster: Configured name of the cluster.
        pattern: Shell pattern of group ids; other groups are ignored.
        limit: Maximum number of snapshots, the newest.
        advising: As for `run_pipeline`.
        whole_newest: Whether to score all strategies for all groups of the newest snapshot.
    """
    ids = lake.snapshots(cluster, limit=limit)[::-1]
    wanted = None if pattern == "*" else lambda name: fnmatch.fnmatchcase(name, pattern)
    walked = WalkedLake(lake, wanted)
    for snapshot_id in ids:
        walked.stand(snapshot_id, settings.lookback)
        sparing = not (whole_newest and snapshot_id == ids[-1])
        yield run_pipeline(
            walked,
            history,
            settings,
            snapshot_id,
            advising=advising,
            sparing=sparing,
            ask_next_change=False,
        )
        read_at_once(history)
        history.thin(cluster, 0)


def read_at_once(history: Outbox) -> None:
    """Mark pending notifications as delivered."""
    for alert in history.pending_alerts():
        history.mark_alert_sent(alert, Delivered(channel=alert.channel, timestamp=alert.key))
