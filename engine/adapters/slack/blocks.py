"""
A message as Slack blocks, within Slack's limits: a pure function.

Limits: https://docs.slack.dev/reference/block-kit/blocks and, for the whole body,
    https://github.com/slackapi/bolt-js/issues/2509
(undocumented; rejected as `msg_blocks_too_long` from about 13,200 characters).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from ...model.message import AlertMessage, Section, Severity
from ...model.text import printable, shortened

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
    Text, blocks and metadata of a `chat.postMessage`, within Slack's limits. The message names the number of parts that
    don't fit.

    Args:
        message: The message.
        key: Its id, in its metadata.
    """
    sections = len(message.sections)
    while True:
        posted = _body(message, key, sections)
        # room for what the call adds: channel and thread
        fits = len(json.dumps(posted)) <= BODY_LIMIT - 200 and len(posted["blocks"]) <= BLOCK_LIMIT
        if sections == 0 or fits:
            return posted
        sections -= 1


def _body(message: AlertMessage, key: str, sections: int) -> dict[str, Any]:
    called = mentions(message.mention)
    # The text of a header is plain: nothing in it is markup, so nothing is escaped.
    head = shortened(printable(f"{SIGNS[message.severity]} {message.title}"), HEADER_LIMIT)
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": head, "emoji": True}},
        *_parts(message, sections, called),
    ]
    if notes := _notes(message):
        blocks.append({"type": "context", "elements": [_mrkdwn(note) for note in notes]})
    return {
        "text": _called(called, _fallback(message)),
        "blocks": blocks,
        "metadata": {
            "event_type": EVENT_TYPE,
            "event_payload": {"key": key, "kind": message.kind.value},
        },
    }


def _fallback(message: AlertMessage) -> str:
    """The text for a lock screen: it always contains the action."""
    action = f" {escape(message.action)}" if message.action else ""
    text = escape(f"{message.title}: {message.summary}")
    return shortened(text, max(FALLBACK_LIMIT - len(action), len(action))) + action


def _parts(message: AlertMessage, sections: int, called: str) -> Iterator[Block]:
    """Summary and sections: apart by dividers, or in a *brief* message together as far as one block holds them."""
    action = [f"*{_bold(message.action)}*"] if message.action else []
    summary = _called(called, " ".join([_prose(message.summary), *action]))
    shown = (_section(one, brief=message.brief) for one in message.sections[:sections])
    parts = [part for part in shown if part]
    if cut := len(message.sections) - sections:
        part, does = ("part", "does") if cut == 1 else ("parts", "do")
        parts.append(f"_{cut} more {part} of this message {does} not fit into it._")
    if message.brief:
        yield from map(_text, _together([summary, *parts]))
        return
    yield _text(summary)
    for part in parts:
        yield from ({"type": "divider"}, _text(part))


def _together(parts: Sequence[str]) -> list[str]:
    """Texts joined by line breaks, in as few blocks as possible."""
    texts = list(parts[:1])
    for part in parts[1:]:
        if len(texts[-1]) + 1 + len(part) <= TEXT_LIMIT:
            texts[-1] += f"\n{part}"
        else:
            texts.append(part)
    return texts


def mentions(mention: str | None) -> str:
    """
    Slack mentions of ids, `@here` and `@channel`; anything else is text.

    >>> mentions("@here U0123ABC S0123ABC"), mentions("<!channel> ann"), mentions(None)
    ('<!here> <@U0123ABC> <!subteam^S0123ABC>', '&lt;!channel&gt; ann', '')
    """
    return " ".join(map(_mention, (mention or "").split()))


def _mention(name: str) -> str:
    if name in ("@here", "@channel"):
        return f"<!{name[1:]}>"
    if re.fullmatch("[UW][A-Z0-9]{5,}", name):
        return f"<@{name}>"
    if re.fullmatch("S[A-Z0-9]{5,}", name):
        return f"<!subteam^{name}>"
    return _prose(name)


def _called(called: str, text: str) -> str:
    return f"{called} {text}" if called else text


def _text(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn(text)}


def _mrkdwn(text: str) -> Block:
    return {"type": "mrkdwn", "text": shortened(text, TEXT_LIMIT), "verbatim": True}


def _section(section: Section, *, brief: bool) -> str:
    """A section; in a *brief* message, a single line follows its heading directly, and a single command has none."""
    heading, lines = _bold(section.heading), [_prose(line) for line in section.lines]
    if brief and not lines and len(section.code) == 1:
        code = _code(section.code[0])
        # half a command is worse than none
        return f"`{code}`" if len(code) <= TEXT_LIMIT - 2 else ""
    if heading:
        alone = brief and len(lines) == 1
        lines = [f"*{heading}:* {lines[0]}"] if alone else [f"*{heading}*", *lines]
    return _with_code(lines, section.code)


def _bold(text: str) -> str:
    # An asterisk inside would end the bold text; this one looks the same and does not.
    return _prose(text).replace("*", "∗")


def _code(text: str) -> str:
    return escape(text).replace("`", "'")


def _with_code(lines: Sequence[str], code: Sequence[str]) -> str:
    """The lines, then the code as a block, whole lines of it cut so that its end mark stays within the limit."""
    text = shortened("\n".join(lines), TEXT_LIMIT)
    fence = "```"
    room = TEXT_LIMIT - len(text) - 2 * len(fence) - 3
    kept: list[str] = []
    for line in code:
        one = _code(line)
        room -= len(one) + 1
        if room < 0:
            break
        kept.append(one)
    if not kept:
        return text
    return "\n".join([text, fence + "\n".join(kept) + fence])


def _notes(message: AlertMessage) -> list[str]:
    notes = [message.more, *message.footer] if message.more else list(message.footer)
    shown = [_prose(note) for note in notes if note]
    links = [_link(_LINKS[word], address) for word, address in message.links.items()]
    return [*shown[: 10 - len(links)], *links]


_LINKS = {"report": "report", "runbook": "runbook", "run": "Airflow run"}
"""Labels of the links of a message."""


def _link(word: str, address: str) -> str:
    """A link with a label; an invalid address is text."""
    if re.fullmatch(r"https?://[^\s<>|\"]{1,1000}", address):
        return f"<{escape(address)}|{word}>"
    return f"{word}: {_prose(address)}"


def escape(text: str) -> str:
    r"""
    Printable text without markup: names can't contain mentions, links or channels.

    >>> escape("a<!channel> & b\n")
    'a&lt;!channel&gt; &amp; b\\n'
    """
    return printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _prose(text: str) -> str:
    # Three backticks would open a block of code that nothing closes.
    return _MOMENT.sub(_local, escape(text).replace("```", "'''"))


_MOMENT = re.compile(r"\b(\d{4}-\d\d-\d\d \d\d:\d\d)(:\d\d)? UTC\b", re.ASCII)


def _local(moment: re.Match[str]) -> str:
    """A moment in the time zone of each reader; an invalid one stays text."""
    try:
        at = datetime.fromisoformat(f"{moment[1]}{moment[2] or ''}+00:00")
    except ValueError:
        return moment[0]
    return f"<!date^{at.timestamp():.0f}^{{date_short_pretty}} {{time}}|{moment[0]}>"
