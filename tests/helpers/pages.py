"""
A local server that speaks what evenkeel uses of Alertmanager and PagerDuty, as strict about formats and limits as they
are documented, and answers any other GET, as a heartbeat's service does.

Alertmanager: api/v2/openapi.yaml of https://github.com/prometheus/alertmanager. PagerDuty:
https://developer.pagerduty.com/docs/events-api-v2/trigger-events/
"""

from __future__ import annotations

import json
import socket
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.stage.serving import LocalServer, Quiet, serving

Json = dict[str, Any]

KEY = "r0uting0key0of0a0test0r0uting0ke"
"""A routing key of PagerDuty, as tests have it."""

LIMITS = {"summary": 1024, "dedup_key": 255}
EVENT = {"routing_key", "event_action", "dedup_key", "payload", "images", "links", "client", "client_url"}  # fmt: skip
PAYLOAD = {"summary", "source", "severity", "timestamp", "component", "group", "class", "custom_details"}  # fmt: skip
ALERT = {"labels", "annotations", "startsAt", "endsAt", "generatorURL"}


class RefusedError(Exception):
    """What was sent is not of the format."""


@dataclass(frozen=True)
class Trouble:
    """What happens to one call: an answer of a status, no answer for some seconds, or a connection that breaks."""

    status: int | None = None
    body: str = ""
    seconds: float = 0.0
    drop: bool = False
    done: bool = False
    """Whether what was asked is done before."""


@dataclass
class Pages:
    """What was asked, in order, and what it came to."""

    calls: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)
    posted: list[list[Json]] = field(default_factory=list)
    alerts: dict[str, Json] = field(default_factory=dict)
    troubles: deque[Trouble] = field(default_factory=deque)
    now: datetime | None = None

    def enqueue(self, event: Json) -> Json:
        """PagerDuty's `POST /v2/enqueue`."""
        _require(set(event) <= EVENT, f"unknown: {set(event) - EVENT}")
        _require(len(event.get("routing_key", "")) == 32, "Length of 'routing_key' is incorrect")
        _require(event["event_action"] in ("trigger", "acknowledge", "resolve"), "event_action")
        _require(len(event["dedup_key"]) <= LIMITS["dedup_key"], "dedup_key is too long")
        _require(len(json.dumps(event)) <= 512 * 1024, "event is too large")
        if event["event_action"] == "trigger":
            payload = event["payload"]
            _require(set(payload) <= PAYLOAD, f"unknown: {set(payload) - PAYLOAD}")
            _require(0 < len(payload["summary"]) <= LIMITS["summary"], "summary")
            _require(bool(payload["source"]), "source")
            _require(payload["severity"] in ("critical", "error", "warning", "info"), "severity")
            _require(datetime.fromisoformat(payload["timestamp"]).tzinfo is not None, "timestamp")
            _require(all(set(link) <= {"href", "text"} for link in event.get("links", ())), "links")
        self.events.append(event)
        return {"status": "success", "message": "Event processed", "dedup_key": event["dedup_key"]}

    def put(self, alerts: list[Json]) -> None:
        """Alertmanager's `POST /api/v2/alerts`."""
        for alert in alerts:
            _require(set(alert) <= ALERT, f"unknown: {set(alert) - ALERT}")
            texts = [*alert["labels"].values(), *alert.get("annotations", {}).values()]
            _require(
                all(isinstance(text, str) for text in texts), "labels and annotations are texts"
            )
            _require(bool(alert["labels"].get("alertname")), "alertname")
            starts, ends = (datetime.fromisoformat(alert[key]) for key in ("startsAt", "endsAt"))
            _require(starts.tzinfo is not None and ends.tzinfo is not None, "RFC 3339")
            _require(starts <= ends, "start time must be before end time")
        self.posted.append(alerts)
        self.alerts |= {json.dumps(alert["labels"], sort_keys=True): alert for alert in alerts}

    def active(self, matcher: str) -> list[Json]:
        """Alertmanager's `GET /api/v2/alerts`, of one matcher: what has not ended."""
        name, _, value = matcher.partition("=")
        now = self.now or datetime.now(UTC)
        return [
            alert
            for alert in self.alerts.values()
            if alert["labels"].get(name) == json.loads(value)
            if datetime.fromisoformat(alert["endsAt"]) > now
        ]


def _require(fits: bool, what: str) -> None:
    if not fits:
        raise RefusedError(what)


class _Handler(Quiet, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: PageServer

    def do_POST(self) -> None:
        self._answer_to(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def do_GET(self) -> None:
        self._answer_to(None)

    def _answer_to(self, content: Any) -> None:
        pages = self.server.pages
        pages.calls.append((self.command, self.path))
        pages.headers.append(dict(self.headers))
        trouble = pages.troubles.popleft() if pages.troubles else None
        status, answer = 504, ""
        if trouble is None or trouble.done:
            status, answer = self._done(content)
        if trouble is not None:
            time.sleep(trouble.seconds)
            if trouble.drop:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            if trouble.status is not None:
                status, answer = trouble.status, trouble.body
        text = answer if isinstance(answer, str) else json.dumps(answer)
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def _done(self, content: Any) -> tuple[int, Any]:
        pages, address = self.server.pages, urlsplit(self.path)
        try:
            match self.command, address.path:
                case "POST", "/v2/enqueue":
                    return 202, pages.enqueue(content)
                case "POST", "/api/v2/alerts":
                    return 200, pages.put(content) or ""
                case "GET", "/api/v2/alerts":
                    return 200, pages.active(*parse_qs(address.query)["filter"])
                case "GET", "/api/v2/status":
                    return 200, {"versionInfo": {"version": "0.28.0"}}
                case "GET", _:
                    return 200, "OK"
        except (RefusedError, KeyError) as problem:
            return 400, str(problem)
        return 404, "not found"


class PageServer(LocalServer):
    """The pages behind HTTP."""

    def __init__(self, pages: Pages) -> None:
        super().__init__(_Handler)
        self.pages = pages
        self.url = self.origin


@contextmanager
def page_server() -> Iterator[PageServer]:
    """The server in a thread, ended with the block."""
    with serving(PageServer(Pages())) as server:
        yield server
