"""
The command `evenkeel`, for the person who has one sick group right now.

It runs the plain form of the steps, without Spark and Great Expectations. What a command needs is imported when it
runs, so that `advise --from` answers at once and `--help` faster still.
"""

from __future__ import annotations

import typer

from engine.cli import (
    advise,
    answer,
    check_assignor,
    diff,
    doctor,
    elect,
    frontier,
    history,
    lag,
    record,
    snapshot,
    tasks,
)
from engine.cli.running import EXIT_CODES, Group

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
    cls=Group,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def evenkeel() -> None:
    """Keep Kafka consumer groups on an even keel: lag, racks, and the assignment that would be better."""


for _command, _epilog in (
    (snapshot.snapshot, snapshot.EPILOG),
    (lag.lag, lag.EPILOG),
    (diff.diff, diff.EPILOG),
    (advise.advise, advise.EPILOG),
    (tasks.tasks, tasks.EPILOG),
    (frontier.frontier, frontier.EPILOG),
    (answer.assign, answer.EPILOG),
    (elect.elect, elect.EPILOG),
    (check_assignor.check_assignor, check_assignor.EPILOG),
    (record.record, record.EPILOG),
    (record.replay, record.REPLAY_EPILOG),
    (history.query, history.EPILOG),
    (history.migrate, history.MIGRATE_EPILOG),
    (doctor.doctor, doctor.EPILOG),
):
    app.command(epilog=_epilog)(_command)


def main() -> None:
    """The console script."""
    app()
