"""The dead man's switch, against a server on real sockets."""

from __future__ import annotations

import logging

import pytest

from evenkeel.engine import wiring
from evenkeel.engine.adapters.webhook import Heartbeat, http_call
from evenkeel.engine.config import Settings
from tests.helpers.pages import Trouble, page_server

pytestmark = pytest.mark.slow

SECRET = "a-recognizable-uuid"


def test_a_good_run_is_heard() -> None:
    """A GET of the address, in which the cluster has its place."""
    with page_server() as server:
        settings = Settings(heartbeat_url=f"{server.url}/{SECRET}-{{cluster}}?rid=1")
        heartbeat = wiring.heartbeat(settings)
        assert heartbeat is not None
        assert heartbeat.beat("eu west")
        assert server.pages.calls == [("GET", f"/{SECRET}-eu%20west?rid=1")]
    assert SECRET not in repr(heartbeat) + repr(settings)


def test_without_an_address_there_is_none() -> None:
    """It has to be asked for."""
    assert wiring.heartbeat(Settings()) is None


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(status=404, body=f"/{SECRET} not found"),
        Trouble(status=400, body=f"/{SECRET} not found"),
        Trouble(status=500),
        Trouble(seconds=0.5),
        Trouble(drop=True),
    ],
)
def test_a_heartbeat_that_is_not_heard_is_a_warning_only(
    trouble: Trouble, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It names the cluster, what went wrong and no secret; the run is as good as it was."""
    monkeypatch.setattr(http_call, "TIMEOUT_SECONDS", 0.2)
    with page_server() as server, caplog.at_level(logging.DEBUG):
        server.pages.troubles.append(trouble)
        assert not Heartbeat(f"{server.url}/{SECRET}").beat("eu")
    [warning] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "the heartbeat of eu" in warning.message
    assert SECRET not in caplog.text
