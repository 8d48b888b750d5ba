"""The recorded Streams application: what its members send."""

from __future__ import annotations

from evenkeel.engine.adapters.replay import open_recording
from tests.stage.workload.recorded_streams import RECORDING, recorded

NAME = "streams-classic"


def test_blobs_are_sent_as_they_were_recorded() -> None:
    """Without a prefix not a byte differs; with one, every name in them has it and nothing else."""
    recording = open_recording(RECORDING)
    rows = recording.read("members", recording.snapshot_ids[-1:]).to_pylist()
    rows = [row for row in rows if row["group_id"] == NAME]
    plain, counts = recorded(NAME, "")
    assert [(b.subscription, b.assignment) for b in plain] == [
        (row["metadata"], row["assignment"]) for row in rows
    ]
    assert counts == {f"{NAME}-counts-changelog": 6, f"{NAME}-counts-repartition": 6}
    for before, after in zip(plain, recorded(NAME, "pre-")[0], strict=True):
        for one, other in (
            (before.subscription, after.subscription),
            (before.assignment, after.assignment),
        ):
            assert other.count(b"pre-") == one.count(b"invoices") + one.count(b"-repartition")
            assert len(other) == len(one) + len("pre-") * other.count(b"pre-")
