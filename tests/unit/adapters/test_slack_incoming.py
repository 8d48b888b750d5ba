"""Slack without a bot, against a server on real sockets."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from evenkeel.engine import wiring
from evenkeel.engine.adapters.slack import SlackNotifier, SlackWebhook
from evenkeel.engine.adapters.slack.blocks import body
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import NotDelivered, NotifierError
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from tests.helpers.outbox import NOW
from tests.helpers.slack_hook import SECRET, Hooks, hook_server

pytestmark = pytest.mark.slow

MESSAGE = AlertMessage(
    kind=MessageKind.INCIDENT_OPENED,
    severity=Severity.CRITICAL,
    at=NOW,
    title="pay-in (eu): no members",
    summary="Nobody reads 500 records/s.",
)


@pytest.fixture
def hooks() -> Iterator[Hooks]:
    """A webhook to which nothing was posted."""
    with hook_server() as server:
        yield server


def send(webhook: SlackWebhook, **rest: str) -> None:
    """Send the message."""
    webhook.send(MESSAGE, channel="#kafka", key="k", **rest)


def test_a_message_has_the_blocks_that_a_bot_posts(hooks: Hooks) -> None:
    """The same text and blocks; no channel, which it could not choose."""
    send(SlackWebhook(hooks.url))
    [posted] = hooks.posted
    expected = body(MESSAGE, "k")
    assert (posted["text"], posted["blocks"]) == (expected["text"], expected["blocks"])
    assert "channel" not in posted


def test_of_what_follows_only_what_the_channel_is_to_see_is_posted(hooks: Hooks) -> None:
    """A message cannot be changed and has no thread: the lines that a thread shows to all are messages."""
    webhook = SlackWebhook(hooks.url)
    posted = webhook.send(MESSAGE, channel="#kafka", key="opened")
    webhook.update(MESSAGE, channel="#kafka", key="worse", delivered=posted)
    webhook.send(MESSAGE, channel="#kafka", key="line", thread=posted.timestamp)
    assert len(hooks.posted) == 1
    webhook.send(MESSAGE, channel="#kafka", key="over", thread=posted.timestamp, broadcast=True)
    assert len(hooks.posted) == 2


def test_that_something_is_over_is_posted_also_where_a_thread_alone_would_say_it(
    hooks: Hooks,
) -> None:
    """What was told in a digest, or ends in a silence, would be open for ever to who read of it."""
    over = replace(MESSAGE, kind=MessageKind.INCIDENT_CLOSED)
    SlackWebhook(hooks.url).send(over, channel="#kafka", key="over", thread="1.1")
    assert len(hooks.posted) == 1


@pytest.mark.parametrize("kind", [MessageKind.DIGEST, MessageKind.ADVICE])
def test_the_rest_of_a_digest_is_a_message(hooks: Hooks, kind: MessageKind) -> None:
    """Readers see the groups that the digest has no room for."""
    rest = replace(MESSAGE, kind=kind)
    SlackWebhook(hooks.url).send(rest, channel="#kafka", key="rest", thread="1.1")
    assert len(hooks.posted) == 1


@pytest.mark.parametrize(
    ("status", "answer", "kind"),
    [(404, "no_service", NotDelivered), (429, "", NotDelivered), (500, "", NotifierError)],
)
def test_what_is_certainly_not_there_is_told_apart(
    hooks: Hooks, status: int, answer: str, kind: type[NotifierError]
) -> None:
    """So that it may give way to what is newer; after a failure of Slack's own it may be there."""
    hooks.answers = [(status, answer)] * 2
    with pytest.raises(NotifierError) as refused:
        send(SlackWebhook(hooks.url))
    assert type(refused.value) is kind


def test_a_token_is_preferred(hooks: Hooks) -> None:
    """The bot can do all that the webhook can."""
    webhook = wiring.notifier(Settings(slack_webhook_url=hooks.url))
    assert isinstance(webhook, SlackWebhook)
    both = Settings(slack_webhook_url=hooks.url, slack_token="xoxb-1")
    assert isinstance(wiring.notifier(both), SlackNotifier)


@pytest.mark.parametrize(
    ("status", "answer", "words"),
    [
        (500, "<html>", "HTTP status 500.*a later run"),
        (429, "rate_limited", "HTTP status 429.*a later run"),
        (403, "action_prohibited", "action_prohibited.*EVENKEEL_SLACK_WEBHOOK_URL"),
        (410, "channel_is_archived", "channel_is_archived.*EVENKEEL_SLACK_WEBHOOK_URL"),
    ],
)
def test_a_refusal_names_what_slack_said_and_no_secret(
    hooks: Hooks, status: int, answer: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What may pass is sent by a later run; all else needs another webhook."""
    hooks.answers = [(status, answer)] * 2
    webhook = SlackWebhook(hooks.url)
    with caplog.at_level(logging.DEBUG), pytest.raises(NotifierError, match=words) as refused:
        send(webhook)
    assert "a-recognizable" not in f"{refused.value}{webhook!r}{caplog.text}"


def test_a_rate_limit_is_waited_for_once(hooks: Hooks) -> None:
    """As long as Slack asks."""
    hooks.answers = [(429, "rate_limited")]
    send(SlackWebhook(hooks.url))
    assert len(hooks.posted) == 1


@pytest.mark.parametrize(
    "url",
    [
        f"http://127.0.0.1:1/services/{SECRET}",
        f"hooks.slack.test/services/{SECRET}",
        f"http://127.0.0.1:1/services/{SECRET} ",
        f"http://127.0.0.1:{SECRET}/",
        f"http://[{SECRET}/",
    ],
)
def test_an_address_that_does_not_answer_is_not_shown(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither by the error nor by its cause."""
    with caplog.at_level(logging.DEBUG), pytest.raises(NotifierError) as failed:
        send(SlackWebhook(url))
    chain = f"{failed.value}{failed.value.__cause__!r}{caplog.text}"
    assert "a-recognizable" not in chain
    assert failed.value.fix


def test_a_check_posts_nothing(hooks: Hooks) -> None:
    """It is known by what Slack says of a message without text; another address is refused."""
    SlackWebhook(hooks.url).check()
    with pytest.raises(NotifierError, match="no_service"):
        SlackWebhook(f"{hooks.url}x").check()
    assert hooks.posted == []
