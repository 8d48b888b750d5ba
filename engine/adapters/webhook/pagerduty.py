"""
An incident as an event of PagerDuty's Events API v2: a pure function.

Format and limits: https://developer.pagerduty.com/docs/events-api-v2/trigger-events/ and .../overview/
"""

from __future__ import annotations

import hashlib
from typing import Any

from ...model.message import AlertMessage, MessageKind, Subject
from ...model.text import shortened

ADDRESS = "https://events.pagerduty.com"
"""Of the service region US; the other one is https://events.eu.pagerduty.com."""

PATH = "/v2/enqueue"

KEY_LIMIT = 255
SUMMARY_LIMIT = 1024
DETAIL_LIMIT = 3_000
DETAILS = 10
"""Sections of a message that are sent: with the length limits, that is far below 512 KB."""

LINKS = {"report": "Report", "runbook": "Runbook", "run": "DAG run"}
"""Labels of the links of a message."""


def event(message: AlertMessage, subject: Subject, routing_key: str) -> dict[str, Any]:
    """
    The event that opens, updates or resolves an incident.

    Args:
        message: The message.
        subject: The incident; its key identifies one alert.
        routing_key: The integration key of a service or an event orchestration.
    """
    known: dict[str, Any] = {"routing_key": routing_key, "dedup_key": dedup_key(subject.key)}
    if message.kind is MessageKind.INCIDENT_CLOSED:
        return known | {"event_action": "resolve"}
    payload = {
        "summary": shortened(f"{message.title}: {message.spoken}", SUMMARY_LIMIT),
        "source": subject.cluster,
        "severity": subject.severity.value,
        "timestamp": message.at.isoformat(timespec="milliseconds"),
        "class": subject.cause,
        "custom_details": _details(message, subject),
    } | ({"component": subject.group_id} if subject.group_id else {})
    links = [{"href": address, "text": LINKS[word]} for word, address in message.links.items()]
    trigger = {"event_action": "trigger", "client": "evenkeel", "payload": payload}
    return known | trigger | ({"links": links} if links else {})


def dedup_key(key: str) -> str:
    """
    The key of an incident, within the limit and still its own.

    >>> dedup_key("eu/pay/s1"), len(dedup_key("g" * 300))
    ('eu/pay/s1', 255)
    """
    if len(key) <= KEY_LIMIT:
        return key
    digest = hashlib.sha256(key.encode()).hexdigest()
    return f"{key[: KEY_LIMIT - len(digest) - 1]}#{digest}"


def _details(message: AlertMessage, subject: Subject) -> dict[str, str]:
    details = {"since": subject.began_at.isoformat(timespec="seconds")}
    if subject.owner:
        details["owner"] = subject.owner
    parts: dict[str, list[str]] = {}
    for section in message.sections[:DETAILS]:
        parts.setdefault(section.heading or "details", []).extend((*section.lines, *section.code))
    texts = {heading: shortened("\n".join(lines), DETAIL_LIMIT) for heading, lines in parts.items()}
    return {**details, **texts}
