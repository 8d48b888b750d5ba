"""What the verbs about silences share: which groups a pattern means, from when to when, and on whose behalf."""

from __future__ import annotations

import getpass
import glob
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, TypeVar

from ..model.errors import InputError
from .options import option
from .patterns import is_pattern

if TYPE_CHECKING:
    from ..config import Settings
    from ..ports import History
    from ..records import SilenceKind

Until = Annotated[
    str | None, option("--until MOMENT", "End time with time zone: 2026-11-23T06:00Z.")
]
For = Annotated[str | None, option("--for SPAN", "Duration: 90m, 2h, 1d 12h.")]
Reason = Annotated[str, option("--reason TEXT", "The reason, shown in Slack.")]
Clusters = Annotated[str, option("--cluster PATTERN", "Only these clusters, e.g. 'eu-*'.")]
By = Annotated[
    str | None,
    option("--by NAME", "Your name. Default: EVENKEEL_USER, or your user name."),
]

T = TypeVar("T")


def history_at() -> tuple[Settings, History]:
    """
    The configuration and its history; which database that is, is printed.

    Raises:
        ConfigError: None is configured.
    """
    from .. import wiring
    from .command_end import complain
    from .database import database

    settings, where = database()
    complain(f"database: {where}")
    return settings, wiring.history(settings)


def keep(
    history: History,
    kind: SilenceKind,
    cluster: str,
    groups: str,
    begins: datetime,
    ends: datetime | None,
    reason: str,
    by: str | None,
) -> int:
    """Store a silence or an acknowledgement, by the user unless *by* names another author; its number."""
    from ..records import SilenceRow

    return history.add_silence(
        SilenceRow(
            kind=kind,
            cluster=cluster,
            groups=groups,
            starts_at=begins,
            ends_at=ends,
            reason=reason,
            who=by or os.environ.get("EVENKEEL_USER") or getpass.getuser(),
        )
    )


def given_reason(text: str | None) -> str:
    """
    A reason that is not empty.

    Raises:
        InputError: There is none, or it is empty.
    """
    if text is None or not text.strip():
        raise InputError(
            "--reason is empty." if text else "--reason is missing.",
            fix="Give the reason in a few words.",
        )
    return text.strip()


def end_of(starts_at: datetime, until: str | None, lasts: str | None) -> datetime | None:
    """
    When something ends; None where neither is given.

    Args:
        starts_at: When it begins.
        until: The moment of its end, as typed.
        lasts: How long it lasts, as typed.

    Raises:
        InputError: Both are given, one is not what it should be, or the end is not after the beginning.
    """
    from ..config.times import moment as read_moment
    from ..config.times import span as read_span
    from ..messages.wording import moment

    if until is not None and lasts is not None:
        raise InputError("--until and --for exclude each other.", fix="Give one of them.")
    if lasts is not None:
        length: timedelta = read("--for", read_span, lasts)
        return starts_at + length
    if until is None:
        return None
    end: datetime = read("--until", read_moment, until)
    if end <= starts_at:
        raise InputError(
            f"--until {moment(end)} is not after its beginning, {moment(starts_at)}.",
            fix="Give a later moment, or --for 2h.",
        )
    return end


def read(option: str, reader: Callable[[str], T], text: str) -> T:
    """
    What an option's text means.

    Raises:
        InputError: Nothing; the message names the option and how it is written.
    """
    try:
        return reader(text)
    except ValueError as problem:
        raise InputError(f"{option}: {problem}.") from None


def exactly(pattern: str, known: Mapping[str, Sequence[str]]) -> str:
    """
    A pattern of exactly one group where one is called so, whatever signs are in its name.

    >>> exactly("a[1]", {"eu": ["a[1]"]}), exactly("a*", {"eu": ["ab"]})
    ('a[[]1]', 'a*')
    """
    is_name = is_pattern(pattern) and any(pattern in groups for groups in known.values())
    return glob.escape(pattern) if is_name else pattern
