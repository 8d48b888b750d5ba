"""Diagnoses held against groups whose truth is known, because they are simulated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evenkeel.engine.adapters.replay import open_recording
from evenkeel.engine.cli.verbs.backtest import to_json
from evenkeel.engine.cli.views import tables
from evenkeel.engine.config import Settings
from evenkeel.engine.steps.backtest import backtest
from tests.helpers.fluid import CLUSTER, SITUATIONS, contradictions, record, simulate


@pytest.fixture(scope="module")
def events(tmp_path_factory) -> list[dict[str, Any]]:
    """What `evenkeel backtest --json` prints of all situations."""
    path = tmp_path_factory.mktemp("fluid") / "fluid.evenkeel"
    record(path, simulate([each.group for each in SITUATIONS.values()]))
    found = backtest(open_recording(path), Settings(), CLUSTER)
    return [json.loads(tables.to_json(to_json(event))) for event in found]


@pytest.mark.parametrize("name", SITUATIONS)
def test_what_is_said_is_true(name, events):
    """From a few snapshots after trouble began until it ended, the diagnosis is the one that is true."""
    said = contradictions(SITUATIONS[name], events)

    assert [one for one in said if "message" not in one] == []
