"""The stand-in for Slack: what it keeps, what it refuses, what the demo shows of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.stage import slack
from tests.stage.slack_workspace import ANY, Fault, SlackError, Workspace

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


def test_a_change_is_shorter_than_a_message() -> None:
    """Slack takes 40,000 characters of a new message, and 4,000 of one that is changed."""
    workspace = Workspace()
    posted = workspace.call("chat.postMessage", TOKEN, {"channel": "#kafka", "text": "x" * 5_000})
    where = {"channel": posted["channel"], "ts": posted["ts"]}
    with pytest.raises(SlackError, match="msg_too_long"):
        workspace.call("chat.update", TOKEN, {**where, "text": "x" * 5_000})


@pytest.mark.parametrize("where", [{"ts": "1.0"}, {"channel": "C0ORDERS01"}])
def test_what_is_not_there_cannot_be_changed(where: dict[str, str]) -> None:
    """A message is known by its channel and its timestamp."""
    workspace = Workspace()
    posted = workspace.call("chat.postMessage", TOKEN, {"channel": "#kafka", "text": "x"})
    place = {"channel": posted["channel"], "ts": posted["ts"]} | where
    with pytest.raises(SlackError, match="message_not_found"):
        workspace.call("chat.update", TOKEN, {**place, "text": "y"})


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


def test_a_slow_answer_comes_late_and_whole() -> None:
    """With a delay a call is answered as it would be without."""
    workspace = Workspace(faults=deque([Fault(ANY, delay=0.3)]))
    with slack.running(workspace) as server:
        began = time.monotonic()
        assert call(server.base_url, "auth.test")["ok"]
    assert time.monotonic() - began > 0.3


def test_a_fault_of_any_method_meets_the_next_call() -> None:
    """Reading fails as well as posting does, whichever comes first."""
    workspace = Workspace(faults=deque([Fault(ANY, error="fatal_error")]))
    with slack.running(workspace) as server:
        assert call(server.base_url, "users.conversations")["error"] == "fatal_error"
        assert call(server.base_url, "users.conversations")["ok"]
