"""The rows of rebalances since the preceding snapshot: cause, evidence and cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..assignors.kafka.protocol_names import cooperative
from ..config import Settings
from ..metrics.observe import Observation
from ..metrics.rebalance_bill import CONSUMER_HEARTBEAT, Protocol, bill
from ..metrics.rebalance_causes import Caused, evidence
from ..model.arrays import Flags
from ..model.coordinators import HEARTBEAT_SETTING
from ..model.facts import MOST_SUBJECTS
from ..model.groups import GroupHeader
from ..model.pauses import Pause
from ..model.states import GroupType
from ..model.tables import Table
from ..records import RebalanceRow, RemedyCost, keys_of, table_of


def rebalance_rows(
    settings: Settings,
    seen: Observation,
    sound: Flags,
    pauses_of: Callable[[int], Mapping[str, Pause]],
) -> Table:
    """
    One row per group that rebalanced; none of a group without metrics.

    Args:
        settings: The configuration.
        seen: The observation of a batch of groups.
        sound: (G) whether a group has metrics.
        pauses_of: How long rebalances and restarts of a group last, as in its metrics.
    """
    found = seen.causes.newest.items()
    return table_of(
        RebalanceRow,
        [_row(settings, seen, g, one, pauses_of(g)) for g, one in found if sound[g]],
    )


def _row(
    settings: Settings,
    seen: Observation,
    group: int,
    caused: Caused,
    pauses: Mapping[str, Pause],
) -> RebalanceRow:
    header, rows = seen.batch.headers[group], seen.batch.rows(group)
    own = header.in_force(HEARTBEAT_SETTING)
    of_brokers = header.coordinator.heartbeat_seconds if header.coordinator else None
    told = of_brokers if own is None else own.seconds
    cost = bill(
        caused,
        seen.production.per_second[rows],
        protocol_of(header, caused.assignor),
        heartbeat=CONSUMER_HEARTBEAT if told is None else told,
        rebalance=pauses["rebalance_seconds"],
        restart=pauses["restart_seconds"],
    )
    return RebalanceRow(
        **keys_of(header, settings.version),
        since=caused.since,
        until=header.taken_at,
        cause=caused.cause,
        rebalances=caused.number,
        counted_by_epoch=caused.by_epoch,
        unseen_rebalances=caused.missed,
        joined=caused.joined[:MOST_SUBJECTS],
        left_members=caused.left[:MOST_SUBJECTS],
        restarted=caused.restarted[:MOST_SUBJECTS],
        partitions_moved=None if caused.moving else int(caused.moved.sum()),
        partition_seconds=cost.cost.seconds,
        delayed_records=cost.cost.records,
        pause_seconds=cost.pause_seconds,
        pause_basis=pauses["rebalance_seconds"].basis,
        with_remedy=tuple(
            RemedyCost(remedy=name, partition_seconds=each.seconds, delayed_records=each.records)
            for name, each in cost.with_remedy.items()
        )
        or None,
        facts=tuple(evidence(caused)),
    )


def protocol_of(header: GroupHeader, assignor: str | None) -> Protocol:
    """How the members of a group give up partitions; with a class of somebody's own, they are taken to be eager."""
    if header.type is not GroupType.CLASSIC:
        return Protocol.CONSUMER
    return Protocol.COOPERATIVE if cooperative([assignor or ""]) is True else Protocol.EAGER
