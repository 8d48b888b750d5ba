"""The pipeline as one function, and the walk over many snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from evenkeel.engine.adapters.memory import MemoryHistory, MemoryNotifier
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.messages.outbox import deliver
from evenkeel.engine.model.errors import SnapshotNotFound
from evenkeel.engine.model.message import MessageKind
from evenkeel.engine.pipeline.backtest import Message, backtest
from evenkeel.engine.pipeline.measure import compute_metrics
from evenkeel.engine.pipeline.pipeline import run_pipeline, walk
from evenkeel.engine.snapshots.learned import learned_in
from tests.helpers.fluid import CLUSTER, SITUATIONS, simulate, snapshots
from tests.helpers.lake_snapshots import Taken, write_taken

NAMES = ("racks-taken-up", "slow-member-mended", "healthy-drifting")


def taken(names: Iterable[str], number: int) -> list[Taken]:
    """So many snapshots of some situations side by side."""
    return list(snapshots(simulate([SITUATIONS[name].group for name in names], number)))


def unlisted(one: Taken, group: str) -> Taken:
    """A snapshot that could not list a group."""
    tables = {
        name: table.filter(~table["group_id"].equal(group))
        if "group_id" in table.columns
        else table
        for name, table in one.tables.items()
    }
    return replace(one, tables=tables, problems=("groups: a broker did not answer",))


def through(lake: Recording, history: MemoryHistory, settings: Settings) -> None:
    """Walk to the end."""
    for _ in walk(lake, history, settings, CLUSTER):
        pass


@pytest.mark.slow
def test_who_is_spared_would_not_have_been_told() -> None:
    """A walk tells word by word what the pipeline tells that asks all strategies about all groups each time."""
    walked, whole, settings = MemoryHistory(), MemoryHistory(), Settings()
    lake = Recording()
    for one in taken(NAMES, 34):
        [newest] = write_taken(lake, [one])
        run_pipeline(lake, whole, settings, newest, ask_next_change=False)
        deliver(whole, MemoryNotifier(), settings)
    through(lake, walked, settings)

    told = walked.messages("sent")
    assert told == whole.messages("sent")
    assert {one.kind for one in told} > {MessageKind.ADVICE}


@pytest.mark.slow
def test_advice_goes_on_after_a_snapshot_that_does_not_list_its_group() -> None:
    """Between its switch and the moment it is taken up."""
    names = ("skewed-taken-up", "healthy-idle")
    lake = Recording()
    every = enumerate(taken(names, 51))
    write_taken(lake, (unlisted(one, names[0]) if at == 40 else one for at, one in every))
    events = backtest(lake, MemoryHistory(), Settings(), CLUSTER)

    told = [one.news.kind.value for one in events if isinstance(one, Message)]
    assert told[:2] == ["switch", "adopted"]


def test_nothing_is_written_to_the_lake() -> None:
    """What a walk makes of snapshots stays beside it."""
    lake = Recording()
    ids = write_taken(lake, taken(["healthy-locked"], 3))
    through(lake, MemoryHistory(), Settings())

    for step in ("metrics", "candidates"):
        with pytest.raises(SnapshotNotFound):
            lake.manifest(step, ids[-1])


def test_a_snapshot_knows_nothing_of_those_after_it() -> None:
    """What is made of the first ones is the same whether others follow or not."""
    every = taken(["skewed-load", "vanished"], 5)
    short, long = Recording(), Recording()
    write_taken(short, every[:4])
    write_taken(long, every)
    some, more = MemoryHistory(), MemoryHistory()
    ids = [ran.snapshot_id for ran in walk(short, some, Settings(), CLUSTER)]
    through(long, more, Settings())

    for one in ids:
        ours, theirs = (each.tables.metrics[one]["group_metrics"] for each in (some, more))
        assert ours.equals(theirs)


@pytest.mark.slow
def test_how_often_a_group_commits_is_known_longer_than_metrics_look_back() -> None:
    """A group that does not show it any more keeps the interval that the metrics before had."""
    lake, history, settings = Recording(), MemoryHistory(), Settings(lookback=3)
    ids = write_taken(lake, taken(["skewed-withdrawn"], 24))
    through(lake, history, settings)

    [now] = learned_in(history.tables.metrics[ids[-1]]["group_metrics"]).values()
    [then] = learned_in(history.tables.metrics[ids[-6]]["group_metrics"]).values()
    [alone] = learned_in(compute_metrics(lake, settings, ids[-1])["group_metrics"]).values()
    assert now.commit_interval is not None
    assert (now.commit_interval, alone.commit_interval) == (then.commit_interval, None)
