"""Causes of rebalances that were made on real brokers and recorded every ten seconds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine.adapters.recording import open_recording
from evenkeel.engine.config import Settings
from evenkeel.engine.model.states import RebalanceCause
from evenkeel.engine.pipeline.measure import measure_chunk
from evenkeel.engine.snapshots.groups_with_past import lookback_of
from tests.corpus.truth import load
from tests.rebalances.scenes import KINDS
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

REPEATED = {RebalanceCause.SCALER_FLAPPING: 4}
"""What repeats is told once it has: in the first three snapshots the number of members only rises and falls."""

FILES = sorted(FOLDER.glob("*.evenkeel"))


@cache
def told(path: Path) -> tuple[Mapping[str, Any], dict[str, list[dict[str, Any]]]]:
    """The truth of a recording, and by group what each snapshot says of a rebalance."""
    recording, truth = open_recording(path), load(path.with_suffix(".truth.json"))
    found: dict[str, list[dict[str, Any]]] = {group["group"]: [] for group in truth["groups"]}
    for snapshot_id in recording.snapshot_ids:
        look = lookback_of(recording, Settings(), snapshot_id)
        rows = measure_chunk(recording, Settings(), look, [*found])["rebalances"]
        for row in rows.to_pylist():
            found[row["group_id"]].append(row)
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
    causes = [row["cause"] for row in found[group["group"]]]
    if not group["rebalances"] and not group["gaps"]:
        assert causes == []
        return
    expected = CAUSES[group["cause"]]
    assert expected in causes[: REPEATED.get(expected, WITHIN)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_bill_of_deploys_is_that_of_the_members_logs(kind: str) -> None:
    """From revoked to assigned, by each partition, over four deploys; the pauses follow from heartbeats."""
    truth, found = told(FOLDER / "deploys.evenkeel")
    [group] = (each for each in truth["groups"] if each["group"] == f"deploy-again-{kind}")
    rows = found[group["group"]]
    logged = sum(until - at for _, _, at, until, *_ in group["gaps"])
    assert sum(row["partition_seconds"] for row in rows) == pytest.approx(logged, rel=1 / 4)
    rebalances = len(group["rebalances"])
    assert sum(row["rebalances"] for row in rows) == pytest.approx(rebalances, rel=1 / 20)
