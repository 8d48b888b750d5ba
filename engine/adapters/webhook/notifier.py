"""
Sends incidents to a webhook, each under one key from its opening to its end.

A repeated call changes nothing, because the receiver knows the key.
"""

from __future__ import annotations

from typing import Any

import httpx

from ...config import Webhook
from ...model.errors import NotDelivered
from ...model.logs import logger
from ...model.message import AlertMessage, Subject
from ...ports import Delivered
from . import alertmanager, pagerduty
from .http_call import call

log = logger(__name__)


class WebhookNotifier:
    """A webhook of the configuration, as the port `Notifier`; for incidents only, without threads."""

    def __init__(self, name: str, webhook: Webhook) -> None:
        """
        Args:
            name: Its name in the configuration.
            webhook: Its configuration.
        """
        self.name = name
        self._format = webhook.format
        self._url, self._key = webhook.address, webhook.token

    def __repr__(self) -> str:
        return f"WebhookNotifier({self.name!r})"

    def send(
        self,
        message: AlertMessage,
        *,
        channel: str,
        key: str,
        thread: str | None = None,
        broadcast: bool = False,
    ) -> Delivered:
        """Open, update or end the incident of a message; messages without an incident are skipped."""
        subject = message.subject
        if subject is None:
            log.info("%s has no incident: not sent to %s.", key, channel)
            return Delivered(channel=channel, timestamp=key)
        if self._format == "pagerduty":
            self._page(message, subject)
        else:
            self._alert(message, subject)
        return Delivered(channel=channel, timestamp=subject.key)

    def update(
        self, message: AlertMessage, *, channel: str, key: str, delivered: Delivered
    ) -> Delivered:
        """Update the incident, which the receiver knows by its key."""
        return self.send(message, channel=channel, key=key)

    def _page(self, message: AlertMessage, subject: Subject) -> None:
        routing_key = self._given(self._key, "key, the routing key")
        address = f"{self._url or pagerduty.ADDRESS}{pagerduty.PATH}"
        event = pagerduty.event(message, subject, routing_key)
        self._call("POST", address, json=event, hidden=(routing_key,))

    def _alert(self, message: AlertMessage, subject: Subject) -> None:
        """Send the present alert, and the ends of the other alerts of the incident."""
        address = f"{self._given(self._url, 'url')}{alertmanager.PATH}"
        alert = alertmanager.alert_of(message, subject)
        others = [one for one in self._active(address, subject) if one["labels"] != alert["labels"]]
        posted = [alert, *alertmanager.ended(others, message)]
        self._call("POST", address, json=posted, token=self._key)

    def _active(self, address: str, subject: Subject) -> list[alertmanager.Alert]:
        answer = self._call("GET", address, params=alertmanager.query(subject), token=self._key)
        try:
            return list(answer.json())
        except (ValueError, TypeError) as problem:
            raise NotDelivered(
                f"webhook {self.name!r} doesn't answer like an Alertmanager.",
                fix=secret_fix(self.name),
            ) from problem

    def _call(self, method: str, url: str, **rest: Any) -> httpx.Response:
        return call(f"webhook {self.name!r}", method, url, fix=secret_fix(self.name), **rest)

    def _given(self, secret: str | None, what: str) -> str:
        if secret is None:
            raise NotDelivered(f"webhook {self.name!r} has no {what}.", fix=secret_fix(self.name))
        return secret


def secret_fix(name: str) -> str:
    """The fix for wrong secrets of a webhook."""
    return (
        f"Correct url and key of webhook {name!r}: the Airflow connection evenkeel_webhook_{name}, "
        "or EVENKEEL_WEBHOOKS."
    )
