"""
Findings about racks: awareness that was lost, racks no broker has, reads from leaders only, unknown costs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from ..assignors.interface import GroupSpec
from ..assignors.kafka.protocol_names import BY_RACKS
from ..metrics.racks import stray_racks
from ..model.arrays import Flags, Floats
from ..model.assignments import Assignment
from ..model.facts import Fact, finding
from ..model.groups import CONFIGURED, GroupSnapshot
from ..model.states import GroupType
from .scoring import crossing_of


def lost_rack_awareness(
    group: GroupSnapshot, spec: GroupSpec, least: Assignment | None
) -> Fact | None:
    """
    What a KIP-848 group reads across racks although an assignment as even would not have to; None when there is none.

    Kafka's server-side assignors look at no rack (up to 4.3), the client-side ones of classic groups do (KIP-881): a
    group that moves from one protocol to the other loses what it had. Ours does. The subjects of the finding are the
    group, and the name of our assignor if brokers have it.

    Args:
        group: The group.
        spec: Its present assignment.
        least: What `min_traffic` would make of it, which is proven to cross least; None where it cannot.

    Source: KIP-848, KIP-881.
    """
    if group.type is not GroupType.CONSUMER or group.rebalancing or len(group.roster) == 0:
        return None
    if group.assignor == BY_RACKS:
        return None
    if not all(group.roster.send_rack):
        return None
    now = crossing_of(spec, spec.owner)
    share = now.share()
    if not share or least is None:
        return None
    then = crossing_of(spec, least.owner)
    would = then.share()
    if would is None or int(then.crosses.sum()) >= int(now.crosses.sum()):
        return None
    there = BY_RACKS in (group.group_assignors or ())
    names = [group.group, *([BY_RACKS] if there else [])]
    return finding("lost_rack_awareness", names, before=share, after=would, unit="share")


def leaders_only(group: GroupSnapshot, spec: GroupSpec) -> Fact | None:
    """
    What is read across racks because brokers serve reads from leaders only (no KIP-392); None when nothing is.

    Args:
        group: The group.
        spec: Its present assignment.
    """
    if group.follower_fetching is not False or group.rebalancing:
        return None
    now, would = (
        crossing_of(spec, spec.owner).share(),
        crossing_of(replace(spec, leaders_only=False), spec.owner).share(),
    )
    if now is None or would is None or now <= would:
        return None
    return finding("leaders_only", before=now, after=would, unit="share")


def strays(group: GroupSnapshot) -> Iterator[Fact]:
    """
    Racks of members that no broker has, one finding each: the rack, the broker's that is meant, whose it is.

    The first subject is the rack, the second the broker's rack that is plainly meant, empty where none is. Reading from
    there is neither near nor far, so nothing is counted for it (`metrics.racks.stray_racks`).

    Args:
        group: The group, of consumers or of Kafka Streams.
    """
    table, members = group.partitions, group.roster
    for rack in sorted(stray_racks(members.racks, table)):
        own = [number for number, one in enumerate(members.racks) if one == rack]
        given = sum(members.rack_sources[number] == CONFIGURED for number in own)
        names = dict.fromkeys(members.identities[number] for number in own)
        meant = meant_rack(rack, table.racks) or ""
        yield finding("stray_rack", [rack, meant, *names], after=given, bound=len(own))


def meant_rack(rack: str, racks: Collection[str]) -> str | None:
    """
    The one of some racks that another name plainly means: their words, of whatever case, end alike; None otherwise.

    >>> meant_rack("us-rack-a", ["rack-a", "rack-b"]), meant_rack("A", ["rack-a"]), meant_rack("1", ["rack-11"])
    ('rack-a', 'rack-a', None)
    """
    asked = _parts(rack)
    alike = [
        one
        for one in racks
        if (parts := _parts(one))
        and asked
        and all(a == b for a, b in zip(asked, parts, strict=False))
    ]
    return alike[0] if len(alike) == 1 else None


def _parts(rack: str) -> list[str]:
    """Its words from the last one on."""
    return [word for word in re.split(r"[^0-9a-z]+", rack.casefold()) if word][::-1]


def unpriced(group: GroupSnapshot, bytes_per_record: Floats, counted: Flags) -> Fact | None:
    """
    Why the cost of crossing racks is unknown although a price is configured, and what would tell it.

    None where nothing is missing but time: rates need a second snapshot.

    Args:
        group: The group.
        bytes_per_record: (n) of its partitions, nan unknown.
        counted: Which of these are inside the totals.
    """
    table = group.partitions
    if not table.racks or not any(group.roster.racks):
        return None
    if group.follower_fetching is None:
        return finding("unknown_follower_fetching")
    missing = counted & np.isnan(bytes_per_record)
    if not bool(missing.any()):
        return None
    names = sorted({table.topics[t] for t in table.topic[missing].tolist()})
    return finding("unknown_record_size", names, partitions=int(missing.sum()))
