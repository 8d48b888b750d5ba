"""What would have been said of groups over many snapshots in a row, and how it came out."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from evenkeel.engine.advice.afterwards import within
from evenkeel.engine.alerting.events import GroupEvent
from evenkeel.engine.batch import GroupBatch
from evenkeel.engine.config import Settings
from evenkeel.engine.facts import Fact
from evenkeel.engine.forecast import (
    HORIZON_SECONDS,
    SOON_SECONDS,
    futures,
    load_of,
    outlooks,
    step_after,
)
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model import Diagnosis
from evenkeel.engine.ports import ALL, Lake
from evenkeel.engine.steps.learning import learned_of
from evenkeel.engine.steps.measure import observed_of
from evenkeel.engine.steps.reading import BatchWithPast, read_batch
from evenkeel.engine.steps.telling import Advised, Looked, Message, Telling
from evenkeel.engine.steps.validation import rejected_as_a_whole, withheld_groups
from evenkeel.engine.steps.watching import Watching

AHEAD = (SOON_SECONDS, HORIZON_SECONDS)
"""Seconds ahead for which a forecast is held against what came."""


@dataclass(frozen=True, kw_only=True)
class DiagnosisChange:
    """From this snapshot on, something else is the matter with a group."""

    at: datetime
    cluster: str
    group: str
    diagnosis: Diagnosis
    facts: tuple[Fact, ...]


@dataclass(frozen=True, kw_only=True)
class ForecastCheck:
    """
    A forecast of a group's total lag (offsets) under the assignment it had, and what came.

    *realised* is None where the assignment changed, the lag was unknown, or no snapshot was taken about then.
    """

    at: datetime
    cluster: str
    group: str
    due: datetime
    low: float
    expected: float
    high: float
    realised: int | None = None


Said = Message | GroupEvent
"""What would have been told: of the advice of a group, or of what is wrong with groups."""

Event = DiagnosisChange | ForecastCheck | Said


def backtest(lake: Lake, settings: Settings, cluster: str, pattern: str = "*") -> Iterator[Event]:
    """
    Go through all snapshots of a cluster, oldest first, each with what was known by then.

    Args:
        lake: Where they are.
        settings: The configuration.
        cluster: Its configured name.
        pattern: Shell pattern of group ids.

    Returns:
        Changes of diagnoses and messages as they come; a forecast once it is known what came of it, the last ones at
        the end.
    """
    for passed in walk(lake, settings, cluster, pattern):
        yield from passed.events


@dataclass(frozen=True, kw_only=True, eq=False)
class Passed:
    """
    A snapshot that was gone through, or the end of all of them.

    Attributes:
        snapshot_id: The snapshot; None at the end.
        looked: What the pipeline had of it; None where validation rejected it, and at the end.
        advised: What it made of that.
        events: What there is to say.
    """

    snapshot_id: str | None
    looked: Looked | None = None
    advised: Advised | None = None
    events: tuple[Event, ...] = ()


def walk(
    lake: Lake, settings: Settings, cluster: str, pattern: str = "*", limit: int = ALL
) -> Iterator[Passed]:
    """
    The same, snapshot by snapshot, with all that was made of each.

    Args:
        lake, settings, cluster, pattern: As for `backtest`.
        limit: At most so many snapshots, the newest.
    """
    going = _Walk(lake, settings, cluster)
    for snapshot_id in lake.snapshots(cluster, limit=limit)[::-1]:
        events = tuple(going.step(snapshot_id, pattern))
        looked = going.looked
        advised = going.telling.newest if looked else None
        yield Passed(snapshot_id=snapshot_id, looked=looked, advised=advised, events=events)
    yield Passed(snapshot_id=None, events=tuple(going.rest()))


@dataclass(kw_only=True)
class _Story:
    """What has been said of a group so far."""

    diagnosis: Diagnosis | None = None
    assignment: tuple[object, ...] | None = None
    at: datetime | None = None
    pending: list[ForecastCheck] = field(default_factory=list)


class _Walk:
    """From snapshot to snapshot: what is known of the groups, and what waits to be known."""

    def __init__(self, lake: Lake, settings: Settings, cluster: str) -> None:
        self.lake, self.settings = lake, settings
        self.earlier: list[GroupBatch | None] = []
        self.learned: dict[str, float] = {}
        self.stories: dict[str, _Story] = {}
        self.watching = Watching(lake, settings, cluster)
        self.telling = Telling(settings, cluster)
        self.looked: Looked | None = None

    def step(self, snapshot_id: str, pattern: str) -> Iterator[Event]:
        """The next snapshot; one that validation rejected is passed over, by those after it as well."""
        self.looked = None
        if rejected_as_a_whole(self.lake, snapshot_id, "snapshot"):
            self._remember(None)
            return
        listed = self._listed(snapshot_id)
        names = [name for name in listed if fnmatch.fnmatchcase(name, pattern)]
        withheld = withheld_groups(self.lake, snapshot_id)
        batch = read_batch(self.lake, self.settings, snapshot_id, names)
        groups = BatchWithPast(
            batch=batch,
            earlier=tuple(one for one in self.earlier if one is not None),
            withheld={name: withheld[name] for name in names if name in withheld},
            learned=self.learned,
        )
        seen = observed_of(self.settings, groups)
        for number, header in enumerate(batch.headers):
            story = self.stories.setdefault(header.group, _Story())
            yield from _diagnosed(seen, number, story)
            yield from _came(seen, number, story)
            story.pending += _forecasts(seen, number)
        facts = self.lake.manifest("snapshot", snapshot_id).facts
        looked = Looked(
            snapshot_id=snapshot_id,
            at=datetime.fromisoformat(facts["started_at"]),
            ended_at=datetime.fromisoformat(facts["finished_at"]),
            groups=groups,
            seen=seen,
            listed=None if facts.get("problems") else listed,
        )
        self.looked = looked
        yield from self.watching.step(looked)
        yield from self.telling.step(looked)
        self.learned = learned_of(seen, withheld)
        trusted = [name for name in names if name not in withheld]
        whole = batch if len(trusted) == len(names) else None
        self._remember(whole or read_batch(self.lake, self.settings, snapshot_id, trusted))

    def _listed(self, snapshot_id: str) -> list[str]:
        table = self.lake.read("groups", [snapshot_id], columns=["group_id"])
        listed: list[str] = table["group_id"].to_pylist()
        return listed

    def _remember(self, batch: GroupBatch | None) -> None:
        self.earlier = [batch, *self.earlier][: self.settings.lookback]

    def rest(self) -> Iterator[Event]:
        """Forecasts of which nobody knows what came."""
        for story in self.stories.values():
            yield from story.pending


def _diagnosed(seen: Observation, number: int, story: _Story) -> Iterator[DiagnosisChange]:
    diagnosed, header = seen.diagnoses[number], seen.batch.headers[number]
    if diagnosed.diagnosis is not story.diagnosis:
        story.diagnosis = diagnosed.diagnosis
        yield DiagnosisChange(
            at=header.taken_at,
            cluster=header.cluster,
            group=header.group,
            diagnosis=diagnosed.diagnosis,
            facts=diagnosed.facts,
        )


def _came(seen: Observation, number: int, story: _Story) -> Iterator[ForecastCheck]:
    """The forecasts that are due, with what came of them; those whose assignment is gone."""
    header, assignment = seen.batch.headers[number], _assignment(seen.batch, number)
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
            yield replace(check, realised=_total_lag(seen, number))
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
    lag = outlooks(load, [load.owner], futures(load.arrivals.sum(axis=1))).lag[0]
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


def _assignment(batch: GroupBatch, number: int) -> tuple[object, ...]:
    """What two snapshots of a group have in common while nobody comes, goes or gets another partition."""
    members = batch.members.ids[batch.members_of(number)]
    return (tuple(members), batch.owners_of(number).tobytes())


def _total_lag(seen: Observation, number: int) -> int | None:
    rows = seen.batch.rows(number)
    return seen.lag.for_people.take(rows).take(seen.counted[rows]).total()


def coverage(checks: Sequence[ForecastCheck], seconds: float) -> tuple[int, int]:
    """How many forecasts so far ahead held what came, of how many of which it is known."""
    known = [
        check
        for check in checks
        if check.realised is not None and (check.due - check.at).total_seconds() == seconds
    ]
    inside = sum(check.low <= (check.realised or 0) <= check.high for check in known)
    return inside, len(known)
