"""`evenkeel upkeep`: the daily step by hand, for those without Airflow or in a hurry."""

from __future__ import annotations

from typing import Annotated

import typer

from evenkeel.engine.cli.options import epilog

EPILOG = epilog(
    [
        "evenkeel upkeep                          # lake and history of the configuration",
        "evenkeel upkeep --lake .evenkeel/lake    # that lake only",
    ],
    [0, 2, 4, 5],
    "The DAG history_upkeep does the same every day. It is safe at any time, also beside a running pipeline; stopped "
    "on the way it loses nothing, and the next run goes on from there. What is old is said by keep_days.",
)


def upkeep(
    lake: Annotated[
        str | None,
        typer.Option("--lake", metavar="DIR", help="This lake, and leave the history as it is."),
    ] = None,
) -> None:
    """Forget what is older than keep_days, and bring finished days of the lake into few files."""
    from evenkeel.engine import wiring
    from evenkeel.engine.model import utc_now
    from evenkeel.engine.steps import upkeep as step

    settings = wiring.settings()
    if lake is not None:
        settings = settings.model_copy(update={"lake": lake})
    stored = None if lake or settings.database_url is None else wiring.history(settings)
    did = step(wiring.lake(settings), stored, settings, utc_now())
    print(
        f"lake {settings.lake}: {did['lake']:,} snapshots older than {settings.keep_days} days removed"
    )
    print(
        f"lake {settings.lake}: {did['days']:,} days brought from {did['files']:,} files into {did['into']:,},"
        f" {did['swept']:,} files of interrupted runs removed"
    )
    if stored is None:
        print("history: left as it is" if lake else "history: none is configured")
    else:
        print(f"history: {did['history']:,} snapshots removed")
