"""Options that several commands share, and the examples and exit codes that every help ends with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ..model.errors import InputError
from .command_end import EXIT_CODES

Bootstrap = Annotated[
    str | None,
    typer.Option(
        "--bootstrap",
        metavar="HOST:PORT",
        help="Read this cluster now; several addresses with commas. With --cluster NAME it takes the place of "
        "that cluster's configured address.",
    ),
]
ClusterName = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="NAME",
        help="A cluster of evenkeel.toml; with stored snapshots, whose.",
    ),
]
Stored = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FILE|DIR|lake",
        help="Read a recording, a lake folder, or with `lake` the configured lake, instead of Kafka.",
    ),
]
GroupPattern = Annotated[
    str,
    typer.Option(
        "--group", metavar="PATTERN", help="Only groups whose id matches, e.g. 'orders-*'."
    ),
]
Strategies = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        metavar="PLACE",
        help="Also a strategy of your own: module:Class, FILE.py:Class or FILE.py; repeatable.",
    ),
]
Samples = Annotated[
    int, typer.Option("--samples", min=1, max=500, help="Snapshots to take of a live cluster.")
]
Every = Annotated[
    float,
    typer.Option("--every", metavar="SECONDS", min=0, help="From one of them to the next."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object per line, for machines.")]
AsCsv = Annotated[
    bool, typer.Option("--csv", help="Comma-separated values below a line of column names.")
]


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
