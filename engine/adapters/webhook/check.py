"""Checks of webhooks without an alert, for `evenkeel doctor`."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from ...config import Webhook
from ...model.errors import NotifierError
from ...model.text import host_of
from . import alertmanager, pagerduty
from .heartbeat import FIX
from .http_call import call
from .notifier import secret_fix

ROUTING_KEY = 32
"""Characters of PagerDuty's integration keys."""


def who_answers(name: str, webhook: Webhook) -> str:
    """
    The receiver at the address of a webhook, and the limits of the check.

    Raises:
        NotifierError: No receiver answers, or another program does, or the key is invalid.
    """
    if webhook.format == "pagerduty":
        return _pagerduty(name, webhook)
    return _alertmanager(name, webhook)


def lacking(webhook: Webhook) -> str | None:
    """Which secret a webhook needs and does not have."""
    needed = "key" if webhook.format == "pagerduty" else "url"
    return needed if getattr(webhook, needed) is None else None


def _alertmanager(name: str, webhook: Webhook) -> str:
    what, fix = f"webhook {name!r}", secret_fix(name)
    url = webhook.address or ""
    answer = call(what, "GET", url + alertmanager.STATUS, fix=fix, token=webhook.token)
    try:
        status: dict[str, Any] = answer.json()
        version = status["versionInfo"]["version"]
    except (ValueError, KeyError, TypeError) as problem:
        wrong = f"{what} at {host_of(url)} doesn't answer like an Alertmanager."
        raise NotifierError(wrong, fix=fix) from problem
    return f"Alertmanager {version} at {host_of(url)}"


def _pagerduty(name: str, webhook: Webhook) -> str:
    what, fix = f"webhook {name!r}", secret_fix(name)
    length = len(webhook.token or "")
    if length != ROUTING_KEY:
        has = (
            f"a key of {length} characters; PagerDuty's routing keys have {ROUTING_KEY}"
            if length
            else "no key"
        )
        raise NotifierError(f"{what} has {has}.", fix=fix)
    url = webhook.address or pagerduty.ADDRESS
    call(what, "GET", _top(url), fix=fix, any_answer=True)
    return f"{host_of(url)} answers; the key was not checked, because that would open an incident"


def host_of_heartbeat(url: str) -> str:
    """
    Check the host of the heartbeat, without a call of the address itself.

    Raises:
        NotifierError: The host doesn't answer.
    """
    call("the heartbeat", "GET", _top(url), fix=FIX, any_answer=True)
    return f"{host_of(url)} answers; the address itself was not called, because that would count as a good run"


def _top(url: str) -> str:
    """The address of the host; an invalid address stays unchanged, for the error."""
    host = host_of(url)
    return f"{urlsplit(url).scheme}://{host}/" if host else url
