"""
The lifecycle of what is wrong with a group: suspected, open, resolved.

Suspected is what some snapshot shows. It is forgotten when a snapshot finds the group well, and open once it has lasted
(`lasting`): then it is worth telling. Open stays open until the group is well for long enough; while it is neither
(`recovering`) nothing happens before `again_seconds`, and a snapshot that could not judge it neither opens nor closes
anything.

A group has one incident at a time. Its cause is the most severe that has lasted, so it only ever becomes worse; that it
is behind follows from whatever else is wrong, and gives an incident its name only alone. Causes come and go within it:
one that is not seen in a snapshot is missed, and gone when it is missed as often in a row as it would have to be seen.
How long something lasts is counted from when the group was well last, whichever cause it showed first: a member that is
slow now and silent then has been ill all the time.

What comes and goes is not told each time: an incident that begins soon after another is over only when the group has
been well for half as long again as it was between the two, however severe it is. The first is told at once, and so is
that it came back; what comes back after that finds its incident open. For that a group is remembered for a while after
its incident, by a suspected course without causes.

What is critical stays suspected through one good snapshot, not through two in a row, so that what is seen in every
second one is told, too: when it was seen once more than it would have to be, over `well_seconds`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from evenkeel.engine.config import IncidentRules, Settings
from evenkeel.engine.incidents.judged import Judged, Judgement, Trouble
from evenkeel.engine.model import Diagnosis, IncidentState
from evenkeel.engine.ports import GroupWatch
from evenkeel.engine.records import CauseSpan, IncidentCourse


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """
    A snapshot that is looked at.

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


AGAIN = 1.5
"""What comes back is over when the group has been well for so many times as long as before it came back."""

AT_ONCE = frozenset({Diagnosis.LOSING_RECORDS, Diagnosis.SKIPPED_RECORDS})
"""Causes of which one snapshot is enough: what is lost does not come back."""

LASTING: Mapping[Diagnosis, str] = {
    Diagnosis.STOPPED: "silent_seconds",
    Diagnosis.SILENT_MEMBER: "silent_seconds",
    Diagnosis.STUCK_PARTITION: "silent_seconds",
    Diagnosis.CATCHING_UP: "behind_seconds",
    Diagnosis.SKEWED_LOAD: "behind_seconds",
    Diagnosis.REBALANCING: "rebalancing_seconds",
    Diagnosis.TOO_FEW_MEMBERS: "capacity_seconds",
    Diagnosis.SLOW_MEMBER: "capacity_seconds",
    Diagnosis.HOT_PARTITION: "capacity_seconds",
}
"""The rule that says how long a cause must last; all others must be seen often enough only."""


def lasting(cause: Diagnosis, rules: IncidentRules) -> tuple[int, timedelta]:
    """In how many snapshots in a row a cause must be seen to be told, and for how long."""
    looks = 1 if cause in AT_ONCE else rules.looks
    return looks, timedelta(seconds=getattr(rules, LASTING[cause]) if cause in LASTING else 0)


def stepped(
    before: GroupWatch, judgement: Judgement, settings: Settings
) -> dict[str, IncidentCourse]:
    """
    What is remembered of the groups of a cluster after one snapshot more.

    Args:
        before: What was remembered before.
        judgement: What the snapshot says.
        settings: The configuration.

    Returns:
        Of all groups with which something is wrong, and of those whose incident is over with it, by group.
    """
    cluster, at = judgement.cluster, judgement.at
    # on the second look, too: no rate is known before
    is_first = before.snapshot_id is None or before.at == before.first_at
    look = Look(
        cluster=cluster,
        snapshot_id=judgement.snapshot_id,
        at=at,
        earlier=judgement.earlier,
        already=at if is_first else before.first_at or at,
    )
    known = {course.group_id: course for course in before.courses}
    listed = frozenset(judgement.listed) if known else frozenset()
    courses = {}
    for group in sorted(known.keys() | judgement.odd.keys()):
        judged = judgement.odd.get(group) or _plain(group, group in listed)
        course = step(known.get(group), judged, look, settings.incidents(cluster, group))
        if course is not None:
            courses[group] = course
    return courses


def _plain(group: str, is_listed: bool) -> Judged:
    """A group of which the snapshot has nothing odd to say: it is well, or it is not there."""
    diagnosis = Diagnosis.KEEPS_UP if is_listed else Diagnosis.UNKNOWN
    return Judged(group_id=group, diagnosis=diagnosis, known=is_listed)


def step(
    course: IncidentCourse | None, judged: Judged, look: Look, rules: IncidentRules
) -> IncidentCourse | None:
    """
    What is remembered of a group after one snapshot more.

    Args:
        course: What was remembered before; None of a group that was well.
        judged: What the snapshot says of it.
        look: The snapshot.
        rules: What must last how long.

    Returns:
        None where nothing is wrong, a resolved course once, when an open one is over.
    """
    over_at = _over_at(course, look, rules)
    # what is over, or only remembered, is not what comes now
    still = course is not None and course.causes and course.state is not IncidentState.RESOLVED
    after = _next(course if still else None, judged, look, rules)
    if after is not None:
        return _counted(course, replace(after, over_at=over_at))
    return _remembered(course, look, over_at) if course and over_at else None


def _counted(course: IncidentCourse | None, after: IncidentCourse) -> IncidentCourse:
    """With how often it came back, where an incident of the group was over not long ago."""
    if course is None or after.over_at is None:
        return after
    opens = after.state is IncidentState.OPEN and course.state is not IncidentState.OPEN
    return replace(
        after,
        returns=max(course.returns, after.returns) + opens,
        comes_since=_comes_since(course) or after.comes_since,
    )


def _comes_since(course: IncidentCourse) -> datetime | None:
    """When the first of several began, the last of which may be over."""
    is_over = course.state is IncidentState.RESOLVED
    return course.comes_since or (course.began_at if is_over else None)


def _over_at(course: IncidentCourse | None, look: Look, rules: IncidentRules) -> datetime | None:
    """When the incident before was over; None where that does not matter any more."""
    if course is None:
        return None
    over_at = course.over_at
    if course.state is IncidentState.OPEN:
        return over_at
    if course.state is IncidentState.RESOLVED:
        over_at = course.closed_at if course.well_since else None
    limit = look.at - timedelta(seconds=rules.again_seconds)
    return over_at if over_at and over_at > limit else None


def _remembered(course: IncidentCourse, look: Look, over_at: datetime) -> IncidentCourse:
    """Of a group that is well, when its incident was over."""
    return IncidentCourse(
        key=course.key,
        group_id=course.group_id,
        state=IncidentState.SUSPECTED,
        cause=course.cause,
        causes=(),
        began_at=look.at,
        began_snapshot_id=look.snapshot_id,
        good_snapshot_id=look.snapshot_id,
        over_at=over_at,
        returns=course.returns,
        comes_since=_comes_since(course),
    )


def _next(
    course: IncidentCourse | None, judged: Judged, look: Look, rules: IncidentRules
) -> IncidentCourse | None:
    """The same without a memory of what was before it."""
    if not rules.enabled:
        judged = Judged(group_id=judged.group_id, diagnosis=judged.diagnosis)
    if _is_given_up(course, judged, look, rules):
        return _over(replace(course, unseen_since=None), look) if course else None
    if judged.troubles:
        return _seen(course, judged, look, rules)
    if course is None:
        return None
    if not judged.known:
        return replace(course, unseen_since=None)
    return _unseen(course, judged, look, rules)


def _seen(
    course: IncidentCourse | None, judged: Judged, look: Look, rules: IncidentRules
) -> IncidentCourse:
    """Something is wrong with it in this snapshot."""
    known = course if course and _goes_on(course, judged) else _suspected(judged, look)
    spans = _spans(known.causes, judged, look.at, rules)
    if known.well_since is not None:
        since = known.comes_since or known.began_at
        known = replace(known, returns=known.returns + 1, comes_since=since)
    known = replace(
        known,
        causes=spans,
        unseen_since=None,
        well_since=None,
        well_looks=0,
        present=_present(spans, look.at, rules),
    )
    if known.state is IncidentState.SUSPECTED:
        began = min(known.began_at, *(s.since for s in spans if s.last_seen_at == look.at))
        already = began <= look.already
        known = replace(known, began_at=began, cause=spans[0].cause, already_so=already)
    ripe = [s.cause for s in spans if _has_lasted(s, known, look.at, rules)]
    if not ripe:
        return known
    if known.state is IncidentState.SUSPECTED:
        return replace(known, state=IncidentState.OPEN, cause=ripe[0], opened_at=look.at)
    return replace(known, cause=min(known.cause, ripe[0], key=lambda cause: cause.precedence))


def _goes_on(course: IncidentCourse, judged: Judged) -> bool:
    """Whether what is wrong now belongs to what was before: after a good snapshot only the same does."""
    if course.state is IncidentState.OPEN or course.well_since is None:
        return True
    return bool({span.cause for span in course.causes} & {each.kind for each in judged.troubles})


def _suspected(judged: Judged, look: Look) -> IncidentCourse:
    return IncidentCourse(
        key=f"{look.cluster}/{judged.group_id}/{look.snapshot_id}",
        group_id=judged.group_id,
        state=IncidentState.SUSPECTED,
        cause=judged.troubles[0].kind,
        causes=(),
        began_at=look.at,
        began_snapshot_id=look.snapshot_id,
        good_snapshot_id=look.earlier,
    )


def _spans(
    known: Sequence[CauseSpan], judged: Judged, at: datetime, rules: IncidentRules
) -> tuple[CauseSpan, ...]:
    """What is wrong, in the order of precedence; the last of it is kept, so that it can be told what is over."""
    before = {span.cause: span for span in known}
    now = [_renewed(before.pop(t.kind, None), t, at) for t in judged.troubles]
    unseen = [replace(span, missed=span.missed + judged.known) for span in before.values()]
    left = [*now, *(span for span in unseen if span.missed < rules.looks)]
    return tuple(sorted(left or unseen, key=lambda span: span.cause.precedence))


TIMED = frozenset({Diagnosis.REBALANCING, Diagnosis.VANISHED})
"""Causes that are as bad as they are long, which is more than the snapshots that are looked back on can tell."""


def _renewed(span: CauseSpan | None, trouble: Trouble, at: datetime) -> CauseSpan:
    since = min(trouble.since or at, span.since if span else at)
    lasted = (at - since).total_seconds()
    return CauseSpan(
        cause=trouble.kind,
        since=since,
        last_seen_at=at,
        looks=span.looks + 1 if span else 1,
        amount=lasted if trouble.kind in TIMED else trouble.amount,
        facts=trouble.facts,
        earlier_looks=span.earlier_looks if span else 0,
    )


def _has_lasted(
    span: CauseSpan, course: IncidentCourse, at: datetime, rules: IncidentRules
) -> bool:
    looks, duration = lasting(span.cause, rules)
    lasted = at - course.began_at
    if span.last_seen_at != at or lasted < duration:
        return False
    # with good snapshots between: more often, and for longer
    comes_and_goes = span.earlier_looks and lasted >= timedelta(seconds=rules.well_seconds)
    return span.looks - span.earlier_looks >= looks or bool(comes_and_goes and span.looks > looks)


def _present(spans: Sequence[CauseSpan], at: datetime, rules: IncidentRules) -> Diagnosis | None:
    """The worst of what is seen now and has lasted by itself, whatever was wrong before it."""
    for span in spans:
        looks, duration = lasting(span.cause, rules)
        if span.last_seen_at == at and span.looks >= looks and at - span.since >= duration:
            return span.cause
    return None


def _unseen(
    course: IncidentCourse, judged: Judged, look: Look, rules: IncidentRules
) -> IncidentCourse | None:
    """Nothing of it is to be seen, and the group could be judged."""
    spans = _spans(course.causes, judged, look.at, rules)
    course = replace(course, present=None)
    if course.state is IncidentState.SUSPECTED:
        gone = all(span.missed >= rules.looks for span in spans)
        if not judged.recovering:
            return _still_suspected(course, spans, look)
        return None if gone else replace(course, causes=spans)
    # a clock that was ahead once holds nothing up
    unseen = min(course.unseen_since or look.at, look.at)
    course = replace(course, causes=spans, unseen_since=unseen)
    if look.at - unseen >= timedelta(seconds=max(rules.again_seconds, rules.well_seconds)):
        is_settled = judged.recovering or course.well_since is None
        return _over(replace(course, well_since=None) if is_settled else course, look)
    if judged.recovering:
        return replace(course, well_since=None, well_looks=0)
    since, looks = min(course.well_since or look.at, look.at), course.well_looks + 1
    well = replace(course, well_since=since, well_looks=looks)
    is_well = looks >= rules.looks and look.at - since >= _well_for(course, rules)
    return _over(well, look) if is_well else well


def _still_suspected(
    course: IncidentCourse, spans: Sequence[CauseSpan], look: Look
) -> IncidentCourse | None:
    """What is critical, and was there in the snapshot before this one, may come and go."""
    kept = tuple(
        replace(span, earlier_looks=span.looks)
        for span in spans
        if span.cause.is_critical and span.missed == 1
    )
    if not kept:
        return None
    return replace(course, causes=kept, cause=kept[0].cause, well_since=look.at)


def _well_for(course: IncidentCourse, rules: IncidentRules) -> timedelta:
    """For how long a group must be well for its incident to be over."""
    least = timedelta(seconds=rules.well_seconds)
    if course.over_at is None:
        return least
    again = AGAIN * (course.began_at - course.over_at)
    return max(least, min(again, timedelta(seconds=rules.again_seconds)))


def _is_given_up(
    course: IncidentCourse | None, judged: Judged, look: Look, rules: IncidentRules
) -> bool:
    """Whether a group has been gone, or could not be judged, for so long that nobody waits for it any more."""
    limit = look.at - timedelta(seconds=rules.vanished_seconds)
    spans = course.causes if course else ()
    causes = [trouble.kind for trouble in judged.troubles]
    if causes == [Diagnosis.VANISHED]:
        gone = [span.since for span in spans if span.cause is Diagnosis.VANISHED]
        since = [*gone, *(trouble.since for trouble in judged.troubles)]
        return any(each is not None and each <= limit for each in since)
    return not judged.known and not causes and all(s.last_seen_at <= limit for s in spans)


def _over(course: IncidentCourse, look: Look) -> IncidentCourse | None:
    if course.state is IncidentState.SUSPECTED:
        return None
    closed_at = course.well_since or course.unseen_since or look.at
    return replace(course, state=IncidentState.RESOLVED, closed_at=closed_at)
