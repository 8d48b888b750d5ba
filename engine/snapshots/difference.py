"""What differs between two snapshots of a group: the values that `compare` finds and the command line tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..model.groups import Member

Racks = tuple[str | None, ...]
"""The racks of a partition's replicas, sorted; None for a broker without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """
    Something that was *before* and is *after*; None is none, but of a rack: unknown.

    Attributes:
        what: `member_joined`, `member_left` or `member_restarted`, by identity (instance id, else client id and host);
            `topic_created`, `topic_gone`, `topic_recreated` (another topic id under the same name),
            `topic_partitions_added`, `topic_subscribed` or `topic_unsubscribed` (by the group as a whole); `owner` and
            `replica_racks` of a partition; anything else is a property of the group, or of *member* or *topic*.
        before, after: Its value: of members their ids, of topics how many partitions they have, of an owner the
            `Member` or None for nobody, of replicas their `Racks`. A member that came back under another id is the same
            owner.
        member: Whose it is; of one that restarted, as it is now.
    """

    what: str
    before: Any = None
    after: Any = None
    member: Member | None = None
    topic: str | None = None
    partition: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Difference:
    """
    Everything that changed between two snapshots of a group.

    Attributes:
        present: Whether the group is in the earlier snapshot and in the later; unless in both, only that is known.
        changes: Of members, of the group and of members that stayed, of topics, owners and replicas, in this order.
        unknown: What could not be compared, and why.
    """

    present: tuple[bool, bool]
    changes: tuple[Changed, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether nothing that could be compared changed."""
        return self.present[0] == self.present[1] and not self.changes

    def of(self, *what: str) -> tuple[Changed, ...]:
        """The changes of some kinds."""
        return tuple(each for each in self.changes if each.what in what)
