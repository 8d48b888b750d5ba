"""The fixture ``slack_server``: a stand-in for Slack that a test asks for by ``pytest_plugins``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.slack_calls import LATER
from tests.stage.slack import SlackServer, running
from tests.stage.slack_workspace import Workspace


@pytest.fixture
def slack_server(tmp_path: Path) -> Iterator[SlackServer]:
    """An empty workspace with the channels of `CHANNELS`."""
    with running(Workspace(store=tmp_path / "slack.jsonl", clock=lambda: LATER)) as server:
        yield server
