"""Who scores the assignments of a group, by what was observed of it and what the configuration knows."""

from __future__ import annotations

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.config import Rule
from evenkeel.engine.metrics.money import tariff
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.model import Flags, GroupSnapshot
from evenkeel.engine.scoring import Judge


def judge_of(seen: Observation, shown: GroupSpec, rule: Rule) -> Judge:
    """
    Who scores the assignments of a group.

    Args:
        seen: What the numbers say of the group.
        shown: Its spec, lags as they are shown.
        rule: What the configuration knows of it.
    """
    group = seen.group
    rows, rate = group.partitions.assignable, seen.production.per_second
    return Judge(
        group=shown,
        capacity=seen.capacity,
        in_sync=_in_sync(group),
        leaders_only=group.follower_fetching is False,
        tariff=tariff(seen.sizes, rate, rows, rule.price_per_gb, rule.currency)
        # unless it is known who serves reads, what crosses is a guess: no ground for a bill
        if group.follower_fetching is not None
        else None,
    )


def _in_sync(group: GroupSnapshot) -> Flags:
    """The in-sync flags of the replica entries that `spec_of` keeps."""
    table = group.partitions
    kept = table.assignable.repeat(table.replica_start[1:] - table.replica_start[:-1])
    flags: Flags = table.in_sync[kept]
    return flags
