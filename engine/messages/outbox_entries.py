"""What is to be told of advice and of the pipelines, into the outbox; of groups `pipeline.watch_groups` does that."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from ..config import Settings
from ..incidents.policy import pipeline_judgement
from ..incidents.quiet import quieting_pipeline
from ..model.errors import HistoryError
from ..model.groups import WatchOf
from ..model.message import Announcement
from ..ports import (
    AdviceHistory,
    AdvisedSnapshot,
    ClusterFacts,
    Incidents,
    Outbox,
    PipelineHistory,
    Posting,
    ScoredAdvice,
    Silences,
)
from ..records import SilenceRow
from .advice_news import News, new_advice
from .channels import channel_of
from .digest import MOVES, WORST, advice_message
from .end_of_watch import end_unwatched
from .rounds import round_of

log = logging.getLogger(__name__)


class AdviceToTell(AdviceHistory, Outbox, Protocol):
    """The advice, and the outbox it goes to."""


class PipelineToTell(PipelineHistory, Incidents, Silences, Protocol):
    """How the pipelines fare, the incidents made of it, and what is silenced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceNews:
    """What is new in the advice of a snapshot, and all that it advises."""

    snapshot: AdvisedSnapshot
    given: Sequence[ScoredAdvice]
    news: Sequence[News]


def queue_advice(
    history: AdviceToTell, settings: Settings, snapshot_id: str, link: str | None = None
) -> int:
    """
    Queue what a snapshot's advice has that is new: one digest per channel, none without news.

    Speaks only for the newest snapshot of its cluster that has advice, and not when a reading
    `late_after_seconds` younger waits for its own: a backfill, a replay or a late retry queues
    nothing and logs so. Run again, it queues nothing more.

    Args:
        history: The advice, and where what is told of it goes.
        settings: The configuration.
        snapshot_id: The snapshot.
        link: Address of the run that tells it; None outside of Airflow.

    Returns:
        How many alerts were queued.

    Raises:
        HistoryError: The history does not know the snapshot.
        HistoryUnreachable: The history does not answer.
    """
    found = advice_news(history, settings, snapshot_id)
    return 0 if found is None else queue_news(history, settings, found, link)


def advice_news(history: AdviceToTell, settings: Settings, snapshot_id: str) -> AdviceNews | None:
    """What `queue_advice` would queue; None where nothing is said of the snapshot."""
    snapshot = history.advised_snapshot(snapshot_id)
    if snapshot is None:
        raise HistoryError(
            f"the history has no snapshot {snapshot_id}.",
            fix="Run the steps before `alert` for it: they write what is missing from the lake.",
        )
    silence = _why_silent(snapshot, settings)
    if silence is not None:
        log.info("%s %s: nothing is told.", snapshot_id, silence)
        return None
    given = history.advice_with_scores(snapshot_id)
    known = {each.group_id: each for each in history.announced_advice(snapshot.cluster)}
    news = news_of(settings, snapshot.cluster, given, known, snapshot.finished_at)
    return AdviceNews(snapshot=snapshot, given=given, news=news)


def queue_news(
    history: AdviceToTell, settings: Settings, found: AdviceNews, link: str | None = None
) -> int:
    """Queue what is new: how many alerts that were."""
    snapshot = found.snapshot
    channels: dict[str, list[News]] = {}
    for one in found.news:
        channel = channel_of(settings, snapshot.cluster, one.group_id)
        channels.setdefault(channel, []).append(one)
    queued = sum(
        _queue_digest(history, settings, found, channel, its, link)
        for channel, its in channels.items()
    )
    told = "%s: %d groups with news, %d alerts queued."
    log.info(told, snapshot.snapshot_id, len(found.news), queued)
    return queued


def news_of(
    settings: Settings,
    cluster: str,
    given: Iterable[ScoredAdvice],
    announcements: Mapping[str, Announcement],
    at: datetime,
) -> list[News]:
    """What is told of the advice of a snapshot: `new_advice`, by what the configuration says of each group."""

    def pause(group: str) -> timedelta:
        return timedelta(seconds=settings.policy(cluster, group).message_seconds)

    return new_advice(given, announcements, at, pause)


def owners_of(settings: Settings, cluster: str, news: Iterable[News]) -> dict[str, str]:
    """Who owns the groups that there are news of, where that is configured."""
    owners = {one.group_id: settings.rule(cluster, one.group_id).owner for one in news}
    return {group: owner for group, owner in owners.items() if owner}


def _why_silent(snapshot: AdvisedSnapshot, settings: Settings) -> str | None:
    """Why nothing is told for a snapshot: its advice is no longer what a reader could act on."""
    newest = snapshot.newest_advised_id
    if newest not in (None, snapshot.snapshot_id):
        return f"is not the newest snapshot with advice ({newest} is)"
    behind = snapshot.newest_started_at - snapshot.started_at
    if behind > timedelta(seconds=settings.late_after_seconds):
        return f"is {behind.total_seconds():.0f} seconds older than the newest snapshot"
    return None


def _queue_digest(
    history: AdviceToTell,
    settings: Settings,
    found: AdviceNews,
    channel: str,
    news: Sequence[News],
    link: str | None,
) -> bool:
    snapshot = found.snapshot
    groups = {one.advice.advice_id: one.group_id for one in news[:WORST]}
    moves = history.first_moves([number for number in groups if number is not None], MOVES)
    message = advice_message(
        snapshot.cluster,
        snapshot,
        news,
        {groups[number]: some for number, some in moves.items()},
        verdicts=Counter(advice.verdict for advice in found.given),
        owners=owners_of(settings, snapshot.cluster, news),
        link=link,
    )
    key = f"advice {snapshot.snapshot_id} {channel}"
    posting = Posting(key=key, channel=channel, message=message)
    return history.enqueue_alert(
        posting, cluster=snapshot.cluster, snapshot_id=snapshot.snapshot_id
    )


def queue_incidents(history: PipelineToTell, settings: Settings, now: datetime) -> int:
    """
    Remember what is wrong with the pipelines of the configured clusters, and queue what is to be told of it.

    What a look changes of a cluster is kept with what is told of it, or nothing is. An opening that was never sent
    gives way to its end, which tells the whole story. Incidents of groups are left alone, but for clusters that are
    configured no more (`end_unwatched`): nobody else would end them.

    Returns:
        How many alerts were queued.

    Raises:
        HistoryUnreachable: The history does not answer.
    """
    ended = end_unwatched(history, settings, now)
    silences = history.silences(now)
    facts = history.cluster_facts(sorted(settings.clusters))
    return ended + sum(_watch_pipeline(history, settings, each, silences, now) for each in facts)


def _watch_pipeline(
    history: Incidents,
    settings: Settings,
    facts: ClusterFacts,
    silences: Sequence[SilenceRow],
    now: datetime,
) -> int:
    """What is new of one pipeline; where another process looks at the same time, one of the two tells it."""
    cluster, late_after = facts.cluster, timedelta(seconds=settings.late_after_seconds)
    before = history.incident_watch(cluster, WatchOf.PIPELINE)
    opened = [each.name for each in before.courses if each.closed_at is None]
    judgement = pipeline_judgement(facts, opened, late_after, now)
    quiet = quieting_pipeline(silences, settings.maintenance, cluster)
    done = round_of(before, judgement, settings, quiet=quiet)
    if not (before.courses or done.courses):
        return 0
    is_kept = history.store_watch(
        cluster,
        judgement.snapshot_id,
        now,
        done.courses,
        done.incidents,
        done.postings,
        before=before.snapshot_id,
        of=WatchOf.PIPELINE,
    )
    return len(done.postings) if is_kept else 0
