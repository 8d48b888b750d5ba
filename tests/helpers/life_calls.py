"""The exact calls of Slack's API over each of `tests.helpers.lives`, in words."""

from __future__ import annotations

from evenkeel.engine.model import Diagnosis
from tests.helpers.lives import LIVES

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

CALLS: dict[Diagnosis, list[str]] = {
    **dict.fromkeys(LIVES, BRIEF),
    # behind, then soon lost (warning to critical: broadcast), then lost (records: broadcast)
    Diagnosis.LOSING_RECORDS: OPENED + LOUDER[0] + LOUDER[1] + RESOLVED,
    # gone for longer and longer
    Diagnosis.VANISHED: WORSENED,
    Diagnosis.LOSS_AHEAD: OPENED + LOUDER[0] + RESOLVED,
    # further and further behind, until the reason is gone and only what waits is left
    Diagnosis.SLOW_MEMBER: OPENED + WORSE[0] + EASED[1] + RESOLVED,
    Diagnosis.HOT_PARTITION: OPENED + WORSE[0] + EASED[1] + RESOLVED,
    # it goes on, and has to catch up
    Diagnosis.NO_MEMBERS: OPENED + EASED[0] + RESOLVED,
    Diagnosis.SILENT_MEMBER: OPENED + EASED[0] + RESOLVED,
    Diagnosis.STUCK_PARTITION: OPENED + EASED[0] + RESOLVED,
    Diagnosis.TOO_FEW_MEMBERS: OPENED + EASED[0] + RESOLVED,
    # a burst is more than its members can do, as long as it lasts
    Diagnosis.CATCHING_UP: OPENED + EASED[0] + RESOLVED,
}
