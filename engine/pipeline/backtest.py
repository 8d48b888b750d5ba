"""Backtest: diagnoses, messages, forecasts and advice over past snapshots, with the actual values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ..config import Settings
from ..messages.advice_news import News
from ..messages.digest import MOVES, section, told_of
from ..messages.events import GroupEvent
from ..messages.outbox_entries import owners_of
from ..metrics.forecast import AHEAD, lags, load_of, step_after, within
from ..metrics.observe import Observation
from ..model.assignments import AdviceState
from ..model.facts import Fact
from ..model.message import NewsKind, Section
from ..model.states import Diagnosis
from ..ports import Lake
from ..records import Regret
from ..snapshots.groups_with_past import left_out
from .pipeline import Ran, WholeHistory, walk


@dataclass(frozen=True, kw_only=True)
class DiagnosisChange:
    """A change of the diagnosis of a group."""

    at: datetime
    cluster: str
    group: str
    diagnosis: Diagnosis
    facts: tuple[Fact, ...]


@dataclass(frozen=True, kw_only=True)
class ForecastCheck:
    """
    A lag forecast of a group (offsets) with its assignment at that time, and the actual value.

    *actual* is None if the assignment changed, the lag was unknown, or no snapshot was taken at that time.
    """

    at: datetime
    cluster: str
    group: str
    due: datetime
    low: float
    expected: float
    high: float
    actual: int | None = None


@dataclass(frozen=True, kw_only=True)
class RegretCheck:
    """The lag that the best deployable strategy would have saved for a group in the hour before."""

    at: datetime
    cluster: str
    group: str
    regret: Regret


@dataclass(frozen=True, kw_only=True, eq=False)
class Message:
    """A notification that a group would have caused after a snapshot."""

    at: datetime
    cluster: str
    news: News
    section: Section

    @property
    def group(self) -> str:
        """The group."""
        return self.news.group_id

    @property
    def groups(self) -> tuple[str, ...]:
        """The group, as one of many."""
        return (self.group,)

    @property
    def kind(self) -> NewsKind:
        """Kind of the notification."""
        return self.news.kind

    @property
    def title(self) -> str:
        """One line."""
        return self.section.heading


Said = Message | GroupEvent
"""A notification: about advice of a group, or about incidents of groups."""

Event = DiagnosisChange | ForecastCheck | RegretCheck | Said


def backtest(
    lake: Lake, history: WholeHistory, settings: Settings, cluster: str, pattern: str = "*"
) -> Iterator[Event]:
    """
    Evaluate all snapshots of a cluster, oldest first, each with the data known at its time.

    Args:
        lake: The lake.
        history: An empty history in memory, which receives all results.
        settings: The configuration.
        cluster: Configured name of the cluster.
        pattern: Shell pattern of group ids.

    Returns:
        Changes of diagnoses and messages in order, forecasts when they are due and the remaining ones at the end, and
        hour by hour what a switch would have saved.
    """
    events = Events(history, settings, cluster)
    for ran in walk(lake, history, settings, cluster, pattern):
        yield from events.of(ran)
    yield from events.rest()


@dataclass(kw_only=True)
class _Story:
    """What has been said of a group so far."""

    diagnosis: Diagnosis | None = None
    assignment: tuple[object, ...] | None = None
    at: datetime | None = None
    pending: list[ForecastCheck] = field(default_factory=list)


class Events:
    """
    From snapshot to snapshot: what there is to say of each, and what waits to be known.

    Args:
        history: What the pipeline left of it.
        settings: The configuration.
        cluster: The configured name of the cluster.
    """

    def __init__(self, history: WholeHistory, settings: Settings, cluster: str) -> None:
        self.history, self.settings, self.cluster = history, settings, cluster
        self.stories: dict[str, _Story] = {}

    def of(self, ran: Ran) -> Iterator[Event]:
        """What there is to say of the next snapshot."""
        for seen in ran.seen:
            for number, header in enumerate(seen.batch.headers):
                try:
                    yield from [*self._of_group(seen, number)]
                except Exception as problem:  # noqa: BLE001 one group costs the others nothing
                    left_out(header.group, problem)
        for group, had in ran.watched.gone.items() if ran.watched else ():
            yield self._left(ran.at, group, had)
        for event in ran.watched.events if ran.watched else ():
            yield replace(event, at=ran.at)
        news = ran.advised.news if ran.advised else ()
        owners = owners_of(self.settings, self.cluster, news)
        for one in news:
            moves = self.history.first_moves([one.advice.advice_id or 0], MOVES)
            of_group = told_of(self.cluster, one, next(iter(moves.values()), []))
            told = section(of_group, owners.get(one.group_id))
            yield Message(at=ran.at, cluster=self.cluster, news=one, section=told)
        for row in ran.advice:
            for each in row.regrets:
                yield RegretCheck(at=ran.at, cluster=self.cluster, group=row.group_id, regret=each)

    def _of_group(self, seen: Observation, number: int) -> Iterator[Event]:
        header = seen.batch.headers[number]
        story = self.stories.setdefault(header.group, _Story())
        diagnosed = seen.diagnoses[number]
        if diagnosed.diagnosis is not story.diagnosis:
            story.diagnosis = diagnosed.diagnosis
            yield DiagnosisChange(
                at=header.taken_at,
                cluster=header.cluster,
                group=header.group,
                diagnosis=diagnosed.diagnosis,
                facts=diagnosed.facts,
            )
        yield from _came(seen, number, story)
        story.pending += _forecasts(seen, number)

    def _left(self, at: datetime, group: str, had: Fact) -> DiagnosisChange:
        """That a group is not listed any more; one that comes back is told anew."""
        gone = Diagnosis.GROUP_DELETED
        self.stories.setdefault(group, _Story()).diagnosis = gone
        return DiagnosisChange(
            at=at, cluster=self.cluster, group=group, diagnosis=gone, facts=(had,)
        )

    def rest(self) -> Iterator[ForecastCheck]:
        """Forecasts without an actual value."""
        for story in self.stories.values():
            yield from story.pending


def _came(seen: Observation, number: int, story: _Story) -> Iterator[ForecastCheck]:
    """The forecasts that are due, with what came of them; those whose assignment is gone."""
    batch, header, rows = seen.batch, seen.batch.headers[number], seen.batch.rows(number)
    # what snapshots have in common while nobody comes, goes or gets another partition
    members = tuple(batch.members.ids[batch.members_of(number)])
    assignment = (members, batch.owners_of(number).tobytes())
    same = assignment == story.assignment
    every = (header.taken_at - (story.at or header.taken_at)).total_seconds()
    story.assignment, story.at = assignment, header.taken_at
    left = []
    for check in story.pending:
        late = (header.taken_at - check.due).total_seconds()
        near = within((check.due - check.at).total_seconds(), every)
        if same and late < -near:
            left.append(check)
        elif same and abs(late) <= near:
            lag = seen.lag.for_people.take(rows).take(seen.counted[rows])
            yield replace(check, actual=lag.total())
        else:
            yield check
    story.pending = left


def _forecasts(seen: Observation, number: int) -> list[ForecastCheck]:
    header = seen.batch.headers[number]
    own = seen.batch.members_of(number)
    if header.rebalancing or header.error is not None or own.start == own.stop:
        return []
    load = load_of(seen, number)
    if load is None:
        return []
    [lag] = lags([load])
    checks = []
    for seconds in AHEAD:
        low, expected, high = lag[step_after(seconds)].tolist()
        checks.append(
            ForecastCheck(
                at=header.taken_at,
                cluster=header.cluster,
                group=header.group,
                due=header.taken_at + timedelta(seconds=seconds),
                low=low,
                expected=expected,
                high=high,
            )
        )
    return checks


def coverage(checks: Sequence[ForecastCheck], seconds: float) -> tuple[int, int]:
    """Number of forecasts with this horizon whose band contained the actual value, and number of checked ones."""
    known = [
        check
        for check in checks
        if check.actual is not None and (check.due - check.at).total_seconds() == seconds
    ]
    inside = sum(check.low <= (check.actual or 0) <= check.high for check in known)
    return inside, len(known)


def regret_hours(checks: Sequence[RegretCheck], *, told: bool) -> float:
    """Record-hours that would have been saved while groups were advised to switch, or (not *told*) were not."""
    saved = (
        max(one.regret.saved or 0.0, 0.0)
        for one in checks
        if (one.regret.state is AdviceState.CONFIRMED) is told
    )
    return sum(saved) / 3600
