"""One HTTP call, whose errors contain no secrets."""

from __future__ import annotations

import functools
import logging
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from ...model.deadline import within
from ...model.errors import NotDelivered, NotifierError
from ...model.text import host_of, shortened

TIMEOUT_SECONDS = 10.0
"""How long a connection, or the wait for the next bytes, may take."""

WHOLE_SECONDS = 20.0
"""How long a call may take, whatever bytes come meanwhile."""

MOST_BYTES = 1_000_000
"""Of an answer."""

QUOTED = 200
"""Characters of an answer that an error quotes."""


def call(
    what: str,
    method: str,
    url: str,
    *,
    fix: str,
    json: Any = None,
    params: Mapping[str, str] | None = None,
    token: str | None = None,
    hidden: tuple[str, ...] = (),
    any_answer: bool = False,
) -> httpx.Response:
    """
    Call an address once, without redirects, with the proxies of the environment.

    Args:
        what: Name of the receiver, for the error.
        method: `GET` or `POST`.
        url: The address; all of it except the host is a secret.
        fix: The fix if the address or the content is refused.
        json: The body.
        params: The query.
        token: A bearer token.
        hidden: Further secrets that errors must not contain.
        any_answer: Whether an error status counts as an answer.

    Raises:
        NotDelivered: The call had no effect: unreachable, refused, or a `GET`.
        NotifierError: The effect is unknown. Both contain only the host of the address.
    """
    host = host_of(url)
    if host is None:
        wrong = f"the address of {what} doesn't begin with http:// or https://."
        raise NotDelivered(wrong, fix=fix)
    headers = {"User-Agent": "evenkeel", "Accept-Encoding": "identity"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    answer = _answer(f"{what} at {host}", fix, method, url, headers, json, params)
    if answer.is_success or any_answer:
        return answer
    passing = answer.status_code == 429 or answer.status_code >= 500
    reason = _quoted(answer, (url, urlsplit(url).path.strip("/"), token, *hidden))
    raise _kind(method, is_certain=answer.status_code < 500)(
        f"{what} at {host} answered with HTTP status {answer.status_code}{reason}.",
        fix=_LATER if passing else fix,
    )


_LATER = "A later run retries. If the error persists, check network and proxy from this host."


def _answer(
    where: str,
    fix: str,
    method: str,
    url: str,
    headers: Mapping[str, str],
    json: Any,
    params: Mapping[str, str] | None,
) -> httpx.Response:
    try:
        return within(WHOLE_SECONDS, lambda: _whole(method, url, headers, json, params))
    except (httpx.TimeoutException, TimeoutError) as problem:
        seconds = WHOLE_SECONDS if isinstance(problem, TimeoutError) else TIMEOUT_SECONDS
        late = f"{where} didn't answer within {seconds:.0f} s."
        is_certain = isinstance(problem, httpx.ConnectTimeout | httpx.PoolTimeout)
        raise _kind(method, is_certain=is_certain)(late, fix=_LATER) from problem
    except (httpx.NetworkError, httpx.RemoteProtocolError) as problem:
        broke = str(problem) or "the connection broke before an answer"
        kind = _kind(method, is_certain=isinstance(problem, httpx.ConnectError))
        raise kind(f"{where} cannot be reached: {broke}.", fix=_LATER) from problem
    # Other errors may quote the content: they are not kept as a cause either.
    except (httpx.RequestError, httpx.InvalidURL, ValueError) as problem:
        wrong = f"{where} cannot be called: {type(problem).__name__}."
        raise NotDelivered(wrong, fix=fix) from None


def _whole(
    method: str, url: str, headers: Mapping[str, str], json: Any, params: Mapping[str, str] | None
) -> httpx.Response:
    """The answer, read to its end."""
    with (
        _unlogged(),
        httpx.Client(timeout=TIMEOUT_SECONDS, headers=headers, verify=_trusted()) as client,
        client.stream(method, url, json=json, params=params) as answer,
    ):
        content = b""
        for part in answer.iter_bytes():
            content += part
            if len(content) > MOST_BYTES:
                raise httpx.RemoteProtocolError("its answer is larger than 1 MB")
        kind = {"Content-Type": answer.headers.get("Content-Type", "")}
        return httpx.Response(
            answer.status_code, headers=kind, content=content, request=answer.request
        )


def _kind(method: str, *, is_certain: bool) -> type[NotifierError]:
    return NotDelivered if is_certain or method == "GET" else NotifierError


@functools.cache
def _trusted() -> ssl.SSLContext:
    """The trusted certificates; loading them takes longer than a call."""
    return httpx.create_ssl_context()


def _quoted(answer: httpx.Response, secrets: tuple[str | None, ...]) -> str:
    """The error that the receiver reports about the content."""
    if answer.status_code != httpx.codes.BAD_REQUEST:
        return ""
    text = " ".join(answer.text.split())
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return f": {shortened(text, QUOTED)}" if text else ""


class _Nothing(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return False


@contextmanager
def _unlogged() -> Iterator[None]:
    """Without the log of httpx, which contains the secret addresses."""
    logger, nothing = logging.getLogger("httpx"), _Nothing()
    logger.addFilter(nothing)
    try:
        yield
    finally:
        logger.removeFilter(nothing)
