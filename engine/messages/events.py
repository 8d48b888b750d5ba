"""What was told of groups, as people read it who look at many snapshots in a row."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime

from ..model.message import AlertMessage
from ..model.states import Diagnosis


class EventKind(enum.StrEnum):
    """What was told of groups."""

    OPENED = "opened"
    WORSE = "worse"
    STILL = "still"
    RESOLVED = "resolved"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEvent:
    """
    One thing that was told, where people read it.

    Attributes:
        kind: What.
        at: When that was true.
        cluster: Configured name of the cluster.
        groups: Of which groups: one, or those that a digest names.
        causes: (groups) what is wrong with each, or was.
        message: What was said.
    """

    kind: EventKind
    at: datetime
    cluster: str
    groups: tuple[str, ...]
    causes: tuple[Diagnosis, ...]
    message: AlertMessage

    @property
    def group(self) -> str | None:
        """The group, where it is one; None: many."""
        return None if self.kind is EventKind.DIGEST else self.groups[0]

    @property
    def title(self) -> str:
        """One line."""
        return self.message.title
