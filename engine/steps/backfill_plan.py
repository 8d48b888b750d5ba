"""Which past snapshots are to be judged again, and how far an earlier run has come with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from importlib.metadata import version

from evenkeel.engine.config import Settings
from evenkeel.engine.config.times import moment, span
from evenkeel.engine.datasets import split_snapshot_id
from evenkeel.engine.errors import InputError
from evenkeel.engine.model import utc_now
from evenkeel.engine.ports import ALL, Backfills, Lake
from evenkeel.engine.records import BackfillRow
from evenkeel.engine.text import printable
from evenkeel.engine.wording import moment as worded

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Question:
    """
    Which snapshots are judged again.

    Attributes:
        cluster: The configured name of the cluster.
        since: Those begun from then on.
        until: Those begun before.
        groups: Shell pattern of the groups.
        candidates_every: So far apart are the snapshots that candidates are made of; None: of none.
    """

    cluster: str
    since: datetime
    until: datetime
    groups: str = "*"
    candidates_every: timedelta | None = HOUR


NO_CANDIDATES = "none"
"""Asked for in place of a span of time: candidates of no snapshot."""


def question(
    cluster: str, first_day: str, last_day: str, *, groups: str = "*", candidates_every: str = "1h"
) -> Question:
    """
    A question as people ask it: days in UTC (`2026-11-15`, the last one included) or moments, and a span of time.

    Raises:
        InputError: One of them cannot be read.
    """
    try:
        since, until = _moment(first_day), _moment(last_day, DAY)
        every = None if candidates_every == NO_CANDIDATES else span(candidates_every)
    except (ValueError, OverflowError) as problem:
        raise InputError(
            f"{problem}.",
            fix="Days are written like 2026-11-15, moments like 2026-11-15T06:00Z, spans like 1h.",
        ) from None
    return Question(
        cluster=cluster, since=since, until=until, groups=groups, candidates_every=every
    )


def _moment(text: str, behind_day: timedelta = timedelta(0)) -> datetime:
    """A moment, or the beginning of a day and so long after it."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return moment(text)
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + behind_day


@dataclass(frozen=True, kw_only=True)
class Plan:
    """
    What is to be done.

    Attributes:
        row: The backfill as the history has it, or is to have it.
        every: All snapshots of the cluster that the lake has, up to the last one to judge, oldest first.
        left: Those that are left to judge, oldest first.
        proposed: Those of the question that candidates are made of.
        missing_days: Days of the question without any snapshot.
        resumes: Whether an earlier run of the same question was not done with it.
        gives_up: How far a run of another question came by the same rules that was not done: that is forgotten.
    """

    row: BackfillRow
    every: tuple[str, ...]
    left: tuple[str, ...]
    proposed: frozenset[str]
    missing_days: tuple[str, ...]
    resumes: bool
    gives_up: BackfillRow | None = None


def planned(lake: Lake, history: Backfills, settings: Settings, question: Question) -> Plan:
    """
    What a backfill would do; nothing is written.

    Raises:
        InputError: The cluster is not known, the days end before they begin, or the lake does not have them.
    """
    row = _row_of(settings, question)
    known = _by_rules(history, row)
    undone = known if known and known.finished_at is None else None
    begun = undone if undone and _same(undone, row) else None
    through = begun.done_through if begun else None
    # what was done stays so, though the lake may have forgotten it since
    since = split_snapshot_id(through)[1] if through else question.since
    every = _snapshots(lake, settings, question, since)
    ids = [one for one in every if question.since <= split_snapshot_id(one)[1] < question.until]
    left = [one for one in ids if through is None or one > through]
    done = begun.done_snapshots if begun else 0
    return Plan(
        row=replace(
            row,
            backfill_id=known.backfill_id if known else None,
            snapshots=done + len(left),
            done_snapshots=done,
            done_through=through,
            started_at=begun.started_at if begun else row.started_at,
        ),
        every=tuple(one for one in every if one <= ids[-1]),
        left=tuple(left),
        proposed=_proposed(history, question, ids),
        missing_days=_missing_days(since, question.until, ids),
        resumes=begun is not None,
        gives_up=None if begun else undone,
    )


def told_given_up(plan: Plan) -> str | None:
    """What a run costs another one that was not done; None where there is none."""
    other = plan.gives_up
    if other is None:
        return None
    return (
        f"{other.done_snapshots:,} of {other.snapshots:,} snapshots {time_of(other)}, "
        f"groups {printable(other.groups)}, were done by the same rules: asked for again, that begins anew"
    )


def begun_by(history: Backfills, settings: Settings, question: Question) -> BackfillRow | None:
    """What the history has of a question under the rules of now; None: nothing, or another question came after it."""
    row = _row_of(settings, question)
    known = _by_rules(history, row)
    return known if known and _same(known, row) else None


def _by_rules(history: Backfills, row: BackfillRow) -> BackfillRow | None:
    return history.backfill_by_rules(row.cluster, row.config_version, row.evenkeel_version)


def _snapshots(lake: Lake, settings: Settings, question: Question, since: datetime) -> list[str]:
    """All snapshots of the cluster, oldest first; the days of the question from a moment on are among theirs."""
    cluster, until = question.cluster, question.until
    if until <= question.since:
        raise InputError(
            f"{time_of(question)} ends before it begins.", fix="Give --from the earlier day."
        )
    if settings.clusters and cluster not in settings.clusters:
        raise InputError(
            f"no cluster {cluster!r} is configured.",
            fix=f"Choose one of: {', '.join(sorted(settings.clusters))}.",
        )
    every = lake.snapshots(cluster, limit=ALL)[::-1]
    if not every:
        raise InputError(
            f"the lake has no snapshot of {cluster!r}.",
            fix=f"It has those of: {', '.join(lake.clusters()) or 'no cluster'}.",
        )
    first, last = (_day(split_snapshot_id(one)[1]) for one in (every[0], every[-1]))
    last_asked = _day(until - timedelta(microseconds=1))
    if _day(since) < first or last_asked > last:
        raise InputError(
            f"the lake has snapshots of {cluster} from {first} to {last} only.",
            fix=f"Judge those again: --from {max(first, _day(since))} --to {min(last, last_asked)}.",
        )
    if not any(since <= split_snapshot_id(one)[1] < until for one in every):
        raise InputError(
            f"the lake has no snapshot of {cluster} {time_of(question)}.",
            fix=f"It has some between {first} and {last}; give other days.",
        )
    return every


def time_of(question: Question | BackfillRow) -> str:
    """The time of a question as it was asked for, by days or by moments."""
    first, last = question.since.astimezone(UTC), question.until.astimezone(UTC)
    if first.time() == last.time() == time(0):
        return f"from {_day(first)} to {_day(last - DAY)}"
    return f"from {worded(first)} to {worded(last)}"


def _day(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def _missing_days(since: datetime, until: datetime, ids: Sequence[str]) -> tuple[str, ...]:
    there = {_day(split_snapshot_id(one)[1]) for one in ids}
    days, day = [], _moment(_day(since))
    while day < until:
        days.append(_day(day))
        day += DAY
    return tuple(one for one in days if one not in there)


def _row_of(settings: Settings, question: Question) -> BackfillRow:
    every = question.candidates_every
    return BackfillRow(
        cluster=question.cluster,
        config_version=settings.version,
        evenkeel_version=version("evenkeel"),
        groups=question.groups,
        since=question.since,
        until=question.until,
        candidates_every_seconds=None if every is None else every.total_seconds(),
        snapshots=0,
        done_snapshots=0,
        done_through=None,
        started_at=utc_now(),
        finished_at=None,
    )


def _same(known: BackfillRow, row: BackfillRow) -> bool:
    """Whether both are of the same question."""
    names = ("groups", "since", "until", "candidates_every_seconds")
    return all(getattr(known, name) == getattr(row, name) for name in names)


def _proposed(history: Backfills, question: Question, ids: Sequence[str]) -> frozenset[str]:
    """Of each span of time one snapshot: the first that was advised on, where there is one, else the first."""
    if question.candidates_every is None:
        return frozenset()
    seconds = question.candidates_every.total_seconds()
    advised = set(
        history.advised_between(question.cluster, question.since - DAY, question.until + DAY)
    )
    chosen: dict[int, str] = {}
    for one in ids:
        span = int(split_snapshot_id(one)[1].timestamp() // seconds)
        if span not in chosen or (one in advised and chosen[span] not in advised):
            chosen[span] = one
    return frozenset(chosen.values())
