"""
The command `evenkeel`, for the person who has one sick group right now.

It runs the plain form of the steps, without Spark and Great Expectations. `verbs` holds one file per verb and the table
of them, `views` what several of them show. A verb is imported when it is called, and what it needs when it works.
"""

from __future__ import annotations

import typer

from .command_end import EXIT_CODES, VerbGroup

__all__ = ["app", "main"]

_EPILOG = "\n\n".join(
    [
        "\b\n"
        "The three most common tasks:\n"
        "  evenkeel lag --bootstrap kafka-1:9092                          # who is behind, and by how much\n"
        "  evenkeel advise --bootstrap kafka-1:9092 --group orders-app    # would another strategy help it\n"
        "  evenkeel query groups                                          # what the scheduled runs found",
        "\b\nExit codes:\n"
        + "\n".join(f"  {code:>3}  {told}" for code, told in EXIT_CODES.items()),
        "Configuration: evenkeel.toml here, or the file EVENKEEL_CONFIG names; secrets come from EVENKEEL_ variables.",
    ]
)

app = typer.Typer(
    cls=VerbGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def evenkeel() -> None:
    """Keep Kafka consumer groups on an even keel: lag, racks, and the assignment that would be better."""


def main() -> None:
    """The console script."""
    app()
