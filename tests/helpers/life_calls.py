"""The exact calls of Slack's API over each of `tests.helpers.lives`, in words."""

from __future__ import annotations

from evenkeel.engine.model.states import Diagnosis
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

STILL = [call.replace("worse", "still") for call in WORSE[0]]
REMINDED = OPENED + STILL + RESOLVED

CALLS: dict[Diagnosis, list[str]] = {
    **dict.fromkeys(LIVES, BRIEF),
    # behind, then soon lost (warning to critical: broadcast), then lost (records: broadcast)
    Diagnosis.LOSING_RECORDS: OPENED + LOUDER[0] + LOUDER[1] + RESOLVED,
    # gone for longer and longer
    Diagnosis.VANISHED: REMINDED,
    Diagnosis.LOSS_AHEAD: OPENED + LOUDER[0] + RESOLVED,
    # further and further behind
    Diagnosis.SLOW_MEMBER: REMINDED,
    Diagnosis.HOT_PARTITION: REMINDED,
}
