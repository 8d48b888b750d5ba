"""The groups of a snapshot on their way to the consumer protocol (KIP-848), as rows in their order."""

from __future__ import annotations

from collections.abc import Iterable

from ..advice.protocol_readiness import TURNS, GroupReadiness, in_turn, readiness_of
from ..assignors.kafka.protocol_names import strategy_of
from ..config import Settings
from ..messages.wording import words
from ..model.command import command_in_text
from ..model.groups import GroupSnapshot
from ..records import ReadinessRow


def readiness_rows(settings: Settings, groups: Iterable[GroupSnapshot]) -> list[ReadinessRow]:
    """
    A row per group, those that can move first, in the order in which they should.

    Args:
        settings: What is configured of the groups.
        groups: Those of one snapshot, in any order.
    """
    found = in_turn(
        readiness_of(group, settings.rule(group.cluster, group.group)) for group in groups
    )
    return [_row(one) for one in found]


def _row(one: GroupReadiness) -> ReadinessRow:
    group = one.group
    runs = group.assignor and (strategy_of(group.type, group.assignor) or group.assignor)
    return ReadinessRow(
        snapshot_id=group.snapshot_id,
        cluster=group.cluster,
        place=one.place,
        group_id=group.group,
        group_type=group.type.value,
        state=group.state,
        members=None if group.members_unread else len(group.members),
        readiness=one.readiness,
        strategy=runs,
        strategy_there=one.strategy,
        stopped_partitions=one.stopped,
        clients=tuple(sorted(name for name in one.clients if name)),
        why=tuple(map(words, one.why)),
        losses=tuple(map(words, one.losses)),
        gains=tuple(map(words, one.gains)),
        notes=tuple(map(words, one.notes)),
        next_step=_next_step(one),
        facts=one.facts,
    )


def _next_step(one: GroupReadiness) -> str | None:
    """The command that prints the move; None for a group that has no turn, or nobody to restart."""
    if one.readiness not in TURNS or not one.group.members or one.strategy is None:
        return None
    runbook = "evenkeel runbook --group {} --strategy {}"
    return command_in_text(runbook, one.group.group, one.strategy)
