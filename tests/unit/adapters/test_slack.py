"""The Slack notifier against a server that speaks Slack's API over real sockets."""

from __future__ import annotations

import json
import logging
import socket
import traceback
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from evenkeel.engine.adapters.slack import SlackNotifier
from evenkeel.engine.adapters.slack.blocks import body
from evenkeel.engine.model.errors import ChannelClosed, NotDelivered, NotifierError
from evenkeel.engine.model.message import AlertMessage, MessageKind, Section, Severity
from evenkeel.engine.ports import Delivered
from tests.stage.slack import SlackServer
from tests.stage.slack_workspace import REVOKED, WITHOUT_HISTORY, Fault

pytestmark = pytest.mark.slow

pytest_plugins = ("tests.helpers.slack_fixtures",)

TOKEN = "xoxb-secret-of-the-test"


def notifier(slack_server: SlackServer, token: str = TOKEN) -> SlackNotifier:
    """A notifier that waits for nothing between its own tries."""
    return SlackNotifier(
        token, slack_server.base_url, timeout_seconds=30, pause=lambda seconds: None
    )


def message(title: str = "orders: 1 group would gain", lines: int = 1) -> AlertMessage:
    """A message of one section."""
    return AlertMessage(
        kind=MessageKind.ADVICE,
        severity=Severity.INFO,
        at=datetime(2026, 3, 1, 9, 0, tzinfo=UTC),
        title=title,
        summary="payments: switch to cooperative-sticky.",
        sections=tuple(Section(heading=f"group {i}", lines=("word " * 100,)) for i in range(lines)),
    )


def posts(slack_server: SlackServer) -> int:
    """How often something was asked to be posted."""
    return slack_server.workspace.calls.count("chat.postMessage")


def test_a_message_arrives_with_its_blocks_and_its_key(slack_server: SlackServer) -> None:
    """What is sent stands in the channel, and where it stands is returned."""
    delivered = notifier(slack_server).send(message(), channel="#kafka", key="advice 1")
    [stored] = slack_server.workspace.messages
    assert (delivered.channel, delivered.timestamp) == ("C0KAFKA001", stored["ts"])
    assert stored["blocks"] == body(message(), "advice 1")["blocks"]
    assert stored["metadata"]["event_payload"]["key"] == "advice 1"


def test_the_same_key_is_posted_once(slack_server: SlackServer) -> None:
    """A message already in the channel is found, also by another process, and not sent again."""
    first = notifier(slack_server).send(message(), channel="#kafka", key="advice 1")
    again = notifier(slack_server).send(message(), channel="#kafka", key="advice 1")
    other = notifier(slack_server).send(message(), channel="#kafka", key="advice 2")
    assert again == first
    assert other != first
    assert len(slack_server.workspace.messages) == 2


def test_a_key_is_found_behind_many_messages(slack_server: SlackServer) -> None:
    """The search turns pages: a busy channel does not hide what was posted."""
    first = notifier(slack_server).send(message(), channel="#kafka", key="advice 1")
    for number in range(450):
        slack_server.workspace.call(
            "chat.postMessage", TOKEN, {"channel": "kafka", "text": f"chatter {number}"}
        )
    assert notifier(slack_server).send(message(), channel="#kafka", key="advice 1") == first


def test_a_clock_a_day_ahead_doubles_nothing(slack_server: SlackServer) -> None:
    """The message is of tomorrow, by a clock that leapt; where its answer is lost it is found all the same."""
    tomorrow = message().at.timestamp() - 86_400
    slack_server.workspace.clock = lambda: tomorrow
    slack_server.workspace.faults.append(Fault(drop=True, stored=True))
    notifier(slack_server).send(message(), channel="#kafka", key="advice 1")
    assert len(slack_server.workspace.messages) == 1


def test_a_rate_limit_is_waited_out(slack_server: SlackServer) -> None:
    """After 429 the message is sent once the time Slack asked for has passed."""
    slack_server.workspace.faults.append(Fault(status=429, retry_after=0))
    notifier(slack_server).send(message(), channel="#kafka", key="advice 1")
    assert len(slack_server.workspace.messages) == 1
    assert posts(slack_server) == 2


def test_a_rate_limit_longer_than_a_task_fails_at_once(slack_server: SlackServer) -> None:
    """A wait that would outlast the task is left to the next run."""
    slack_server.workspace.faults.append(Fault(status=429, retry_after=3_600))
    with pytest.raises(NotifierError, match=r"#kafka: ratelimited"):
        notifier(slack_server).send(message(), channel="#kafka", key="advice 1")
    assert posts(slack_server) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=500),
        Fault(drop=True),
        Fault(error="fatal_error"),
    ],
    ids=["500", "dropped", "fatal_error"],
)
@pytest.mark.parametrize("stored", [False, True], ids=["before", "after it was stored"])
def test_a_failure_neither_loses_nor_doubles(
    slack_server: SlackServer, fault: Fault, stored: bool
) -> None:
    """Whether the message was stored before the failure or not, it stands in the channel once."""
    slack_server.workspace.faults.append(
        Fault(status=fault.status, drop=fault.drop, error=fault.error, stored=stored)
    )
    delivered = notifier(slack_server).send(message(), channel="#kafka", key="advice 1")
    [kept] = slack_server.workspace.messages
    assert delivered.timestamp == kept["ts"]
    assert posts(slack_server) == (1 if stored else 2)


def test_a_lasting_failure_says_so_and_may_be_repeated(slack_server: SlackServer) -> None:
    """When every try fails the error names channel and status, and a later call sends the message."""
    slack_server.workspace.faults.extend([Fault(status=500)] * 3)
    with pytest.raises(NotifierError, match=r"#kafka: HTTP status 500.*later run"):
        notifier(slack_server).send(message(), channel="#kafka", key="advice 1")
    notifier(slack_server).send(message(), channel="#kafka", key="advice 1")
    assert len(slack_server.workspace.messages) == 1


def test_without_the_scope_to_look_it_posts_and_does_not_guess(
    slack_server: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A token that may only write posts, says what it cannot see, and repeats no doubtful message by itself."""
    blind = notifier(slack_server, WITHOUT_HISTORY)
    with caplog.at_level(logging.WARNING):
        blind.send(message(), channel="#kafka", key="advice 1")
    assert "channels:read" in caplog.text
    slack_server.workspace.faults.append(Fault(drop=True, stored=True))
    with pytest.raises(NotifierError):
        blind.send(message(), channel="#kafka", key="advice 2")
    assert len(slack_server.workspace.messages) == 2


@pytest.mark.parametrize(
    ("token", "channel", "expected"),
    [
        (REVOKED, "#kafka", r"#kafka: invalid_auth.*EVENKEEL_SLACK_TOKEN"),
        (TOKEN, "#nowhere", r"#nowhere: channel_not_found.*[Ii]nvite the bot"),
        (TOKEN, "C0UNKNOWN9", r"C0UNKNOWN9: channel_not_found.*[Ii]nvite the bot"),
    ],
    ids=["token", "name", "id"],
)
def test_a_refusal_names_channel_error_and_fix(
    slack_server: SlackServer, token: str, channel: str, expected: str
) -> None:
    """A refusal tells the reader which channel, what Slack said and what to do."""
    with pytest.raises(NotifierError, match=expected):
        notifier(slack_server, token).send(message(), channel=channel, key="advice 1")
    assert slack_server.workspace.messages == []


def test_nobody_listening_names_the_host() -> None:
    """A refused connection names host and channel; nothing was sent, so nothing is repeated."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        quick = SlackNotifier(TOKEN, f"http://127.0.0.1:{port}/", pause=lambda seconds: None)
        with pytest.raises(
            NotifierError, match=rf"127\.0\.0\.1:{port} .*#kafka.*refused.*slack_base_url"
        ):
            quick.send(message(), channel="#kafka", key="advice 1")


def test_the_token_is_in_no_error_and_no_log(
    slack_server: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the error with all its causes nor the log at its most talkative shows the token."""
    client = notifier(slack_server)
    slack_server.workspace.faults.extend([Fault(status=500)] * 3)
    with caplog.at_level(logging.DEBUG), pytest.raises(NotifierError) as caught:
        client.send(message(), channel="#kafka", key="advice 1")
    told = "".join(traceback.format_exception(caught.value))
    assert TOKEN not in told + caplog.text + repr(client)


def test_an_over_long_message_is_cut_to_what_slack_takes(slack_server: SlackServer) -> None:
    """A message of many sections is accepted, and says how many parts are missing."""
    notifier(slack_server).send(message(lines=200), channel="#kafka", key="advice 1")
    [stored] = slack_server.workspace.messages
    assert "parts of this message do not fit" in json.dumps(stored["blocks"])


@pytest.mark.parametrize("broadcast", [False, True], ids=["thread", "channel, too"])
def test_an_answer_joins_its_thread(slack_server: SlackServer, broadcast: bool) -> None:
    """Seen in the channel or not, it answers its message, and another process finds it by its key."""
    client = notifier(slack_server)
    opened = client.send(message("opened"), channel="#kafka", key="incident 1 opened")
    line = {"key": "incident 1 worse 1 thread", "thread": opened.timestamp, "broadcast": broadcast}
    answer = client.send(message("worse"), channel="#kafka", **line)
    stored = slack_server.workspace.messages[1]
    assert (stored["thread_ts"], stored["broadcast"]) == (opened.timestamp, broadcast)
    assert notifier(slack_server).send(message("worse"), channel="#kafka", **line) == answer
    assert len(slack_server.workspace.messages) == 2


def test_an_answer_to_a_deleted_message_is_still_posted(slack_server: SlackServer) -> None:
    """When the message to be answered is gone, the answer stands alone."""
    notifier(slack_server).send(
        message(), channel="#kafka", key="incident 1 closed", thread="1700000000.000001"
    )
    [stored] = slack_server.workspace.messages
    assert "thread_ts" not in stored
    notifier(slack_server).send(
        message(), channel="#kafka", key="incident 1 closed", thread="1700000000.000001"
    )
    assert len(slack_server.workspace.messages) == 1


def opened(slack_server: SlackServer) -> Delivered:
    """A message that was posted before the calls that a test counts."""
    delivered = notifier(slack_server).send(message("opened"), channel="#kafka", key="opened")
    slack_server.workspace.calls.clear()
    return delivered


def change(slack_server: SlackServer, delivered: Delivered, title: str = "worse") -> Delivered:
    """Change a message, by another process than posted it."""
    return notifier(slack_server).update(
        message(title), channel="#kafka", key=title, delivered=delivered
    )


def heads(slack_server: SlackServer) -> list[str]:
    """What stands at the head of each message."""
    return [
        one["blocks"][0]["text"]["text"].split(": ", 1)[-1].split()[-1]
        for one in slack_server.workspace.messages
        if "blocks" in one
    ]


def test_a_change_takes_one_call_and_may_be_repeated(slack_server: SlackServer) -> None:
    """The message says something else at its place, is found by its key still, and nothing is posted."""
    first = opened(slack_server)
    assert change(slack_server, first) == first
    assert change(slack_server, first) == first
    assert slack_server.workspace.calls == ["chat.update", "chat.update"]
    assert heads(slack_server) == ["worse"]
    again = notifier(slack_server).send(message("opened"), channel="#kafka", key="opened")
    assert again == first
    assert heads(slack_server) == ["worse"]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(method="chat.update", status=500),
        Fault(method="chat.update", status=429, retry_after=0),
        Fault(method="chat.update", drop=True),
    ],
    ids=["500", "429", "dropped"],
)
@pytest.mark.parametrize("stored", [False, True], ids=["before", "after it was stored"])
def test_a_change_that_fails_is_tried_again(
    slack_server: SlackServer, fault: Fault, stored: bool
) -> None:
    """It changes nothing to do it twice, so nobody has to look whether it was done."""
    first = opened(slack_server)
    slack_server.workspace.faults.append(replace(fault, stored=stored))
    assert change(slack_server, first) == first
    assert slack_server.workspace.calls == ["chat.update", "chat.update"]
    assert heads(slack_server) == ["worse"]


def hasty(slack_server: SlackServer) -> SlackNotifier:
    """A notifier that waits a second for an answer."""
    return SlackNotifier(TOKEN, slack_server.base_url, timeout_seconds=1, pause=lambda _: None)


def test_a_post_whose_answer_comes_too_late_is_found(slack_server: SlackServer) -> None:
    """It is there by the time that we look for it."""
    slack_server.workspace.faults.append(Fault(delay=1.3))
    delivered = hasty(slack_server).send(message(), channel="#kafka", key="advice 1")
    assert [one["ts"] for one in slack_server.workspace.messages] == [delivered.timestamp]


def test_a_change_whose_answer_comes_too_late_is_left_for_later(slack_server: SlackServer) -> None:
    """A channel that takes its time must not take more of it; done once more it changes nothing."""
    first = opened(slack_server)
    slack_server.workspace.faults.append(Fault(method="chat.update", delay=1.3))
    late = {"channel": "#kafka", "key": "worse", "delivered": first}
    with pytest.raises(NotifierError, match="timed out"):
        hasty(slack_server).update(message("worse"), **late)
    assert notifier(slack_server).update(message("worse"), **late) == first
    assert heads(slack_server) == ["worse"]


def test_a_change_that_keeps_failing_is_left_for_later(slack_server: SlackServer) -> None:
    """The error names the channel; the message stays as it was, and a later call changes it."""
    first = opened(slack_server)
    slack_server.workspace.faults.extend([Fault(method="chat.update", status=500)] * 2)
    with pytest.raises(NotifierError, match=r"#kafka: HTTP status 500"):
        change(slack_server, first)
    assert heads(slack_server) == ["opened"]
    change(slack_server, first)
    assert heads(slack_server) == ["worse"]


def test_a_message_that_is_gone_is_posted_anew(slack_server: SlackServer) -> None:
    """Somebody deleted it: what it would say is posted, once, and where that is comes back."""
    first = opened(slack_server)
    slack_server.workspace.call("chat.postMessage", TOKEN, {"channel": "kafka", "text": "chatter"})
    del slack_server.workspace.messages[0]
    anew = change(slack_server, first)
    assert anew != first
    assert heads(slack_server) == ["worse"]
    assert change(slack_server, first) == anew
    assert change(slack_server, anew, "resolved") == anew
    assert heads(slack_server) == ["resolved"]


def test_a_message_of_another_notifier_is_posted_anew(slack_server: SlackServer) -> None:
    """What went to the log while there was no token is not in Slack."""
    logged = Delivered(channel="log", timestamp="1700000000.000001")
    assert change(slack_server, logged).channel == "C0KAFKA001"
    assert heads(slack_server) == ["worse"]


@pytest.mark.parametrize("error", ["edit_window_closed", "cant_update_message"])
def test_a_message_that_may_not_be_changed_is_answered(
    slack_server: SlackServer, error: str
) -> None:
    """It stays as it is; what it would say stands in its thread, once, and the channel sees it."""
    first = opened(slack_server)
    for _ in range(2):
        slack_server.workspace.faults.append(Fault(method="chat.update", error=error))
        assert change(slack_server, first) == first
    assert heads(slack_server) == ["opened", "worse"]
    answer = slack_server.workspace.messages[1]
    assert (answer["thread_ts"], answer["broadcast"]) == (first.timestamp, True)


def test_a_change_in_a_channel_that_is_closed_says_so(slack_server: SlackServer) -> None:
    """It may be made elsewhere; the message stays as it was."""
    first = opened(slack_server)
    slack_server.workspace.faults.append(Fault(method="chat.update", error="is_inactive"))
    with pytest.raises(ChannelClosed, match="is_inactive"):
        change(slack_server, first)
    assert heads(slack_server) == ["opened"]


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        ([Fault(error="channel_not_found")], ChannelClosed),
        ([Fault(error="invalid_blocks")], NotDelivered),
        ([Fault(status=429, retry_after=3_600)], NotDelivered),
        ([Fault(method="users.conversations", status=500)] * 2, NotDelivered),
        ([Fault(status=500)] * 3, NotifierError),
        ([Fault(drop=True)] * 3, NotifierError),
        ([Fault(status=500), Fault(status=429, retry_after=3_600)], NotifierError),
    ],
    ids=["closed", "refused", "429", "before posting", "500", "dropped", "500, then 429"],
)
def test_an_error_says_whether_the_message_may_be_there(
    slack_server: SlackServer, faults: list[Fault], expected: type[NotifierError]
) -> None:
    """Only what was certainly not posted may give way to something else."""
    slack_server.workspace.faults.extend(faults)
    with pytest.raises(NotifierError) as caught:
        notifier(slack_server).send(message(), channel="#kafka", key="advice 1")
    assert type(caught.value) is expected
