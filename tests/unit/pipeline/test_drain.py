"""What `drain` says of a simulated backlog, and what then comes of it, beside other plans."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.assignors import by_name
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline import lookback_of
from evenkeel.engine.pipeline.measure import measure_chunk, record_metrics
from evenkeel.engine.pipeline.replay import replay_group
from evenkeel.engine.pipeline.stored_metrics import measured_chunk
from tests.helpers.fluid import CLUSTER, Commits, Group, Topic, Traffic, at, simulate, snapshots
from tests.helpers.fluid.fork import outcome
from tests.helpers.fluid.plan import Follow, members
from tests.helpers.lake_snapshots import write_taken

pytestmark = pytest.mark.slow

SETTINGS = Settings()
NEWEST, HOUR = 26, 3600


def _follower(name, rates, deal, capacities):
    """A group that follows plans, an hour after a burst of an hour that was too much for it."""
    return Group(
        name=name,
        topics=(Topic(name="t", rates=rates),),
        members=tuple(member for capacity in capacities for member in members(1, capacity)),
        strategy="evenkeel-plan",
        deal=deal,
        traffic=Traffic(bursts=((at(0), HOUR, 6),), wander=0.02),
    )


BLOCKS = (0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3)
UNEQUAL = _follower("unequal", (60,) * 12, BLOCKS, (200, 300, 400, 600))
HOT = _follower("hot", (20,) * 10 + (150, 200), BLOCKS, (500,) * 4)
QUIET = replace(UNEQUAL, name="quiet", traffic=Traffic(), commits=Commits(every=60, phase=10))
EVEN = _follower("even", (90, 30, 30, 30) * 4, (0, 1, 2, 3) * 4, (300,) * 4)


def _replayed(group):
    """The candidates of a group at its newest snapshot, by strategy, and who owns what in the simulation's numbers."""
    lake = Recording()
    for snapshot_id in list(write_taken(lake, snapshots(simulate([group], NEWEST + 1))))[-14:]:
        lookback = lookback_of(lake, SETTINGS, snapshot_id)
        record_metrics(lake, snapshot_id, measure_chunk(lake, SETTINGS, lookback, [group.name]))
    [measured] = measured_chunk(lake, SETTINGS, lake.snapshots(CLUSTER)[0], [group.name], {})
    replayed = replay_group(SETTINGS, measured, ask_next_change=False)
    number = [int(member.client_id.rsplit("-", 1)[1]) for member in measured.group.members]
    load = measured.measured.load
    spec = replace(replayed.spec, backlog=None if load is None else load.backlog)
    owners = {
        name: tuple(number[m] for m in by_name(name).assign(spec).owner.tolist())
        for name in ("lag-aware", "balanced")
    }
    drain = next(one for one in replayed.candidates if one.strategy == "drain")
    owners["drain"] = tuple(number[m] for m in drain.assignment.owner.tolist())
    return replayed, drain, owners


def _came(group, owners=None):
    """The lag integral of the hour that comes with a plan; without one it stays as it is."""
    follow = () if owners is None else (Follow(at=at(NEWEST), owners=owners, by="drain"),)
    history = simulate([replace(group, events=follow)], NEWEST + 14)
    return outcome(history, NEWEST).integral(HOUR)


@pytest.mark.parametrize(
    ("group", "of_staying"),
    [(UNEQUAL, 0.89), (HOT, 0.90)],
    ids=["unequal", "hot"],
)
def test_no_other_plan_works_a_backlog_off_sooner(group, of_staying):
    """In the simulator, not by its own word alone."""
    _, drain, owners = _replayed(group)
    came = {name: _came(group, plan) for name, plan in owners.items()}

    assert came["drain"] <= 1.001 * min(came.values())
    assert came["drain"] < of_staying * _came(group)
    assert drain.proof[0].after == pytest.approx(
        drain.forecast.forecast_lag_integral_expected, rel=0.01
    )


def test_where_all_have_as_long_to_work_nothing_moves():
    """Every plan would only cost its pauses."""
    _, drain, owners = _replayed(EVEN)

    assert owners["drain"] == EVEN.deal
    assert drain.score.moves == 0
    assert _came(EVEN) < _came(EVEN, owners["balanced"])


def test_what_waits_for_the_next_commit_is_no_backlog():
    """Of a group that keeps up no past is kept, so its lag alone does not say so."""
    replayed, drain, owners = _replayed(QUIET)

    assert replayed.spec.lag.values.sum() > 1_000
    assert [fact.measure for fact in drain.proof] == ["no_backlog"]
    assert owners["drain"] == QUIET.deal
