"""Commands that people copy: each is made here, so that none of them runs a name of a stranger."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

LONGEST = 249
"""Characters of a name in a command; the middle of a longer one is replaced by `*`."""

LONGEST_IN_TEXT = 60
"""Characters of a name in a command within a sentence or a legend; a longer one is replaced by `NAME`."""

CUT = "  # the middle of a long name is cut"
ALTERED = "  # a part of the name is replaced, this tool needs all of it"


def command(template: str, *names: str) -> str:
    r"""
    A command on a line of its own, which shows names as they are, quoted for a shell.

    What a chat or a terminal would change becomes `?`: control characters and backticks. A verb of evenkeel takes that
    as a pattern. A comment at the end says that a name is cut, or altered for a tool that takes no patterns.

    Args:
        template: Its words, with `{}` in the place of each name, behind an option.
        names: Names of groups, clusters, topics and strategies.

    >>> command("evenkeel lag --cluster {} --group {}", "eu", "orders")
    'evenkeel lag --cluster eu --group orders'
    >>> print(command("evenkeel tasks --group {} --cluster {}", "it's $(x)", "-v"))
    evenkeel tasks --group 'it'"'"'s $(x)' --cluster=-v
    >>> command("evenkeel plan --group {} --strategy {}", "--help", "balanced")
    'evenkeel plan --group=--help --strategy balanced'
    >>> command("evenkeel diff --group {}", "a`b\n*")
    "evenkeel diff --group 'a?b??'"
    """
    spelt = [_spelt(name) for name in names]
    line = _filled(template, spelt)
    if not template.startswith("evenkeel "):
        return line if spelt == list(names) else line + ALTERED
    return line + CUT if any(len(name) > LONGEST for name in names) else line


def command_in_text(template: str, *names: str) -> str:
    """
    The same within a sentence, which breaks lines and has bold parts: spaces and asterisks are `?`, too.

    >>> command_in_text("evenkeel plan --group {}", "orders-app"), command_in_text("evenkeel plan --group {}", "-a b")
    ('evenkeel plan --group orders-app', "evenkeel plan --group='-a?b'")
    >>> command_in_text("evenkeel plan --group {}", "x" * 61)
    'evenkeel plan --group NAME'
    """
    return _filled(template, map(_in_text, names))


def quoted(word: str) -> str:
    """A word for a shell."""
    shown = shlex.quote(word)
    # zsh takes a bare word that begins with = for the path of a program
    return f"'{word}'" if shown.startswith("=") else shown


def _filled(template: str, names: Iterable[str]) -> str:
    given, words = iter(names), list[str]()
    for part in template.split():
        if "{}" not in part:
            words.append(part)
            continue
        word = part.replace("{}", next(given))
        if part == "{}" and word.startswith("-"):
            words[-1] += f"={quoted(word)}"
        else:
            words.append(quoted(word))
    return " ".join(words)


def _spelt(name: str) -> str:
    safe = "".join(sign if sign.isprintable() and sign != "`" else "?" for sign in name)
    if len(safe) > LONGEST:
        half = (LONGEST - 1) // 2
        return f"{_as_pattern(safe[:half])}*{_as_pattern(safe[-half:])}"
    return _as_pattern(safe) if safe != name else name


def _as_pattern(name: str) -> str:
    return re.sub(r"[*[\]]", "?", name)


def _in_text(name: str) -> str:
    if len(name) > LONGEST_IN_TEXT:
        return "NAME"
    return "".join("?" if sign in " `*[]" or not sign.isprintable() else sign for sign in name)
