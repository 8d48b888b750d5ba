"""Causes of rebalances that were made on real brokers and recorded every ten seconds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine.adapters.recording import open_recording
from evenkeel.engine.config import Settings
from evenkeel.engine.model.states import RebalanceCause
from evenkeel.engine.pipeline.measure import observed_of
from evenkeel.engine.snapshots.groups_with_past import lookback_of, read_with_past
from tests.corpus.truth import load
from tests.rebalances.truth import FOLDER

CAUSES = {
    "deploy": RebalanceCause.DEPLOY,
    "crash loop": RebalanceCause.CRASH_LOOP,
    "scaler flapping": RebalanceCause.SCALER_FLAPPING,
    "poll timeout": RebalanceCause.POLL_TIMEOUT,
    "session timeout": RebalanceCause.SESSION_TIMEOUT,
    "subscription change": RebalanceCause.SUBSCRIPTION_CHANGED,
    "partitions added": RebalanceCause.PARTITIONS_ADDED,
    "coordinator moved": RebalanceCause.COORDINATOR_MOVED,
}
"""As the truth of a recording calls them."""

WITHIN = 3
"""Snapshots after the first that shows a change of the members."""

REPEATED = {RebalanceCause.CRASH_LOOP: 5, RebalanceCause.SCALER_FLAPPING: 5}
"""What repeats is told once it has: so many snapshots later."""

FILES = sorted(FOLDER.glob("*.evenkeel"))


@cache
def told(path: Path) -> tuple[Mapping[str, Any], dict[str, dict[float, RebalanceCause]]]:
    """The truth of a recording, and by group the cause at each snapshot with a rebalance, in seconds."""
    recording, truth = open_recording(path), load(path.with_suffix(".truth.json"))
    names = [group["group"] for group in truth["groups"]]
    found: dict[str, dict[float, RebalanceCause]] = {name: {} for name in names}
    began = datetime.fromisoformat(truth["began"])
    for snapshot_id in recording.snapshot_ids:
        settings, look = Settings(), lookback_of(recording, Settings(), snapshot_id)
        seen = observed_of(settings, read_with_past(recording, settings, look, names))
        for number, caused in seen.causes.newest.items():
            header = seen.batch.headers[number]
            found[header.group][(header.taken_at - began).total_seconds()] = caused.cause
    return truth, found


GROUPS = [
    pytest.param(path, group, id=group["group"])
    for path in FILES
    for group in load(path.with_suffix(".truth.json"))["groups"]
]


@pytest.mark.parametrize(("path", "group"), GROUPS)
def test_each_cause_is_told_within_snapshots_and_the_others_are_silent(
    path: Path, group: Mapping[str, Any]
) -> None:
    """A group left alone has no rebalance at all, nor has one whose coordinator moves and nothing else happens."""
    _, found = told(path)
    moments = [*found[group["group"]].values()]
    if not group["rebalances"] and not group["gaps"]:
        assert moments == []
        return
    expected = CAUSES[group["cause"]]
    assert expected in moments[: REPEATED.get(expected, WITHIN)]
