"""A named lock: what only one process may do at a time."""

from __future__ import annotations

from datetime import datetime

from ..model.columns import Int32, column, record


@record
class HeldLock:
    """A lock and the transaction that holds it: once that ends, however it ends, the lock is free."""

    name: str = column("Name of the lock.")
    pid: Int32 = column("Process id of the server process of the holder's session.")
    role: str = column("Role of the holder's session.")
    since: datetime = column("Start of the holder's transaction.")
