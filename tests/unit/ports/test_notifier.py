"""What the port `Notifier` promises, of the fake and of Slack."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenkeel.engine.adapters.slack import SlackNotifier
from evenkeel.engine.model.errors import NotifierError
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from evenkeel.engine.ports import Delivered, Notifier
from tests.helpers.memory import MemoryNotifier
from tests.helpers.outbox import NOW, refusal

pytest_plugins = ("tests.helpers.slack_fixtures",)

MESSAGE = AlertMessage(
    kind=MessageKind.ADVICE, severity=Severity.INFO, at=NOW, title="t", summary="s"
)


@pytest.fixture(params=["memory", "slack"])
def notifier(request: pytest.FixtureRequest) -> Notifier:
    """A notifier that knows the channel #kafka, and none called #nowhere."""
    if request.param == "memory":
        return MemoryNotifier({"#nowhere": refusal("#nowhere")})
    server = request.getfixturevalue("slack_server")
    return SlackNotifier("xoxb-test", server.base_url, pause=lambda seconds: None)


@pytest.mark.slow
def test_what_was_delivered_under_a_key_is_found(notifier: Notifier) -> None:
    """Sent again it is the same message; under another key it is another one."""
    first = notifier.send(MESSAGE, channel="#kafka", key="a")
    assert notifier.send(MESSAGE, channel="#kafka", key="a") == first
    assert notifier.send(MESSAGE, channel="#kafka", key="b") != first


@pytest.mark.slow
def test_an_answer_is_a_message_of_its_own(notifier: Notifier) -> None:
    """In the thread of the first one, and found by its key as any other."""
    first = notifier.send(MESSAGE, channel="#kafka", key="opened")
    ending = replace(MESSAGE, severity=Severity.RESOLVED)
    answer = notifier.send(ending, channel="#kafka", key="closed", thread=first.timestamp)
    assert answer.channel == first.channel
    assert answer.timestamp != first.timestamp
    again = notifier.send(ending, channel="#kafka", key="closed", thread=first.timestamp)
    assert again == answer


@pytest.mark.slow
def test_a_refusal_names_the_channel_and_a_fix(notifier: Notifier) -> None:
    """What cannot be delivered is one error, and holds nothing else up."""
    with pytest.raises(NotifierError, match="#nowhere") as refused:
        notifier.send(MESSAGE, channel="#nowhere", key="a")
    assert refused.value.fix
    assert notifier.send(MESSAGE, channel="#kafka", key="a").timestamp


@pytest.mark.slow
def test_a_change_stays_where_the_message_is(notifier: Notifier) -> None:
    """However often it is made; the message is found by its own key as before."""
    first = notifier.send(MESSAGE, channel="#kafka", key="opened")
    worse = replace(MESSAGE, severity=Severity.CRITICAL)
    for _ in range(2):
        assert notifier.update(worse, channel="#kafka", key="worse", delivered=first) == first
    assert notifier.send(MESSAGE, channel="#kafka", key="opened") == first


@pytest.mark.slow
def test_a_change_of_a_message_that_is_gone_is_a_message(notifier: Notifier) -> None:
    """Found by the key of the change when that is made again."""
    gone = Delivered(channel="C0KAFKA001", timestamp="1700000000.000001")
    anew = notifier.update(MESSAGE, channel="#kafka", key="worse", delivered=gone)
    assert anew != gone
    assert notifier.update(MESSAGE, channel="#kafka", key="worse", delivered=gone) == anew
