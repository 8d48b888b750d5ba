"""Who is told: Slack, pagers, and whoever misses us."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...config import Settings, Webhook
from ...model.text import listed
from .check import OK, WARN, Check, checked


def slack(settings: Settings) -> Check:
    """Whether Slack takes the token, or has the incoming webhook."""
    if settings.slack_token is not None:
        return checked("slack", lambda: _slack(settings))
    if settings.slack_webhook_url is not None:
        return checked("slack", lambda: _incoming(settings))
    fix = (
        "Set EVENKEEL_SLACK_TOKEN (without a bot EVENKEEL_SLACK_WEBHOOK_URL), or the Airflow connection "
        "evenkeel_slack; until then alerts go to the log."
    )
    return Check(name="slack", outcome=WARN, detail="no token is configured.", fix=fix)


def _slack(settings: Settings) -> Check:
    from ...adapters.slack.check import who_am_i

    assert settings.slack_token is not None
    channel = settings.slack_channel
    who = who_am_i(settings.slack_token.get_secret_value(), settings.slack_base_url, channel)
    return Check(name="slack", outcome=OK, detail=f"{who}; default channel {channel}")


def _incoming(settings: Settings) -> Check:
    from ...adapters.slack import SlackWebhook

    assert settings.slack_webhook_url is not None
    webhook = SlackWebhook(settings.slack_webhook_url.get_secret_value())
    webhook.check()
    detail = (
        f"an incoming webhook at {webhook.host}; it neither threads nor changes messages, and may double one after a "
        "failure"
    )
    unheard = sorted({rule.channel for rule in settings.rules if rule.channel})
    if unheard:
        fix = "All goes to the webhook's own channel; a bot's token reaches others."
        return Check(
            name="slack", outcome=WARN, detail=f"{detail}; rules name {listed(unheard)}.", fix=fix
        )
    return Check(name="slack", outcome=OK, detail=detail)


def pagers(settings: Settings) -> Iterator[Check]:
    """Each webhook that pages, and the heartbeat, as far as they can be asked without paging anybody."""
    from ...adapters.webhook.check import host_of_heartbeat

    for name, webhook in sorted(settings.webhooks.items()):
        yield checked("webhook", partial(_webhook, name, webhook))
    if settings.heartbeat_url is None:
        fix = "Set EVENKEEL_HEARTBEAT_URL, or the Airflow connection evenkeel_heartbeat."
        detail = "none is configured: nobody outside misses evenkeel when it stands still."
        yield Check(name="heartbeat", outcome=WARN, detail=detail, fix=fix)
        return
    address = settings.heartbeat_url.get_secret_value()
    yield checked(
        "heartbeat",
        lambda: Check(name="heartbeat", outcome=OK, detail=host_of_heartbeat(address)),
    )


def _webhook(name: str, webhook: Webhook) -> Check:
    from ...adapters.webhook.check import lacking, who_answers
    from ...adapters.webhook.notifier import secret_fix

    if missing := lacking(webhook):
        detail = f"{name}: no {missing} is configured."
        return Check(name="webhook", outcome=WARN, detail=detail, fix=secret_fix(name))
    return Check(name="webhook", outcome=OK, detail=f"{name}: {who_answers(name, webhook)}")
