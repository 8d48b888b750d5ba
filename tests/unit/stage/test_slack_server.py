"""The stand-in for Slack: what it keeps, what it refuses, what the demo shows of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.stage import slack
from tests.stage.slack_workspace import Fault, SlackError, Workspace

CHECKOUT = Path(__file__).resolve().parents[3]
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


def test_a_message_can_be_changed() -> None:
    """`chat.update` replaces the content at its timestamp, and keeps nothing of the old one."""
    workspace = Workspace()
    posted = workspace.call("chat.postMessage", TOKEN, {"channel": "#kafka", "text": "before"})
    where = {"channel": posted["channel"], "ts": posted["ts"]}
    workspace.call("chat.update", TOKEN, {**where, "text": "after"})
    assert [message["text"] for message in workspace.messages] == ["after"]


def test_a_change_is_shorter_than_a_message() -> None:
    """Slack takes 40,000 characters of a new message, and 4,000 of one that is changed."""
    workspace = Workspace()
    posted = workspace.call("chat.postMessage", TOKEN, {"channel": "#kafka", "text": "x" * 5_000})
    where = {"channel": posted["channel"], "ts": posted["ts"]}
    with pytest.raises(SlackError, match="msg_too_long"):
        workspace.call("chat.update", TOKEN, {**where, "text": "x" * 5_000})


def test_a_thread_is_read_by_itself() -> None:
    """The channel's history has of a thread only what was shown in the channel, too."""
    workspace = Workspace()

    def post(text: str, **more: Any) -> dict[str, Any]:
        content = {"channel": "#kafka", "text": text, **more}
        return workspace.call("chat.postMessage", TOKEN, content)

    def read(method: str, **more: Any) -> list[str]:
        answer = workspace.call(method, TOKEN, {"channel": "C0KAFKA001", **more})
        return [message["text"] for message in answer["messages"]]

    parent = post("parent")
    post("quiet", thread_ts=parent["ts"])
    post("loud", thread_ts=parent["ts"], reply_broadcast=True)
    post("other")
    assert read("conversations.history") == ["other", "loud", "parent"]
    assert read("conversations.replies", ts=parent["ts"]) == ["parent", "quiet", "loud"]
    with pytest.raises(SlackError, match="thread_not_found"):
        read("conversations.replies", ts="1.0")


@pytest.mark.slow
def test_a_caller_dies_between_send_and_mark() -> None:
    """What it posted is there, and the process that posted it is not any more."""
    workspace = Workspace(faults=deque([Fault(stored=True, kills=True)]))
    with slack.running(workspace) as server:
        code = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r})\n"
        code += f"from tests.unit.stage.{__name__.rpartition('.')[2]} import call\n"
        code += f"call({server.base_url!r}, 'chat.postMessage', channel='#kafka', text='x')"
        ended = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert [message["text"] for message in workspace.messages] == ["x"]
