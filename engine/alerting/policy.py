"""
What is an incident of the pipeline of a cluster: pure decisions over facts.

One is open from the first look that finds it to the first look that does not, and both are told once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from evenkeel.engine.model import IncidentKind
from evenkeel.engine.ports import ClusterFacts, FailingStep
from evenkeel.engine.records import IncidentRow

EVERY_CLUSTER = "*"
"""The cluster of an incident that concerns all of them."""


OF_THE_CLUSTER = frozenset(
    {IncidentKind.UNREACHABLE, IncidentKind.LATE, IncidentKind.PARTIAL, IncidentKind.REJECTED}
)
"""What planned work on the brokers brings about."""

OF_WAITING = frozenset(
    {IncidentKind.LATE, IncidentKind.UNWATCHED, IncidentKind.STUCK, IncidentKind.UNSENT}
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
"""A failed step has this share of `late_after_seconds` to be repaired by its own retries before it
is told."""


@dataclass(frozen=True, kw_only=True)
class PresentIncident:
    """An incident that is there now: JSON-able *facts*, times as ISO text."""

    cluster: str
    kind: IncidentKind
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """At most one incident of the same key is open."""
        return (self.cluster, self.kind)


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What becomes of the incidents: found anew, still there (the open one and what is found now), and over."""

    opened: tuple[PresentIncident, ...]
    kept: tuple[tuple[IncidentRow, PresentIncident], ...]
    closed: tuple[IncidentRow, ...]


def changes(
    facts: Sequence[ClusterFacts],
    open_incidents: Sequence[IncidentRow],
    late_after: timedelta,
    now: datetime,
) -> Changes:
    """
    Compare what is found with what is open.

    Of a kind this module does not judge nothing is closed; a cluster that is no longer configured
    has no facts, so its incidents close. What only waited for the end of an outage is found when it waits on.
    """
    current = {f.key: f for one in facts for f in findings(one, late_after, now)}
    known = {(i.cluster, i.kind): i for i in open_incidents if i.group_id is None}
    lasting = {key for one in facts for key in _lasting(one)}
    unreachable = {
        cluster
        for cluster, kind in current.keys() | (lasting & known.keys())
        if kind == IncidentKind.UNREACHABLE
    }
    # A late cluster that cannot be reached is one trouble, told once: by its cause.
    hidden = {(cluster, str(IncidentKind.LATE)) for cluster in unreachable}
    resting = {one.cluster for one in facts if _rests(one, late_after, now)}
    judged = set(IncidentKind)
    return Changes(
        opened=tuple(
            f
            for key, f in current.items()
            if key not in known
            and key not in hidden
            and not (f.kind in OF_WAITING and f.cluster in resting)
        ),
        kept=tuple((known[key], f) for key, f in current.items() if key in known),
        closed=tuple(
            incident
            for key, incident in known.items()
            if key not in current and key not in lasting and incident.kind in judged
        ),
    )


def _lasting(facts: ClusterFacts) -> Iterator[tuple[str, str]]:
    """What is not over as long as nothing proves it, though it is not found."""
    taking = _taking(facts)
    if taking is not None and taking.skipped:
        yield (facts.cluster, str(IncidentKind.UNREACHABLE))
    if _partly(facts):
        yield (facts.cluster, str(IncidentKind.PARTIAL))


def _rests(facts: ClusterFacts, late_after: timedelta, now: datetime) -> bool:
    """Whether an outage of all clusters was over a moment ago."""
    return facts.outage_until is not None and now - facts.outage_until <= late_after


def findings(facts: ClusterFacts, late_after: timedelta, now: datetime) -> list[PresentIncident]:
    """What is wrong with one cluster's pipeline at this moment."""
    checks = (
        _unreachable,
        _late,
        _partial,
        _rejected,
        _unwatched,
        _stuck,
        _step_failed,
        _unsent,
    )
    return [found for check in checks if (found := check(facts, late_after, now))]


def _taking(facts: ClusterFacts) -> FailingStep | None:
    return next((step for step in facts.failing if step.step == TAKING), None)


def _unreachable(
    facts: ClusterFacts, late_after: timedelta, now: datetime
) -> PresentIncident | None:
    taking = _taking(facts)
    if taking is None or taking.skipped:
        return None
    if taking.runs < IN_A_ROW and now - taking.failing_since <= late_after:
        return None
    newest = facts.newest_finished_at
    return PresentIncident(
        cluster=facts.cluster,
        kind=IncidentKind.UNREACHABLE,
        facts=_step(taking) | {"newest_finished_at": newest and newest.isoformat()},
    )


def _late(facts: ClusterFacts, late_after: timedelta, now: datetime) -> PresentIncident | None:
    last_sign = facts.newest_finished_at or facts.watched_since
    if last_sign is None or now - last_sign <= late_after:
        return None
    newest, taking = facts.newest_finished_at, _taking(facts)
    return PresentIncident(
        cluster=facts.cluster,
        kind=IncidentKind.LATE,
        facts={
            "newest_snapshot_id": facts.newest_snapshot_id,
            "newest_finished_at": newest and newest.isoformat(),
            "since": last_sign.isoformat(),
            "late_after_seconds": late_after.total_seconds(),
            "error": taking and taking.error,
        },
    )


def _partial(facts: ClusterFacts, late_after: timedelta, now: datetime) -> PresentIncident | None:
    if facts.partial_since is None or facts.partial_snapshots < IN_A_ROW:
        return None
    return PresentIncident(
        cluster=facts.cluster,
        kind=IncidentKind.PARTIAL,
        facts={
            "since": facts.partial_since.isoformat(),
            "snapshot_id": facts.newest_snapshot_id,
            "snapshots": facts.partial_snapshots,
            "problems": list(facts.partial_problems[:PROBLEMS]),
            "left_out": max(len(facts.partial_problems) - PROBLEMS, 0),
        },
    )


def _partly(facts: ClusterFacts) -> bool:
    """Whether one of the newest snapshots is still partial: what was told of that is not over."""
    return facts.whole_snapshots < IN_A_ROW


def _rejected(facts: ClusterFacts, late_after: timedelta, now: datetime) -> PresentIncident | None:
    if facts.rejected_at is None:
        return None
    return PresentIncident(
        cluster=facts.cluster,
        kind=IncidentKind.REJECTED,
        facts={
            "snapshot_id": facts.rejected_snapshot_id,
            "since": facts.rejected_at.isoformat(),
            "error": facts.rejection,
        },
    )


def _unwatched(facts: ClusterFacts, late_after: timedelta, now: datetime) -> PresentIncident | None:
    """Snapshots come, and nobody looks at their groups; a step that fails says so itself."""
    since = facts.unwatched_since
    if since is None or now - since <= late_after:
        return None
    if any(step.step == WATCHING for step in facts.failing):
        return None
    return PresentIncident(
        cluster=facts.cluster,
        kind=IncidentKind.UNWATCHED,
        facts={"since": since.isoformat(), "snapshot_id": facts.newest_snapshot_id},
    )


def _stuck(facts: ClusterFacts, late_after: timedelta, now: datetime) -> PresentIncident | None:
    oldest = facts.oldest_unadvised_at
    if oldest is None or now - oldest <= late_after:
        return None
    return PresentIncident(
        cluster=facts.cluster,
        kind=IncidentKind.STUCK,
        facts={
            "snapshot_id": facts.oldest_unadvised_id,
            "since": oldest.isoformat(),
            "snapshots": facts.unadvised,
            "run_seconds": facts.run_seconds,
            "gap_seconds": facts.gap_seconds,
        },
    )


def _is_of_delivery(step: FailingStep) -> bool:
    return bool(re.match(rf"\d+ of \d+ {UNDELIVERED}", step.error or ""))


def _step_failed(
    facts: ClusterFacts, late_after: timedelta, now: datetime
) -> PresentIncident | None:

    def explained(step: FailingStep) -> bool:
        soon = step.runs < IN_A_ROW and now - step.failing_since <= late_after
        unsent = facts.unsent > 0 and _is_of_delivery(step)
        return step.step == TAKING or (step.step in TELLING and (unsent or soon))

    failed = [
        step
        for step in facts.failing
        if not explained(step) and now - step.failing_since > late_after * REPAIR_SHARE
    ]
    if not failed:
        return None
    first = min(failed, key=lambda step: step.failing_since)
    return PresentIncident(
        cluster=facts.cluster,
        kind=IncidentKind.STEP_FAILED,
        facts={"since": first.failing_since.isoformat(), "steps": [_step(s) for s in failed]},
    )


def _unsent(facts: ClusterFacts, late_after: timedelta, now: datetime) -> PresentIncident | None:
    oldest = facts.oldest_unsent_at
    if oldest is None or now - oldest <= late_after:
        return None
    return PresentIncident(
        cluster=facts.cluster,
        kind=IncidentKind.UNSENT,
        facts={
            "since": oldest.isoformat(),
            "alerts": facts.unsent,
            "channels": list(facts.unsent_channels),
            "error": facts.unsent_error,
        },
    )


def _step(step: FailingStep) -> dict[str, Any]:
    return {
        "step": step.step,
        "runs": step.runs,
        "failures": step.failures,
        "link": step.link,
        "since": step.failing_since.isoformat(),
        "last_failed_at": step.last_failed_at.isoformat(),
        "error": step.error,
    }


def can_be_told(finding: PresentIncident, channel: str) -> bool:
    """Whether a channel can hear of it: that it takes no messages is told there when it is over."""
    return finding.kind is not IncidentKind.UNSENT or channel not in finding.facts["channels"]
