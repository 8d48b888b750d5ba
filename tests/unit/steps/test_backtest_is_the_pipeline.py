"""What a backtest says would have been told is what the pipeline's steps tell, snapshot by snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

import pyarrow.compute as pc
import pytest

from evenkeel.engine.adapters.replay import Recording
from evenkeel.engine.alerting.events import EventKind, GroupEvent
from evenkeel.engine.alerting.queueing import queue_advice
from evenkeel.engine.config import Settings
from evenkeel.engine.message import AlertMessage, MessageKind, Section
from evenkeel.engine.steps.advise import advise
from evenkeel.engine.steps.backtest import backtest
from evenkeel.engine.steps.measure import compute_metrics, record_metrics
from evenkeel.engine.steps.preview import walked
from evenkeel.engine.steps.propose import propose_candidates, record_candidates
from evenkeel.engine.steps.telling import Message
from evenkeel.engine.steps.watch_groups import watch_groups
from tests.helpers.fleet.lake import Taken, write_taken
from tests.helpers.fluid import CLUSTER, EVERY, SITUATIONS, simulate, snapshots
from tests.helpers.memory import MemoryHistory, MemoryNotifier

NAMES = (
    "skewed-taken-up",
    "skewed-withdrawn",
    "racks-taken-up",
    "hot-shared",
    "slow-member-mended",
    "healthy-drifting",
    "catching-up-skewed",
)
SNAPSHOTS = 64


def piped(
    lake: Recording, settings: Settings, history: MemoryHistory | None = None
) -> Iterator[AlertMessage]:
    """What the steps queue, one snapshot after the other, through the lake and a history."""
    history = history or MemoryHistory()
    for snapshot_id in lake.snapshots(CLUSTER, limit=SNAPSHOTS)[::-1]:
        history.store_snapshot(lake.manifest("snapshot", snapshot_id))
        metrics = compute_metrics(lake, settings, snapshot_id)
        record_metrics(lake, snapshot_id, metrics)
        history.store_metrics(snapshot_id, metrics)
        candidates = propose_candidates(lake, settings, snapshot_id)
        record_candidates(lake, snapshot_id, candidates)
        history.store_candidates(snapshot_id, candidates["candidates"])
        advise(lake, history, settings, snapshot_id)
        queue_advice(history, settings, snapshot_id)
    yield from history.messages()


Told = list[tuple[datetime, Section]]


def both(lake: Recording) -> tuple[list[Message], Told, Told]:
    """The messages of a backtest, the same without what a summary says of them, and when the steps told what."""
    settings = Settings()
    found = [each for each in backtest(lake, settings, CLUSTER) if isinstance(each, Message)]
    piped_ones = [(each, section) for each in piped(lake, settings) for section in each.sections]
    expected = [(message.at, section) for message, section in piped_ones]
    below = [
        (one.news.at, _without(one.section, message.summary))
        for one, (message, _) in zip(found, piped_ones, strict=False)
    ]
    return found, below, expected


def _without(section: Section, summary: str) -> Section:
    return replace(section, lines=tuple(line for line in section.lines if line not in summary))


def unlisted(taken: Taken, group: str) -> Taken:
    """A snapshot that could not list a group."""
    tables = {
        name: table.filter(pc.not_equal(table["group_id"], group))
        if "group_id" in table.column_names
        else table
        for name, table in taken.tables.items()
    }
    return replace(taken, tables=tables, problems=("groups: a broker did not answer",))


@pytest.mark.slow
def test_the_same_is_told() -> None:
    """Of the same groups at the same time, word by word."""
    lake = Recording()
    write_taken(lake, snapshots(simulate([SITUATIONS[name].group for name in NAMES], SNAPSHOTS)))
    found, below, expected = both(lake)

    assert {one.news.kind.value for one in found} >= {"switch", "withdrawn", "taken up", "verified"}
    assert below == expected
    assert len(found) == len(expected)


@pytest.mark.slow
def test_what_is_won_across_racks_alone_is_verified_by_the_first_snapshot_that_shows_it() -> None:
    """The snapshot that shows that the group took it up says that nothing crosses racks any more."""
    lake, history = Recording(), MemoryHistory()
    name = "racks-taken-up"
    write_taken(lake, snapshots(simulate([SITUATIONS[name].group], SNAPSHOTS)))
    for _ in piped(lake, Settings(), history):
        pass
    events = [event for row in history.tables.advice for event in row.events]

    assert [event.state for event in events] == ["proposed", "confirmed", "taken up", "verified"]
    assert events[-1].cause == "nothing crosses racks any more (100% before)"
    assert events[-1].at == events[-2].at


@pytest.mark.slow
def test_advice_goes_on_after_a_snapshot_that_does_not_list_its_group() -> None:
    """Between its switch and the moment it is taken up, in both."""
    names = ("skewed-taken-up", "healthy-drifting")
    lake = Recording()
    every = snapshots(simulate([SITUATIONS[name].group for name in names], SNAPSHOTS))
    write_taken(
        lake,
        (unlisted(taken, names[0]) if at == 40 else taken for at, taken in enumerate(every)),
    )
    found, below, expected = both(lake)

    assert [one.news.kind.value for one in found][:2] == ["switch", "taken up"]
    assert below == expected
    assert len(found) == len(expected)


def watched(every: Iterable[Taken], settings: Settings) -> list[tuple[str, AlertMessage]]:
    """What the step `watch_groups` says, one snapshot after the other, with the metrics of those before; by its key."""
    lake, history, slack = Recording(), MemoryHistory(), MemoryNotifier()
    for taken in every:
        write_taken(lake, [taken])
        [newest] = lake.snapshots(CLUSTER, limit=1)
        watch_groups(lake, history, slack, settings, newest)
        record_metrics(lake, newest, compute_metrics(lake, settings, newest))
    return [(one.key, AlertMessage.from_json(one.message)) for one in history.tables.alerts]


def titles(told: Iterable[tuple[str, AlertMessage]]) -> list[tuple[MessageKind, str]]:
    """What is no line in a thread."""
    return [(one.kind, one.title) for key, one in told if not key.endswith("thread")]


ILL = ("slow-member-mended", "vanished", "skipped-records", "unreadable", "healthy-restart-storm")


@pytest.mark.slow
def test_the_same_incidents_are_told() -> None:
    """What opens, gets worse and ends, at the same snapshots and in the same words."""
    every = list(snapshots(simulate([SITUATIONS[name].group for name in ILL], 66)))
    settings, lake = Settings(), Recording()
    write_taken(lake, every)
    found = [each for each in backtest(lake, settings, CLUSTER) if isinstance(each, GroupEvent)]

    assert {each.kind for each in found} == {*EventKind} - {EventKind.DIGEST}
    assert [(each.message.kind, each.title) for each in found] == titles(watched(every, settings))


@pytest.mark.slow
def test_a_preview_says_the_same_of_what_lasts_longer_than_metrics_look_back() -> None:
    """Word by word what the pipeline tells; by then only what was learned before says how often a group commits."""
    names = ("skewed-withdrawn", "as-many-members-as-partitions")
    every = list(snapshots(simulate([SITUATIONS[name].group for name in names], 32)))
    settings, lake = Settings(), Recording()
    write_taken(lake, every)
    previewed = [(one.posting.key, one.posting.message) for one in walked(lake, settings, CLUSTER)]
    told = [each for each in backtest(lake, settings, CLUSTER) if isinstance(each, GroupEvent)]

    lasted = [(one.at - every[0].started_at).total_seconds() for _, one in previewed]
    assert max(lasted) > settings.lookback * EVERY
    assert previewed == watched(every, settings)
    assert titles(previewed) == [(each.message.kind, each.title) for each in told]
