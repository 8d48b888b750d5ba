"""
What is news, and what is an incident: pure decisions over facts.

Advice is news when the state it has come to differs from what its group was last told, whether or not
that message has arrived yet. An incident is open from the first look that finds it to the first look that does not,
and both are told once.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from evenkeel.engine.message import Announcement, NewsKind, Severity
from evenkeel.engine.model import AdviceState, Diagnosis, Verdict
from evenkeel.engine.ports import ClusterFacts, FailingStep, ScoredAdvice
from evenkeel.engine.records import IncidentRow


@dataclass(frozen=True, kw_only=True, eq=False)
class News:
    """News of one group: what of its *advice* is told, of which strategy; *announced* is what it was told before."""

    kind: NewsKind
    strategy: str
    at: datetime
    advice: ScoredAdvice
    announced: Announcement | None = None

    @property
    def group_id(self) -> str:
        """Whose they are."""
        return self.advice.group_id

    @property
    def announcement(self) -> Announcement:
        """What the group's readers know once this is told."""
        return Announcement(
            group_id=self.group_id,
            kind=self.kind,
            strategy=self.strategy,
            at=self.at,
            diagnosis=_diagnosis(self.advice),
        )


FOLLOWS: Mapping[NewsKind, tuple[AdviceState, frozenset[NewsKind]]] = {
    NewsKind.WITHDRAWN: (AdviceState.WITHDRAWN, frozenset({NewsKind.SWITCH})),
    NewsKind.TAKEN_UP: (AdviceState.TAKEN_UP, frozenset({NewsKind.SWITCH})),
    NewsKind.VERIFIED: (AdviceState.VERIFIED, frozenset({NewsKind.SWITCH, NewsKind.TAKEN_UP})),
    NewsKind.MISSED: (AdviceState.MISSED, frozenset({NewsKind.SWITCH, NewsKind.TAKEN_UP})),
}
"""What is told of an advice after its switch: in which state it is then, and what was told last."""

PASSING = frozenset({Diagnosis.UNKNOWN, Diagnosis.REBALANCING})
"""Diagnoses that say nothing: a message that comes sooner because of them would come because of nothing."""


def new_advice(
    given: Iterable[ScoredAdvice],
    announcements: Mapping[str, Announcement],
    at: datetime,
    pause: Callable[[str], timedelta],
) -> list[News]:
    """
    What of a snapshot's advice its groups have not been told and may be told now, worst first.

    What is told is the state to which an advice has come, never the same twice, and what follows a switch only to those
    who heard of that switch. What comes sooner after the last message than the group's pause waits, unless the
    diagnosis changed since. Nothing is kept of what waits: whoever asks later finds the state as it is then.

    Args:
        given: The advice of one snapshot, one per group.
        announcements: What each group was told last, sent or still pending.
        at: When the snapshot was taken.
        pause: From one message about the advice of a group, by its id, to the next.
    """
    news = []
    for advice in given:
        found = _news(advice, announcements.get(advice.group_id), at)
        if found and _may_be_told(found, pause):
            news.append(found)
    return sorted(news, key=_worst_first)


def _news(advice: ScoredAdvice, announced: Announcement | None, at: datetime) -> News | None:
    last = (announced.kind, announced.strategy) if announced else (None, None)
    if advice.state is AdviceState.CONFIRMED:
        # a group that cannot be judged now has nothing to act on
        if advice.verdict is not Verdict.SWITCH or advice.strategy is None:
            return None
        if last == (NewsKind.SWITCH, advice.strategy):
            return None
        kind, strategy = NewsKind.SWITCH, advice.strategy
        return News(kind=kind, strategy=strategy, at=at, advice=advice, announced=announced)
    for kind, (state, after) in FOLLOWS.items():
        if advice.state is state and last[0] in after and last[1] is not None:
            taken_up = advice.uptake and advice.uptake.strategy
            if kind is not NewsKind.WITHDRAWN and taken_up != last[1]:
                return None
            return News(kind=kind, strategy=last[1], at=at, advice=advice, announced=announced)
    return None


def _may_be_told(news: News, pause: Callable[[str], timedelta]) -> bool:
    before, now = news.announced, _diagnosis(news.advice)
    if before is None:
        return True
    unknown = now is None or now in PASSING or before.diagnosis is None
    changed = not unknown and now is not before.diagnosis
    return changed or news.at - before.at >= pause(news.group_id)


def _diagnosis(advice: ScoredAdvice) -> Diagnosis | None:
    return advice.metrics.diagnosis if advice.metrics else None


def _worst_first(news: News) -> tuple[int, bool, float, str]:
    forecast = news.advice.live_forecast
    lag = forecast and forecast.forecast_lag_expected
    return (list(NewsKind).index(news.kind), lag is None, -(lag or 0), news.group_id)


class IncidentKind(enum.StrEnum):
    """What can be wrong with the pipeline of one cluster."""

    UNREACHABLE = "cluster unreachable"
    LATE = "snapshot late"
    REJECTED = "snapshot rejected"
    STUCK = "advice stuck"
    STEP_FAILED = "step failed"
    UNSENT = "alerts unsent"


SEVERITY: Mapping[IncidentKind, Severity] = {
    IncidentKind.UNREACHABLE: Severity.CRITICAL,
    IncidentKind.LATE: Severity.CRITICAL,
    IncidentKind.REJECTED: Severity.WARNING,
    IncidentKind.STUCK: Severity.WARNING,
    IncidentKind.STEP_FAILED: Severity.WARNING,
    IncidentKind.UNSENT: Severity.WARNING,
}

TAKING = "take_snapshot"
"""The step whose failure means that the cluster cannot be read."""

TELLING = "alert"
"""The step whose failure is already an incident of its own while alerts are unsent."""

REPAIR_SHARE = 1 / 3
"""A failed step has this share of `late_after_seconds` to be repaired by its own retries before it
is told."""


@dataclass(frozen=True, kw_only=True)
class PresentIncident:
    """An incident that is there now: JSON-able *facts*, times as ISO text."""

    cluster: str
    kind: IncidentKind
    facts: Mapping[str, Any] = field(default_factory=dict)
    group_id: str | None = None

    @property
    def key(self) -> tuple[str, str | None, str]:
        """At most one incident of the same key is open."""
        return (self.cluster, self.group_id, self.kind)


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
    has no facts, so its incidents close.
    """
    current = {f.key: f for one in facts for f in findings(one, late_after, now)}
    known = {(i.cluster, i.group_id, i.kind): i for i in open_incidents}
    unreachable = {f.cluster for f in current.values() if f.kind is IncidentKind.UNREACHABLE}
    # A late cluster that cannot be reached is one trouble, told once: by its cause.
    hidden = {(cluster, None, str(IncidentKind.LATE)) for cluster in unreachable}
    judged = set(IncidentKind)
    return Changes(
        opened=tuple(f for key, f in current.items() if key not in known and key not in hidden),
        kept=tuple((known[key], f) for key, f in current.items() if key in known),
        closed=tuple(
            incident
            for key, incident in known.items()
            if key not in current and incident.kind in judged
        ),
    )


def findings(facts: ClusterFacts, late_after: timedelta, now: datetime) -> list[PresentIncident]:
    """What is wrong with one cluster's pipeline at this moment."""
    checks = (_unreachable, _late, _rejected, _stuck, _step_failed, _unsent)
    return [found for check in checks if (found := check(facts, late_after, now))]


def _taking(facts: ClusterFacts) -> FailingStep | None:
    return next((step for step in facts.failing if step.step == TAKING), None)


def _unreachable(
    facts: ClusterFacts, late_after: timedelta, now: datetime
) -> PresentIncident | None:
    taking = _taking(facts)
    if taking is None or taking.skipped:
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


def _step_failed(
    facts: ClusterFacts, late_after: timedelta, now: datetime
) -> PresentIncident | None:
    explained = {TAKING, TELLING} if facts.unsent else {TAKING}
    failed = [
        step
        for step in facts.failing
        if step.step not in explained and now - step.failing_since > late_after * REPAIR_SHARE
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
        "failures": step.failures,
        "since": step.failing_since.isoformat(),
        "last_failed_at": step.last_failed_at.isoformat(),
        "error": step.error,
    }


def can_be_told(finding: PresentIncident, channel: str) -> bool:
    """Whether a channel can hear of it: that it takes no messages is told there when it is over."""
    return finding.kind is not IncidentKind.UNSENT or channel not in finding.facts["channels"]
