"""What differs between two snapshots of a group: the values that `compare` finds and the command line tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenkeel.engine.model import Member

Racks = tuple[str | None, ...]
"""The racks of a partition's replicas, sorted; None for a broker without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFact:
    """
    Something of the group, or of *member* or *topic* if there is one, that was *before* and is *after*.

    None is none, but of a rack: unknown.
    """

    name: str
    before: Any
    after: Any
    member: Member | None = None
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChange:
    """
    What happened to a topic that the group subscribes to, owns or has committed.

    Attributes:
        happened: `created`, `gone`, `recreated` (another topic id under the same name), `partitions added`,
            `subscribed` or `unsubscribed` (by the group as a whole).
        before, after: Its partitions, None where it is not.
    """

    topic: str
    happened: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A partition whose owner changed; None: nobody. A member that came back under another id is the same owner."""

    topic: str
    partition: int
    before: Member | None
    after: Member | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relocated:
    """A partition whose replicas are in other racks."""

    topic: str
    partition: int
    before: Racks
    after: Racks


@dataclass(frozen=True, kw_only=True, eq=False)
class Difference:
    """
    Everything that changed between two snapshots of a group.

    Attributes:
        present: Whether the group is in the earlier snapshot and in the later; unless in both, only that is known.
        joined, left: Members, by identity (instance id, else client id and host).
        restarted: (before, after) of members whose identity stayed while the coordinator gave another member id.
        facts: Of the group and of members that stayed.
        unknown: What could not be compared, and why.
    """

    present: tuple[bool, bool]
    joined: tuple[Member, ...] = ()
    left: tuple[Member, ...] = ()
    restarted: tuple[tuple[Member, Member], ...] = ()
    facts: tuple[ChangedFact, ...] = ()
    topics: tuple[TopicChange, ...] = ()
    moved: tuple[Moved, ...] = ()
    relocated: tuple[Relocated, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether nothing that could be compared changed."""
        several = (self.joined, self.left, self.restarted, self.facts)
        return self.present[0] == self.present[1] and not any(
            (*several, self.topics, self.moved, self.relocated)
        )
