"""A message as plain text: for logs and terminals."""

from __future__ import annotations

from evenkeel.engine.message import AlertMessage, Section, Severity

MARKS = {
    Severity.INFO: "i",
    Severity.WARNING: "!",
    Severity.CRITICAL: "!!",
    Severity.RESOLVED: "ok",
}


def plain_text(message: AlertMessage) -> str:
    """The whole message, one line of text per line, without a trailing newline."""
    parts = [f"[{MARKS[message.severity]}] {message.title}", message.summary]
    parts += [section_text(section) for section in message.sections]
    if message.more:
        parts.append(message.more)
    if message.footer:
        parts.append("\n".join(f"-- {line}" for line in message.footer))
    return "\n\n".join(part for part in parts if part)


def section_text(section: Section) -> str:
    """One thing under its heading."""
    lines = [section.heading, *(f"  {line}" for line in section.lines)]
    return "\n".join(lines + [f"    {line}" for line in section.code])
