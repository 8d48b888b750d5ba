"""Options that several commands share, and the examples and exit codes that every help ends with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ..model.errors import InputError
from .command_end import EXIT_CODES


def option(shown: str, help: str, **more: Any) -> Any:
    """
    An option as help shows it, by its name and a word for what is given with it.

    >>> option("--plan FILE", "The plan that the group follows.").metavar
    'FILE'
    """
    name, _, given = shown.partition(" ")
    return typer.Option(name, metavar=given or None, help=help, **more)


def argument(shown: str, help: str, **more: Any) -> Any:
    """What stands without a name before the options, as help shows it."""
    return typer.Argument(metavar=shown, help=help, **more)


Bootstrap = Annotated[
    str | None,
    option(
        "--bootstrap HOST:PORT",
        "Read this cluster; separate several addresses by commas. With --cluster NAME it replaces the "
        "configured address of that cluster.",
    ),
]
ClusterName = Annotated[
    str | None,
    option("--cluster NAME", "A cluster of evenkeel.toml, or of the stored snapshots."),
]
Stored = Annotated[
    str | None,
    option(
        "--from FILE|DIR|lake",
        "Read a recording, a lake folder, or `lake` for the configured lake, instead of Kafka.",
    ),
]
GROUP = option("--group NAME", "A group id, or a shell pattern of ids, e.g. 'orders-*'.")
Group = Annotated[str, GROUP]
"""Which groups; where it has no default, a verb does nothing without it."""
Strategies = Annotated[
    list[str] | None,
    option(
        "--strategy PLACE",
        "Also test your own strategy: module:Class, FILE.py:Class or FILE.py; repeatable.",
    ),
]
Samples = Annotated[
    int, option("--samples", "Snapshots to take of a live cluster.", min=1, max=500)
]
Every = Annotated[float, option("--every SECONDS", "Seconds between two snapshots.", min=0)]
Wide = Annotated[bool, option("--wide", "Show all columns and details, without a width limit.")]
AsJson = Annotated[bool, option("--json", "Print one JSON object per line.")]
AsCsv = Annotated[bool, option("--csv", "Print comma-separated values with a header line.")]
Raw = Annotated[bool, option("--raw", "With --csv: don't escape formulas.")]


def one_format(as_json: bool, as_csv: bool) -> None:
    """
    Raises:
        InputError: Two formats were asked for.
    """
    if as_json and as_csv:
        raise InputError("--json and --csv exclude each other.", fix="Give one of them.")


def epilog(examples: Sequence[str], codes: Sequence[int], *notes: str) -> str:
    """
    The end of a command's help.

    Args:
        examples: Command lines that work as they stand, each perhaps with a comment after ` # `.
        codes: The exit codes it can end with, besides 130.
        notes: Paragraphs between the two.
    """
    shown = ["Examples:", *(f"  {example}" for example in examples)]
    ends = ["Exit codes:", *(f"  {code}  {EXIT_CODES[code]}" for code in codes)]
    blocks = ["\b\n" + "\n".join(shown), *notes, "\b\n" + "\n".join(ends)]
    return "\n\n".join(blocks)
