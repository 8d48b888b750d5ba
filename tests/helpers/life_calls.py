"""The exact calls of Slack's API over each of `tests.helpers.lives`, in words."""

from __future__ import annotations

from evenkeel.engine.model import Cause

OPENED = ["chat.postMessage opened"]
WORSE = [
    ["chat.update opened", "chat.postMessage worse 1 thread in the thread of opened"],
    ["chat.update opened", "chat.postMessage worse 2 thread in the thread of opened"],
]
LOUDER = [[update, f"{line}, broadcast"] for update, line in WORSE]
RESOLVED = [
    "chat.update opened",
    "chat.postMessage resolved thread in the thread of opened, broadcast",
]
BRIEF = OPENED + RESOLVED
WORSENED = OPENED + WORSE[0] + RESOLVED

EASED = [
    ["chat.update opened", "chat.postMessage eased 1 thread in the thread of opened"],
    ["chat.update opened", "chat.postMessage eased 2 thread in the thread of opened"],
]

CALLS: dict[Cause, list[str]] = {
    **dict.fromkeys(Cause, BRIEF),
    # behind, then soon lost (warning to critical: broadcast), then lost (records: broadcast)
    Cause.LOSING_RECORDS: OPENED + LOUDER[0] + LOUDER[1] + RESOLVED,
    # gone for longer and longer
    Cause.VANISHED: WORSENED,
    Cause.LOSS_AHEAD: OPENED + LOUDER[0] + RESOLVED,
    # further and further behind, until the reason is gone and only what waits is left
    Cause.SLOW_MEMBER: OPENED + WORSE[0] + EASED[1] + RESOLVED,
    Cause.HOT_PARTITION: OPENED + WORSE[0] + EASED[1] + RESOLVED,
    # it goes on, and has to catch up
    Cause.NO_MEMBERS: OPENED + EASED[0] + RESOLVED,
    Cause.SILENT_MEMBER: OPENED + EASED[0] + RESOLVED,
    Cause.STUCK_PARTITION: OPENED + EASED[0] + RESOLVED,
    Cause.TOO_FEW_MEMBERS: OPENED + EASED[0] + RESOLVED,
    # a burst is more than its members can do, as long as it lasts
    Cause.BEHIND: OPENED + EASED[0] + RESOLVED,
}
