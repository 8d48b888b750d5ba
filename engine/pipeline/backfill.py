"""
Backfill: re-evaluates past snapshots after a change of the configuration or of evenkeel.

Runs the pipeline over snapshots of the lake and stores the results in a *shelf*: the same tables in a separate schema,
named by the rules. The history is not changed, and nobody is notified. Each snapshot is evaluated with the data known
at its time. After an interruption the next run continues with the missing snapshots.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from importlib.metadata import version
from typing import Any, Protocol

from ..config import Settings
from ..config.times import moment, span
from ..messages.wording import moment as worded
from ..model.errors import ClusterBusy, InputError, SnapshotNotFound
from ..ports import ALL, Lake, Locks, Queries
from ..snapshots import split_snapshot_id
from ..snapshots.groups_with_past import learned_before, lookback_ids
from ..snapshots.learned import Learned
from ..snapshots.walk_lake import WalkedLake
from .pipeline import WholeHistory, read_at_once, run_pipeline

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)

TOLD_EVERY = 5.0
"""Seconds between progress reports."""

MOST_CHANGES = 10_000
"""Maximum number of differences of a run."""

NO_CANDIDATES = "none"
"""The word for no candidates, instead of a duration."""


class Shelf(WholeHistory, Locks, Protocol):
    """The results of a re-evaluation with certain rules, created on demand."""

    def make(self, about: str) -> None:
        """Create it if needed, migrate its tables, and store a description."""

    def done(self, cluster: str, since: datetime, until: datetime) -> dict[str, bool]:
        """Completed snapshots of a period by id, and whether they have advice."""

    def learned(self, snapshot_id: str) -> dict[str, Learned]:
        """What was learned by then of each group that it has metrics of in a snapshot."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """
    The snapshots to re-evaluate.

    Attributes:
        cluster: Configured name of the cluster.
        since: Start of the period.
        until: End of the period (exclusive).
        groups: Shell pattern of the groups.
        candidates_every: Interval of snapshots with candidates; None for no candidates.
    """

    cluster: str
    since: datetime
    until: datetime
    groups: str = "*"
    candidates_every: timedelta | None = HOUR

    @property
    def time(self) -> str:
        """Its time as it was asked for, by days or by moments."""
        first, last = self.since.astimezone(UTC), self.until.astimezone(UTC)
        if first.time() == last.time() == time(0):
            return f"from {_day(first)} to {_day(last - DAY)}"
        return f"from {worded(first)} to {worded(last)}"


def question(
    cluster: str, first_day: str, last_day: str, *, groups: str = "*", candidates_every: str = "1h"
) -> Question:
    """
    Parse a question: days in UTC (`2026-11-15`, the last one inclusive) or moments, and a duration.

    Raises:
        InputError: A value is invalid.
    """
    try:
        since, until = _moment(first_day), _moment(last_day, DAY)
        every = None if candidates_every == NO_CANDIDATES else span(candidates_every)
    except (ValueError, OverflowError) as problem:
        raise InputError(
            f"{problem}.",
            fix="Write days like 2026-11-15, moments like 2026-11-15T06:00Z and durations like 1h.",
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


EVENKEEL = version("evenkeel")
"""The version for evaluations."""


def rules_of(settings: Settings, groups: str) -> str:
    """
    The name of the schema for a configuration, the installed version and a pattern of groups.

    Other rules have other schemas, so the results of a schema are consistent.
    """
    release = re.sub(r"[^a-z0-9]+", "_", EVENKEEL.lower())
    some = "" if groups == "*" else f"_{hashlib.sha256(groups.encode()).hexdigest()[:6]}"
    return f"rules_{settings.version}_{release}{some}"


@dataclass(frozen=True, kw_only=True)
class BackfillPlan:
    """
    The work of a backfill.

    Attributes:
        question: The question.
        rules: Name of the schema for the results.
        config_version: Hash of the configuration.
        ids: All snapshots of the question, oldest first: those in the lake, and completed ones.
        left: Remaining snapshots.
        proposed: Snapshots with candidates.
        missing_days: Days of the question without a snapshot.
    """

    question: Question
    rules: str
    config_version: str
    ids: tuple[str, ...]
    left: tuple[str, ...]
    proposed: frozenset[str]
    missing_days: tuple[str, ...]

    @property
    def done(self) -> int:
        """How many are done."""
        return len(self.ids) - len(self.left)


def planned(lake: Lake, shelf: Shelf, settings: Settings, question: Question) -> BackfillPlan:
    """
    The plan of a backfill, without writing anything.

    Raises:
        InputError: The cluster is unknown, the period ends before its start, or the lake doesn't have it.
    """
    cluster, since, until = question.cluster, question.since, question.until
    if until <= since:
        raise InputError(
            f"{question.time} ends before its start.", fix="Set --from to the earlier day."
        )
    if settings.clusters and cluster not in settings.clusters:
        raise InputError(
            f"no cluster {cluster!r} is configured.",
            fix=f"Choose one of: {', '.join(sorted(settings.clusters))}.",
        )
    done, held = shelf.done(cluster, since, until), {*lake.snapshots(cluster, limit=ALL)}
    # what was done stays so, though the lake may have forgotten it since
    every = sorted({*held, *done}, key=split_snapshot_id)
    _refuse_unknown_days(lake, question, every)
    ids = [one for one in every if since <= split_snapshot_id(one)[1] < until]
    proposed = _proposed(question, [one for one in ids if one in held or done[one]])
    return BackfillPlan(
        question=question,
        rules=rules_of(settings, question.groups),
        config_version=settings.version,
        ids=tuple(ids),
        left=tuple(
            one for one in ids if not done.get(one, False) and (one not in done or one in proposed)
        ),
        proposed=proposed,
        missing_days=_missing_days(question, ids),
    )


def _refuse_unknown_days(lake: Lake, question: Question, every: Sequence[str]) -> None:
    """Every snapshot that is known is named, oldest first."""
    cluster, since, until = question.cluster, question.since, question.until
    if not every:
        raise InputError(
            f"the lake has no snapshot of {cluster!r}.",
            fix=f"It has snapshots of: {', '.join(lake.clusters()) or 'no cluster'}.",
        )
    first, last = (_day(split_snapshot_id(one)[1]) for one in (every[0], every[-1]))
    last_asked = _day(until - timedelta(microseconds=1))
    if _day(since) < first or last_asked > last:
        raise InputError(
            f"the lake has snapshots of {cluster} only from {first} to {last}.",
            fix=f"Use --from {max(first, _day(since))} --to {min(last, last_asked)}.",
        )
    if not any(since <= split_snapshot_id(one)[1] < until for one in every):
        raise InputError(
            f"the lake has no snapshot of {cluster} {question.time}.",
            fix=f"Choose days between {first} and {last} that have snapshots.",
        )


def _day(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def _missing_days(question: Question, ids: Sequence[str]) -> tuple[str, ...]:
    there = {_day(split_snapshot_id(one)[1]) for one in ids}
    days, day = [], _moment(_day(question.since))
    while day < question.until:
        days.append(_day(day))
        day += DAY
    return tuple(one for one in days if one not in there)


def _proposed(question: Question, ids: Sequence[str]) -> frozenset[str]:
    """Of each span of time the first snapshot."""
    if question.candidates_every is None:
        return frozenset()
    seconds = question.candidates_every.total_seconds()
    chosen: dict[int, str] = {}
    for one in ids:
        chosen.setdefault(int(split_snapshot_id(one)[1].timestamp() // seconds), one)
    return frozenset(chosen.values())


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Progress of a backfill: completed and total snapshots, time of the last one, and estimated seconds left."""

    done: int
    of: int
    at: datetime
    left_seconds: float


Tell = Callable[[Progress], object]
"""Callback for progress."""


def backfill(
    lake: Lake,
    shelf: Shelf,
    settings: Settings,
    question: Question,
    *,
    budget: timedelta | None = None,
    tell: Tell = lambda progress: None,
) -> BackfillPlan:
    """
    Re-evaluate the remaining snapshots of a question, oldest first.

    Args:
        lake: The lake, read-only.
        shelf: The target of the results.
        settings: The configuration.
        question: The snapshots.
        budget: Start no further snapshot after this time; the first is always done. None for no limit.
        tell: Called with the progress.

    Returns:
        The plan afterwards.

    Raises:
        InputError: As for `planned`.
        ClusterBusy: Another backfill of the cluster is running.
    """
    with _alone(shelf, question.cluster):
        plan = planned(lake, shelf, settings, question)
        rules = f"configuration {plan.config_version} and evenkeel {EVENKEEL}"
        shelf.make(f"Past days re-evaluated with {rules}, groups {question.groups}.")
        began = told = clock.monotonic()
        for number, snapshot_id in enumerate(_walked(lake, shelf, settings, plan), 1):
            now = clock.monotonic()
            left = len(plan.left) - number
            over = budget is not None and now - began >= budget.total_seconds()
            if now - told >= TOLD_EVERY or over or not left:
                told = now
                progress = Progress(
                    done=plan.done + number,
                    of=len(plan.ids),
                    at=split_snapshot_id(snapshot_id)[1],
                    left_seconds=(now - began) / number * left,
                )
                tell(progress)
            if over:
                return replace(plan, left=plan.left[number:])
        return replace(plan, left=())


def _walked(lake: Lake, shelf: Shelf, settings: Settings, plan: BackfillPlan) -> Iterator[str]:
    """Take what is left through the pipeline; each snapshot once it is done."""
    pattern = plan.question.groups
    wanted = None if pattern == "*" else lambda name: fnmatch.fnmatchcase(name, pattern)
    walked = WalkedLake(lake, wanted)
    for snapshot_id in plan.left:
        walked.stand(snapshot_id, settings.lookback)
        before = lookback_ids(walked, settings, snapshot_id)[1:]
        if before and not walked.has_made("metrics", before[0]):
            # this walk did not make the metrics of the snapshot before: what they learned, shelf or lake says
            groups = walked.read("groups", before[:1], columns=["group_id"])["group_id"].to_pylist()
            learned = learned_before(lake, before, groups)
            walked.learn(before[0], learned | shelf.learned(before[0]))
        run_pipeline(
            walked,
            shelf,
            settings,
            snapshot_id,
            watching=False,
            advising=snapshot_id in plan.proposed,
            sparing=True,
            ask_next_change=False,
        )
        if snapshot_id in plan.proposed:
            read_at_once(shelf)
        yield snapshot_id


@contextmanager
def _alone(shelf: Locks, cluster: str) -> Iterator[None]:
    """Not beside another backfill of the cluster; the pipeline's own locks are others."""
    with ExitStack() as held:
        try:
            held.enter_context(shelf.lock(f"backfill of {cluster}"))
        except ClusterBusy as busy:
            raise ClusterBusy(
                f"another {busy.message}",
                fix="Wait for it, or stop it and start it again: it continues where it stopped.",
            ) from None
        yield


@dataclass(frozen=True, kw_only=True)
class BackfillOutcome:
    """Number of evaluated groups, number of groups with differences, and the differences (`backfill_changes`)."""

    groups: int
    differing: int
    changes: Sequence[Mapping[str, Any]]


def outcome_of(lake: Lake, history: Queries, plan: BackfillPlan) -> BackfillOutcome:
    """The differences between a backfill and the history for the same snapshots."""
    asked = plan.question
    changes = history.query(
        "backfill_changes",
        cluster=asked.cluster,
        rules=plan.rules,
        since=asked.since,
        until=asked.until,
        limit=MOST_CHANGES,
    )
    names = set[str]()
    for snapshot_id in plan.ids:
        with suppress(SnapshotNotFound):
            listed = lake.read("groups", [snapshot_id], columns=["group_id"])["group_id"]
            names |= {*listed.used().words}
    return BackfillOutcome(
        groups=len(fnmatch.filter(names, asked.groups)),
        differing=len({each["group_id"] for each in changes}),
        changes=changes,
    )
