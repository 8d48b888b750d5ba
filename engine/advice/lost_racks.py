"""Findings about racks: a group that lost rack awareness, and brokers that serve reads from leaders only."""

from __future__ import annotations

from engine.assignor import GroupSpec, by_leader
from engine.errors import Infeasible
from engine.kit.near_data import near_data
from engine.model import GroupSnapshot, GroupType
from engine.scoring import replica_crossing_of


def lost_rack_awareness(group: GroupSnapshot, spec: GroupSpec) -> str | None:
    """
    What a KIP-848 group reads across racks although an assignment as even would not have to; None when there is none.

    Kafka's server-side assignors look at no rack (up to 4.3), the client-side ones of classic groups do (KIP-881): a
    group that moves from one protocol to the other loses what it had.

    Args:
        group: The group.
        spec: Its present assignment.

    Source: KIP-848, KIP-881; what would do is `min_traffic`'s proven least.
    """
    if group.type is not GroupType.CONSUMER or group.rebalancing or not group.members:
        return None
    if any(member.rack is None or member.rack_source == "configured" for member in group.members):
        return None
    if group.follower_fetching is False:
        spec = by_leader(spec)
    now = replica_crossing_of(spec, spec.owner)
    share = now.share()
    if not share:
        return None
    try:
        least = near_data(spec, balance_topics=False)
    except Infeasible:
        return None
    if not least.partitions or least.crossing >= int(now.crosses.sum()):
        return None
    would = least.crossing / least.partitions
    return (
        f"lost rack awareness: {share:.0%} of its partitions are read across racks, {would:.0%} would have to be;"
        " a broker that assigns (KIP-848) looks at no rack, though all members tell theirs"
    )


def leaders_only(group: GroupSnapshot, spec: GroupSpec) -> str | None:
    """
    What is read across racks because brokers serve reads from leaders only (no KIP-392); None when nothing is.

    Args:
        group: The group.
        spec: Its present assignment.
    """
    if group.follower_fetching is not False or group.rebalancing:
        return None
    now, would = (
        replica_crossing_of(by_leader(spec), spec.owner).share(),
        replica_crossing_of(spec, spec.owner).share(),
    )
    if now is None or would is None or now <= would:
        return None
    return (
        f"{now:.0%} of its partitions are read across racks because brokers serve reads from leaders only; with"
        f" replica.selector.class set to RackAwareReplicaSelector (KIP-392) it would be {would:.0%}"
    )
