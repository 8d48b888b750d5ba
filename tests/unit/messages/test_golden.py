"""All messages side by side: what a reviewer reads is what is sent, and each keeps to its budget."""

from __future__ import annotations

import re
import shlex

import pytest

from evenkeel.engine.adapters.slack.blocks import body
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from tests.helpers.golden_messages import GOLDEN, golden, messages
from tests.stage.slack_workspace import check_content

MESSAGES = dict(messages())

TITLE, LINES = 80, 8

THREAD = re.compile("(digest|several groups).*: thread")
"""What begins the thread of a message about many groups: a line for each of the others."""

FORMER = re.compile(
    r"\b(tells?|told|well again|nobody|somebody|would pay|taken up|took up|yardstick|GROUP|NUMBER)\b"
)


def lines_of(message: AlertMessage) -> list[str]:
    """The lines below the title, as Slack shows them; what is beside each other in the last is one."""
    lines: list[str] = []
    for block in body(message, "k")["blocks"][1:]:
        lines += block["text"]["text"].splitlines() if "text" in block else ["context"]
    return lines


def test_the_file_of_all_messages_is_what_is_sent() -> None:
    """A changed word is seen in review: `python -m tests.helpers.golden_messages` writes the file anew."""
    assert GOLDEN.read_text(encoding="utf-8") == golden()


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_keeps_to_its_budget(name: str) -> None:
    """A short title, few lines, one command that a shell takes, the action where a phone shows it, no former words."""
    message = MESSAGES[name]
    posted = body(message, "k")
    check_content(posted)
    assert len(message.title) <= TITLE
    assert not FORMER.search(golden_text(posted))
    commands = [code for section in message.sections for code in section.code]
    tools = {shlex.split(command)[0] for command in commands}
    kafkas = {"data loss": "kafka-configs.sh", "hanging transaction": "kafka-transactions.sh"}
    own = next((tool for cause, tool in kafkas.items() if name.startswith(cause)), "evenkeel")
    assert tools <= {own}
    if not THREAD.search(name):
        assert len(lines_of(message)) <= LINES
        assert len(commands) <= 1
    if message.action:
        assert f"*{message.action}*" in lines_of(message)[0]
        assert posted["text"].endswith(f" {message.action}")


def test_whatever_is_open_says_what_to_do() -> None:
    """Each message about something that is wrong, and each switch, has an action."""
    without = [
        name
        for name, message in MESSAGES.items()
        if message.severity in (Severity.WARNING, Severity.CRITICAL)
        and not (message.action or THREAD.search(name))
    ]
    assert without == []
    assert MESSAGES["advice, switch"].action
    kinds = {message.kind for message in MESSAGES.values()}
    assert kinds == set(MessageKind)


def golden_text(posted: dict[str, object]) -> str:
    """All that is shown, without its links."""
    return re.sub("<[^>]*>", "", str(posted["text"]) + str(posted["blocks"]))
