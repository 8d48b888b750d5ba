"""Scenes made live: what recordings and their truths say of groups on real brokers."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenkeel.engine.adapters.recording import open_recording
from tests.corpus.truth import load
from tests.rebalances.__main__ import record
from tests.rebalances.scenes import SCENES

pytestmark = [pytest.mark.kafka, pytest.mark.nightly]

LIVE = {"deploy": "range", "crash-loop": "cooperative", "scaler-flapping": "consumer"}
"""A group of each of these scenes."""


def test_scenes_are_recorded_as_members_saw_them(tmp_path: Path) -> None:
    """Groups left alone are still; in the others members change, and partitions were not read for a while."""
    scenes = {
        scene: [p for p in SCENES[scene] if p.name == f"{scene}-{kind}"]
        for scene, kind in LIVE.items()
    }
    record(scenes, tmp_path, 7)
    for scene in LIVE:
        recording = open_recording(tmp_path / f"{scene}.evenkeel")
        for group in load(tmp_path / f"{scene}.truth.json")["groups"]:
            members = recording.read("members", recording.snapshot_ids, groups=[group["group"]])
            seen = set(members["member_id"].to_pylist())
            assert bool(group["rebalances"]) == bool(group["gaps"]) == (len(seen) > 3)
            assert (group["cause"] is None) == (len(seen) == 3)
