"""
An incident as Alertmanager's alerts: pure functions.

Labels identify an alert. If the cause or severity of an incident changes, it becomes another alert, and evenkeel ends
the previous one, which it finds in Alertmanager by the label `incident`.

An alert fires until its `endsAt`, or without one until `resolve_timeout` after it was last sent. evenkeel sends each
change once, so open alerts get an end far in the future.

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
"""An open incident ends in Alertmanager after this time without news."""

Alert = dict[str, Any]


def alert_of(message: AlertMessage, subject: Subject) -> Alert:
    """The alert of an incident, firing or ended, from its message."""
    ends = message.at if message.kind is MessageKind.INCIDENT_CLOSED else message.at + OPEN_FOR
    alert: Alert = {
        "labels": labels(subject),
        "annotations": text_of(message),
        "startsAt": _moment(min(subject.began_at, message.at)),
        "endsAt": _moment(ends),
    }
    return alert | ({"generatorURL": message.link} if message.link else {})


def ended(others: Iterable[Mapping[str, Any]], message: AlertMessage) -> list[Alert]:
    """The ends of outdated alerts of an incident in Alertmanager."""
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
    """The labels for identity and routing; labels without a value are left out."""
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
    """The query for the active alerts of an incident."""
    return {"filter": f"incident={json.dumps(subject.key, ensure_ascii=False)}"}


def _moment(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
