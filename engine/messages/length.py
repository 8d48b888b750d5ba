"""A message as plain text: for logs and terminals."""

from __future__ import annotations

from ..model.message import AlertMessage, Section, Severity
from ..model.text import printable

MARKS = {
    Severity.INFO: "i",
    Severity.WARNING: "!",
    Severity.CRITICAL: "!!",
    Severity.RESOLVED: "ok",
}


def plain_text(message: AlertMessage) -> str:
    """The whole message, one line of text per line, without a trailing newline."""
    called = f"{message.mention} " if message.mention else ""
    head = (f"[{MARKS[message.severity]}] {message.title}", f"{called}{message.spoken}")
    parts = [*map(printable, head)]
    sections = [section_text(section, brief=message.brief) for section in message.sections]
    parts += ["\n".join(sections)] if message.brief else sections
    if message.more:
        parts.append(printable(message.more))
    footer = [*message.footer, *(f"{word}: {address}" for word, address in message.links.items())]
    if footer:
        parts.append("\n".join(f"-- {printable(line)}" for line in footer))
    return "\n\n".join(part for part in parts if part)


def section_text(section: Section, *, brief: bool = False) -> str:
    """A section as text; in a *brief* message, a single line follows its heading on the same line."""
    heading, lines, code = section.heading, section.lines, section.code
    if brief and len(lines) == 1:
        heading, lines = f"{heading}: {lines[0]}" if heading else lines[0], ()
    elif brief and heading and not lines and len(code) == 1:
        heading, code = f"{heading}: {code[0]}", ()
    indented = [*(f"  {line}" for line in lines), *(f"    {line}" for line in code)]
    return "\n".join(map(printable, [heading, *indented] if heading else indented))
