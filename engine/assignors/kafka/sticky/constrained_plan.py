"""
The sticky plan for a group whose members all subscribe to the same topics.

With N members and P partitions everybody is to have the minimum quota, floor(P / N), and P mod N of them one more.
Members keep what they own up to that, by partition number; unassigned partitions are handed out, first by rack where
racks matter, then round the members under the minimum, then one each to members with exactly the minimum. Everything
but the rack phase is whole arrays.

Where a kept partition has vanished, Kafka's class takes every partition that sorts behind it for unassigned and hands
it out though it is kept; so does this. Source: `ConstrainedAssignmentBuilder` of Kafka 4.3.
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import NONE, Indices, Ints
from ....model.errors import Infeasible
from ...interface import GroupSpec
from ...kit.member_order import members_by_id, topics_by_name
from ...kit.orders import places, stable_order
from ...kit.permute import partition_order
from .owned_partitions import OwnedPartitions
from .plan import StickyPlan, unassigned_partitions
from .rack_info import RackInfo
from .unfilled_members import UnfilledMembers, assign_rack_aware_round_robin, assign_round_robin


def constrained_plan(
    group: GroupSpec, owned: OwnedPartitions, racks: RackInfo | None
) -> StickyPlan:
    """
    Raises:
        Infeasible: Kafka's class throws: there are no members, or more partitions to hand out than there is room for.
    """
    if not group.members:
        raise Infeasible(
            "a sticky strategy cannot assign to 0 members (Kafka: ArithmeticException).",
            fix="Start a member, or look at range, which then assigns nothing.",
        )
    topics = topics_by_name(group)
    wanted = partition_order(group, topics[owned.assignable[topics]])
    min_quota, over_min_left = divmod(len(wanted), len(group.members))
    member, partition, revoked = _owned_and_revoked(owned, racks, places(topics))
    keeps, unfilled = _quotas(
        group, owned, np.bincount(member, minlength=len(owned.hash_order)), min_quota, over_min_left
    )
    run = np.cumsum(np.bincount(member, minlength=len(owned.hash_order)))
    kept = np.arange(len(partition)) - np.append(0, run)[member] < keeps[member]
    revoked[partition[~kept]] = member[~kept]
    unassigned = unassigned_partitions(wanted, partition[kept], owned, places(topics))
    assigned, takers = _assign(unassigned, racks, unfilled)
    members = np.concatenate([member[kept], takers])
    partitions = np.concatenate([partition[kept], assigned])
    order = stable_order(members)
    transferring = np.full(group.partition_count, NONE, np.int32)
    given_up = (revoked[assigned] != NONE) & (revoked[assigned] != takers)
    given_up |= owned.multiple_owners[assigned]
    transferring[assigned[given_up]] = takers[given_up]
    return StickyPlan(member=members[order], partition=partitions[order], transferring=transferring)


def _owned_and_revoked(
    owned: OwnedPartitions, racks: RackInfo | None, topic_place: Ints
) -> tuple[Ints, Ints, Indices]:
    """
    What members validly own on their racks, and what they lose because it is elsewhere.

    Returns:
        Members, ascending, and their partitions by (number, topic); (P + V) who loses a partition to its rack.
    """
    member, partition = owned.member[owned.valid], owned.partition[owned.valid]
    revoked = np.full(len(owned.topic), NONE, np.int32)
    stays = ~owned.multiple_owners[partition]
    if racks is not None:
        elsewhere = racks.mismatch(member, partition)
        revoked[partition[elsewhere]] = member[elsewhere]
        stays &= ~elsewhere
    member, partition = member[stays], partition[stays]
    order = stable_order(member, owned.number[partition], topic_place[owned.topic[partition]])
    return member[order], partition[order], revoked


def _quotas(
    group: GroupSpec, owned: OwnedPartitions, held: Ints, min_quota: int, over_min_left: int
) -> tuple[Ints, UnfilledMembers]:
    """
    How much everybody keeps, and who has room then.

    The first members, in Kafka's order, that hold more than the minimum quota keep one more, as many as may.
    """
    max_quota = min_quota + (over_min_left > 0)
    full = owned.hash_order[held[owned.hash_order] >= max_quota][:over_min_left]
    keeps = np.minimum(held, min_quota)
    keeps[full] = max_quota
    by_id = members_by_id(group)
    under_min = by_id[held[by_id] < min_quota]
    exactly_min = np.zeros(0, np.int64)
    if len(full) < over_min_left:
        has_room = (held >= min_quota) & (keeps < max_quota)
        exactly_min = by_id[has_room[by_id]]
    return keeps, UnfilledMembers(
        under_min=under_min,
        need=min_quota - held[under_min],
        exactly_min=exactly_min,
        over_min_left=over_min_left - len(full),
    )


def _assign(
    unassigned: Ints, racks: RackInfo | None, unfilled: UnfilledMembers
) -> tuple[Ints, Ints]:
    """The unassigned partitions in the order in which they find a member, and these members."""
    if racks is None:
        return unassigned, assign_round_robin(len(unassigned), unfilled)
    unassigned = unassigned[np.argsort(racks.nearby_members[unassigned], kind="stable")]
    takers, left = assign_rack_aware_round_robin(unassigned, racks, unfilled)
    rest = takers == NONE
    others = assign_round_robin(int(rest.sum()), left)
    return np.concatenate([unassigned[~rest], unassigned[rest]]), np.concatenate(
        [takers[~rest], others]
    )
