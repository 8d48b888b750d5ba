"""
An incident as Alertmanager's alerts: pure functions.

Labels are what an alert is known by, so an incident whose cause or severity changes becomes another alert, and the one
before must be ended; which that is, Alertmanager itself says, by the label `incident`.

An alert is firing until its `endsAt`, and one that gives none until `resolve_timeout` after it was sent last. A client
is expected to send it again and again; we tell each change once, so what is open gets an end far ahead.

Format: https://prometheus.io/docs/alerting/latest/alerts_api/ and api/v2/openapi.yaml of
    https://github.com/prometheus/alertmanager
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ...messages.length import plain_text
from ...model.message import AlertMessage, MessageKind, Subject

PATH = "/api/v2/alerts"
STATUS = "/api/v2/status"

OPEN_FOR = timedelta(days=30)
"""After so long without news an open incident ends by itself in Alertmanager."""

Alert = dict[str, Any]


def alert_of(message: AlertMessage, subject: Subject) -> Alert:
    """The alert of an incident, firing or ended, as a message tells of it."""
    ends = message.at if message.kind is MessageKind.INCIDENT_CLOSED else message.at + OPEN_FOR
    alert: Alert = {
        "labels": labels(subject),
        "annotations": text_of(message),
        "startsAt": _moment(min(subject.began_at, message.at)),
        "endsAt": _moment(ends),
    }
    return alert | ({"generatorURL": message.link} if message.link else {})


def ended(others: Iterable[Mapping[str, Any]], message: AlertMessage) -> list[Alert]:
    """What ends alerts of an incident that Alertmanager has, and that it is not any more."""
    return [
        {
            "labels": other["labels"],
            "annotations": text_of(message),
            "startsAt": other["startsAt"],
            "endsAt": _moment(max(message.at, datetime.fromisoformat(other["startsAt"]))),
        }
        for other in others
    ]


def labels(subject: Subject) -> dict[str, str]:
    """What the alert is known and routed by; a label without a value is left out."""
    known = {
        "alertname": "KafkaConsumerGroup" if subject.group_id else "EvenkeelPipeline",
        "cluster": subject.cluster,
        "group": subject.group_id,
        "cause": subject.cause,
        "severity": subject.severity.value,
        "owner": subject.owner,
        "incident": subject.key,
    }
    return {name: value for name, value in known.items() if value}


def text_of(message: AlertMessage) -> dict[str, str]:
    """
    Its annotations: the title, all the rest, and the addresses of the page about the group and of the one about the
    diagnosis. Mentions are left out: only Slack understands them.
    """
    _, _, rest = plain_text(replace(message, mention=None)).partition("\n\n")
    text = {"summary": message.title, "description": rest}
    pages = {"report": message.report, "runbook_url": message.runbook}
    return text | {name: address for name, address in pages.items() if address}


def query(subject: Subject) -> dict[str, str]:
    """Asks for the alerts of an incident that have not ended."""
    return {"filter": f"incident={json.dumps(subject.key, ensure_ascii=False)}"}


def _moment(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
