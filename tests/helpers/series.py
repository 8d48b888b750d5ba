"""A group as several snapshots in a row saw it, on one topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model.groups import GroupSnapshot
from tests.helpers.measuring import observed
from tests.helpers.snapshots import EVERY, group, groups, make_snapshot, member, topic

STEP = EVERY.total_seconds()
"""Seconds from one snapshot to the next."""


def members_of(*owned: Sequence[int], client: str = "c") -> list[dict[str, Any]]:
    """Members `c-0`, `c-1` ... of topic t, each with its partitions."""
    return [
        member(f"{client}-{i}-id", ["t"], {"t": list(own)}, client_id=f"{client}-{i}")
        for i, own in enumerate(owned)
    ]


def series(
    members: Sequence[Any],
    ends: Sequence[Sequence[int]],
    committed: Sequence[Sequence[int | None]],
    *,
    changed: Mapping[int, Any] | None = None,
    begins: Sequence[Sequence[int]] | None = None,
    late: int = 0,
    **header: Any,
) -> list[GroupSnapshot]:
    """
    Snapshots of group g, oldest first.

    Args:
        members: Its members' rows.
        ends, committed, begins: Of each snapshot, one offset per partition of topic t.
        changed: Its members from a snapshot on, by number, where they change.
        late: By how many steps the newest snapshot is later than the next one would be.
        header: Columns of the group's row in the newest snapshot.
    """
    taken, now = [], members
    for number, (end, commit) in enumerate(zip(ends, committed, strict=True)):
        now = (changed or {}).get(number, now)
        is_newest = number == len(ends) - 1
        own = header if is_newest else {}
        snapshot = make_snapshot(
            number=number + late * is_newest,
            topics=[topic("t", len(end), end=end, begin=begins[number] if begins else 0)],
            groups=[group("g", members=now, committed={"t": commit}, **own)],
        )
        taken.append(groups(snapshot)[0])
    return taken


def observed_series(taken: Sequence[GroupSnapshot], **rule: Any) -> Observation:
    """What the newest of some snapshots says, with the others as its past; it commits every ten seconds."""
    known = {"commit_interval_seconds": 10.0, **rule}
    return observed(taken[-1], list(taken[-2::-1]), **known)


def steadily(rates: Sequence[float], samples: int, first: Sequence[float] = ()) -> list[list[int]]:
    """Offsets that grow by so many a second from one sample to the next, beginning at *first*, else at 0."""
    begun = first or [0.0] * len(rates)
    return [
        [round(at + rate * STEP * number) for at, rate in zip(begun, rates, strict=True)]
        for number in range(samples)
    ]
