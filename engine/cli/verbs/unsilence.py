"""`evenkeel unsilence`: a silence or an acknowledgement ends now."""

from __future__ import annotations

from typing import Annotated

import typer

from evenkeel.engine.cli.options import epilog

EPILOG = epilog(
    [
        "evenkeel query silences                               # their numbers",
        "evenkeel unsilence 7",
    ],
    [0, 1, 2, 5],
    "What is wrong with its groups then is told with their next snapshot. Planned maintenance ends by its window in "
    "the configuration.",
)


def unsilence(
    number: Annotated[
        int, typer.Argument(metavar="NUMBER", help="Of the silence or acknowledgement.", min=1)
    ],
) -> None:
    """End a silence or an acknowledgement."""
    from evenkeel.engine.cli import silencing
    from evenkeel.engine.cli.running import NothingFound
    from evenkeel.engine.errors import InputError
    from evenkeel.engine.model import utc_now
    from evenkeel.engine.records import SilenceKind
    from evenkeel.engine.text import printable

    _, history = silencing.history_at()
    now = utc_now()
    held = {each.silence_id: each for each in history.silences(now)}
    if number in held and held[number].kind is SilenceKind.MAINTENANCE:
        raise InputError(
            f"{number} is a maintenance window of the configuration.",
            fix="Change its until or for in evenkeel.toml, or take it out.",
        )
    ended = history.end_silence(number, now)
    if ended is None:
        raise NothingFound(
            f"no silence {number} holds or is to come.", fix="See `evenkeel query silences`."
        )
    print(f"{ended.kind} {number} of {printable(ended.groups)} is over")
