"""`evenkeel top`: groups on the screen, worst first, with a new snapshot every few seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.errors import InputError
from ..options import Bootstrap, ClusterName, Every, Group, Stored, epilog

if TYPE_CHECKING:
    from ..top_watch import Watch

EPILOG = epilog(
    [
        "evenkeel top --bootstrap broker1:9092",
        "evenkeel top --cluster prod --group 'orders-*' --every 10",
        "evenkeel top --from cluster.recording          # try it without a cluster",
    ],
    [0, 1, 2, 3, 4],
    "Each snapshot sends the same requests as `evenkeel lag`. Rates and most diagnoses need two or three snapshots. "
    "TREND is the incoming rate minus the processing rate: lag grows if it is above 0. Enter opens a group: its "
    "members and partitions. q quits.",
)

TICK = 1.0
"""Seconds after which the screen is drawn again, so that the age of its values is right."""


def top(
    bootstrap: Bootstrap = None,
    cluster: ClusterName = None,
    stored: Stored = None,
    group: Group = "*",
    interval: Every = 5,
) -> None:
    """Watch groups live, worst first."""
    from ..keyboard import is_terminal

    if not is_terminal():
        raise InputError(
            "top needs a terminal.", fix="Use `evenkeel lag` in a pipe, a file or a script."
        )
    from .. import sources
    from ..top_watch import Watch, see

    first = see(sources.open_source(bootstrap, cluster, stored), group)
    with Watch(first, group, interval) as watch:
        _show(watch)


def _show(watch: Watch) -> None:
    """Draw until somebody quits."""
    from rich.console import Console
    from rich.live import Live

    from ...model.moments import utc_now
    from ..keyboard import keyboard
    from ..top_state import TopState
    from ..views.top import page, picture

    console = Console(highlight=False)
    state: TopState | None = TopState()
    live = Live(
        console=console,
        screen=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with keyboard() as pressed, live:
        while state is not None:
            width, height = console.size
            seen = watch.seen
            live.update(picture(watch, seen, state, utc_now(), width, height), refresh=True)
            for key in pressed(TICK):
                if state is not None:
                    state = state.pressed(key, page(seen, state, width, height))
