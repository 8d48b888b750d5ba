"""What `made_tables` makes of the command line and of the site: the help of every verb, and the list of all pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from typer.testing import CliRunner

from evenkeel.engine.cli import app
from evenkeel.engine.cli.command_end import EXIT_CODES
from evenkeel.engine.cli.verbs import FAMILIES, VERBS
from evenkeel.engine.config import IncidentRules
from evenkeel.engine.incidents.kinds import KINDS
from evenkeel.engine.messages.wording import duration
from evenkeel.engine.model.text import several, slug
from tests.helpers import site

WIDTH = 100
"""Characters of a line of help."""


def verbs() -> dict[str, str]:
    """The words of every command line after `evenkeel`, and what it does."""
    return {
        f"{verb} {own}" if own else verb: what
        for verb, purpose in VERBS.items()
        for own, what in FAMILIES.get(verb, {"": purpose}).items()
    }


def commands() -> str:
    """A section per verb with its help, as it prints it."""
    return "".join(f"\n## {words}\n\n```text\n{help_of(words)}\n```\n" for words in verbs())


def help_of(words: str) -> str:
    """What `evenkeel WORDS --help` prints; exit codes, which the page lists once, by number."""
    call = [*words.split(), "--help"]
    shown = CliRunner().invoke(app, call, prog_name="evenkeel", terminal_width=WIDTH)
    assert shown.exit_code == 0, shown.output
    text, _, codes = shown.stdout.rstrip().partition("\n\n  Exit codes:\n")
    numbers = [line.split()[0] for line in codes.splitlines()]
    return f"{text}\n\n  Exit codes: {', '.join(numbers)}" if numbers else text


def exit_codes() -> str:
    """What each exit code means."""
    return "".join(f"* {code}: {meaning}\n" for code, meaning in EXIT_CODES.items())


def pages() -> str:
    """Every page of the site that is there, by section, with its title."""
    return "".join(
        f"\n### {section}\n\n" + "".join(f"* {_link(name)}\n" for name in names)
        for section, names in _listed()
    )


HEADINGS = 6
"""As many headings of a page say what is in it."""


def llms() -> str:
    """The pages as agents look for them (llmstxt.org): what evenkeel is, then each page with its first headings."""
    about = site.settings()
    lines = [f"# {about['site_name']}", "", f"> {about['site_description']}"]
    for section, names in _listed():
        lines += ["", f"## {section}", ""]
        for name in names:
            text = re.sub(r"```.*?```", "", _text(name), flags=re.DOTALL)
            inside = re.findall(r"^## (.+)$", text, re.MULTILINE)[:HEADINGS]
            lines.append(f"- {_link(name)}" + (f": {'; '.join(inside)}" if inside else ""))
    return "\n".join(lines) + "\n"


def _listed() -> Iterator[tuple[str, list[str]]]:
    """The sections of the site but the home page, with their pages that are there."""
    for section, names in site.sections():
        listed = [name for name in names if (site.ROOT / site.file_of(name)).exists()]
        if section != "Home" and listed:
            yield section, listed


def _link(page: str) -> str:
    """The title of a page with the way to it from the folder of the pages."""
    return f"[{title(page)}]({f'../{page}' if page in site.AT_THE_TOP else page})"


def diagnoses() -> str:
    """The page of each cause of an incident of a group, its severity and how long it must last, most severe first."""
    rules = IncidentRules()
    lines = []
    for cause in sorted(KINDS, key=lambda each: each.precedence):
        kind = KINDS[cause]
        lasts = getattr(rules, kind.lasts) if kind.lasts else None
        looks = 1 if kind.at_once else rules.for_snapshots
        after = several(looks, "snapshot") if lasts is None else duration(lasts)
        page = f"{slug(cause)}.md"
        severity = "critical" if cause.is_critical else "warning"
        lines.append(f"* [{title(f'diagnoses/{page}')}]({page}): {severity}, after {after}\n")
    return "".join(lines)


def title(page: str) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.+)$", _text(page), re.MULTILINE)
    assert found, f"{page} has no title"
    return found[1]


def _text(page: str) -> str:
    return (site.ROOT / site.file_of(page)).read_text(encoding="utf-8")
