"""Programs that page people, against a server on real sockets that holds what is sent against their formats."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import SecretStr

from evenkeel.engine.adapters.webhook import WebhookNotifier, http_call, pagerduty
from evenkeel.engine.config import Webhook
from evenkeel.engine.model.errors import NotDelivered, NotifierError
from evenkeel.engine.model.message import AlertMessage, MessageKind, Section, Severity, Subject
from tests.helpers.outbox import NOW
from tests.helpers.pages import KEY, Pages, PageServer, Trouble

pytestmark = pytest.mark.slow

pytest_plugins = ("tests.helpers.pages_fixtures",)

SUBJECT = Subject(
    key="eu/pay-in/s1",
    cluster="eu",
    group_id="pay-in",
    cause="catching up",
    severity=Severity.WARNING,
    owner="team money",
    began_at=NOW - timedelta(minutes=5),
)
OPENED = AlertMessage(
    kind=MessageKind.INCIDENT_OPENED,
    severity=Severity.WARNING,
    at=NOW,
    title="pay-in (eu): 20 minutes behind",
    summary="The oldest record that it has not read is 20 minutes old.",
    sections=(Section(heading="What to do", lines=("Look:",), code=("evenkeel lag pay-in",)),),
    subject=SUBJECT,
    link="http://airflow.test/runs/1",
    report="http://airflow.test/pages/groups?cluster=eu&group=pay-in",
    runbook="http://airflow.test/pages/diagnoses/catching-up/",
)
WORSE = replace(
    OPENED,
    kind=MessageKind.INCIDENT_WORSE,
    severity=Severity.CRITICAL,
    at=NOW + timedelta(minutes=5),
    subject=replace(SUBJECT, cause="no members", severity=Severity.CRITICAL),
)
CLOSED = replace(
    WORSE,
    kind=MessageKind.INCIDENT_CLOSED,
    severity=Severity.RESOLVED,
    at=NOW + timedelta(minutes=10),
)


def notifier(server: PageServer, format: str, key: str | None = KEY) -> WebhookNotifier:
    """The server as a webhook of the configuration."""
    url = f"{server.url}/"
    return WebhookNotifier(
        "oncall",
        Webhook(format=format, url=SecretStr(url), key=SecretStr(key) if key else None),
    )


def tell(webhook: WebhookNotifier, *messages: AlertMessage) -> None:
    """Send messages, each under a key of its own."""
    for number, message in enumerate(messages):
        webhook.send(message, channel="webhook:oncall", key=f"k{number}")


def test_pagerduty_gets_one_alert_from_opening_to_end(server: PageServer, pages: Pages) -> None:
    """Trigger, trigger, resolve, of one key, with the fields of its format."""
    tell(notifier(server, "pagerduty"), OPENED, WORSE, CLOSED)
    assert pages.events == [
        {
            "routing_key": KEY,
            "dedup_key": "eu/pay-in/s1",
            "event_action": "trigger",
            "client": "evenkeel",
            "payload": {
                "summary": f"{OPENED.title}: {OPENED.summary}",
                "source": "eu",
                "severity": "warning",
                "timestamp": "2026-03-01T09:00:00.000+00:00",
                "component": "pay-in",
                "class": "catching up",
                "custom_details": {
                    "since": "2026-03-01T08:55:00+00:00",
                    "owner": "team money",
                    "What to do": "Look:\nevenkeel lag pay-in",
                },
            },
            "links": [
                {"href": OPENED.report, "text": "Report"},
                {"href": OPENED.runbook, "text": "Runbook"},
                {"href": "http://airflow.test/runs/1", "text": "DAG run"},
            ],
        },
        pages.events[1],
        {"routing_key": KEY, "dedup_key": "eu/pay-in/s1", "event_action": "resolve"},
    ]
    second = pages.events[1]
    assert (second["event_action"], second["dedup_key"]) == ("trigger", "eu/pay-in/s1")
    assert (second["payload"]["severity"], second["payload"]["class"]) == ("critical", "no members")


def test_pagerduty_gets_no_more_than_it_takes(server: PageServer, pages: Pages) -> None:
    """Names as long as Kafka allows, and a message as long as any, stay within its limits, each key its own."""
    long = "g" * 40_000
    many = tuple(Section(heading=f"{n}", lines=("ü" * 50_000,)) for n in range(30))
    groups = [replace(SUBJECT, key=f"eu/{long}/{n}", group_id=long) for n in range(2)]
    tell(
        notifier(server, "pagerduty"),
        *(replace(OPENED, title=long, sections=many, subject=group) for group in groups),
    )
    assert len({event["dedup_key"] for event in pages.events}) == 2


def test_a_cluster_is_no_component(server: PageServer, pages: Pages) -> None:
    """What concerns a whole cluster names no group, to neither of them."""
    nowhere = replace(OPENED, link=None, report=None, runbook=None)
    whole = replace(nowhere, subject=replace(SUBJECT, group_id=None, owner=None))
    tell(notifier(server, "pagerduty"), whole)
    tell(notifier(server, "alertmanager"), whole)
    assert "component" not in pages.events[0]["payload"]
    assert "links" not in pages.events[0]
    [[alert]] = pages.posted
    assert alert["labels"]["alertname"] == "EvenkeelPipeline"
    assert {"group", "owner"}.isdisjoint(alert["labels"])
    assert "generatorURL" not in alert
    assert {"report", "runbook_url"}.isdisjoint(alert["annotations"])


def test_alertmanager_gets_what_is_open_far_ahead_of_its_end(
    server: PageServer, pages: Pages
) -> None:
    """One alert with the labels to route by, which does not end by being told once only."""
    tell(notifier(server, "alertmanager"), OPENED)
    [[alert]] = pages.posted
    assert alert["labels"] == {
        "alertname": "KafkaConsumerGroup",
        "cluster": "eu",
        "group": "pay-in",
        "cause": "catching up",
        "severity": "warning",
        "owner": "team money",
        "incident": "eu/pay-in/s1",
    }
    assert alert["annotations"]["summary"] == OPENED.title
    assert alert["annotations"]["description"].startswith(OPENED.summary)
    assert "evenkeel lag pay-in" in alert["annotations"]["description"]
    assert (alert["startsAt"], alert["endsAt"]) == (
        "2026-03-01T08:55:00.000+00:00",
        "2026-03-31T09:00:00.000+00:00",
    )
    assert alert["generatorURL"] == "http://airflow.test/runs/1"
    assert alert["annotations"]["report"] == OPENED.report
    assert alert["annotations"]["runbook_url"] == OPENED.runbook


def test_alertmanager_has_one_open_alert_of_an_incident(server: PageServer, pages: Pages) -> None:
    """Another cause makes another alert, and ends the one before in the same call; the end leaves none."""
    webhook = notifier(server, "alertmanager")
    tell(webhook, OPENED, WORSE)
    now, before = pages.posted[1]
    assert (now["labels"]["cause"], now["labels"]["severity"]) == ("no members", "critical")
    assert before["labels"] == pages.posted[0][0]["labels"]
    assert before["endsAt"] == "2026-03-01T09:05:00.000+00:00"
    pages.now = WORSE.at
    tell(webhook, CLOSED)
    [ended] = pages.posted[2]
    assert ended["labels"] == now["labels"]
    assert ended["endsAt"] == "2026-03-01T09:10:00.000+00:00"
    pages.now = CLOSED.at
    assert pages.active('incident="eu/pay-in/s1"') == []


def test_what_is_told_twice_changes_nothing(server: PageServer, pages: Pages) -> None:
    """A run that was killed after it sent sends again."""
    webhook = notifier(server, "alertmanager")
    tell(webhook, OPENED, OPENED, WORSE, WORSE)
    assert [len(alerts) for alerts in pages.posted] == [1, 1, 2, 2]
    pages.now = WORSE.at
    assert len(pages.active('incident="eu/pay-in/s1"')) == 1
    tell(webhook, CLOSED)
    pages.now = CLOSED.at
    tell(webhook, CLOSED)
    assert pages.posted[-1] == pages.posted[-2]


def test_an_alertmanager_that_was_restarted_hears_of_the_end(
    server: PageServer, pages: Pages
) -> None:
    """It has forgotten the alert, and what it told others of it has to be taken back all the same."""
    webhook = notifier(server, "alertmanager")
    tell(webhook, OPENED, WORSE)
    pages.alerts.clear()
    tell(webhook, CLOSED)
    [ended] = pages.posted[-1]
    assert ended["labels"] == pages.posted[1][0]["labels"]
    assert ended["endsAt"] == "2026-03-01T09:10:00.000+00:00"


def test_an_opening_that_is_told_again_with_another_cause_is_one_alert(
    server: PageServer, pages: Pages
) -> None:
    """As it is of what became worse after many were told at once."""
    tell(notifier(server, "alertmanager"), OPENED, replace(WORSE, kind=OPENED.kind))
    pages.now = WORSE.at
    [alert] = pages.active('incident="eu/pay-in/s1"')
    assert alert["labels"]["cause"] == "no members"


def test_the_end_of_an_incident_ends_no_other(server: PageServer, pages: Pages) -> None:
    """Also of one whose name has to be quoted."""
    webhook = notifier(server, "alertmanager")
    odd = replace(OPENED, subject=replace(SUBJECT, key='eu/"pay\\in"/s1'))
    tell(webhook, OPENED, odd, replace(CLOSED, subject=odd.subject))
    pages.now = CLOSED.at
    assert len(pages.active('incident="eu/pay-in/s1"')) == 1


def test_alertmanager_gets_a_token_and_pagerduty_none(server: PageServer, pages: Pages) -> None:
    """The key is a bearer token to the one and part of the event to the other."""
    tell(notifier(server, "alertmanager"), OPENED)
    tell(notifier(server, "alertmanager", key=None), OPENED)
    tell(notifier(server, "pagerduty"), OPENED)
    asked = [headers.get("Authorization") for headers in pages.headers]
    assert asked == [*[f"Bearer {KEY}"] * 2, *[None] * 2, None]


@pytest.mark.parametrize("kind", [MessageKind.DIGEST, MessageKind.ADVICE, MessageKind.QUIET])
def test_nobody_is_paged_for_what_is_no_incident(
    server: PageServer, pages: Pages, kind: MessageKind
) -> None:
    """A message without a subject counts as told."""
    tell(notifier(server, "pagerduty"), replace(OPENED, kind=kind, subject=None))
    assert pages.calls == []


TROUBLES = [
    (Trouble(status=429), "HTTP status 429.*A later run retries"),
    (Trouble(status=500, body="oops"), "HTTP status 500.*A later run retries"),
    (Trouble(status=503, done=True), "HTTP status 503.*A later run retries"),
    (Trouble(drop=True), "cannot be reached.*A later run retries"),
    (Trouble(seconds=0.5), "didn't answer within.*A later run retries"),
    (Trouble(status=302), "HTTP status 302.*evenkeel_webhook_oncall"),
    (Trouble(status=403, body=KEY), "HTTP status 403.*evenkeel_webhook_oncall"),
    (Trouble(status=400, body=f"no {KEY}\n  here"), r"400: no \*\*\* here.*EVENKEEL_WEBHOOKS"),
]


@pytest.mark.parametrize(("trouble", "words"), TROUBLES)
@pytest.mark.parametrize("format", ["alertmanager", "pagerduty"])
def test_a_failure_is_an_error_and_the_next_run_tells_it(
    server: PageServer,
    pages: Pages,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    trouble: Trouble,
    words: str,
    format: str,
) -> None:
    """It names the webhook and what to do, and no secret, neither in the error nor in any log."""
    pages.troubles.append(trouble)
    webhook = notifier(server, format)
    with monkeypatch.context() as patch, caplog.at_level(logging.DEBUG):
        if trouble.seconds:
            patch.setattr(http_call, "TIMEOUT_SECONDS", 0.2)
        with pytest.raises(NotifierError, match=words) as failed:
            tell(webhook, OPENED)
    assert "webhook 'oncall'" in str(failed.value)
    assert KEY not in str(failed.value) + caplog.text
    tell(webhook, OPENED)
    known = {event["dedup_key"] for event in pages.events} | set(pages.alerts)
    assert len(known) == 1


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (Trouble(status=429), NotDelivered),
        (Trouble(status=404), NotDelivered),
        (Trouble(status=500), NotifierError),
        (Trouble(drop=True), NotifierError),
    ],
)
def test_what_was_certainly_not_taken_is_told_apart(
    server: PageServer, pages: Pages, trouble: Trouble, kind: type[NotifierError]
) -> None:
    """So that it may give way to what is newer."""
    pages.troubles.append(trouble)
    with pytest.raises(NotifierError) as failed:
        tell(notifier(server, "pagerduty"), OPENED)
    assert type(failed.value) is kind


def test_a_server_that_is_gone_is_an_error(server: PageServer) -> None:
    """Nobody listens there any more."""
    webhook = notifier(server, "pagerduty")
    server.server_close()
    with pytest.raises(
        NotifierError, match=r"webhook 'oncall' at 127\.0\.0\.1:\d+ cannot be reach"
    ):
        tell(webhook, OPENED)


def test_an_answer_of_somebody_else_is_an_error(server: PageServer, pages: Pages) -> None:
    """What is not Alertmanager's list ends nothing."""
    pages.troubles.append(Trouble(status=200, body="<html>"))
    with pytest.raises(NotifierError, match="doesn't answer like an Alertmanager"):
        tell(notifier(server, "alertmanager"), WORSE)
    assert pages.posted == []


@pytest.mark.parametrize(
    "url",
    [
        "a-secret-token@pages.test/x",
        "ftp://u:a-secret-token@pages.test/x",
        "http://",
        "http://[a-secret-token/",
        "http://pages.test:a-secret-token/",
        "http://u:a-secret-token@127.0.0.1:1/a-secret-token",
    ],
)
def test_no_part_of_an_address_but_its_host_is_shown(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither by an error, nor by its cause, a repr or a log."""
    webhook = WebhookNotifier("oncall", Webhook(format="alertmanager", url=SecretStr(url)))
    with caplog.at_level(logging.DEBUG), pytest.raises(NotifierError) as failed:
        tell(webhook, OPENED)
    chain = f"{failed.value!s}{failed.value!r}{failed.value.__cause__!r}{webhook!r}{caplog.text}"
    assert "a-secret-token" not in chain


@pytest.mark.parametrize(("format", "lacks"), [("pagerduty", "no key"), ("alertmanager", "no url")])
def test_a_webhook_without_its_secret_says_where_to_set_it(format: str, lacks: str) -> None:
    """Not every command needs it, so it is missed when somebody is to be paged."""
    with pytest.raises(NotifierError, match=f"'oncall' has {lacks}.* evenkeel_webhook_oncall"):
        tell(WebhookNotifier("oncall", Webhook(format=format)), OPENED)


def test_without_an_address_pagerduty_has_its_own() -> None:
    """That of its service region US."""
    assert pagerduty.ADDRESS + pagerduty.PATH == "https://events.pagerduty.com/v2/enqueue"
