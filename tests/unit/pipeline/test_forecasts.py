"""What `compute_metrics` keeps of the past, and what `propose_candidates` forecasts from it, of simulated groups."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Policy, Rule, Settings
from evenkeel.engine.metrics.forecast import NO_CORRECTION, load_of
from evenkeel.engine.metrics.observe import observe
from evenkeel.engine.model.pauses import Pause
from evenkeel.engine.model.states import PauseBasis
from evenkeel.engine.pipeline import lookback_of, propose_chunk
from evenkeel.engine.pipeline.candidate_rows import candidate_of
from evenkeel.engine.pipeline.measure import known_of, measure_chunk, record_metrics
from evenkeel.engine.pipeline.propose import propose_group
from evenkeel.engine.pipeline.stored_metrics import measured_at_once, measured_chunk
from evenkeel.engine.records import CandidateRow, record_of, to_json
from evenkeel.engine.snapshots.groups_with_past import read_with_past
from tests.helpers.fluid import CLUSTER, SITUATIONS, fork, simulate, snapshots
from tests.helpers.lake_snapshots import write_taken

pytestmark = pytest.mark.slow

SETTINGS = Settings()
SKEWED = {"skewed-load": 34, "skewed-modern": 34}
QUIET = ("healthy-locked", "healthy-racks-little")
MUCH = ("racks-much",)


@cache
def _lake(name, newest):
    """A lake with the snapshots of a situation up to one, and the metrics of the newest fourteen."""
    group = SITUATIONS[name].group
    lake = Recording()
    for snapshot_id in list(write_taken(lake, snapshots(simulate([group], newest + 1))))[-14:]:
        lookback = lookback_of(lake, SETTINGS, snapshot_id)
        measured = measure_chunk(lake, SETTINGS, lookback, [group.name])
        record_metrics(lake, snapshot_id, measured)
    return lake


def _newest(lake):
    return lake.snapshots(CLUSTER)[0]


def _candidates(name, newest):
    lake, group = _lake(name, newest), SITUATIONS[name].group.name
    rows = propose_chunk(lake, SETTINGS, _newest(lake), [group], {})["candidates"].to_pylist()
    return {row["strategy"]: row for row in rows}


def _stored(name, newest=24):
    """A lake, the name of its group, and that group as its metrics have it."""
    lake, group = _lake(name, newest), SITUATIONS[name].group.name
    [measured] = measured_chunk(lake, SETTINGS, _newest(lake), [group], {})
    return lake, group, measured.measured


def _with_past(lake, group):
    return read_with_past(lake, SETTINGS, lookback_of(lake, SETTINGS, _newest(lake)), [group])


@pytest.mark.parametrize("name", ["skewed-load", "stuck-partition"])
def test_what_is_kept_of_the_past_makes_the_same_forecast(name):
    """The arrays read from the metrics are those that were observed."""
    lake, group, measured = _stored(name, SKEWED.get(name, 40))
    past = _with_past(lake, group)
    seen = observe(past.batch, past.earlier, known_of(SETTINGS, past.batch, past.learned))
    expected = load_of(seen, 0)

    kept = measured.load
    assert expected is not None
    parts = (
        "arrivals",
        "backlog",
        "capacity",
        "uncertainty",
        "ages",
        "owner",
        "stuck",
        "correction",
    )
    for part in parts:
        np.testing.assert_array_equal(getattr(kept, part), getattr(expected, part), part)


def test_what_came_of_stored_forecasts_corrects_the_next_one():
    """Of an hour of them; a retry of the same snapshot finds the same, and what nobody stored teaches nothing."""
    lake, group, measured = _stored("skewed-load", 34)
    again = measure_chunk(lake, SETTINGS, lookback_of(lake, SETTINGS, _newest(lake)), [group])
    [first] = lake.read("group_metrics", [_newest(lake)])["forecast_course"].to_pylist()
    [second] = again["group_metrics"]["forecast_course"].to_pylist()
    _, [alone] = measured_at_once(SETTINGS, replace(_with_past(lake, group), learned={}))

    assert first == second
    own = [*first["stretch"], *first["margins"]]
    assert measured.load.correction.tolist() == own != list(NO_CORRECTION)
    assert alone.measured.load.correction.tolist() == list(NO_CORRECTION)
    live = _candidates("skewed-load", 34)["live"]
    assert live["forecast_lag_low"] == pytest.approx(first["low"][-1])
    assert live["forecast_lag_high"] == pytest.approx(first["high"][-1])


@pytest.mark.parametrize("name", [*QUIET, *MUCH])
def test_a_group_that_nobody_tells_to_switch_keeps_nothing(name):
    """It keeps up and little crosses racks: there is no forecast of it unless somebody asks."""
    lake, group, measured = _stored(name)
    rows = lake.read("partition_metrics", [_newest(lake)])
    _, [asked] = measured_at_once(SETTINGS, _with_past(lake, group))

    quiet = name in QUIET
    assert (measured.load is None) is quiet
    assert (rows["past_arrivals_per_second"].null_count == len(rows)) is quiet
    assert asked.measured.load is not None
    assert all(
        (row.row.forecast is not None) is (row.row.score is not None)
        for row in propose_group(SETTINGS, asked)
        # gives members more than they were ever seen to do
        if row.row.strategy != "random"
    )


@pytest.mark.parametrize(
    ("name", "policy", "kept"),
    [
        ("healthy-racks-little", {"least_saving_bytes_per_day": 1.0}, True),
        ("racks-much", {"least_saving_bytes_per_day": 1e18}, False),
        ("racks-much", {"cost_gain": 1e9}, False),
        ("healthy-racks-little", {"cost_gain": 0.01}, True),
    ],
)
def test_what_pays_by_racks_is_for_the_policy_to_say(name, policy, kept):
    """In bytes, or in money where that is asked for: who could save so much has a forecast, though it keeps up."""
    lake, group = _lake(name, 24), SITUATIONS[name].group.name
    settings = Settings(rules=(Rule(price_per_gb=0.01, policy=Policy(**policy)),))
    lookback = lookback_of(lake, settings, _newest(lake))

    [row] = measure_chunk(lake, settings, lookback, [group])["group_metrics"].to_pylist()

    assert row["diagnosis"] == "healthy"
    assert (row["commit_ages_seconds"] is not None) is kept


@pytest.mark.parametrize("name", SKEWED)
def test_the_forecast_of_a_candidate_is_what_then_comes(name):
    """Whether the group stays or switches: the lag of an hour is in the band, or near it by a tenth of the live one."""
    newest, situation = SKEWED[name], SITUATIONS[name]
    rows = _candidates(name, newest)
    for strategy in situation.cures:
        ways = fork(situation.group, newest, strategy, seconds=3600)
        slack = 0.1 * rows["live"]["forecast_lag_expected"]
        for row, way in ((rows["live"], ways.stays), (rows[strategy], ways.switches)):
            came = way.lag(3600)
            assert row["forecast_lag_low"] - slack <= came <= row["forecast_lag_high"] + slack
        gain = rows[strategy]["forecast_gain_expected"]
        assert ways.gain(3600) == pytest.approx(gain, rel=0.25)


def test_the_price_of_a_switch_for_nothing_is_what_it_loses():
    """Round robin leaves a hot partition with its neighbor: the switch only costs. The estimate is low, not half."""
    name = "hot-shared-plan-only"
    row = _candidates(name, 34)["roundrobin"]
    lost = -fork(SITUATIONS[name].group, 34, "roundrobin", seconds=3600).gain(3600)

    assert 0.5 * lost < row["price_offset_seconds"] < lost


def test_only_what_the_group_could_run_has_a_price():
    """What it has costs nothing to get, a baseline cannot be got, the rest takes restarts of its members."""
    rows = _candidates("skewed-load", 34)
    members = len(SITUATIONS["skewed-load"].group.members)

    assert rows["live"]["price_restarts"] is None
    assert rows["balanced"]["forecast_lag_expected"] is not None
    assert rows["balanced"]["price_offset_seconds"] is None
    assert rows["uniform"]["price_restarts"] is None
    assert rows["roundrobin"]["price_restarts"] == members
    assert rows["roundrobin"]["price_held_up_offsets"] > 0
    assert rows["roundrobin"]["price_offset_seconds"] > 0


@pytest.mark.parametrize(
    ("policy", "dearer"),
    [({}, True), ({"rebalance_seconds": 5}, False)],
    ids=["seen", "configured"],
)
def test_a_price_has_the_pauses_that_were_seen(policy, dearer):
    """Rebalances of 15 s delay twice the records of 5 s, unless somebody configured that they last 5 s."""
    lake, group, _ = _stored("skewed-load", 34)
    settings = Settings(rules=(Rule(policy=Policy(**policy)),))
    _, [found] = measured_at_once(settings, _with_past(lake, group))
    pause = Pause(seconds=15.0, basis=PauseBasis.OBSERVED, observed=3)
    known = replace(found.measured, pauses={"rebalance_seconds": pause})
    seen = replace(found, measured=known)

    usual, slower = (
        next(
            row.row.forecast.price_held_up_offsets
            for row in propose_group(settings, one, ask_next_change=False)
            if row.row.strategy == "roundrobin"
        )
        for one in (found, seen)
    )
    assert (slower > 2 * usual, slower == usual) == (dearer, not dearer)


def test_an_assignment_by_capacity_says_how_many_partitions_leave_the_slow_member():
    """Some of those that it has, never more; of what goes by counts nothing is said."""
    rows = _candidates("slow-member", 34)
    told = {
        name: [each for each in candidate_of(row).notes if each.measure == "relieved_member"]
        for name, row in rows.items()
    }

    [relieved] = told["balanced"]
    assert 0 < relieved.after <= relieved.partitions
    assert told["roundrobin"] == []


def test_a_forecast_survives_the_lake_and_json():
    """Never is Infinity there, unknown is null, and both come back."""
    rows = _candidates("skewed-load", 34)

    forecast = candidate_of(rows["live"]).forecast
    assert forecast.forecast_drained_seconds_high == float("inf")
    told = to_json(record_of(CandidateRow, rows["live"]))
    assert told["forecast_drained_seconds_high"] == "Infinity"
    assert record_of(CandidateRow, told).forecast == forecast


def test_candidates_of_before_there_were_forecasts_have_none():
    """A file without the columns is read as before."""
    row = _candidates("skewed-load", 34)["live"]
    old = {key: value for key, value in row.items() if not key.startswith(("forecast", "price"))}

    assert candidate_of(old).forecast is None
    assert candidate_of(old).score is not None
