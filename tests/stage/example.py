"""
The history of the cookbook in a database of its own: each command of `docs/reference/queries.md` answers as shown.

Its groups are simulated and its moments are fixed. It is apart from the demo's history: nobody watches its groups, no
message is about them, no maintenance lets them expire, and no question to the demo's history finds them.

It is made once, by a process that lets all others go first, and anew when the answers of the page have changed.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from evenkeel.engine.adapters.postgres import migrate
from evenkeel.engine.adapters.postgres.reader import READER
from tests.helpers import cookbook, cookbook_history
from tests.stage.postgres import EmbeddedPostgres
from tests.stage.postgres_access import PostgresServer

LEAST_URGENT = 19


def make(server: PostgresServer, name: str, *, reader: str = READER) -> None:
    """
    Make the database, whole or not at all; one that is there and answers as the page does is only brought up to date.

    Args:
        server: Where.
        name: Of the database, and of its owner.
        reader: The role that may ask.
    """
    answers = hashlib.sha256(cookbook.FILE.read_bytes()).hexdigest()
    if server.comment(name) == answers:
        migrate(server.database(name), reader=reader)
        return
    half = f"{name}_half"
    for old in (half, name):
        server.drop_database(old)
    server.create_database(half, name)
    url = server.url(half, name)
    migrate(url, reader=reader)
    cookbook_history.write_with_backfill(url, reader)
    server.rename_database(half, name, comment=answers)


def main() -> None:
    """Make it in the server that runs in a folder, under a name."""
    os.nice(LEAST_URGENT)
    folder, name = sys.argv[1:]
    make(EmbeddedPostgres(Path(folder)), name)


if __name__ == "__main__":
    main()
