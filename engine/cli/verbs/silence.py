"""`evenkeel silence`: no alerts about some groups for a while; `--end` ends a silence or an acknowledgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Annotated

from ...model import moments
from ...model.errors import InputError
from ...model.text import meant, printable, several
from ..command_end import NothingFound, complain
from ..options import GROUP, epilog, option
from ..patterns import no_group
from ..silence_options import By, Clusters, For, Until

EPILOG = epilog(
    [
        "evenkeel silence --group 'orders-*' --for 2h --reason 'moving to the new brokers'",
        "evenkeel silence --group billing --cluster eu --until 2026-11-23T06:00Z --reason 'known, fixed on Monday'",
        "evenkeel query silences                               # active, future and recent silences",
        "evenkeel silence --end 7                              # end silence (or ack) 7 now",
    ],
    [0, 1, 2, 5],
    "evenkeel still records incidents during a silence. It alerts when the silence ends, if they are still open. "
    "Slack is notified when a silence starts and ends. --end ends it early; open incidents are then notified after "
    "the next snapshot. For weekly work, configure a window under maintenance instead. A silence for '*' also covers "
    "that a cluster cannot be read.",
)


def silence(
    group: Annotated[str | None, GROUP] = None,
    reason: Annotated[str | None, option("--reason TEXT", "The reason, shown in Slack.")] = None,
    until: Until = None,
    lasts: For = None,
    starts: Annotated[str | None, option("--from MOMENT", "Start time. Default: now.")] = None,
    cluster: Clusters = "*",
    by: By = None,
    end: Annotated[
        int | None,
        option("--end NUMBER", "End the silence or acknowledgement with this number.", min=1),
    ] = None,
) -> None:
    """Silence alerts of groups for a while, or end a silence."""
    from ...config.times import moment as read_moment
    from ...messages.wording import duration, moment
    from ...records import SilenceKind
    from .. import silence_options

    if end is not None:
        if any((group, reason, until, lasts, starts, by)) or cluster != "*":
            raise InputError("--end takes no other option.", fix="Remove the other options.")
        _end(end)
        return
    if not group:
        raise InputError("no group is given.", fix="Add --group NAME, or --group 'orders-*'.")
    starts_at = silence_options.read("--from", read_moment, starts) if starts else moments.utc_now()
    ends_at = silence_options.end_of(starts_at, until, lasts)
    if ends_at is None:
        raise InputError("a silence needs an end.", fix="Add --for 2h, or --until with a moment.")
    if ends_at <= moments.utc_now():
        raise InputError(f"its end, {moment(ends_at)}, is in the past.", fix="Give a later end.")
    why = silence_options.given_reason(reason)
    _, history = silence_options.history_at()
    known = history.newest_groups()
    groups = silence_options.exactly(group, known)
    number = silence_options.keep(
        history, SilenceKind.SILENCE, cluster, groups, starts_at, ends_at, why, by
    )
    own = {name: held for name, held in known.items() if fnmatchcase(name, cluster)}
    covered = sum(fnmatchcase(each, groups) for held in own.values() for each in held)
    if not covered:
        complain(f"warning: {_why_none(cluster, group, known, own)}")
    span = duration((ends_at - starts_at).total_seconds())
    begin = f"from {moment(starts_at)} " if starts else ""
    print(
        f"silence {number}: no alerts about {printable(groups)} ({several(covered, 'group')} now)"
        f" {begin}until {moment(ends_at)} ({span})"
    )
    print(f"to end it early: evenkeel silence --end {number}")


def _end(number: int) -> None:
    from ...records import SilenceKind
    from .. import silence_options

    _, history = silence_options.history_at()
    now = moments.utc_now()
    held = {each.silence_id: each for each in history.silences(now)}
    if number in held and held[number].kind is SilenceKind.MAINTENANCE:
        raise InputError(
            f"{number} is a maintenance window of the configuration.",
            fix="Change its until or for in evenkeel.toml, or remove it.",
        )
    ended = history.end_silence(number, now)
    if ended is None:
        raise NothingFound(
            f"there is no active or future silence {number}.", fix="See `evenkeel query silences`."
        )
    print(f"{ended.kind} {number} for {printable(ended.groups)} has ended")


def _why_none(
    clusters: str,
    group: str,
    known: Mapping[str, Sequence[str]],
    own: Mapping[str, Sequence[str]],
) -> str:
    """The warning if no known group matches: what doesn't match, and what is close to it."""
    if not known:
        return "no snapshot has been measured yet, so it is unknown which groups match."
    if not own:
        near = meant(clusters, known) or f"There is {', '.join(sorted(known))}."
        return f"--cluster {clusters} matches no cluster of the newest snapshots. {near}"
    names = {name for names in own.values() for name in names}
    return str(no_group(group, "in the newest snapshots", names))
