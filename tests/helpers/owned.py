"""Assignments as people write them."""

from __future__ import annotations

from evenkeel.engine.assignors.interface import Assignor, GroupSpec


def owned(assignor: Assignor, group: GroupSpec) -> dict[str, str]:
    """Member -> its partitions as `topic-number`, in the order of its list."""
    lists = group.lists(assignor.assign(group))
    return {m: " ".join(f"{t}-{p}" for t, p in pairs) for m, pairs in lists.items()}
