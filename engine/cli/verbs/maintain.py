"""`evenkeel admin maintain`: the daily step by hand, for those without Airflow or in a hurry."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from ..command_end import complain
from ..options import epilog, option

EPILOG = epilog(
    [
        "evenkeel admin maintain                          # the configured lake and history database",
        "evenkeel admin maintain --lake .evenkeel/lake    # this lake only",
        "evenkeel admin maintain --minutes 10             # start no further day after ten minutes",
    ],
    [0, 2, 4, 5],
    "The DAG maintain_history does the same every hour, ten minutes at a time. You can run it at any time, also while "
    "the pipeline runs. If you stop it, nothing is lost, and the next run continues. keep_days, keep_whole_days, "
    "keep_hourly_days and keep_daily_days set how long data is kept; keep_candidate_hourly_days and "
    "keep_candidate_daily_days do so for results of strategies.",
)


def maintain(
    lake: Annotated[
        str | None,
        option("--lake DIR", "Maintain this lake only, and leave the history database unchanged."),
    ] = None,
    minutes: Annotated[
        float | None,
        option("--minutes N", "Start no further day after N minutes. Default: no limit.", min=0),
    ] = None,
) -> None:
    """Roll up and expire history, and compact the lake."""
    from ... import wiring
    from ...model.moments import utc_now
    from ...pipeline import maintain as step

    settings = wiring.settings()
    if lake is not None:
        settings = settings.model_copy(update={"lake": lake})
    stored = None if lake or settings.database_url is None else wiring.history(settings)
    budget = None if minutes is None else timedelta(minutes=minutes)
    where = wiring.lake(settings)
    did = step(where, stored, settings, utc_now(), budget=budget, tell=complain)
    print(
        f"lake {settings.lake}: {did.lake:,} snapshots older than {settings.keep_days} days removed,"
        f" {did.thinned:,} older than {settings.keep_whole_days} days thinned out"
    )
    print(
        f"lake {settings.lake}: {did.days:,} days brought from {did.files:,} files into {did.into:,},"
        f" {did.swept:,} unused files removed"
    )
    if stored is None:
        print("history: left as it is" if lake else "history: none is configured")
    else:
        print(f"history: hours of {did.rolled:,} days made, {did.history:,} snapshots removed")
