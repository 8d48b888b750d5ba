"""``python -m tests.helpers.delivering DATABASE_URL SLACK_URL`` delivers what waits: a process to kill."""

from __future__ import annotations

import sys

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.config import Settings
from evenkeel.engine.messages.outbox import deliver
from tests.helpers.watching import slack_at


def main(database_url: str, base_url: str) -> None:
    """One delivery."""
    deliver(PostgresHistory(database_url), slack_at(base_url), Settings())


if __name__ == "__main__":
    main(*sys.argv[1:])
