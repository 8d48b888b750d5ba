"""An attempt to deliver, on a real Postgres: whose it is, for how long, and what comes of one whose process dies."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from psycopg import sql

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.slack import SlackNotifier
from evenkeel.engine.config import Settings
from evenkeel.engine.messages.outbox import DeliveryReport, deliver
from tests.helpers.incidents import CLUSTER, posting
from tests.helpers.memory import MemoryNotifier, SlowNotifier
from tests.stage.slack import SlackServer
from tests.stage.slack_workspace import Fault

pytest_plugins = ("tests.helpers.postgres_fixtures", "tests.helpers.slack_fixtures")

pytestmark = pytest.mark.postgres

HOLDERS = (
    "SELECT l.pid FROM pg_locks AS l INNER JOIN pg_database AS d ON l.database = d.oid"
    " WHERE l.locktype = 'advisory' AND d.datname = current_database()"
)
NOBODY_HOLDS = f"SELECT NOT EXISTS ({HOLDERS})"
HOLDS_BACK = (
    f"SELECT bool_or(backend_xmin IS NOT NULL) FROM pg_stat_activity WHERE pid IN ({HOLDERS})"
)
IDLE_SECONDS = 3
"""So long a transaction may stand idle here: longer than a busy machine takes between two statements."""
HELD_FOR_LONGER = (
    f"SELECT bool_or(state_change < now() - interval '{IDLE_SECONDS + 1} s') FROM pg_stat_activity"
    f" WHERE pid IN ({HOLDERS})"
)


def wait_for(database_url: str, question: str) -> None:
    """Ask the server until it says yes; after a kill the end of a connection takes a moment to get there."""
    deadline = time.monotonic() + 30
    with psycopg.connect(database_url, autocommit=True) as server:
        while server.execute(question).fetchone() != (True,):
            assert time.monotonic() < deadline, question


def test_what_is_queued_twice_at_once_is_one_alert(history: PostgresHistory) -> None:
    """Two processes in the same step: the unique key lets one alert through."""
    with ThreadPoolExecutor(4) as pool:
        counts = pool.map(lambda _: history.enqueue_alert(posting(), cluster=CLUSTER), range(4))
        assert sum(counts) == 1
    assert len(history.pending_alerts()) == 1


@pytest.mark.parametrize("is_posted", [False, True], ids=["before", "after"])
def test_what_a_killed_process_was_sending_is_sent_at_once(
    history: PostgresHistory, database_url: str, slack_server: SlackServer, is_posted: bool
) -> None:
    """Killed between claim and mark, before or after the message is there: the next delivery leaves exactly one."""
    slack = SlackNotifier("xoxb-test", slack_server.base_url, pause=lambda seconds: None)
    history.enqueue_alert(posting(), cluster=CLUSTER)
    slack_server.workspace.faults.append(
        Fault("chat.postMessage", stored=is_posted, drop=True, kills=True)
    )
    argv = [sys.executable, "-m", "tests.helpers.delivering", database_url, slack_server.base_url]
    assert subprocess.run(argv, timeout=600, check=False).returncode == -signal.SIGKILL
    [row] = history.pending_alerts()
    assert (row.attempts, row.attempted_at is None) == (1, False)
    assert len(slack_server.workspace.messages) == is_posted
    wait_for(database_url, NOBODY_HOLDS)
    assert deliver(history, slack, Settings()) == DeliveryReport(sent=1)
    assert len(slack_server.workspace.messages) == 1
    assert history.pending_alerts() == []


def test_a_process_that_hangs_is_not_overtaken(history: PostgresHistory, database_url: str) -> None:
    """However long it takes, and whatever the server ends by itself: as long as it lives the alert is its own."""
    history.enqueue_alert(posting(), cluster=CLUSTER)
    slow, other = SlowNotifier(), MemoryNotifier()
    with ThreadPoolExecutor(1) as pool, psycopg.connect(database_url, autocommit=True) as server:
        server.execute(
            sql.SQL("ALTER DATABASE {} SET idle_in_transaction_session_timeout = {}").format(
                sql.Identifier(server.info.dbname), sql.Literal(f"{IDLE_SECONDS}s")
            )
        )
        sending = pool.submit(deliver, history, slow, Settings())
        assert slow.inside.wait(30)
        server.execute("UPDATE alert SET attempted_at = attempted_at - interval '1 hour'")
        wait_for(database_url, HELD_FOR_LONGER)
        assert deliver(history, other, Settings()) == DeliveryReport(busy=1)
        slow.go.set()
        assert sending.result(30) == DeliveryReport(sent=1)
    assert other.tried == []
    assert history.pending_alerts() == []


def test_a_hold_keeps_no_row_from_the_vacuum(history: PostgresHistory, database_url: str) -> None:
    """However long it lasts, the server may clean up what was deleted since."""
    history.enqueue_alert(posting(), cluster=CLUSTER)
    [waiting] = history.pending_alerts()
    with history.attempt_alert(waiting, timedelta(0)), psycopg.connect(database_url) as server:
        assert server.execute(HOLDS_BACK).fetchone() == (False,)


def test_a_hold_that_is_lost_costs_the_sender_nothing(
    history: PostgresHistory, database_url: str
) -> None:
    """Its connection is ended while the message is on its way: that arrives and is marked."""
    history.enqueue_alert(posting(), cluster=CLUSTER)
    slow = SlowNotifier()
    with ThreadPoolExecutor(1) as pool, psycopg.connect(database_url, autocommit=True) as server:
        sending = pool.submit(deliver, history, slow, Settings())
        assert slow.inside.wait(30)
        server.execute(f"SELECT pg_terminate_backend(pid) FROM ({HOLDERS}) AS h")
        wait_for(database_url, NOBODY_HOLDS)
        slow.go.set()
        assert sending.result(30) == DeliveryReport(sent=1)
    assert history.pending_alerts() == []


def test_an_attempt_from_before_the_server_was_started_counts_for_its_lease(
    history: PostgresHistory, database_url: str
) -> None:
    """Whoever made it lost its hold with the server, and may live on."""
    history.enqueue_alert(posting(), cluster=CLUSTER)
    [row] = history.pending_alerts()
    with history.attempt_alert(row, timedelta(0)), psycopg.connect(database_url) as server:
        server.execute(
            "UPDATE alert SET attempted_at = pg_postmaster_start_time() - interval '1 s'"
        )
    with history.attempt_alert(row, timedelta(days=365)) as is_ours:
        assert not is_ours
    with history.attempt_alert(row, timedelta(0)) as is_ours:
        assert is_ours
