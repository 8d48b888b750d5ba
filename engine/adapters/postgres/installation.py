"""Which installation's pipeline writes the history: the one whose lake has the id that the history has."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable

from sqlalchemy import Engine, delete, select

from ...model.deadline import within
from ...model.errors import HistoryError, LakeError
from ...model.logs import logger
from ...ports import Home
from ...records import Installation
from ...records.tables import INSTALLATION
from .connection import engine_for, place, translated
from .statements import execute, write
from .timeouts import limit

log = logger(__name__)

LAKE_SECONDS = 10
"""So long the lake is waited for: the pipeline is watched while the lake is down, too."""


def claim(engine: Engine, open_home: Callable[[], Home]) -> None:
    """
    Claim the history for the installation of a lake, unless it has it.

    A lake that cannot be read or written claims nothing, and is refused nothing.

    Raises:
        HistoryUnreachable: The server did not answer.
        HistoryError: Another installation has it, or the history is not migrated.
    """
    try:
        home, own = within(LAKE_SECONDS, lambda: _known(open_home()))
        owner = _claimed(engine, home, own)
        if own is None and owner is not None:
            # another task of this installation may have been first
            own = home.identity()
    except (LakeError, TimeoutError) as problem:
        known = getattr(problem, "message", problem)
        log.warning("whether this installation may write the history is unknown: %s", known)
        return
    _refuse(engine, owner, home, own)


def check(url: str, home: Home) -> None:
    """
    Claim nothing, but raise what `claim` would.

    Raises:
        LakeError: The lake cannot be read.
    """
    _refuse(engine_for(url), release(url, dry_run=True), home, home.identity())


def _refuse(engine: Engine, owner: Installation | None, home: Home, own: str | None) -> None:
    if owner is not None and owner.installation_id != own:
        raise HistoryError(
            f"the history database ({place(engine.url)}) is written by another installation ({owner});"
            f" this one has lake {home.address}.",
            fix="Use another database or that lake; if it is gone, run `evenkeel admin migrate --release`.",
        )


def _known(home: Home) -> tuple[Home, str | None]:
    return home, home.identity()


def _claimed(engine: Engine, home: Home, own: str | None) -> Installation | None:
    """The installation that has the history; None when it is a new one, whose id the lake now has."""
    given = own or secrets.token_hex(8)
    with translated(engine.url), engine.begin() as connection:
        limit(connection)
        found: list[Installation] = []
        while not found:
            rows = execute(
                connection,
                "claim_history",
                installation_id=given,
                lake=home.address,
                host=socket.gethostname(),
            )
            found = [Installation(**row) for row in rows]
        if own is None and found[0].installation_id == given:
            # whoever else claims waits for this transaction, and reads the lake after it
            home.identify(given)
            return None
    return found[0]


def release(url: str, *, dry_run: bool = False) -> Installation | None:
    """
    Let the next installation that writes have the history; the one that has it, if any.

    Args:
        url: See `connection.engine_for`.
        dry_run: Whether to change nothing.

    Raises:
        HistoryUnreachable: The server did not answer.
        HistoryError: The history is not migrated.
    """
    engine = engine_for(url)
    with translated(engine.url), engine.begin() as connection:
        if dry_run:
            rows = [row._asdict() for row in connection.execute(select(INSTALLATION))]
        else:
            rows = write(connection, delete(INSTALLATION).returning(*INSTALLATION.c))
    return Installation(**rows[0]) if rows else None
