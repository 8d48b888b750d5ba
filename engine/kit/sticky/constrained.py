"""
The sticky plan for a group whose members all subscribe to the same topics.

With N members and P partitions everybody is to have floor(P / N), and P mod N of them one more. Members keep what they
own up to that, by partition number; what is free is dealt, first by rack where racks matter, then round the members
with too few, then one each to members with just enough. Everything but the rack phase is whole arrays.

Where a kept partition has vanished, Kafka's class takes every partition that sorts behind it for free and hands it
out though it is kept; so does this. Source: `ConstrainedAssignmentBuilder` of Kafka 4.3.
"""

from __future__ import annotations

import numpy as np

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.errors import Infeasible
from evenkeel.engine.kit.java_order import string_order
from evenkeel.engine.kit.orders import places, stable_order
from evenkeel.engine.kit.permute import partition_order
from evenkeel.engine.kit.sticky.owned import Past
from evenkeel.engine.kit.sticky.plan import Plan, unassigned
from evenkeel.engine.kit.sticky.rack_info import StickyRacks
from evenkeel.engine.kit.sticky.unfilled import Openings, deal_by_rack, deal_round
from evenkeel.engine.model import NONE, Indices, Ints


def constrained_plan(group: GroupSpec, past: Past, racks: StickyRacks | None) -> Plan:
    """
    Raises:
        Infeasible: Kafka's class throws: there are no members, or more partitions to hand out than there is room for.
    """
    if not group.members:
        raise Infeasible(
            "a sticky strategy cannot assign to 0 members (Kafka: ArithmeticException).",
            fix="Start a member, or look at range, which then assigns nothing.",
        )
    topics = string_order(group.topics)
    wanted = partition_order(group, topics[past.in_play[topics]])
    least, extras = divmod(len(wanted), len(group.members))
    member, owned, revoked = _owned(past, racks, places(topics))
    keeps, openings = _room(
        group, past, np.bincount(member, minlength=len(past.walk)), least, extras
    )
    run = np.cumsum(np.bincount(member, minlength=len(past.walk)))
    kept = np.arange(len(owned)) - np.append(0, run)[member] < keeps[member]
    revoked[owned[~kept]] = member[~kept]
    free = unassigned(wanted, owned[kept], past, places(topics))
    dealt, takers = _deal(free, racks, openings)
    members = np.concatenate([member[kept], takers])
    partitions = np.concatenate([owned[kept], dealt])
    order = stable_order(members)
    transferring = np.full(group.partition_count, NONE, np.int32)
    given_up = (revoked[dealt] != NONE) & (revoked[dealt] != takers) | past.disputed[dealt]
    transferring[dealt[given_up]] = takers[given_up]
    return Plan(member=members[order], partition=partitions[order], transferring=transferring)


def _owned(past: Past, racks: StickyRacks | None, topic_place: Ints) -> tuple[Ints, Ints, Indices]:
    """
    What members own that counts and is on their rack, and what they lose because it is not.

    Returns:
        Members, ascending, and their partitions by (number, topic); (P + V) who loses a partition to its rack.
    """
    member, partition = past.member[past.counts], past.partition[past.counts]
    revoked = np.full(len(past.topic), NONE, np.int32)
    stays = ~past.disputed[partition]
    if racks is not None:
        elsewhere = racks.mismatch(member, partition)
        revoked[partition[elsewhere]] = member[elsewhere]
        stays &= ~elsewhere
    member, partition = member[stays], partition[stays]
    order = stable_order(member, past.number[partition], topic_place[past.topic[partition]])
    return member[order], partition[order], revoked


def _room(
    group: GroupSpec, past: Past, held: Ints, least: int, extras: int
) -> tuple[Ints, Openings]:
    """
    How much everybody keeps, and who has room then.

    The first members, in Kafka's walk, that hold more than the least keep one more, as many as there are extras.
    """
    most = least + (extras > 0)
    full = past.walk[held[past.walk] >= most][:extras]
    keeps = np.minimum(held, least)
    keeps[full] = most
    by_id = string_order(group.members)
    short = by_id[held[by_id] < least]
    exact = np.zeros(0, np.int64)
    if len(full) < extras:
        has_room = (held >= least) & (keeps < most)
        exact = by_id[has_room[by_id]]
    return keeps, Openings(
        short=short, need=least - held[short], exact=exact, extras=extras - len(full)
    )


def _deal(free: Ints, racks: StickyRacks | None, openings: Openings) -> tuple[Ints, Ints]:
    """The free partitions in the order in which they find a member, and these members."""
    if racks is None:
        return free, deal_round(len(free), openings)
    free = free[np.argsort(racks.crowd[free], kind="stable")]
    takers, left = deal_by_rack(free, racks, openings)
    rest = takers == NONE
    others = deal_round(int(rest.sum()), left)
    return np.concatenate([free[~rest], free[rest]]), np.concatenate([takers[~rest], others])
