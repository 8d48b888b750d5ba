"""How long something has been wrong with a group, or nothing, and how bad it was: what the lifecycle goes by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from ..config import IncidentRules
from ..model.states import TroubleKind
from ..records import Bout, CauseSpan, IncidentCourse
from .evaluation import Judged
from .kinds import BEHIND, DELAY, KINDS, LAG, OTHER


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """
    A snapshot that is looked at, or a moment at which a pipeline is.

    Attributes:
        cluster: Configured name of the cluster.
        snapshot_id: The snapshot.
        at: When its reading ended.
        earlier: The newest one before it that can be trusted; None where there is none.
        already: What began no later was so already when the cluster was first looked at.
    """

    cluster: str
    snapshot_id: str
    at: datetime
    earlier: str | None
    already: datetime


def lasting(cause: TroubleKind, rules: IncidentRules) -> tuple[int, timedelta]:
    """In how many snapshots in a row a cause must be seen to be told, and for how long."""
    kind = KINDS.get(cause, OTHER)
    seconds = getattr(rules, kind.lasts) if kind.lasts else 0
    return 1 if kind.at_once else rules.for_snapshots, timedelta(seconds=seconds)


def has_lasted(span: CauseSpan, ill_since: datetime, at: datetime, rules: IncidentRules) -> bool:
    """Whether a cause that is seen now has lasted long enough to be told, by since when the group has been ill."""
    looks, duration = lasting(span.cause, rules)
    return span.last_seen_at == at and span.snapshots >= looks and at - ill_since >= duration


def is_well(course: IncidentCourse, look: Occasion, rules: IncidentRules) -> bool:
    """Whether a group has been well for long enough to be so after one bout alone."""
    least = timedelta(seconds=rules.resolve_after_seconds)
    since = course.well_since
    return (
        since is not None and course.well_looks >= rules.for_snapshots and look.at - since >= least
    )


Ill = TypeVar("Ill", IncidentCourse, Bout)


def with_peaks(known: Ill, judged: Judged) -> Ill:
    """With the largest lag and time behind, where this snapshot has larger ones."""
    facts = [fact for trouble in judged.troubles for fact in trouble.facts]
    behind = [trouble.amount for trouble in judged.troubles if trouble.kind in BEHIND]
    lags, delays = ([f.after for f in facts if f.measure == name] for name in (LAG, DELAY))
    return replace(
        known,
        peak_lag=largest(known.peak_lag, *lags),
        peak_behind_seconds=largest(known.peak_behind_seconds, *delays, *behind),
    )


def behind_of(spans: Iterable[CauseSpan]) -> float | None:
    """By how many seconds a group is behind, as some causes know it; None unknown."""
    known = list(spans)
    amounts = [span.amount for span in known if span.cause in BEHIND]
    return largest(*amounts, *(f.after for s in known for f in s.facts if f.measure == DELAY))


def largest(*values: float | None) -> float | None:
    """The largest of those that are known."""
    return max((value for value in values if value is not None), default=None)
