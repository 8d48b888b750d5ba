"""
A message as Slack blocks, within Slack's limits: a pure function.

Limits: https://docs.slack.dev/reference/block-kit/blocks and, for the whole body,
    https://github.com/slackapi/bolt-js/issues/2509
(undocumented; rejected as `msg_blocks_too_long` from about 13,200 characters).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from evenkeel.engine.message import AlertMessage, Section, Severity
from evenkeel.engine.text import shortened

Block = dict[str, Any]

BODY_LIMIT = 12_000
"""Characters of the whole JSON body; Slack counts escapes."""

BLOCK_LIMIT = 50
HEADER_LIMIT = 150
TEXT_LIMIT = 3_000
FALLBACK_LIMIT = 300

EVENT_TYPE = "evenkeel_alert"

SIGNS = {
    Severity.INFO: ":scales:",
    Severity.WARNING: ":warning:",
    Severity.CRITICAL: ":rotating_light:",
    Severity.RESOLVED: ":white_check_mark:",
}


def body(message: AlertMessage, key: str) -> dict[str, Any]:
    """
    Text, blocks and metadata of a `chat.postMessage`, as large as it may be; what does not fit is
    counted and said.

    Args:
        message: What to say.
        key: Our own id of the message, kept in its metadata.
    """
    sections = len(message.sections)
    while True:
        posted = _body(message, key, sections)
        if sections == 0 or _fits(posted):
            return posted
        sections -= 1


def _body(message: AlertMessage, key: str, sections: int) -> dict[str, Any]:
    blocks = [
        _header(f"{SIGNS[message.severity]} {message.title}"),
        _text(_prose(message.summary)),
    ]
    for section in message.sections[:sections]:
        blocks += [{"type": "divider"}, _text(_section(section))]
    if cut := len(message.sections) - sections:
        blocks += [{"type": "divider"}, _text(_left_out(cut))]
    if notes := _notes(message):
        blocks.append({"type": "context", "elements": [_mrkdwn(note) for note in notes]})
    return {
        "text": shortened(escape(f"{message.title}: {message.summary}"), FALLBACK_LIMIT),
        "blocks": blocks,
        "metadata": {
            "event_type": EVENT_TYPE,
            "event_payload": {"key": key, "kind": message.kind.value},
        },
    }


def _fits(posted: dict[str, Any]) -> bool:
    # Room for what the call adds: channel and thread.
    return len(json.dumps(posted)) <= BODY_LIMIT - 200 and len(posted["blocks"]) <= BLOCK_LIMIT


def _left_out(cut: int) -> str:
    part, does = ("part", "does") if cut == 1 else ("parts", "do")
    return f"_{cut} more {part} of this message {does} not fit into it._"


def _header(text: str) -> Block:
    # The text of a header is plain: nothing in it is markup, so nothing is escaped.
    text = shortened(text, HEADER_LIMIT)
    return {"type": "header", "text": {"type": "plain_text", "text": text, "emoji": True}}


def _text(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn(text)}


def _mrkdwn(text: str) -> Block:
    return {"type": "mrkdwn", "text": shortened(text, TEXT_LIMIT), "verbatim": True}


def _section(section: Section) -> str:
    lines = [f"*{_bold(section.heading)}*", *(_prose(line) for line in section.lines)]
    return _with_code(lines, section.code)


def _with_code(lines: Sequence[str], code: Sequence[str]) -> str:
    """The lines, then the code as a block, whole lines of it cut so that its end mark stays within the limit."""
    text = shortened("\n".join(lines), TEXT_LIMIT)
    fence = "```"
    room = TEXT_LIMIT - len(text) - 2 * len(fence) - 3
    kept: list[str] = []
    for line in code:
        one = escape(line).replace("`", "'")
        room -= len(one) + 1
        if room < 0:
            break
        kept.append(one)
    if not kept:
        return text
    return "\n".join([text, fence + "\n".join(kept) + fence])


def _notes(message: AlertMessage) -> list[str]:
    notes = [message.more, *message.footer] if message.more else list(message.footer)
    return [_prose(note) for note in notes if note][:10]


def escape(text: str) -> str:
    """
    Text whose every character Slack shows as it is: no mention, link or channel can come from a
    name.

    >>> escape("a<!channel> & b")
    'a&lt;!channel&gt; &amp; b'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _bold(text: str) -> str:
    # An asterisk inside would end the bold text; this one looks the same and does not.
    return _prose(text).replace("*", "∗")


def _prose(text: str) -> str:
    # Three backticks would open a block of code that nothing closes.
    return escape(text).replace("```", "'''")
