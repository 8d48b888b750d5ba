"""Diagnoses held against groups whose truth is known, because they are simulated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from evenkeel.engine.adapters.replay import Recording, open_recording
from evenkeel.engine.config import Settings
from evenkeel.engine.metrics.observe import observe
from evenkeel.engine.model import Diagnosis
from evenkeel.engine.steps.measure import known_of
from evenkeel.engine.steps.reading import read_batch
from tests.helpers.fluid import SITUATIONS, contradictions, record, simulate

SETTINGS = Settings()
LOOKBACK = SETTINGS.lookback


@pytest.fixture(scope="module")
def events(tmp_path_factory) -> list[dict[str, Any]]:
    """Every change of a diagnosis, of all situations."""
    path = tmp_path_factory.mktemp("fluid") / "fluid.evenkeel"
    record(path, simulate([each.group for each in SITUATIONS.values()]))
    return list(_events(open_recording(path)))


def _events(lake: Recording) -> Iterator[dict[str, Any]]:
    earlier: list[Any] = []
    learned: dict[str, float] = {}
    last: dict[str, Diagnosis] = {}
    for snapshot_id in lake.snapshot_ids:
        names = lake.read("groups", [snapshot_id], columns=["group_id"])["group_id"].to_pylist()
        batch = read_batch(lake, SETTINGS, snapshot_id, names)
        seen = observe(batch, earlier, known_of(SETTINGS, batch, learned))
        for header, interval, diagnosed in zip(
            batch.headers, seen.commit_interval.tolist(), seen.diagnoses, strict=True
        ):
            if interval == interval:
                learned[header.group] = interval
            if last.get(header.group) is not diagnosed.diagnosis:
                last[header.group] = diagnosed.diagnosis
                yield {
                    "event": "diagnosis",
                    "at": header.taken_at.isoformat(),
                    "group": header.group,
                    "diagnosis": diagnosed.diagnosis.value,
                    "subjects": [name for fact in diagnosed.facts for name in fact.subjects],
                }
        earlier = [batch, *earlier][:LOOKBACK]


@pytest.mark.parametrize("name", SITUATIONS)
def test_what_is_said_is_true(name, events):
    """From a few snapshots after trouble began until it ended, the diagnosis is the one that is true."""
    said = contradictions(SITUATIONS[name], events)

    assert [one for one in said if "message" not in one] == []
