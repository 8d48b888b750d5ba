"""An incident's message and its thread, on a real Postgres and before a server that speaks as Slack."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.slack import SlackNotifier
from evenkeel.engine.alerting.outbox import DeliveryReport, deliver
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.errors import HistoryUnreachable, NotifierError
from evenkeel.engine.ports import Delivered
from evenkeel.engine.records import AlertRow
from tests.helpers.incidents import CLUSTER, at, course, posting, row
from tests.stage.slack import SlackServer
from tests.stage.slack_workspace import ANY, WITHOUT_HISTORY, Fault

pytest_plugins = ("tests.helpers.postgres_fixtures", "tests.helpers.slack_fixtures")

pytestmark = pytest.mark.postgres

LIFE = (
    [posting()],
    [posting("worse 1"), posting("worse 1 thread", broadcast=True)],
    [posting("worse 2"), posting("worse 2 thread")],
    [posting("resolved"), posting("resolved thread", broadcast=True)],
)
"""What is told of an incident from its beginning to its end."""

ENDED = [
    ("resolved", None, None),
    ("worse 1 thread", True, 0),
    ("worse 2 thread", False, 0),
    ("resolved thread", True, 0),
]
"""What stands in the channel then: the title, whether an answer is shown there, and to which message it is one."""


def slack(server: SlackServer, token: str = "xoxb-test") -> SlackNotifier:
    """A notifier that does not wait between its tries."""
    return SlackNotifier(token, server.base_url, pause=lambda seconds: None)


def tell(history: PostgresHistory, minutes: int) -> None:
    """Store the watch of a snapshot of an incident's life, and what is told of it."""
    shown = [row(course(minutes=minutes), minutes)]
    told = LIFE[minutes]
    before = history.group_watch(CLUSTER).snapshot_id
    courses = [course(minutes=minutes)]
    assert history.store_watch(
        CLUSTER, f"s{minutes}", at(minutes), courses, shown, told, before=before
    )


def standing(server: SlackServer) -> list[tuple[str, bool | None, int | None]]:
    """What stands in the channel."""
    messages = server.workspace.messages
    places = {message["ts"]: place for place, message in enumerate(messages)}
    return [
        (
            message["blocks"][0]["text"]["text"].partition("orders-app: ")[2],
            message.get("broadcast"),
            places.get(message.get("thread_ts", "")),
        )
        for message in messages
    ]


def test_the_calls_of_a_life(history: PostgresHistory, slack_server: SlackServer) -> None:
    """One post for the message, one for each line, one change for each turn; before a post the channel is searched."""
    calls = []
    for minutes in range(len(LIFE)):
        tell(history, minutes)
        client = slack(slack_server)
        client._ids["#kafka"] = "C0KAFKA001"
        deliver(history, client, Settings())
        calls.append(slack_server.workspace.calls.copy())
        slack_server.workspace.calls.clear()
    line = ["chat.update", "conversations.replies", "chat.postMessage"]
    assert calls == [["conversations.history", "chat.postMessage"], line, line, line]
    assert standing(slack_server) == ENDED
    assert deliver(history, slack(slack_server), Settings()) == DeliveryReport()


DOWN = {"method": ANY, "status": 500}

FAULTS: dict[str, list[dict[str, Any]]] = {
    "429 for an hour": [{"status": 429, "retry_after": 3_600}],
    "500 and there": [{"status": 500, "stored": True}],
    "500 lasting": [{"status": 500}] * 3,
    "500 for all, and there": [{"status": 500, "stored": True}, *([DOWN] * 2)],
    "reset and there": [{"drop": True, "stored": True}],
    "reset lasting": [{"drop": True}] * 3,
}


@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("at_once", [True, False], ids=["made up for", "while it goes on"])
def test_what_slack_does_to_any_turn_loses_and_doubles_nothing(
    history: PostgresHistory, slack_server: SlackServer, method: str, fault: str, at_once: bool
) -> None:
    """The message ends resolved, with every line once that was due to its readers, in order."""
    for minutes in range(len(LIFE)):
        tell(history, minutes)
        slack_server.workspace.faults.extend(
            Fault(**{"method": method} | each) for each in FAULTS[fault]
        )
        with suppress(NotifierError):
            deliver(history, slack(slack_server), Settings())
        slack_server.workspace.faults.clear()
        if at_once:
            deliver(history, slack(slack_server), Settings())
    deliver(history, slack(slack_server), Settings())

    assert history.pending_alerts() == []
    shown = standing(slack_server)
    assert shown[0] == ENDED[0]
    assert shown[1:] == [line for line in ENDED[1:] if line in shown]
    if at_once:
        assert shown == ENDED


class Dying(PostgresHistory):
    """A history whose process dies after a message was delivered, before that is noted."""

    def mark_alert_sent(self, alert: AlertRow, delivered: Delivered) -> None:
        """Die."""
        raise HistoryUnreachable("killed.")


@pytest.mark.parametrize("dying", range(len(LIFE)))
def test_killed_between_sending_and_marking(
    history: PostgresHistory, slack_server: SlackServer, database_url: str, dying: int
) -> None:
    """Whichever turn it is: the next process finds what was posted, and changes once more what was changed."""
    for minutes in range(len(LIFE)):
        tell(history, minutes)
        if minutes == dying:
            for _ in LIFE[minutes]:
                with pytest.raises(HistoryUnreachable):
                    deliver(Dying(database_url), slack(slack_server), Settings())
        deliver(history, slack(slack_server), Settings())
    assert standing(slack_server) == ENDED


def test_slack_down_for_a_whole_life_is_one_message(
    history: PostgresHistory, slack_server: SlackServer
) -> None:
    """Nobody heard of it while it lasted: its end tells all of it, and says nothing twice."""
    for minutes in range(len(LIFE)):
        tell(history, minutes)
        slack_server.workspace.faults.append(Fault(status=429, retry_after=3_600))
        with suppress(NotifierError):
            deliver(history, slack(slack_server), Settings())
    slack_server.workspace.faults.clear()
    deliver(history, slack(slack_server), Settings())
    assert standing(slack_server) == [("resolved", None, None)]


def test_without_the_scope_to_look_a_thread_is_still_one(
    history: PostgresHistory, slack_server: SlackServer
) -> None:
    """A token that may only write changes and answers as well."""
    for minutes in range(len(LIFE)):
        tell(history, minutes)
        deliver(history, slack(slack_server, WITHOUT_HISTORY), Settings())
    assert standing(slack_server) == ENDED


def test_a_message_that_somebody_deleted_goes_on_anew(
    history: PostgresHistory, slack_server: SlackServer
) -> None:
    """From then on the new one is changed and answered."""
    for minutes in range(len(LIFE)):
        tell(history, minutes)
        if minutes == 1:
            slack_server.workspace.call(
                "chat.postMessage", "xoxb-test", {"channel": "kafka", "text": "chatter"}
            )
            del slack_server.workspace.messages[0]
        deliver(history, slack(slack_server), Settings())
    del slack_server.workspace.messages[0]
    assert standing(slack_server) == ENDED


def test_what_stands_in_a_channel_taken_out_of_the_configuration_goes_on_there(
    history: PostgresHistory, slack_server: SlackServer
) -> None:
    """It is changed and answered where it is; nothing comes to the default channel."""
    moved = Settings(rules=(Rule(groups="orders*", channel="#team-orders"),))
    first, *rest = (replace(each, channel="#team-orders") for turn in LIFE[:2] for each in turn)
    history.enqueue_alert(first, cluster=CLUSTER)
    deliver(history, slack(slack_server), moved)
    for each in rest:
        history.enqueue_alert(each, cluster=CLUSTER)
    deliver(history, slack(slack_server), Settings())
    parent, line = slack_server.workspace.messages
    assert [parent["channel"], line["channel"]] == ["C0ORDERS01", "C0ORDERS01"]
    assert line["thread_ts"] == parent["ts"]
