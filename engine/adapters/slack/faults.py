"""Slack's errors in words: channel, error, fix, and whether the message may have been posted."""

from __future__ import annotations

import http.client
import socket
import urllib.error
from urllib.parse import urlsplit

from slack_sdk.errors import SlackApiError

from ...model.errors import ChannelClosed, NotDelivered, NotifierError

TOKEN_FIX = "Set EVENKEEL_SLACK_TOKEN, or the Airflow connection evenkeel_slack, to a valid bot token (xoxb-…)."

INVITE_FIX = "Invite the bot to the channel, or correct slack_channel or the rule's channel in evenkeel.toml."

REPORT_FIX = "This is a bug in evenkeel: report it with the row of the table alert."

FIXES = {
    "channel_not_found": INVITE_FIX,
    "not_in_channel": INVITE_FIX,
    "is_archived": "Unarchive the channel, or name another one in evenkeel.toml.",
    "is_inactive": "Unarchive the channel, or name another one in evenkeel.toml.",
    "restricted_action": "Let the bot post in this channel, or name another one in evenkeel.toml.",
    "not_authed": TOKEN_FIX,
    "invalid_auth": TOKEN_FIX,
    "account_inactive": TOKEN_FIX,
    "token_revoked": TOKEN_FIX,
    "token_expired": TOKEN_FIX,
    "not_allowed_token_type": TOKEN_FIX,
    "missing_scope": "Add the scope to the Slack app and install it again.",
    "ratelimited": "Nothing to do: the next run sends it.",
    "msg_too_long": REPORT_FIX,
    "msg_blocks_too_long": REPORT_FIX,
    "invalid_blocks": REPORT_FIX,
    "invalid_blocks_format": REPORT_FIX,
    "no_text": REPORT_FIX,
}

CLOSED = frozenset(
    {"channel_not_found", "not_in_channel", "is_archived", "is_inactive", "restricted_action"}
)
"""Errors of a channel that is gone, or that the bot is kept out of: until people change that, nothing gets there."""

DOUBTFUL = frozenset({"internal_error", "fatal_error", "request_timeout", "service_unavailable"})
"""Errors after which, according to Slack, the operation may have partly happened."""


def is_doubtful(problem: Exception) -> bool:
    """Whether the message may have been posted although the call failed."""
    if isinstance(problem, SlackApiError):
        return problem.response.status_code >= 500 or problem.response.get("error") in DOUBTFUL
    # A refused connection or an unknown host: nothing was ever sent.
    never_sent = isinstance(problem, urllib.error.URLError) and isinstance(
        problem.reason, ConnectionRefusedError | socket.gaierror
    )
    return not never_sent


def explain(
    problem: Exception, channel: str, base_url: str, *, certain: bool = False
) -> NotifierError:
    """The same failure for people; nothing of the request is in it, so no token. *certain*: nothing was posted."""
    kind = NotDelivered if certain else NotifierError
    if isinstance(problem, SlackApiError):
        return _refused(problem, channel, kind)
    host = urlsplit(base_url).netloc.rpartition("@")[2]
    return kind(
        f"Slack at {host} cannot be reached for channel {channel}: {cause_of(problem)}.",
        fix="Check network, proxy and slack_base_url from this host; the alert is sent by a later run.",
    )


def cause_of(problem: Exception) -> str:
    """Why there was no answer, a clause."""
    if isinstance(problem, http.client.HTTPException | ConnectionResetError):
        return "the connection broke before an answer"
    reason = getattr(problem, "reason", None) or problem
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__


def _refused(problem: SlackApiError, channel: str, kind: type[NotifierError]) -> NotifierError:
    response = problem.response
    status, error = response.status_code, str(response.get("error"))
    if status == 429:
        error = "ratelimited"
    elif status != 200:
        error = f"HTTP status {status}"
    needed = f" (scope {response.get('needed')})" if error == "missing_scope" else ""
    transient = status >= 500 or error in DOUBTFUL
    later = "No action is needed: a later run sends it." if transient else None
    unknown = "Look the error up in Slack's documentation of chat.postMessage."
    if error in CLOSED and kind is NotDelivered:
        kind = ChannelClosed
    return kind(
        f"Slack refused the message for channel {channel}: {error}{needed}.",
        fix=FIXES.get(error) or later or unknown,
    )
