"""A cluster is taken out of the configuration while incidents are open: on a real Postgres, with Slack and pagers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest
from pydantic import SecretStr

from evenkeel.engine import steps, wiring
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.alerting.outbox import deliver
from evenkeel.engine.alerting.rounds import round_of
from evenkeel.engine.alerting.unwatched import end_unwatched
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.incidents.judged import Judged, Judgement
from evenkeel.engine.incidents.troubles import Trouble
from evenkeel.engine.model import Diagnosis
from tests.helpers.dying import Deaths, Dying, Killed
from tests.helpers.outbox import CLUSTER, NOW
from tests.helpers.pages import Pages
from tests.stage.slack import SlackServer
from tests.unit.alerting.test_pagers import actions
from tests.unit.alerting.test_pagers import settings as paging

pytest_plugins = (
    "tests.helpers.pages_fixtures",
    "tests.helpers.postgres_fixtures",
    "tests.helpers.slack_fixtures",
)

pytestmark = pytest.mark.postgres

__all__ = ["paging"]

ONE = ("pay-in",)
MANY = tuple(f"app-{number}" for number in range(7))
"""More than `flood`: they are told in a digest."""

LATER = NOW + timedelta(hours=2)


@pytest.fixture
def settings(paging: Settings, slack_server: SlackServer) -> Settings:
    """One cluster, Slack and two pagers."""
    slack = {"slack_token": SecretStr("xoxb-test"), "slack_base_url": slack_server.base_url}
    return paging.model_copy(update=slack)


@pytest.fixture
def without(settings: Settings) -> Settings:
    """The same without the cluster."""
    return settings.model_copy(update={"clusters": {"other": ClusterSettings(bootstrap="b:9092")}})


def wrong(
    history: PostgresHistory, settings: Settings, groups: tuple[str, ...], first: int = 0
) -> None:
    """Well twice, then without members, look by look, and told of."""
    for number in range(first, first + 5):
        watch = history.group_watch(CLUSTER)
        is_wrong = number >= first + 2
        none = (Trouble(kind=Diagnosis.NO_MEMBERS),)
        odd = {
            group: Judged(group_id=group, diagnosis=Diagnosis.UNKNOWN, troubles=none)
            for group in groups
        }
        judgement = Judgement(
            cluster=CLUSTER,
            snapshot_id=f"s{number}",
            at=NOW + number * timedelta(minutes=5),
            earlier=watch.snapshot_id,
            listed=groups,
            odd=odd if is_wrong else {},
        )
        told = round_of(watch, judgement, settings)
        assert history.store_watch(
            CLUSTER,
            judgement.snapshot_id,
            judgement.at,
            told.courses,
            [],
            told.postings,
            before=watch.snapshot_id,
        )
    deliver(history, wiring.notifier(settings), settings)


def look(history: PostgresHistory, without: Settings) -> None:
    """The step that notices that the cluster is gone."""
    steps.watch(history, wiring.notifier(without), without, LATER)


def shown(slack_server: SlackServer) -> list[tuple[str, bool]]:
    """The titles of what people see about the cluster, and which are answers."""
    return [
        (message["blocks"][0]["text"]["text"], "thread_ts" in message)
        for message in slack_server.workspace.messages
        if CLUSTER in message["text"]
    ]


def test_an_incident_ends_where_it_was_told(
    history: PostgresHistory,
    settings: Settings,
    without: Settings,
    slack_server: SlackServer,
    pages: Pages,
) -> None:
    """The message is changed and answered, quietly, and who was paged is told that it is over; once."""
    pages.now = NOW
    wrong(history, settings, ONE)
    pages.now = LATER
    for _ in range(2):
        look(history, without)
        title = shown(slack_server)[0][0]
        assert title.endswith(f"pay-in ({CLUSTER}): no longer watched")
        assert [is_answer for _, is_answer in shown(slack_server)] == [False, True]
        message, line = slack_server.workspace.messages[:2]
        assert "not in the configuration any more" in message["text"]
        assert not line.get("broadcast")
        assert actions(pages) == [
            ("trigger", f"{CLUSTER}/pay-in/s2"),
            ("resolve", f"{CLUSTER}/pay-in/s2"),
        ]
        assert pages.active(f'incident="{CLUSTER}/pay-in/s2"') == []
    assert history.pending_alerts() == []


def test_a_digest_ends_as_one_message(
    history: PostgresHistory,
    settings: Settings,
    without: Settings,
    slack_server: SlackServer,
    pages: Pages,
) -> None:
    """It is changed and answered once, however many groups it told of; each of its pages is ended."""
    wrong(history, settings, MANY)
    look(history, without)
    digest, line = (title for title, _ in shown(slack_server))
    assert digest == line
    assert digest.endswith(f"{CLUSTER}: no longer watched")
    assert "app-6" in str(slack_server.workspace.messages[0]["blocks"])
    assert sorted(actions(pages)[7:]) == [("resolve", f"{CLUSTER}/{g}/s2") for g in MANY]


def test_configured_again_it_is_looked_at_for_the_first_time(
    history: PostgresHistory, settings: Settings, without: Settings, slack_server: SlackServer
) -> None:
    """Nothing is remembered, and what is wrong then is an incident of its own."""
    wrong(history, settings, ONE)
    look(history, without)
    watch = history.group_watch(CLUSTER)
    assert (watch.snapshot_id, watch.first_at, watch.courses) == (None, None, ())
    wrong(history, settings, ONE, first=100)
    assert [is_answer for _, is_answer in shown(slack_server)] == [False, True, False]


def test_what_was_worked_out_before_it_was_forgotten_is_not_kept(
    history: PostgresHistory, settings: Settings, without: Settings
) -> None:
    """A run that still had the cluster in its configuration brings nothing back."""
    wrong(history, settings, ONE)
    look(history, without)
    assert not history.store_watch(CLUSTER, "s9", LATER, [], [], [], before="s4")
    assert history.group_watch(CLUSTER).snapshot_id is None


def test_two_processes_tell_it_once(
    history: PostgresHistory, settings: Settings, without: Settings
) -> None:
    """Whoever comes second finds nothing left to forget."""
    wrong(history, settings, ONE)
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: end_unwatched(history, without, LATER), range(4)))
    # the message, its answer, two pagers
    assert sorted(counts) == [0, 0, 0, 4]
    assert len(history.pending_alerts()) == 4


@pytest.mark.parametrize("groups", [ONE, MANY], ids=["one", "digest"])
def test_death_anywhere_changes_nothing(
    history: PostgresHistory,
    settings: Settings,
    without: Settings,
    slack_server: SlackServer,
    pages: Pages,
    groups: tuple[str, ...],
) -> None:
    """The step dies before and after everything that it asks of history and notifier, and is run again at once."""
    wrong(history, settings, groups)
    before = len(slack_server.workspace.messages)
    deaths, ends = Deaths(), False
    while not ends:
        deaths.begin("unwatched")
        notifier = Dying(wiring.notifier(without), deaths)
        with suppress(Killed):
            steps.watch(Dying(history, deaths), notifier, without, LATER)
            ends = True
    mine = [title for title, _ in shown(slack_server)]
    assert len(deaths.died) > 20
    assert len(mine) == before + 1
    assert all(title.endswith("no longer watched") for title in mine)
    keys = {f"{CLUSTER}/{group}/s2" for group in groups}
    assert {key for action, key in actions(pages) if action == "resolve"} == keys
    assert history.group_watch(CLUSTER).snapshot_id is None
    assert history.unwatched(list(without.clusters)) == []
    assert history.pending_alerts() == []
