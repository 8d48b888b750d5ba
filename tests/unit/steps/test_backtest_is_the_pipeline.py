"""What a backtest says would have been told is what the pipeline's steps tell, snapshot by snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import pyarrow.compute as pc
import pytest

from evenkeel.engine.adapters.replay import Recording
from evenkeel.engine.alerting.outbox import queue_advice
from evenkeel.engine.config import Settings
from evenkeel.engine.message import AlertMessage, Section
from evenkeel.engine.steps.advise import advise
from evenkeel.engine.steps.backtest import backtest
from evenkeel.engine.steps.measure import compute_metrics, record_metrics
from evenkeel.engine.steps.propose import propose_candidates, record_candidates
from evenkeel.engine.steps.telling import Message
from tests.helpers.fleet.lake import Taken, write_taken
from tests.helpers.fluid import CLUSTER, SITUATIONS, simulate, snapshots
from tests.helpers.memory import MemoryHistory

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


def piped(lake: Recording, settings: Settings) -> Iterator[AlertMessage]:
    """What the steps queue, one snapshot after the other, through the lake and a history."""
    history = MemoryHistory()
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


def both(lake: Recording) -> tuple[list[Message], list[tuple[datetime, Section]]]:
    """The messages of a backtest, and when the steps told what."""
    settings = Settings()
    found = [each for each in backtest(lake, settings, CLUSTER) if isinstance(each, Message)]
    expected = [
        (message.at, section) for message in piped(lake, settings) for section in message.sections
    ]
    return found, expected


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
    found, expected = both(lake)

    assert {one.news.kind.value for one in found} >= {"switch", "withdrawn", "taken up", "verified"}
    assert [(one.news.at, one.section) for one in found] == expected


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
    found, expected = both(lake)

    assert [one.news.kind.value for one in found][:2] == ["switch", "taken up"]
    assert [(one.news.at, one.section) for one in found] == expected
