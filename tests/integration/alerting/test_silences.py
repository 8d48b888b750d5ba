"""Silences and acks, from the history to Slack, on a real Postgres and before a server that speaks as Slack."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.slack import SlackNotifier
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.steps import watch
from tests.helpers.history_rows import manifest, metrics
from tests.helpers.incidents import CLUSTER, at, course, posting, row
from tests.helpers.silenced import ack, silence
from tests.stage.slack import SlackServer

pytest_plugins = ("tests.helpers.postgres_fixtures", "tests.helpers.slack_fixtures")

pytestmark = pytest.mark.postgres

NOW = at(10)


SETTINGS = Settings(
    clusters={CLUSTER: ClusterSettings(bootstrap="b:9092")}, late_after_seconds=86_400
)


@pytest.fixture
def known(history: PostgresHistory) -> PostgresHistory:
    """One of two groups has an open incident."""
    taken = manifest()
    history.store_snapshot(taken)
    groups = {"orders-app": [0], "orders-api": [0]}
    history.store_metrics(taken.snapshot_id, metrics(taken.snapshot_id, groups=groups))
    shown = [row(course())]
    assert history.store_watch(
        CLUSTER, taken.snapshot_id, at(0), [course()], shown, [posting()], before=None
    )
    return history


def looked(history: PostgresHistory, server: SlackServer, minutes: float) -> list[str]:
    """Two looks of the watch of the pipeline; how Slack was written to."""
    before = len(server.workspace.calls)
    for _ in range(2):
        notifier = SlackNotifier("xoxb-test", server.base_url, pause=lambda seconds: None)
        watch(history, notifier, SETTINGS, at(minutes))
    return [call for call in server.workspace.calls[before:] if call.startswith("chat.")]


def shown(server: SlackServer) -> list[str]:
    """The messages as they stand in the channel: title and what is below it."""
    return [
        " | ".join(_texts(message["blocks"])).replace("\n", " ")
        for message in server.workspace.messages
    ]


def _texts(blocks: list[dict]) -> list[str]:
    parts = [each for block in blocks for each in (block, *block.get("elements", ()))]
    texts = [part["text"] for part in parts if "text" in part]
    return [text["text"] if isinstance(text, dict) else text for text in texts]


def test_a_silence_is_told_when_it_begins_and_when_it_is_over(
    known: PostgresHistory, slack_server: SlackServer
) -> None:
    """Each once, with what is open."""
    looked(known, slack_server, 5)
    known.add_silence(silence(starts_at=NOW, ends_at=at(70)))
    assert looked(known, slack_server, 10) == ["chat.postMessage"]
    assert looked(known, slack_server, 70) == ["chat.postMessage"]
    _, begin, end = shown(slack_server)
    assert "orders-* (every cluster): silenced until 2026-03-01 13:10:03 UTC" in begin
    assert "By ana: moving. It covers 2 groups here, 1 of them open: orders-app (catching" in begin
    assert "orders-* (every cluster): no longer silenced" in end
    assert "Still open: orders-app (catching up)." in end


def test_an_ack_changes_the_message_of_its_incident_and_takes_itself_back(
    known: PostgresHistory, slack_server: SlackServer
) -> None:
    """One change each; nothing is posted for it."""
    looked(known, slack_server, 5)
    (before,) = shown(slack_server)
    number = known.add_silence(ack(starts_at=NOW))
    assert looked(known, slack_server, 10) == ["chat.update"]
    (acknowledged,) = shown(slack_server)
    assert acknowledged == f"{before} | Acknowledged by bo: moving."
    known.end_silence(number, NOW + timedelta(minutes=1))
    assert looked(known, slack_server, 12) == ["chat.update"]
    assert shown(slack_server) == [before]
    assert known.silences(at(12)) == []
