"""A scene made live: what its recording and its truth say of groups on real brokers."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenkeel.engine.adapters.recording import open_recording
from tests.corpus.truth import load
from tests.rebalances.__main__ import record

pytestmark = [pytest.mark.kafka, pytest.mark.nightly]


def test_a_deploy_is_recorded_as_its_members_saw_it(tmp_path: Path) -> None:
    """Groups left alone are still; of the others every member is another one at the end."""
    record(["deploy"], tmp_path, 7)
    recording, truth = (
        open_recording(tmp_path / "deploy.evenkeel"),
        load(tmp_path / "deploy.truth.json"),
    )
    first, last = recording.snapshot_ids[0], recording.snapshot_ids[-1]
    for group in truth["groups"]:
        ids = [
            set(recording.read("members", [i], groups=[group["group"]])["member_id"].to_pylist())
            for i in (first, last)
        ]
        if group["cause"] is None:
            assert ids[0] == ids[1]
            assert (group["rebalances"], group["gaps"]) == ([], [])
        else:
            assert not ids[0] & ids[1]
            assert group["gaps"]
