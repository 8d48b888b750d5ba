"""
What is wrong with the pipeline of a cluster: pure rules over facts, one for each kind.

What becomes of what they find is the matter of the one lifecycle of incidents (`incidents.lifecycle`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ..model.groups import WatchOf
from ..model.states import IncidentKind
from ..ports import ClusterFacts, FailingStep
from ..records import IncidentCourse
from .evaluation import Judged, Judgment, Trouble

Known = dict[str, Any]
"""What is known of something wrong with a pipeline, by name; JSON-able."""

EVERY_CLUSTER = "*"
"""The cluster of an incident that concerns all of them."""

OF_WAITING = frozenset(
    {IncidentKind.STALE, IncidentKind.UNWATCHED, IncidentKind.STUCK, IncidentKind.UNSENT}
)
"""What an outage of all clusters leaves behind; the first runs after it put it right."""

TAKING = "take_snapshot"
"""The step whose failure means that the cluster cannot be read."""

IN_A_ROW = 2
"""So many runs must fail before a cluster is unreachable, so many snapshots be partial, and be whole again."""

WATCHING = "watch_groups"
"""The step that looks at groups; one that is killed notes no failure."""

TELLING = frozenset({"alert", "watch", "watch_groups"})
"""
The steps whose failure to deliver is already an incident of its own while alerts are unsent. One run that fails is no
news: what it could not deliver the next of any of them does.
"""

UNDELIVERED = "alerts could not be delivered and stay pending:"
"""After so and so many of how many, the beginning of the error of a step that delivers (`outbox.deliver`)."""

PROBLEMS = 5
"""Of what a partial snapshot could not read, so much is told."""

REPAIR_SHARE = 1 / 3
"""A failed step has this share of `stale_after_seconds` to be repaired by its own retries before it
is told."""


def pipeline_judgment(
    facts: ClusterFacts, opened: Collection[str], late_after: timedelta, now: datetime
) -> Judgment:
    """
    What is said of the pipeline of a cluster at a moment.

    What is one trouble is told once, by its cause: a late cluster that cannot be reached. What only waited for the end
    of an outage is found when it waits on. What is open stays open all the same.

    Args:
        facts: How it fares.
        opened: What is open of it, by kind.
        late_after: After so long something is late.
        now: The moment.
    """
    found = {trouble.kind: trouble for trouble in findings(facts, late_after, now)}
    taking = _taking(facts)
    # what is not over as long as nothing proves it, though it is not found
    unproven = {
        IncidentKind.UNREACHABLE: taking is not None and taking.skipped,
        IncidentKind.PARTIAL: facts.whole_snapshots < IN_A_ROW,
    }
    doubtful = {kind for kind, is_so in unproven.items() if is_so} - found.keys()
    # an outage of all clusters was over a moment ago
    rests = facts.outage_until is not None and now - facts.outage_until <= late_after
    waiting = set(OF_WAITING) if rests else set()
    if IncidentKind.UNREACHABLE in found.keys() | (doubtful & set(opened)):
        waiting.add(IncidentKind.STALE)
    odd = {kind.value: Judged(known=False) for kind in doubtful} | {
        kind.value: Judged(troubles=(trouble,))
        for kind, trouble in found.items()
        if kind in opened or kind not in waiting
    }
    return Judgment(
        cluster=facts.cluster,
        snapshot_id=f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}",
        at=now,
        earlier=None,
        listed=[kind.value for kind in IncidentKind],
        odd=odd,
        of=WatchOf.PIPELINE,
    )


def _taking(facts: ClusterFacts) -> FailingStep | None:
    return next((step for step in facts.failing if step.step == TAKING), None)


def _unreachable(facts: ClusterFacts, late_after: timedelta, now: datetime) -> Known | None:
    taking = _taking(facts)
    if taking is None or taking.skipped:
        return None
    if taking.runs < IN_A_ROW and now - taking.failing_since <= late_after:
        return None
    newest = facts.newest_finished_at
    return _step(taking) | {"newest_finished_at": newest and newest.isoformat()}


def _late(facts: ClusterFacts, late_after: timedelta, now: datetime) -> Known | None:
    last_sign = facts.newest_finished_at or facts.watched_since
    if last_sign is None or now - last_sign <= late_after:
        return None
    newest, taking = facts.newest_finished_at, _taking(facts)
    return {
        "newest_snapshot_id": facts.newest_snapshot_id,
        "newest_finished_at": newest and newest.isoformat(),
        "since": last_sign.isoformat(),
        "stale_after_seconds": late_after.total_seconds(),
        "error": taking and taking.error,
    }


def _partial(facts: ClusterFacts, late_after: timedelta, now: datetime) -> Known | None:
    if facts.partial_since is None or facts.partial_snapshots < IN_A_ROW:
        return None
    return {
        "since": facts.partial_since.isoformat(),
        "snapshot_id": facts.newest_snapshot_id,
        "snapshots": facts.partial_snapshots,
        "problems": list(facts.partial_problems[:PROBLEMS]),
        "left_out": max(len(facts.partial_problems) - PROBLEMS, 0),
    }


def _rejected(facts: ClusterFacts, late_after: timedelta, now: datetime) -> Known | None:
    if facts.rejected_at is None:
        return None
    return {
        "snapshot_id": facts.rejected_snapshot_id,
        "since": facts.rejected_at.isoformat(),
        "error": facts.rejection,
    }


def _unwatched(facts: ClusterFacts, late_after: timedelta, now: datetime) -> Known | None:
    """Snapshots come, and nobody looks at their groups; a step that fails says so itself."""
    since = facts.unwatched_since
    if since is None or now - since <= late_after:
        return None
    if any(step.step == WATCHING for step in facts.failing):
        return None
    return {"since": since.isoformat(), "snapshot_id": facts.newest_snapshot_id}


def _stuck(facts: ClusterFacts, late_after: timedelta, now: datetime) -> Known | None:
    oldest = facts.oldest_unadvised_at
    if oldest is None or now - oldest <= late_after:
        return None
    return {
        "snapshot_id": facts.oldest_unadvised_id,
        "since": oldest.isoformat(),
        "snapshots": facts.unadvised,
        "run_seconds": facts.run_seconds,
        "gap_seconds": facts.gap_seconds,
    }


def _step_failed(facts: ClusterFacts, late_after: timedelta, now: datetime) -> Known | None:
    def explained(step: FailingStep) -> bool:
        soon = step.runs < IN_A_ROW and now - step.failing_since <= late_after
        of_delivery = bool(re.match(rf"\d+ of \d+ {UNDELIVERED}", step.error or ""))
        unsent = facts.unsent > 0 and of_delivery
        return step.step == TAKING or (step.step in TELLING and (unsent or soon))

    failed = [
        step
        for step in facts.failing
        if not explained(step) and now - step.failing_since > late_after * REPAIR_SHARE
    ]
    if not failed:
        return None
    first = min(failed, key=lambda step: step.failing_since)
    return {"since": first.failing_since.isoformat(), "steps": [_step(s) for s in failed]}


def _unsent(facts: ClusterFacts, late_after: timedelta, now: datetime) -> Known | None:
    oldest = facts.oldest_unsent_at
    if oldest is None or now - oldest <= late_after:
        return None
    return {
        "since": oldest.isoformat(),
        "alerts": facts.unsent,
        "channels": list(facts.unsent_channels),
        "error": facts.unsent_error,
    }


def _step(step: FailingStep) -> Known:
    return {
        "step": step.step,
        "runs": step.runs,
        "failures": step.failures,
        "link": step.link,
        "since": step.failing_since.isoformat(),
        "last_failed_at": step.last_failed_at.isoformat(),
        "error": step.error,
    }


RULES: Mapping[IncidentKind, Callable[[ClusterFacts, timedelta, datetime], Known | None]] = {
    IncidentKind.UNREACHABLE: _unreachable,
    IncidentKind.STALE: _late,
    IncidentKind.PARTIAL: _partial,
    IncidentKind.REJECTED: _rejected,
    IncidentKind.UNWATCHED: _unwatched,
    IncidentKind.STUCK: _stuck,
    IncidentKind.STEP_FAILED: _step_failed,
    IncidentKind.UNSENT: _unsent,
}
"""What finds each kind, and says what is known of it, *since* when above all; `pipeline.outage` finds the others."""


def findings(facts: ClusterFacts, late_after: timedelta, now: datetime) -> list[Trouble]:
    """What is wrong with one cluster's pipeline at this moment."""
    found = ((kind, rule(facts, late_after, now)) for kind, rule in RULES.items())
    return [
        Trouble(kind=kind, known=known, since=datetime.fromisoformat(known["since"]))
        for kind, known in found
        if known is not None
    ]


def deaf_to(course: IncidentCourse) -> Sequence[str]:
    """The channels that cannot hear that it opened: that it takes no messages a channel is told when it is over."""
    unsent = course.cause is IncidentKind.UNSENT
    channels: Sequence[str] = course.causes[0].known["channels"] if unsent else ()
    return channels
