"""The stand-in for Slack refuses what Slack refuses: else no message would be seen to be too long."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stage.slack_workspace import SlackError, Workspace

TOKEN = "xoxb-test"


def section(text: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({}, "no_text"),
        ({"text": "x", "blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        ({"text": "x", "blocks": [section("x" * 3_001)]}, "invalid_blocks"),
        ({"text": "x", "blocks": [section("")]}, "invalid_blocks"),
        ({"text": "x", "blocks": [{"type": "poem"}]}, "invalid_blocks"),
        ({"text": "x", "blocks": [section("x" * 2_900)] * 5}, "msg_blocks_too_long"),
    ],
    ids=["nothing", "51 blocks", "long text", "empty text", "unknown block", "long body"],
)
def test_what_slack_refuses_is_refused(content: dict[str, Any], error: str) -> None:
    """A message that Slack would not take is not taken here, with the same error."""
    with pytest.raises(SlackError, match=error):
        Workspace().call("chat.postMessage", TOKEN, {"channel": "#kafka", **content})


def test_a_change_is_shorter_than_a_message() -> None:
    """Slack takes 40,000 characters of a new message, and 4,000 of one that is changed."""
    workspace = Workspace()
    posted = workspace.call("chat.postMessage", TOKEN, {"channel": "#kafka", "text": "x" * 5_000})
    where = {"channel": posted["channel"], "ts": posted["ts"]}
    with pytest.raises(SlackError, match="msg_too_long"):
        workspace.call("chat.update", TOKEN, {**where, "text": "x" * 5_000})
