"""
Slack's clients with bounds: no redirect is followed, which would take the token along, an answer has an end.

The clients of `slack_sdk` follow redirects, read an answer of any size, and limit only the wait for the next bytes.
"""

from __future__ import annotations

import io
import ssl
from email.message import Message
from http.client import HTTPResponse
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request

from slack_sdk import WebClient
from slack_sdk.errors import SlackRequestError
from slack_sdk.webhook import WebhookClient, WebhookResponse

from ...model.deadline import within
from ...model.no_redirects import without_redirects

MOST_BYTES = 1_000_000
"""Of an answer."""


class BoundedClient(WebClient):
    """The Web API."""

    def _perform_urllib_http_request_internal(self, url: str, req: Request) -> dict[str, Any]:
        status, headers, text = _answer(req, self.timeout, self.ssl)
        return {"status": status, "headers": headers, "body": text}


class BoundedWebhook(WebhookClient):
    """An incoming webhook."""

    def _perform_http_request_internal(self, url: str, req: Request) -> WebhookResponse:
        status, headers, text = _answer(req, self.timeout, self.ssl)
        return WebhookResponse(url=url, status_code=status, body=text, headers=dict(headers))


def _answer(
    request: Request, seconds: int, trusted: ssl.SSLContext | None
) -> tuple[int, Message, str]:
    """Status, headers and text, also of an `HTTPError`."""
    if request.type not in ("http", "https"):
        raise SlackRequestError("the address begins with neither http:// nor https://")
    opener = without_redirects(trusted)

    def call() -> tuple[int, Message, str]:
        try:
            with opener.open(request, timeout=seconds) as answer:
                charset = answer.headers.get_content_charset() or "utf-8"
                return answer.status, answer.headers, _read(answer).decode(charset, "replace")
        except HTTPError as problem:
            with problem:
                content = io.BytesIO(_read(problem))
            raise HTTPError(
                request.full_url, problem.code, problem.msg, problem.headers, content
            ) from None

    # a socket's own limit, which tells more, comes first
    return within(2 * seconds, call)


def _read(answer: HTTPResponse | HTTPError) -> bytes:
    content = answer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError("its answer is larger than 1 MB")
    return content
