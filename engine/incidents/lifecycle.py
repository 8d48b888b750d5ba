"""
The lifecycle of what is wrong with a group, or with the pipeline of a cluster: suspected, open, resolved.

Suspected is what some snapshot shows. It is forgotten when a snapshot finds the group well, and open once it has lasted
(`lasting`): then it is worth telling. Open stays open until the group is well for long enough; while it is neither
(`recovering`) nothing happens before `flap_window_seconds`, and a snapshot that could not evaluate it neither opens nor
closes anything.

A group has one incident at a time. Its cause is the most severe that has lasted, so it only ever becomes worse; that it
is behind follows from whatever else is wrong, and gives an incident its name only alone. Causes come and go within it:
one that is not seen in a snapshot is missed, and gone when it is missed as often in a row as it would have to be seen.
How long something lasts is counted from when the group was well last, whichever cause it showed first: a member that is
slow now and silent then has been ill all the time.

What is `STANDING` says what would become of a group, not how it fares. It is an incident of its own where nothing else
is wrong; else it is left out, so that it keeps nothing open that is over, and makes nothing older than it is.

What comes and goes is not told each time: an incident that begins soon after another is over only when the group has
been well for half as long again as it was between the two, however severe it is. The first is told at once, and so is
that it came back; what comes back after that finds its incident open, unless it is a habit (`habits`): that ends like
any other. For that it is remembered when the incident of a group was over, and how its bouts were, by a suspected
course without causes.

A pipeline has an incident of each kind at a time (`incidents.policy`), by rules of its own: what is found is open at
once, for it waited before it was found, and what is not found any more is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from ..config import IncidentRules, Settings
from ..model.groups import WatchOf
from ..model.states import STANDING, Diagnosis, IncidentState
from ..ports import IncidentWatch
from ..records import Bout, CauseSpan, IncidentCourse
from .evaluation import Judged, Judgment, Trouble
from .habits import MOST, REMEMBERED, habit_of
from .kinds import KINDS, OTHER
from .measures import Occasion, behind_of, has_lasted, is_well, with_peaks

AGAIN = 1.5
"""What comes back is over when the group has been well for so many times as long as before it came back."""

OF_PIPELINES = IncidentRules(
    for_snapshots=1, resolve_after_seconds=0, flap_window_seconds=0, deleted_after_seconds=1e9
)
"""The rules of what is wrong with a pipeline."""


def stepped(
    before: IncidentWatch, judgment: Judgment, settings: Settings
) -> dict[str, IncidentCourse]:
    """
    What is remembered of the groups of a cluster, or of its pipeline, after one look more.

    Args:
        before: What was remembered before.
        judgment: What the look says.
        settings: The configuration.

    Returns:
        Of all with which something is wrong, and of those whose incident is over with it, by name.
    """
    cluster, at = judgment.cluster, judgment.at
    is_pipeline = judgment.of is WatchOf.PIPELINE
    # on the second look, too: no rate is known before
    is_first = before.snapshot_id is None or before.at == before.first_at
    already = at if is_first else before.first_at or at
    look = Occasion(
        cluster=cluster,
        snapshot_id=judgment.snapshot_id,
        at=at,
        earlier=judgment.earlier,
        # many groups of a new installation are one digest; a pipeline has few things that may be wrong
        already=datetime.min.replace(tzinfo=UTC) if is_pipeline else already,
    )
    known = {course.name: course for course in before.courses}
    listed = frozenset(judgment.listed) if known else frozenset()
    courses = {}
    for name in sorted(known.keys() | judgment.odd.keys()):
        # of which the snapshot has nothing odd to say: it is well, or it is not there
        plain = Diagnosis.HEALTHY if name in listed else Diagnosis.UNKNOWN
        judged = judgment.odd.get(name) or Judged(
            group_id=name, diagnosis=plain, known=name in listed
        )
        rules = OF_PIPELINES if is_pipeline else settings.incidents(cluster, name)
        course = step(known.get(name), judged, look, rules)
        if course is not None:
            courses[name] = course
    return courses


def step(
    course: IncidentCourse | None, judged: Judged, look: Occasion, rules: IncidentRules
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
    limit = look.at - REMEMBERED
    bouts = [each for each in course.bouts if each.began_at > limit][-MOST:] if course else []
    if after is not None:
        told = course is not None and course.habit_told
        after = replace(after, over_at=over_at, bouts=tuple(bouts), habit_told=told)
        return _with_bout(after, judged, look, rules) if after.group_id is not None else after
    ended = tuple(each for each in bouts if each.ended_at is not None)
    return _remembered(course, look, over_at, ended) if course and (over_at or ended) else None


def _over_at(
    course: IncidentCourse | None, look: Occasion, rules: IncidentRules
) -> datetime | None:
    """When the incident before was over; None where that does not matter any more."""
    if course is None:
        return None
    over_at = course.over_at
    if course.state is IncidentState.OPEN:
        return over_at
    if course.state is IncidentState.RESOLVED:
        over_at = course.closed_at if course.well_since else None
    limit = look.at - timedelta(seconds=rules.flap_window_seconds)
    return over_at if over_at and over_at > limit else None


def _remembered(
    course: IncidentCourse, look: Occasion, over_at: datetime | None, bouts: tuple[Bout, ...]
) -> IncidentCourse:
    """Of a group that is well, when its incident was over, and how its bouts were."""
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
        bouts=bouts,
        habit_told=course.habit_told,
    )


def _with_bout(
    course: IncidentCourse, judged: Judged, look: Occasion, rules: IncidentRules
) -> IncidentCourse:
    """With what this snapshot adds to the present bout, with a new one, or with its end."""
    bouts = course.bouts
    bout = bouts[-1] if bouts and bouts[-1].ended_at is None else None
    before = bouts[:-1] if bout else bouts
    seen = [s for s in course.causes if s.last_seen_at == look.at and s.cause not in STANDING]
    if not seen:
        is_over = course.state is IncidentState.RESOLVED
        if bout is None or not (is_over or is_well(course, look, rules)):
            return course
        ended_at = course.closed_at if is_over else course.well_since
        return replace(
            course, bouts=(*before, replace(bout, ended_at=ended_at)) if bout.lasted else before
        )
    begun = bout or Bout(
        began_at=look.at, cause=seen[0].cause, first_behind_seconds=behind_of(seen)
    )
    ripe = [s.cause for s in seen if has_lasted(s, min(begun.began_at, s.since), look.at, rules)]
    known = [begun.cause] if begun.lasted else ripe[:1]
    cause = min([*known, *ripe], key=lambda each: each.precedence, default=seen[0].cause)
    now = with_peaks(replace(begun, cause=cause, lasted=begun.lasted or bool(ripe)), judged)
    course = replace(course, bouts=(*before, now))
    # a rhythm that was broken is told anew
    broken = now.lasted and not begun.lasted and habit_of(course.bouts) is None
    return replace(course, habit_told=course.habit_told and not broken)


def _next(
    course: IncidentCourse | None, judged: Judged, look: Occasion, rules: IncidentRules
) -> IncidentCourse | None:
    """The same without a memory of what was before it."""
    if not rules.enabled:
        judged = Judged(group_id=judged.group_id, diagnosis=judged.diagnosis)
    course, judged = _unmixed(course, judged)
    if _is_given_up(course, judged, look, rules):
        return _over(replace(course, unseen_since=None), look) if course else None
    if judged.troubles:
        return _seen(course, judged, look, rules)
    if course is None:
        return None
    if not judged.known:
        return replace(course, unseen_since=None)
    return _unseen(course, judged, look, rules)


def _unmixed(course: IncidentCourse | None, judged: Judged) -> tuple[IncidentCourse | None, Judged]:
    """Without what is `STANDING` beside what is wrong now, and begun anew where one follows the other."""
    acute = tuple(each for each in judged.troubles if each.kind not in STANDING)
    if course is not None and course.state is IncidentState.OPEN:
        is_told = course.cause in STANDING and not acute
        return course, judged if is_told else replace(judged, troubles=acute)
    if not judged.troubles:
        return course, judged
    other = course is not None and (course.cause in STANDING) is bool(acute)
    return None if other else course, replace(judged, troubles=acute) if acute else judged


def _seen(
    course: IncidentCourse | None, judged: Judged, look: Occasion, rules: IncidentRules
) -> IncidentCourse:
    """Something is wrong with it in this snapshot."""
    known = course or _suspected(judged, look)
    spans = _spans(known.causes, judged, look.at, rules)
    known = replace(known, causes=spans, unseen_since=None, well_since=None, well_looks=0)
    known = with_peaks(known, judged)
    if known.state is IncidentState.SUSPECTED:
        began = min(known.began_at, *(s.since for s in spans if s.last_seen_at == look.at))
        already = began <= look.already
        known = replace(known, began_at=began, cause=spans[0].cause, already_so=already)
    anew = known.cause in STANDING
    ripe = [
        s.cause for s in spans if has_lasted(s, s.since if anew else known.began_at, look.at, rules)
    ]
    if not ripe:
        return known
    if known.state is IncidentState.SUSPECTED:
        return replace(known, state=IncidentState.OPEN, cause=ripe[0], opened_at=look.at)
    return replace(known, cause=min(known.cause, ripe[0], key=lambda cause: cause.precedence))


def _suspected(judged: Judged, look: Occasion) -> IncidentCourse:
    name = judged.troubles[0].kind if judged.group_id is None else judged.group_id
    return IncidentCourse(
        key=f"{look.cluster}/{name}/{look.snapshot_id}",
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
    # of what was gone only the last of it was kept: it begins anew
    before = {span.cause: span for span in known}
    gone = {span.cause for span in known if span.missed >= rules.for_snapshots}
    now = [_renewed(None if t.kind in gone else before.get(t.kind), t, at) for t in judged.troubles]
    for span in now:
        before.pop(span.cause, None)
    unseen = [replace(span, missed=span.missed + judged.known) for span in before.values()]
    left = [*now, *(span for span in unseen if span.missed < rules.for_snapshots)]
    return tuple(sorted(left or unseen, key=lambda span: span.cause.precedence))


def _renewed(span: CauseSpan | None, trouble: Trouble, at: datetime) -> CauseSpan:
    since = min(trouble.since or at, span.since if span else at)
    lasted = (at - since).total_seconds()
    return CauseSpan(
        cause=trouble.kind,
        since=since,
        last_seen_at=at,
        snapshots=span.snapshots + 1 if span else 1,
        amount=lasted if KINDS.get(trouble.kind, OTHER).timed else trouble.amount,
        facts=trouble.facts,
        known=trouble.known,
    )


def _unseen(
    course: IncidentCourse, judged: Judged, look: Occasion, rules: IncidentRules
) -> IncidentCourse | None:
    """Nothing of it is to be seen, and the group could be judged."""
    spans = _spans(course.causes, judged, look.at, rules)
    if course.state is IncidentState.SUSPECTED:
        gone = all(span.missed >= rules.for_snapshots for span in spans)
        return replace(course, causes=spans) if judged.recovering and not gone else None
    # a clock that was ahead once holds nothing up
    unseen = min(course.unseen_since or look.at, look.at)
    course = replace(course, causes=spans, unseen_since=unseen)
    if look.at - unseen >= timedelta(
        seconds=max(rules.flap_window_seconds, rules.resolve_after_seconds)
    ):
        is_settled = judged.recovering or course.well_since is None
        return _over(replace(course, well_since=None) if is_settled else course, look)
    if judged.recovering:
        return replace(course, well_since=None, well_looks=0)
    since, looks = min(course.well_since or look.at, look.at), course.well_looks + 1
    well = replace(course, well_since=since, well_looks=looks)
    is_over = is_well(well, look, rules) and look.at - since >= _stays_away(course, rules)
    return _over(well, look) if is_over else well


def _stays_away(course: IncidentCourse, rules: IncidentRules) -> timedelta:
    """For how long what came back must be away to be over; what is a habit comes back anyhow."""
    if course.over_at is None or habit_of(course.bouts):
        return timedelta()
    again = AGAIN * (course.began_at - course.over_at)
    return min(again, timedelta(seconds=rules.flap_window_seconds))


def _is_given_up(
    course: IncidentCourse | None, judged: Judged, look: Occasion, rules: IncidentRules
) -> bool:
    """Whether a group has been gone, or could not be judged, for so long that nobody waits for it any more."""
    limit = look.at - timedelta(seconds=rules.deleted_after_seconds)
    spans = course.causes if course else ()
    causes = [trouble.kind for trouble in judged.troubles]
    if causes == [Diagnosis.GROUP_DELETED]:
        gone = [span.since for span in spans if span.cause is Diagnosis.GROUP_DELETED]
        since = [*gone, *(trouble.since for trouble in judged.troubles)]
        return any(each is not None and each <= limit for each in since)
    return not judged.known and not causes and all(s.last_seen_at <= limit for s in spans)


def _over(course: IncidentCourse, look: Occasion) -> IncidentCourse | None:
    if course.state is IncidentState.SUSPECTED:
        return None
    closed_at = course.well_since or course.unseen_since or look.at
    return replace(course, state=IncidentState.RESOLVED, closed_at=closed_at)
