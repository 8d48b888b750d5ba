"""The stand-in for Slack: what it keeps, what it refuses, what the demo shows of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.stage import slack
from tests.stage.slack_workspace import SlackError, Workspace

TOKEN = "xoxb-test"


def section(text: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def call(base_url: str, method: str, **arguments: Any) -> dict[str, Any]:
    """One call of the Web API."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = Request(f"{base_url}{method}", json.dumps(arguments).encode(), headers)
    with urlopen(request, timeout=10) as answer:
        return dict(json.loads(answer.read()))


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


def test_history_is_read_by_id_only() -> None:
    """As with Slack, a name serves to post and not to read."""
    workspace = Workspace()
    channel = workspace.call("chat.postMessage", TOKEN, {"channel": "#kafka", "text": "x"})[
        "channel"
    ]
    assert (
        len(workspace.call("conversations.history", TOKEN, {"channel": channel})["messages"]) == 1
    )
    with pytest.raises(SlackError, match="channel_not_found"):
        workspace.call("conversations.history", TOKEN, {"channel": "#kafka"})


def test_a_message_can_be_changed() -> None:
    """`chat.update` replaces the content at its timestamp, and keeps nothing of the old one."""
    workspace = Workspace()
    posted = workspace.call("chat.postMessage", TOKEN, {"channel": "#kafka", "text": "before"})
    where = {"channel": posted["channel"], "ts": posted["ts"]}
    workspace.call("chat.update", TOKEN, {**where, "text": "after"})
    assert [message["text"] for message in workspace.messages] == ["after"]


def test_the_demo_shows_what_was_posted(tmp_path: Path) -> None:
    """What a server kept is read from its file and shown as people would see it."""
    store = tmp_path / "messages.jsonl"
    blocks = [
        section("*payments*: a &lt;b&gt; &amp; c"),
        {"type": "divider"},
        section("```t-0: m1```"),
    ]
    with slack.running(slack.Workspace(store=store)) as server:
        call(server.base_url, "chat.postMessage", channel="#kafka", text="x", blocks=blocks)
    [message] = slack.read_store(store)
    assert slack.as_seen(message).splitlines() == ["*payments*: a <b> & c", "-" * 40, "t-0: m1"]


def test_a_second_start_finds_the_messages_of_the_first(tmp_path: Path) -> None:
    """The messages outlive the server, run alone as the demo may run it, which ends at a signal."""
    store = tmp_path / "messages.jsonl"
    for count in (1, 2):
        argv = [sys.executable, "-m", "tests.stage", "slack", "--store", str(store)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            base_url = process.stdout.readline().strip()
            call(base_url, "chat.postMessage", channel="#kafka", text=f"message {count}")
            process.terminate()
            assert process.wait(20) == 0
        assert [m["text"] for m in slack.read_store(store)][-1] == f"message {count}"
    assert len(slack.read_store(store)) == 2
