"""
What a classic group elects while its members are restarted one after another.

A dynamic member leaves before it comes back; a static one does not, so its own old list still counts
when it asks to be let in. Whoever is refused stays out, and the group goes on without it.

>>> for stage in rolling([("range",)] * 3, ("cooperative-sticky", "range")):
...     print(stage.first, stage.last, stage.elected)
1 2 range
3 3 cooperative-sticky

In one step everybody but the last is refused; that one finds the group empty:

>>> for stage in rolling([("range",)] * 3, ("cooperative-sticky",)):
...     print(stage.first, stage.last, stage.elected, stage.members, stage.refused)
1 2 range 1 2
3 3 cooperative-sticky 1 2

Cost: members x different lists. Source: `GroupMetadataManager.classicGroupJoin` of Kafka 4.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..assignors.kafka.election import common, poll


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartStage:
    """
    What holds while a rolling restart is at some point.

    Attributes:
        first, last: From how many to how many members have been restarted.
        elected: What those in the group elect, by its wire name; None when none is left.
        members: How many are in the group at *last*.
        refused: How many of the restarted ones are kept out at *last*.
    """

    first: int
    last: int
    elected: str | None
    members: int
    refused: int


def rolling(
    before: Sequence[tuple[str, ...]],
    after: tuple[str, ...],
    static: Sequence[bool] | None = None,
) -> tuple[RestartStage, ...]:
    """
    Restart one member after another with a new list, and hold the election after each.

    Args:
        before: Each member's list by wire names, in the order of the restarts.
        after: The new list of all.
        static: Which members have an instance id; none without it.
    """
    group, refused, stages = Counter(before), 0, list[RestartStage]()
    for place, own in enumerate(before):
        stays = static is not None and static[place]
        others = group if stays else _without(group, own)
        admitted = not others or not set(common(others)).isdisjoint(after)
        group = _without(group, own)
        if admitted:
            group[after] += 1
        refused += not admitted
        now = RestartStage(
            first=place + 1,
            last=place + 1,
            elected=poll(group).elected,
            members=group.total(),
            refused=refused,
        )
        before_it = stages[-1] if stages else None
        if before_it and before_it.elected == now.elected:
            stages[-1] = replace(now, first=before_it.first)
        else:
            stages.append(now)
    return tuple(stages)


def _without(group: Counter[tuple[str, ...]], own: tuple[str, ...]) -> Counter[tuple[str, ...]]:
    """The group after one member with that list has left."""
    left = group.copy()
    left[own] -= 1
    return +left
