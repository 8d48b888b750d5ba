"""
How long a server is waited for that says nothing.

It may be gone with its machine, which TCP notices (`TCP`); wait for another of its sessions, which it ends itself
(`STATEMENT_SECONDS`); or stand still with its connections open, which nobody notices but who waits for it
(`PatientConnection`).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from threading import Timer
from typing import Any

import psycopg
from sqlalchemy import Connection

CONNECT_SECONDS = 5
"""So long a connection may take, for each address of the server."""

STATEMENT_SECONDS = 60
"""So long a statement may take that handles little."""

PATIENCE_SECONDS = 75.0
"""So long an answer is waited for: longer than a statement may take, of which the server can tell better."""

TCP: Mapping[str, str] = {
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
"""A peer that is gone is noticed within a minute, as parameters of a connection; a socket of this machine has none."""


class PatientConnection(psycopg.Connection[Any]):
    """
    A connection that breaks once the server has let it wait for too long.

    Attributes:
        patience: For how many seconds; None: however long it takes.
    """

    patience: float | None = PATIENCE_SECONDS

    def wait(self, *args: Any, **options: Any) -> Any:
        """What psycopg calls wherever it waits for the server."""
        if self.patience is None:
            return super().wait(*args, **options)
        timer = Timer(self.patience, self._break)
        timer.daemon = True
        timer.start()
        try:
            return super().wait(*args, **options)
        finally:
            timer.cancel()

    def _break(self) -> None:
        """What waits on it sees its end; it is closed by whom it belongs to."""
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self.fileno())) as peer:
            peer.shutdown(socket.SHUT_RDWR)


def limit(connection: Connection) -> None:
    """The statements of this transaction handle little."""
    connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{STATEMENT_SECONDS}s'")


def take_time(connection: Connection) -> None:
    """What this connection does may take as long as it takes."""
    own = connection.connection.driver_connection
    if isinstance(own, PatientConnection):
        own.patience = None
