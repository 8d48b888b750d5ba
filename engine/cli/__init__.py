"""
The command `evenkeel`, for the person who has one sick group right now.

It runs the plain form of the steps, without Spark and Great Expectations. `verbs` holds one file per verb and the table
of them, `views` what several of them show. A verb is imported when it is called, and what it needs when it works.
"""

from __future__ import annotations

from typing import Annotated

import typer

from .command_end import EXIT_CODES, VerbGroup
from .options import option
from .verbs import SHOWN

__all__ = ["app", "main"]

_EPILOG = "\n\n".join(
    [
        "\b\n"
        "Start here:\n"
        "  evenkeel advise --from tests/data/cluster-recording.evenkeel   # a recorded cluster\n"
        "  evenkeel lag --bootstrap broker1:9092                          # lag of your groups\n"
        "  evenkeel advise --bootstrap broker1:9092 --group orders-app    # one group: problem, advice, cost",
        "\b\nExit codes:\n"
        + "\n".join(f"  {code:>3}  {told}" for code, told in EXIT_CODES.items()),
        "Configuration: evenkeel.toml in this folder, or the file in EVENKEEL_CONFIG. Secrets come from EVENKEEL_ "
        "variables.",
    ]
)

app = typer.Typer(
    cls=VerbGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=_EPILOG,
    context_settings=SHOWN,
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"evenkeel {version('evenkeel')}")
        raise typer.Exit


@app.callback()
def evenkeel(
    version: Annotated[
        bool, option("--version", "Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Find out why a Kafka consumer group is behind, and whether another partition assignment would fix it."""


def main() -> None:
    """The console script."""
    app()
