"""The installation whose pipeline writes the history database."""

from __future__ import annotations

from datetime import datetime

from ..model.columns import column, record


@record
class Installation:
    """At most one row: the installation whose pipeline writes the database, known by the id in its lake."""

    installation_id: str = column("Random id, kept in the lake.")
    lake: str = column("Path or URI of the lake.")
    host: str = column("Host that wrote first.")
    since: datetime = column("Time of the first write.")

    def __str__(self) -> str:
        """Its lake, host and start."""
        return f"lake {self.lake}, host {self.host}, since {self.since:%Y-%m-%d %H:%M} UTC"
