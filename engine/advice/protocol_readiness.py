"""
Whether a group can move from the classic to the consumer protocol (KIP-848), what it loses and gains, and its turn.

A broker converts a group with members when one of them joins by the consumer protocol, and back when the last such one
leaves; a group without members takes the protocol of whoever joins. What brokers reject is known of their settings, of
what the leader sends with assignments, and of the members' client library, as far as somebody told it.

Source: KIP-848; `GroupMetadataManager.validateOnlineUpgrade` and `ConsumerGroup.fromClassicGroup` of Kafka 4.3 (a group
whose assignments carry user data is rejected: KAFKA-18134). Tried there and back with members of Java 4.3 and
librdkafka 2.16.

What it does not do: it knows no version of a client that no configuration tells, and no session timeout of a classic
member, which brokers don't report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..assignors import by_name
from ..assignors.interface import fresh, spec_of
from ..assignors.kafka.other_clients import FRANZ_GO
from ..assignors.kafka.protocol_names import (
    BY_RACKS,
    CLIENT_SIDE,
    SERVER_SIDE,
    cooperative,
    strategy_of,
)
from ..config import Rule
from ..model.arrays import NONE, Column
from ..model.coordinators import SESSION_SETTING, CoordinatorSettings
from ..model.errors import Infeasible
from ..model.facts import Fact, FactKind, fact, note, reason
from ..model.groups import GroupSnapshot
from ..model.states import GroupType, Readiness
from .feasibility import unfit
from .listed_protocols import lists_of
from .rollout import PROTOCOL_SINCE, Client, clients_of
from .scoring import crossing_of

_gain, _loss = partial(fact, FactKind.GAIN), partial(fact, FactKind.LOSS)

_Shares = tuple[float, float]
"""Shares of partitions that are read across racks, now and after the move."""

TURNS = (
    Readiness.MIGRATING,
    Readiness.READY,
    Readiness.WITH_LOSSES,
    Readiness.FULL_STOP,
)
"""Who goes first: a move that has begun, then what is safest."""

_AFTER_THEM = (Readiness.BLOCKED, Readiness.UNKNOWN, Readiness.MOVED, Readiness.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReadiness:
    """
    A group on its way to the consumer protocol.

    Attributes:
        group: The group.
        readiness: Whether it can go.
        strategy: Our name of the strategy of the broker that it gets; None where it doesn't go.
        why: Why it cannot go, or not with its members running, or what it is instead.
        losses, gains: What the move brings.
        notes: What else has to be known.
        stopped: Partitions that stop in each rebalance now; None unknown.
        clients: Number of members by their client library; None: unknown of these.
        place: Its turn, from 1; None if it has none.
    """

    group: GroupSnapshot
    readiness: Readiness
    strategy: str | None = None
    why: tuple[Fact, ...] = ()
    losses: tuple[Fact, ...] = ()
    gains: tuple[Fact, ...] = ()
    notes: tuple[Fact, ...] = ()
    stopped: int | None = None
    clients: Mapping[str | None, int] = field(default_factory=dict)
    place: int | None = None

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All that is to be said, the most important first."""
        return (*self.why, *self.losses, *self.gains, *self.notes)


def readiness_of(group: GroupSnapshot, rule: Rule) -> GroupReadiness:
    """
    A group by itself, without its turn.

    Args:
        group: The group.
        rule: What is configured of it: what its members list, and by which library they are.
    """
    told = partial(GroupReadiness, group=group)
    if group.error is None and group.type is GroupType.CONSUMER:
        return _of_the_protocol(group)
    never = unfit(group)
    if never is not None and (group.members or not _has_left(group)):
        unknown = group.error is not None or group.type is GroupType.UNKNOWN
        instead = (note("streams_protocol_instead"),) if _is_classic_application(group) else ()
        kind = Readiness.UNKNOWN if unknown else Readiness.NOT_APPLICABLE
        return told(readiness=kind, why=(never,), notes=instead)
    if group.rebalancing:
        return told(readiness=Readiness.UNKNOWN, why=(reason("in_rebalance", [group.state]),))
    strategy, settings = strategy_there(group), group.coordinator
    library = _libraries(group, rule)
    blocked = (*_of_brokers(group, settings), *_of_libraries(library, rule, len(group.members)))
    stop = stopping(group)
    racks = _cross_rack_shares(group, strategy)
    losses = tuple(_losses(group, strategy, racks))
    eager = _is_eager(group, rule)
    owned = int((group.partitions.owner != NONE).sum())
    if blocked:
        kind = Readiness.BLOCKED
    elif stop:
        kind = Readiness.FULL_STOP
    else:
        kind = Readiness.WITH_LOSSES if losses else Readiness.READY
    return told(
        readiness=kind,
        strategy=strategy,
        why=(*blocked, *stop),
        losses=losses,
        gains=tuple(_gains(group, strategy, racks, eager, owned)),
        notes=tuple(_notes(group, library)),
        stopped=None if eager is None else owned * eager,
        clients=library,
    )


def in_turn(groups: Iterable[GroupReadiness]) -> list[GroupReadiness]:
    """
    Groups in the order in which they should go, those that don't go last; each with its place.

    A move that has begun comes first, then whoever loses nothing, the most partitions that no longer stop first: the
    safest with the most gain. Of those that lose racks whoever loses least goes first.
    """
    ranks = {kind: rank for rank, kind in enumerate((*TURNS, *_AFTER_THEM))}

    def rank(one: GroupReadiness) -> tuple[int, int, float, int, int, str]:
        racks = sum((each.after or 0) - (each.before or 0) for each in one.losses)
        members = len(one.group.members)
        lost = (len(one.losses), racks, -(one.stopped or 0), members, one.group.group)
        return (ranks[one.readiness], *lost)

    ordered = sorted(groups, key=rank)
    moving = [one for one in ordered if one.readiness in TURNS]
    placed = [replace(one, place=place) for place, one in enumerate(moving, 1)]
    return [*placed, *ordered[len(placed) :]]


def stopping(group: GroupSnapshot) -> tuple[Fact, ...]:
    """Why brokers convert a classic group only while it has no members; nothing where they do it with members."""
    settings = group.coordinator
    if not group.members:
        return ()
    told = []
    if settings is not None and settings.upgrades is False:
        told.append(reason("upgrade_not_allowed"))
    if any(member.assigned_user_data for member in group.members):
        told.append(reason("assignments_with_data", [group.assignor or "the leader"]))
    return tuple(told)


def on_the_way(group: GroupSnapshot) -> tuple[Fact, ...]:
    """What a runbook says of the brokers of a group that changes its protocol."""
    settings = group.coordinator
    told = list(of_cluster(settings))
    if settings is None:
        told.insert(0, note("migration_policy"))
    if settings is None or settings.downgrades is not False:
        told.append(note("last_of_a_protocol"))
    return (*told, *(own_settings(group) or [note("group_session", [group.group])]))


def own_settings(group: GroupSnapshot) -> tuple[Fact, ...]:
    """What was set for the group on the brokers, and holds from the move on in place of theirs."""
    kind = "streams." if group.type is GroupType.STREAMS else "consumer."
    own = sorted((group.settings or {}).items())
    told = [f"{name}={value}" for name, value in own if name.startswith(kind)]
    return (note("own_settings", told),) if told else ()


def strategy_there(group: GroupSnapshot) -> str:
    """
    Our name of the broker's strategy that is nearest to what a classic group runs.

    `racks-server` where members send racks and brokers have it, `range-server` where `range` may keep partitions of
    equal number together, else `uniform`.
    """
    if BY_RACKS in (group.group_assignors or ()) and any(m.sends_rack for m in group.members):
        return "racks-server"
    by_number = group.assignor == "range" and len(group.topics) > 1
    there = group.group_assignors is None or SERVER_SIDE["range-server"] in group.group_assignors
    return "range-server" if by_number and there else "uniform"


def of_cluster(settings: CoordinatorSettings | None) -> tuple[Fact, ...]:
    """What the brokers' settings say for all groups."""
    if settings is None:
        return (note("protocol_settings_unknown"),)
    told = [*_of_brokers(None, settings)]
    if settings.upgrades is not None and settings.downgrades is not None:
        told.append(note(_POLICIES[settings.upgrades, settings.downgrades]))
    if settings.session_seconds is not None and settings.heartbeat_seconds is not None:
        told.append(
            note(
                "sessions_by_brokers",
                before=settings.heartbeat_seconds,
                after=settings.session_seconds,
                bound=settings.least_session_seconds,
            )
        )
    return tuple(told)


_POLICIES = {
    (True, True): "policy_bidirectional",
    (True, False): "policy_upgrade",
    (False, True): "policy_downgrade",
    (False, False): "policy_disabled",
}


def _of_the_protocol(group: GroupSnapshot) -> GroupReadiness:
    """A group that has the protocol, all of it or some members."""
    classic = sum(member.kind == "classic" for member in group.members)
    strategy = group.assignor and strategy_of(group.type, group.assignor)
    told = partial(GroupReadiness, group=group, strategy=strategy, notes=own_settings(group))
    if not classic:
        return told(readiness=Readiness.MOVED)
    left = reason("classic_members_left", after=classic, bound=len(group.members))
    return told(readiness=Readiness.MIGRATING, why=(left,))


def _has_left(group: GroupSnapshot) -> bool:
    """Whether it had members of a consumer protocol: then whoever joins next decides by which it goes on."""
    empty = group.type is GroupType.CLASSIC and not group.members and group.error is None
    return empty and group.protocol_type == "consumer"


def _is_classic_application(group: GroupSnapshot) -> bool:
    return group.type is GroupType.CLASSIC and group.places_tasks


def _libraries(group: GroupSnapshot, rule: Rule) -> Mapping[str | None, int]:
    known = {
        None if one is None else one.value: n for one, n in clients_of(group, rule.client).items()
    }
    # a library that no runbook has settings for is known all the same
    return {rule.client: len(group.members)} if rule.client and None in known else known


def _of_brokers(
    group: GroupSnapshot | None, settings: CoordinatorSettings | None
) -> Iterable[Fact]:
    """What the brokers lack."""
    if settings is None:
        return
    if settings.version == 0:
        yield reason("brokers_lack_protocol")
    elif settings.is_enabled is False:
        yield reason("protocol_not_enabled")
    most, members = settings.most_members, 0 if group is None else len(group.members)
    if most is not None and members > most:
        yield reason("too_many_members", after=members, bound=most)


def _of_libraries(library: Mapping[str | None, int], rule: Rule, members: int) -> Iterable[Fact]:
    """What the client libraries lack."""
    for name, number in library.items():
        if name is None or not number:
            continue
        since = PROTOCOL_SINCE.get(Client(name)) if name in {*Client} else None
        version = rule.version_of_client if name == rule.client else None
        if name == FRANZ_GO:
            yield reason("library_opts_in", [name])
        elif since is None:
            yield reason("library_without_protocol", [name], after=number, bound=members)
        elif version is not None and version < since:
            told = [name, *(".".join(map(str, one)) for one in (version, since))]
            yield reason("library_too_old", told)


def _losses(group: GroupSnapshot, strategy: str, racks: _Shares | None) -> Iterable[Fact]:
    known = CLIENT_SIDE.get(group.assignor or "")
    if group.members and (known is None or not known.stock):
        yield _loss("assignor_without_counterpart", [group.assignor or "unknown", strategy])
    if racks is not None and racks[1] > racks[0]:
        yield _loss("cross_rack_share", before=racks[0], after=racks[1])


def _gains(
    group: GroupSnapshot, strategy: str, racks: _Shares | None, eager: bool | None, owned: int
) -> Iterable[Fact]:
    if racks is not None and racks[1] < racks[0] and SERVER_SIDE[strategy] == BY_RACKS:
        yield _gain("cross_rack_share", before=racks[0], after=racks[1])
    if len(group.members) > 1:
        yield _gain("no_stop_the_world", partitions=owned) if eager else _gain("no_barrier")


def _notes(group: GroupSnapshot, library: Mapping[str | None, int]) -> Iterable[Fact]:
    members = len(group.members)
    yield from own_settings(group)
    if not members:
        yield note("first_member_decides")
        return
    if unknown := library.get(None):
        yield note("library_unknown", after=unknown, bound=members)
    if static := sum(member.is_static for member in group.members):
        session = group.in_force(SESSION_SETTING)
        by, seconds = ([], None) if session is None else ([session.by], session.seconds)
        yield note("static_members_stay", by, before=seconds, after=static, bound=members)


def _is_eager(group: GroupSnapshot, rule: Rule) -> bool | None:
    """Whether a rebalance stops all members now; None unknown."""
    lists = [
        listed or (group.assignor or "",)
        for listed in lists_of(group.roster, rule.assignors).values()
    ]
    kinds = {cooperative(listed) for listed in lists}
    return None if None in kinds and False not in kinds else False in kinds


def _cross_rack_shares(group: GroupSnapshot, strategy: str) -> _Shares | None:
    """The share of partitions that are read across racks, now and after all members have restarted; None unknown."""
    if not any(member.rack for member in group.members):
        return None
    nothing = Column.unknown(len(group.partitions))
    spec = spec_of(group, nothing, np.full(len(group.partitions), np.nan))
    try:
        then = by_name(strategy).assign(fresh(spec))
    except Infeasible:
        return None
    before, after = (crossing_of(spec, owner).share() for owner in (spec.owner, then.owner))
    return None if before is None or after is None else (before, after)
