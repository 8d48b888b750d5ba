"""
What arrives, on a real Postgres and a server that speaks Slack's API: the exact list of calls over the life of an
incident of each kind, snapshots of a real lake, one look at each. Then the same with everything failing once, and
processes that die, hang and lose their hold.
"""

from __future__ import annotations

import random
import signal
import string
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory, migrate
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.messages.outbox import DeliveryReport, deliver
from evenkeel.engine.model.errors import NotifierError
from evenkeel.engine.model.states import Diagnosis
from tests.helpers.dying import Deaths, Dying, Killed
from tests.helpers.incidents import CLUSTER, posting
from tests.helpers.lives import LIVES, SETTINGS, write_lives
from tests.helpers.memory import MemoryNotifier, SlowNotifier
from tests.helpers.slack_calls import LATER, RecordedWorkspace
from tests.helpers.snapshots import group, make_snapshot, store, topic
from tests.helpers.watching import HASTY_SECONDS, JudgedOnce, UntilNow, slack_at
from tests.stage import slack
from tests.stage.slack import SlackServer
from tests.stage.slack_workspace import Fault

pytest_plugins = ("tests.helpers.postgres_fixtures", "tests.helpers.slack_fixtures")

pytestmark = pytest.mark.postgres

FEW = (Diagnosis.NO_MEMBERS, Diagnosis.DATA_LOSS, Diagnosis.MEMBER_NOT_COMMITTING)
"""Lives with an opening, a change that is loud, one that is quiet, and an end."""

SOON_OVER = 42
"""In so many snapshots these are over."""

OPENED = ["chat.postMessage opened"]


def worse(number: int, *, loud: bool = True) -> list[str]:
    """The message is set right, and a line in its thread; one that is loud goes to the channel, too."""
    line = f"chat.postMessage worse {number} thread in the thread of opened"
    return ["chat.update opened", f"{line}, broadcast" if loud else line]


RESOLVED = [
    "chat.update opened",
    "chat.postMessage resolved thread in the thread of opened, broadcast",
]
BRIEF = OPENED + RESOLVED

CALLS: dict[Diagnosis, list[str]] = {
    **dict.fromkeys(LIVES, BRIEF),
    # behind, then soon lost (warning to critical: broadcast), half of retention, then lost (records: broadcast)
    Diagnosis.DATA_LOSS: OPENED + worse(1) + worse(2, loud=False) + worse(3) + RESOLVED,
    # half of retention, then soon lost
    Diagnosis.DATA_LOSS_IMMINENT: OPENED + worse(1, loud=False) + worse(2) + RESOLVED,
}


@dataclass
class Watched:
    """A history, a workspace and the looks at the snapshots of a lake."""

    lake: UntilNow
    history: PostgresHistory
    workspace: RecordedWorkspace
    base_url: str
    notifier: Any = field(init=False)

    def __post_init__(self) -> None:
        self.notifier = slack_at(self.base_url)

    def look(self, snapshot_id: str) -> None:
        """One run of the step."""
        self.lake.now = snapshot_id
        pipeline.watch_groups(self.lake, self.history, self.notifier, SETTINGS, snapshot_id)

    def look_until_sent(self, snapshot_id: str, tries: int = 10) -> None:
        """The step, and its retries while something could not be delivered."""
        for _ in range(tries):
            with suppress(NotifierError):
                return self.look(snapshot_id)
        raise AssertionError(f"{snapshot_id}: not delivered after {tries} tries")

    def pending(self) -> list[str]:
        """Keys of what waits."""
        return [alert.key for alert in self.history.pending_alerts()]

    def calls_about(self, group: str) -> list[str]:
        """What was changed in the workspace over the life of a group's incident."""
        keys = [call.key for call in self.workspace.writes if f"/{group}/" in call.key]
        incidents = {key.split()[1] for key in keys}
        assert len(incidents) <= 1, incidents
        return [
            call.about(next(iter(incidents)))
            for call in self.workspace.writes
            if f"/{group}/" in call.key
        ]


@contextmanager
def watched(lake: UntilNow, database_url: str) -> Iterator[Watched]:
    """An empty history and workspace for a lake."""
    workspace = RecordedWorkspace(clock=lambda: LATER)
    with slack.running(workspace) as server:
        history = PostgresHistory(database_url)
        yield Watched(lake, history, workspace, server.base_url)


@dataclass(frozen=True)
class Script:
    """A lake and its snapshots, the oldest first."""

    lake: UntilNow
    ids: Sequence[str]


@pytest.fixture(scope="module", autouse=True)
def judged_once() -> Iterator[None]:
    """Many looks at the same lakes."""
    with pytest.MonkeyPatch.context() as patch:
        module = sys.modules[pipeline.watch_groups.__module__]
        patch.setattr(module, "judge_groups", JudgedOnce())
        yield


@pytest.fixture(scope="module")
def all_lives(
    tmp_path_factory: pytest.TempPathFactory, module_database_url: str
) -> Iterator[Watched]:
    """Every life, watched from beginning to end without a fault."""
    lake = UntilNow(tmp_path_factory.mktemp("lives") / "lake")
    ids = write_lives(lake)
    with watched(lake, module_database_url) as seen:
        for snapshot_id in ids:
            seen.look(snapshot_id)
        yield seen


@pytest.mark.parametrize("cause", list(LIVES), ids=lambda cause: cause.name.lower())
def test_a_life_is_told_in_exactly_these_calls(all_lives: Watched, cause: Diagnosis) -> None:
    """Posted when it opens; changed and answered in its thread as it gets worse and when it is over; nothing else."""
    assert all_lives.calls_about(LIVES[cause].name) == CALLS[cause]


def test_a_healthy_group_is_not_spoken_of(all_lives: Watched) -> None:
    """Nobody hears of it, nothing waits, and nothing is open in the end."""
    groups = {call.key.split("/")[1] for call in all_lives.workspace.writes}
    assert groups == {group.name for group in LIVES.values()}
    assert all_lives.pending() == []
    assert all_lives.history.query("open_incidents") == []


def test_nothing_is_asked_of_slack_beyond_what_is_told(all_lives: Watched) -> None:
    """A message takes one look for its key and one call; of all the snapshots without news Slack hears nothing."""
    writes = len(all_lives.workspace.writes)
    posts = sum(call.method == "chat.postMessage" for call in all_lives.workspace.writes)
    counts = {
        name: all_lives.workspace.calls.count(name) for name in set(all_lives.workspace.calls)
    }
    assert counts["chat.postMessage"] + counts["chat.update"] == writes
    assert counts.get("conversations.history", 0) + counts.get("conversations.replies", 0) <= posts
    assert counts["users.conversations"] <= 1


# Everything fails once

FAULTS = {
    "slow beyond the timeout": Fault(stored=True, delay=HASTY_SECONDS + 0.2),
    "posted, then reset": Fault(drop=True, stored=True),
    "refused": Fault(error="restricted_action"),
}


@pytest.fixture
def few(few_lives: Script, database_url: str) -> Iterator[Watched]:
    """An empty history and workspace for three lives."""
    with watched(few_lives.lake, database_url) as seen:
        yield seen


@pytest.fixture(scope="module")
def few_lives(tmp_path_factory: pytest.TempPathFactory) -> Script:
    """The snapshots of three lives."""
    lake = UntilNow(tmp_path_factory.mktemp("few") / "lake")
    return Script(lake, write_lives(lake, *FEW, count=SOON_OVER))


@pytest.fixture(scope="module")
def as_it_should_be(
    few_lives: Script, module_empty_database: str
) -> tuple[list[str], set[tuple[str, ...]]]:
    """What is posted of them, and what people see in the end, where nothing fails."""
    migrate(module_empty_database)
    with watched(few_lives.lake, module_empty_database) as seen:
        for snapshot_id in few_lives.ids:
            seen.look(snapshot_id)
        assert {name.split("/")[1] for name in posted(seen)} == {LIVES[c].name for c in FEW}
        return posted(seen), seen.workspace.seen()


def posted(seen: Watched) -> list[str]:
    """Keys of what was posted, one by one; what was changed does not count."""
    return [c.key for c in seen.workspace.writes if c.method == "chat.postMessage"]


@pytest.mark.parametrize("kind", FAULTS)
def test_what_fails_once_is_neither_doubled_nor_lost(
    few: Watched,
    few_lives: Script,
    as_it_should_be: tuple[list[str], set[tuple[str, ...]]],
    kind: str,
) -> None:
    """Each message meets the fault at its first try, and the channel ends as if there had been none."""
    few.workspace.first = lambda: FAULTS[kind]
    if FAULTS[kind].delay:
        few.notifier = slack_at(few.base_url, HASTY_SECONDS)
    for snapshot_id in few_lives.ids:
        few.look_until_sent(snapshot_id)
    posts, there = as_it_should_be
    assert sorted(posted(few)) == sorted(posts)
    assert few.workspace.seen() == there
    assert few.pending() == []
    assert len(few.workspace.met) >= len(posts)


def test_death_anywhere_changes_nothing(
    few: Watched,
    few_lives: Script,
    as_it_should_be: tuple[list[str], set[tuple[str, ...]]],
) -> None:
    """
    The step dies before and after everything that it asks of history and Slack, and is run again at once: the channel
    ends as if it had lived.
    """
    deaths, notifier, history = Deaths(), few.notifier, few.history
    for snapshot_id in few_lives.ids:
        ends = False
        while not ends:
            deaths.begin(snapshot_id)
            few.notifier, few.history = Dying(notifier, deaths), Dying(history, deaths)
            with suppress(Killed):
                few.look(snapshot_id)
                ends = True
    few.notifier, few.history = notifier, history
    posts, there = as_it_should_be
    assert len(deaths.died) > 4 * len(few_lives.ids)
    assert sorted(posted(few)) == sorted(posts)
    assert few.workspace.seen() == there
    assert few.pending() == []


@pytest.mark.parametrize("until", ["worse 1", "resolved"])
def test_what_slack_never_heard_gives_way_to_what_is_newer(
    few: Watched, few_lives: Script, until: str
) -> None:
    """While Slack refuses everything a life goes on: afterwards there is one message, as it is by then."""
    few.workspace.down = Fault(error="restricted_action")
    for snapshot_id in few_lives.ids:
        with suppress(NotifierError):
            few.look(snapshot_id)
        if any("/losing-records/" in key and key.endswith(until) for key in few.pending()):
            break
    few.workspace.down = None
    few.look_until_sent(snapshot_id)
    assert few.calls_about("losing-records") == [f"chat.postMessage {until}"]


def test_ids_that_cannot_be_stored_cost_the_other_groups_nothing(
    tmp_path: Path, history: PostgresHistory
) -> None:
    """Two groups with such ids are passed over; an ordinary one is told, and alone remembered."""
    # no key of a table holds it, however it is packed
    long = "".join(random.Random(1).choices(string.ascii_letters, k=5000))
    settings = Settings(clusters={"test": ClusterSettings(bootstrap="b:9092")})
    lake, told = FileLake(tmp_path), MemoryNotifier()
    for number in range(6):
        end = 1000 * (number + 1)
        made = make_snapshot(
            number=number,
            topics=[topic("orders", end=end)],
            groups=[
                group(name, members=int(number < 3), committed={"orders": [min(end, 3000)]})
                for name in ("orders\0app", long, "orders-app")
            ],
        )
        (newest,) = store(lake, made)
        pipeline.watch_groups(lake, history, told, settings, newest)
    (remembered,) = history.incident_watch("test").courses
    assert remembered.group_id == "orders-app"
    assert any("orders-app" in str(message.to_json()) for _, _, message in told.sent)


# Whose an attempt is, for how long, and what comes of one whose process dies

HOLDERS = (
    "SELECT h.pid FROM held_lock AS h"
    " INNER JOIN pg_stat_activity AS s ON s.pid = h.pid AND s.xact_start = h.since"
)
NOBODY_HOLDS = f"SELECT NOT EXISTS ({HOLDERS})"
HOLDS_BACK = (
    "SELECT bool_or(backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) FROM pg_stat_activity"
    f" WHERE pid IN ({HOLDERS})"
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


@pytest.mark.parametrize("is_posted", [False, True], ids=["before", "after"])
def test_what_a_killed_process_was_sending_is_sent_at_once(
    history: PostgresHistory, database_url: str, slack_server: SlackServer, is_posted: bool
) -> None:
    """Killed between claim and mark, before or after the message is there: the next delivery leaves exactly one."""
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
    assert deliver(history, slack_at(slack_server.base_url), Settings()) == DeliveryReport(sent=1)
    assert len(slack_server.workspace.messages) == 1
    assert history.pending_alerts() == []


@contextmanager
def slowly_sent(history: PostgresHistory) -> Iterator[None]:
    """While this lasts somebody is delivering an alert; it arrives and is marked."""
    history.enqueue_alert(posting(), cluster=CLUSTER)
    slow = SlowNotifier()
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(deliver, history, slow, Settings())
        assert slow.inside.wait(30)
        yield
        slow.go.set()
        assert sending.result(30) == DeliveryReport(sent=1)
    assert history.pending_alerts() == []


def test_a_process_that_hangs_is_not_overtaken(history: PostgresHistory, database_url: str) -> None:
    """However long it takes, and whatever the server ends by itself: as long as it lives the alert is its own."""
    other = MemoryNotifier()
    with psycopg.connect(database_url, autocommit=True) as server:
        server.execute(
            sql.SQL("ALTER DATABASE {} SET idle_in_transaction_session_timeout = {}").format(
                sql.Identifier(server.info.dbname), sql.Literal(f"{IDLE_SECONDS}s")
            )
        )
        with slowly_sent(history):
            server.execute("UPDATE alert SET attempted_at = attempted_at - interval '1 hour'")
            wait_for(database_url, HELD_FOR_LONGER)
            assert deliver(history, other, Settings()) == DeliveryReport(busy=1)
    assert other.tried == []


def test_a_hold_that_is_lost_costs_the_sender_nothing(
    history: PostgresHistory, database_url: str
) -> None:
    """Its connection is ended while the message is on its way: that arrives and is marked."""
    with psycopg.connect(database_url, autocommit=True) as server, slowly_sent(history):
        server.execute(f"SELECT pg_terminate_backend(pid) FROM ({HOLDERS}) AS h")
        wait_for(database_url, NOBODY_HOLDS)


def test_a_hold_keeps_no_row_from_the_vacuum(history: PostgresHistory, database_url: str) -> None:
    """However long it lasts, the server may clean up what was deleted since."""
    history.enqueue_alert(posting(), cluster=CLUSTER)
    [waiting] = history.pending_alerts()
    with history.attempt_alert(waiting, timedelta(0)), psycopg.connect(database_url) as server:
        assert server.execute(HOLDS_BACK).fetchone() == (False,)


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
