"""
The sticky plan for groups whose members all subscribe to the same topics.

With N members and P partitions everybody is to have the minimum quota, floor(P / N), and P mod N of them one more.
Members keep what they own up to that, by partition number; what is unassigned is handed out (`hand_out`). All groups
take each step at once, in whole arrays.

Where a kept partition has vanished, Kafka's class takes every partition that sorts behind it for unassigned and hands
it out though it is kept; so does this. Source: `ConstrainedAssignmentBuilder` of Kafka 4.3.
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import NONE, Flags, Indices, Ints, starts_of
from ....model.errors import Infeasible
from ...interface import GroupSpec
from ...kit.members import hash_order, members_by_id, partition_order, topics_by_name
from ...kit.orders import places, stable_order
from ..racks import RackInfo
from .hand_out import UnfilledMembers, assign_near, assign_round_robin
from .plan import OwnedPartitions, StickyPlan, unassigned_partitions


def constrained_plan(
    groups: GroupSpec, owned: OwnedPartitions, racks: RackInfo | None, equal: Flags
) -> StickyPlan:
    """
    The plans for groups; a problem where Kafka's class throws, since there are no members, or more partitions to hand
    out than there is room for.

    Args:
        groups: The groups.
        owned: What their members say they own.
        racks: Their racks where these matter.
        equal: (G) whose members all subscribe to the same; the plans for the others are empty.
    """
    topics = topics_by_name(groups)
    topic_place = places(topics)
    topics = topics[(owned.assignable & equal[groups.group_of_topic])[topics]]
    wanted = partition_order(groups, topics)
    cuts = np.searchsorted(groups.group_of_topic[topics], np.arange(groups.group_count + 1))
    start = starts_of(groups.topic_size[topics])[cuts]
    member, partition, revoked = _owned_and_revoked(groups, owned, racks, equal, topic_place)
    held = np.bincount(member, minlength=len(groups.members))
    keeps, unfilled = _quotas(groups, held, np.diff(start))
    kept = np.arange(len(partition)) - starts_of(held)[member] < keeps[member]
    revoked[partition[~kept]] = member[~kept]
    member, partition = member[kept], partition[kept]
    unassigned, counts = wanted, np.diff(start)
    if len(partition):
        left = unassigned_partitions(groups, wanted, partition, owned, topic_place)
        unassigned, counts = wanted[left], np.diff(np.searchsorted(left, start))
    assigned, takers, problems = _assign(groups, unassigned, counts, racks, unfilled)
    transferring = np.full(groups.partition_count, NONE, np.int32)
    if len(owned.partition):
        given_up = (revoked[assigned] != NONE) & (revoked[assigned] != takers)
        given_up |= owned.multiple_owners[assigned]
        transferring[assigned[given_up]] = takers[given_up]
    members = np.concatenate([member, takers])
    partitions = np.concatenate([partition, assigned])
    if len(partition) or racks is not None:  # else each member's are together already
        order = stable_order(members)
        members, partitions = members[order], partitions[order]
    if problems:
        fine = np.isin(np.arange(groups.group_count), list(problems), invert=True)
        planned = fine[groups.group_of_member[members]]
        members, partitions = members[planned], partitions[planned]
        transferring[~fine[groups.group_of]] = NONE
    return StickyPlan(
        member=members,
        partition=partitions,
        transferring=transferring,
        problems=problems,
    )


def _owned_and_revoked(
    groups: GroupSpec,
    owned: OwnedPartitions,
    racks: RackInfo | None,
    equal: Flags,
    topic_place: Ints,
) -> tuple[Ints, Ints, Indices]:
    """
    What members validly own on their racks, and what they lose because it is elsewhere.

    Returns:
        Members, ascending, and their partitions by (number, topic); (P + V) who loses a partition to its rack.
    """
    revoked = np.full(len(owned.multiple_owners), NONE, np.int32)
    valid = owned.valid & equal[groups.group_of_member[owned.member]]
    member, partition = owned.member[valid], owned.partition[valid]
    if not len(partition):
        return member, partition, revoked
    stays = ~owned.multiple_owners[partition]
    if racks is not None:
        elsewhere = racks.mismatch(member, partition)
        revoked[partition[elsewhere]] = member[elsewhere]
        stays &= ~elsewhere
    member, partition = member[stays], partition[stays]
    order = stable_order(member, owned.number[partition], topic_place[owned.topic[partition]])
    return member[order], partition[order], revoked


def _quotas(groups: GroupSpec, held: Ints, wanted: Ints) -> tuple[Ints, UnfilledMembers]:
    """
    How much everybody keeps, and who has room then.

    The first members, in Kafka's order, that hold more than the minimum quota keep one more, as many as may.

    Args:
        groups: The groups.
        held: (M) how much each holds.
        wanted: (G) how much there is to hold.
    """
    of_member = groups.group_of_member
    quota, extras = np.divmod(wanted, np.maximum(np.diff(groups.member_start), 1))
    least, most = quota[of_member], (quota + (extras > 0))[of_member]
    full = np.flatnonzero((held >= most) & (extras > 0)[of_member])
    if len(full):
        over = np.zeros(len(held), np.bool_)
        over[full] = True
        walk = hash_order(groups)
        full = walk[over[walk]]
        group = of_member[full]
        full = full[np.arange(len(full)) - np.searchsorted(group, group) < extras[group]]
    keeps = np.minimum(held, least)
    keeps[full] = most[full]
    left = extras - np.bincount(of_member[full], minlength=len(extras))
    by_id = members_by_id(groups)
    under_min = by_id[(held < least)[by_id]]
    has_room = (held >= least) & (keeps < most) & (left > 0)[of_member]
    return keeps, UnfilledMembers(
        group_of=of_member,
        under_min=under_min,
        need=(least - held)[under_min],
        exactly_min=by_id[has_room[by_id]],
        over_min_left=left,
    )


def _assign(
    groups: GroupSpec,
    unassigned: Ints,
    counts: Ints,
    racks: RackInfo | None,
    unfilled: UnfilledMembers,
) -> tuple[Ints, Ints, dict[int, Infeasible]]:
    """
    The unassigned partitions, *counts* of each group, and the members that get them, each in the order in which it gets
    its own; without racks, member after member. What is in the way of the groups that are left out.
    """
    near, takers = unassigned[:0], unassigned[:0]
    if racks is not None:
        group, nearby = np.arange(len(counts)).repeat(counts), racks.nearby_members[unassigned]
        unassigned = unassigned[stable_order(group * (int(nearby.max(initial=0)) + 1) + nearby)]
        takers, unfilled = assign_near(unassigned, counts, racks, unfilled)
        found = takers != NONE
        near, takers, unassigned = unassigned[found], takers[found], unassigned[~found]
        counts = counts - np.bincount(group[found], minlength=len(counts))
    problems = _problems(groups, counts, unfilled)
    if problems:
        fine = np.isin(np.arange(len(counts)), list(problems), invert=True)
        unassigned = unassigned[fine.repeat(counts)]
        counts, unfilled = counts * fine, unfilled.within(fine)
    others, turns = assign_round_robin(counts, unfilled)
    assigned = unassigned[turns]
    return np.concatenate([near, assigned]), np.concatenate([takers, others]), problems


def _problems(groups: GroupSpec, counts: Ints, unfilled: UnfilledMembers) -> dict[int, Infeasible]:
    """
    Where Kafka's class throws.

    There are too many partitions or too few for the members only where a kept partition has vanished.
    """
    lacking, room = unfilled.lacking, unfilled.room
    nobody = np.diff(groups.member_start) == 0
    problems = {}
    for number in np.flatnonzero(nobody | (counts < lacking) | (counts > room)).tolist():
        if nobody[number]:
            problems[number] = Infeasible(
                "a sticky strategy cannot assign to 0 members (Kafka: ArithmeticException).",
                fix="Start a member, or look at range, which then assigns nothing.",
            )
            continue
        problems[number] = Infeasible(
            f"{counts[number]:,} partitions are to be dealt to members that lack {lacking[number]:,} and can take"
            f" {room[number]:,} (Kafka: IllegalStateException).",
            fix="Let members forget partitions that no longer exist: restart them.",
        )
    return problems
