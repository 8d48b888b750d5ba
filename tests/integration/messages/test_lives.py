"""
The exact list of calls that Slack gets over the life of an incident of each kind: snapshots of a real lake, one look at
each, the history on a real Postgres, a server that speaks Slack's API. Then the same with everything failing once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.postgres import PostgresHistory, migrate
from evenkeel.engine.model.errors import NotifierError
from evenkeel.engine.model.states import Diagnosis
from tests.helpers.dying import Deaths, Dying, Killed
from tests.helpers.life_calls import CALLS
from tests.helpers.lives import FROM_THE_BEGINNING, LIVES, SETTINGS, write_crowd, write_lives
from tests.helpers.slack_calls import LATER, RecordedWorkspace
from tests.helpers.watching import HASTY_SECONDS, JudgedOnce, UntilNow, slack_at
from tests.stage import slack
from tests.stage.slack_workspace import Fault

pytest_plugins = ("tests.helpers.postgres_fixtures",)

pytestmark = pytest.mark.postgres

FEW = (Diagnosis.NO_MEMBERS, Diagnosis.LOSING_RECORDS, Diagnosis.SILENT_MEMBER)
"""Lives with an opening, a change that is loud, one that is quiet, and an end."""

SOON_OVER = 42
"""In so many snapshots these are over."""


@dataclass
class Watched:
    """A history, a workspace and the looks at the snapshots of a lake."""

    lake: UntilNow
    history: PostgresHistory
    workspace: RecordedWorkspace
    base_url: str
    database_url: str
    failures: int = 0
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
            try:
                return self.look(snapshot_id)
            except NotifierError:
                self.failures += 1
        raise AssertionError(f"{snapshot_id}: not delivered after {tries} tries")

    def look_once(self, snapshot_id: str) -> None:
        """The step, whether or not all could be delivered."""
        with suppress(NotifierError):
            self.look(snapshot_id)

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
        yield Watched(lake, history, workspace, server.base_url, database_url)


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
    "429": Fault(status=429, retry_after=1),
    "500": Fault(status=500),
    "posted, then 500": Fault(status=500, stored=True),
    "slow beyond the timeout": Fault(stored=True, delay=HASTY_SECONDS + 0.5),
    "reset": Fault(drop=True),
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
        few.look_once(snapshot_id)
        if any("/losing-records/" in key and key.endswith(until) for key in few.pending()):
            break
    few.workspace.down = None
    few.look_until_sent(snapshot_id)
    assert few.calls_about("losing-records") == [f"chat.postMessage {until}"]


# Many at once, and what was so already


@pytest.fixture
def crowd(tmp_path: Path, database_url: str) -> Iterator[tuple[Watched, Sequence[str]]]:
    """Seven groups that fall ill and get well together, and one that was ill when it was first looked at."""
    lake = UntilNow(tmp_path / "lake")
    ids = write_crowd(lake)
    with watched(lake, database_url) as seen:
        yield seen, ids


def test_a_flood_and_what_was_so_already_are_digests(
    crowd: tuple[Watched, Sequence[str]],
) -> None:
    """One message when seven open, one when they are over, one for what was so at first; of each alone a line."""
    seen, ids = crowd
    for snapshot_id in ids:
        seen.look(snapshot_id)
    first, opened = f"digest {ids[1]} #kafka first", f"digest {ids[11]} #kafka opened"
    calls = [
        (call.method.removeprefix("chat."), _whose(call.key), call.thread)
        for call in seen.workspace.writes
    ]
    assert calls == [
        ("postMessage", first, None),
        ("postMessage", opened, None),
        # one of the seven is well a snapshot before the others
        ("postMessage", "crowd-3", opened),
        ("postMessage", f"digest {ids[18]} #kafka resolved", None),
        *(("postMessage", group, first) for group in FROM_THE_BEGINNING),
    ]
    assert seen.history.query("open_incidents") == []


def _whose(key: str) -> str:
    """The group of an incident's key; of a digest its own."""
    return key if key.startswith("digest") else key.split("/")[1]
