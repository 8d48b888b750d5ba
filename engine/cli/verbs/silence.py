"""`evenkeel silence`: nobody is told what goes wrong with some groups for a while."""

from __future__ import annotations

from typing import Annotated

import typer

from evenkeel.engine.cli.options import epilog
from evenkeel.engine.cli.silencing import By, Clusters, For, Group, Pattern, Reason, Until

EPILOG = epilog(
    [
        "evenkeel silence 'orders-*' --for 2h --reason 'moving to the new brokers'",
        "evenkeel silence billing --cluster eu --until 2026-11-23T06:00Z --reason 'known, fixed on Monday'",
        "evenkeel query silences                               # what holds, is to come, and was over lately",
    ],
    [0, 2, 5],
    "What goes wrong meanwhile is kept, and told when the silence ends and it is still wrong. Slack hears when it "
    "begins and ends. `evenkeel unsilence` ends it early. What is planned every week stands better in the "
    "configuration, under maintenance. With '*' it keeps quiet, too, that a cluster cannot be read.",
)


def silence(
    reason: Reason,
    pattern: Pattern = None,
    group: Group = None,
    until: Until = None,
    lasts: For = None,
    starts: Annotated[
        str | None,
        typer.Option("--from", metavar="MOMENT", help="When it begins; without it, now."),
    ] = None,
    cluster: Clusters = "*",
    by: By = None,
) -> None:
    """Tell nobody for a while what goes wrong with some groups."""
    from evenkeel.engine.cli import silencing
    from evenkeel.engine.cli.running import complain
    from evenkeel.engine.config.times import moment as read_moment
    from evenkeel.engine.errors import InputError
    from evenkeel.engine.model import utc_now
    from evenkeel.engine.records import SilenceKind, SilenceRow
    from evenkeel.engine.text import printable
    from evenkeel.engine.wording import duration, moment, several

    wanted = silencing.pattern_of(pattern, group)
    starts_at = silencing.read("--from", read_moment, starts) if starts else utc_now()
    ends_at = silencing.end_of(starts_at, until, lasts)
    if ends_at is None:
        raise InputError("a silence needs an end.", fix="Add --for 2h, or --until with a moment.")
    if ends_at <= utc_now():
        raise InputError(f"its end, {moment(ends_at)}, is over.", fix="Give a later moment.")
    why = silencing.given_reason(reason)
    _, history = silencing.history_at()
    known = history.newest_groups()
    groups = silencing.exactly(wanted, known)
    number = history.add_silence(
        SilenceRow(
            kind=SilenceKind.SILENCE,
            cluster=cluster,
            groups=groups,
            starts_at=starts_at,
            ends_at=ends_at,
            reason=why,
            who=silencing.person(by),
        )
    )
    covered = silencing.covered(cluster, groups, known)
    if not covered:
        complain(f"warning: {silencing.why_none(cluster, groups, known)}")
    span = duration((ends_at - starts_at).total_seconds())
    begin = f"from {moment(starts_at)} " if starts else ""
    print(
        f"silence {number}: nobody is told of {printable(groups)} ({several(covered, 'group')} now)"
        f" {begin}until {moment(ends_at)} ({span})"
    )
    print(f"to end it early: evenkeel unsilence {number}")
