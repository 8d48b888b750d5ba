"""Checks the Slack token, for `evenkeel doctor`."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit

from slack_sdk.errors import SlackApiError, SlackClientError

from ...model.errors import NotifierError
from .client import BoundedClient
from .faults import FIXES, TOKEN_FIX, explain


def who_am_i(token: str, base_url: str, channel: str, *, timeout_seconds: int = 10) -> str:
    """
    The bot and the workspace that a token belongs to (`auth.test`).

    Args:
        token: A bot token.
        base_url: Where the Web API is.
        channel: The default channel, for the error.
        timeout_seconds: How long the request may take.

    Raises:
        NotifierError: Slack doesn't answer, or rejects the token.
    """
    base_url = base_url if base_url.endswith("/") else f"{base_url}/"
    client = BoundedClient(token=token, base_url=base_url, timeout=timeout_seconds)
    client.proxy = None  # as in the notifier: left alone, urllib heeds the environment in full
    try:
        answer = client.auth_test()
    except SlackApiError as problem:
        error = str(problem.response.get("error"))
        host = urlsplit(base_url).netloc.rpartition("@")[2]
        raise NotifierError(
            f"Slack at {host} rejects the token: {error}.", fix=FIXES.get(error, TOKEN_FIX)
        ) from problem
    except (SlackClientError, OSError, http.client.HTTPException) as problem:
        raise explain(problem, channel, base_url) from problem
    return f"{answer.get('user')} in {answer.get('team')}"
