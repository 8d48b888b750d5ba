"""
What may be wrong with a group, in its order: each rule says what it sees as facts, or nothing where it does not hold.

The first that holds is the diagnosis, all that hold are the troubles of the group.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...model.arrays import NONE, Flags, Floats
from ...model.facts import Fact, FactKind, fact
from ...model.states import Diagnosis, RebalanceCause
from .evidence import OneGroup

SLOW = 0.75
"""A member below this share of what its median peer does is slow."""

EQUAL = 1.1
"""One at which up to so many times as much arrives as its peers keep up with has no more to do than they."""

HOT = 2.0
"""A hot partition gets at least so many times what the median partition gets."""

FEW = 4
"""At most one of so many partitions of a group is hot, or a single one."""

JUMP = 4.0
"""Commits that went on so many times as fast as the best members would were set, not consumed."""

STABLE = "Stable"
"""The state of a group all of whose members have what they are to have."""

Rule = Callable[[OneGroup], Iterator[Fact]]


def _stated(
    diagnosis: Diagnosis, names: list[str] | None = None, **known: float | str | None
) -> Fact:
    return fact(FactKind.DIAGNOSIS, diagnosis.measure, names or [], **known)


def _shared(group: OneGroup) -> str | None:
    """The type of a share group, whose members acknowledge records and commit none; None of other groups."""
    return group.header.type.value if group.header.shares_partitions else None


def _unreadable(group: OneGroup) -> Iterator[Fact]:
    if group.header.error is not None:
        yield fact(FactKind.DIAGNOSIS, "unreadable", quote=group.header.error)


def _no_members(group: OneGroup) -> Iterator[Fact]:
    if group.nobody:
        yield _stated(
            Diagnosis.NO_MEMBERS,
            after=float(group.arrivals[group.counted].sum()) if group.has_past else None,
            partitions=int(group.counted.sum()),
            quote=_shared(group),
        )


def _crash_loop(group: OneGroup) -> Iterator[Fact]:
    return _repeated(group, Diagnosis.CRASH_LOOP, RebalanceCause.CRASH_LOOP)


def _scaler_flapping(group: OneGroup) -> Iterator[Fact]:
    return _repeated(group, Diagnosis.SCALER_FLAPPING, RebalanceCause.SCALER_FLAPPING)


def _repeated(group: OneGroup, diagnosis: Diagnosis, cause: RebalanceCause) -> Iterator[Fact]:
    seen = group.repeated
    if seen is not None and seen.cause is cause:
        yield _stated(
            diagnosis, [*seen.names], before=seen.seconds, after=seen.times, bound=len(group.names)
        )


def _rebalancing(group: OneGroup) -> Iterator[Fact]:
    if group.header.rebalancing:
        yield _stated(Diagnosis.REBALANCING, [group.header.state])


def _losing_records(group: OneGroup) -> Iterator[Fact]:
    below = group.counted & (group.lost > 0)
    rows = below | group.evicted
    if rows.any():
        yield _stated(
            Diagnosis.DATA_LOSS,
            group.partitions(rows),
            # of what went while commits moved on nobody knows which part had been read
            after=float(group.lost[below].sum()) if below.any() else None,
            partitions=int(rows.sum()),
        )


def _skipped_records(group: OneGroup) -> Iterator[Fact]:
    rows = group.over_lost | (group.jumped if _too_fast(group) else np.zeros_like(group.jumped))
    if rows.any():
        yield _stated(
            Diagnosis.OFFSETS_SKIPPED,
            group.partitions(rows),
            after=float(np.nan_to_num(group.consumed).max(axis=0)[rows].sum()),
            partitions=int(rows.sum()),
        )


def _too_fast(group: OneGroup) -> bool:
    """
    Whether what jumped went on faster than all members together could consume.

    Only of a group without members can offsets be set from outside; of one that had some, what its members were seen
    to do when busy decides.
    """
    known = group.seen_speed if group.was_empty else group.saturated
    if not group.jumped.any() or np.isnan(known).all():
        return False
    # in the intervals in which they jumped: before, they may have been consumed at full speed
    speed = (
        np.where(group.jumps, np.nan_to_num(group.consumed / group.seconds), 0).sum(axis=1).max()
    )
    # a member that was back only for the end of an interval looks slow: what others keep up with counts as well
    return bool(speed > JUMP * np.nanmax(group.seen_speed) * len(known))


def _loss_ahead(group: OneGroup) -> Iterator[Fact]:
    if group.lost_soon.any():
        names = group.partitions(group.lost_soon)
        least = float(group.time_to_loss[group.lost_soon].min())
        yield _stated(Diagnosis.DATA_LOSS_IMMINENT, names, after=least, partitions=len(names))


def _unassigned_partitions(group: OneGroup) -> Iterator[Fact]:
    rows = group.unassigned
    to_read = ~(group.lag <= 0) | (group.arrivals > 0)
    if not (rows & to_read).any():
        return
    lag = group.lag[rows]
    since = float(group.ownerless[rows].max())
    state = group.header.state
    yield _stated(
        Diagnosis.UNASSIGNED_PARTITIONS,
        group.partitions(rows),
        before=None if np.isnan(lag).any() else float(lag.sum()),
        after=since or None,
        bound=int(group.counted.sum()),
        partitions=int(rows.sum()),
        quote=None if state == STABLE else state,
    )
    names = np.array(group.topics, np.object_)
    without = dict.fromkeys(names[rows].tolist())
    owned = set(names[group.owner != NONE].tolist())
    if whole := [topic for topic in without if topic not in owned]:
        yield fact(FactKind.DIAGNOSIS, "unassigned_topics", whole)
    if (ask := group.subscribers(without)) < len(group.names):
        yield fact(FactKind.DIAGNOSIS, "subscribed_by_some", after=ask, bound=len(group.names))


def _hanging_transaction(group: OneGroup) -> Iterator[Fact]:
    if group.held.any():
        yield _stated(
            Diagnosis.HANGING_TRANSACTION,
            group.partitions(group.held),
            after=float(np.nanmax(group.held_back)),
            partitions=int(group.held.sum()),
        )


def _stopped(group: OneGroup) -> Iterator[Fact]:
    if group.stopped:
        yield _stated(
            Diagnosis.GROUP_NOT_COMMITTING,
            before=group.arriving,
            after=float(np.nanmax(group.age[group.still])),
            bound=group.members_count,
            partitions=int(group.still.sum()),
            quote=_shared(group),
        )


def _silent_member(group: OneGroup) -> Iterator[Fact]:
    if group.silent.any():
        rows, shared = group.still & group.silent[group.owner], _shared(group)
        yield _stated(
            Diagnosis.MEMBER_NOT_COMMITTING,
            None if shared else group.members(group.silent),
            before=float(group.load[group.silent].sum()),
            after=float(np.nanmax(group.age[rows])),
            bound=group.members_count if shared else None,
            partitions=int(rows.sum()),
            quote=shared,
        )


def _stuck_partition(group: OneGroup) -> Iterator[Fact]:
    if group.stuck.any():
        yield _stated(
            Diagnosis.STUCK_PARTITION,
            group.partitions(group.stuck),
            after=float(np.nanmax(group.age[group.stuck])),
            bound=group.members_count if group.header.shares_partitions else None,
            partitions=int(group.stuck.sum()),
        )


def _slow_member(group: OneGroup) -> Iterator[Fact]:
    late, suspects = group.late, group.suspected
    if group.header.shares_partitions or not suspects.any():
        return
    slow = np.zeros_like(suspects)
    before = []
    works = group.load > 0
    count, keep_up = int(works.sum()), int((works & ~late).sum())
    speeds, in_time = _known(group.seen_speed), _often(_known(group.seen_speed[~late]))
    for member in np.flatnonzero(suspects).tolist():
        # half of the others that have something to do keep up
        alone = 2 * keep_up >= count - bool(works[member])
        often = _often(speeds, without=float(group.seen_speed[member]))
        by_peers = _is_slow(group, member, often, alone=alone)
        by_peers |= alone and _is_slow(group, member, in_time, alone=True)
        by_past = alone and _is_slow(group, member, float(group.past_speed[member]), alone=True)
        if by_peers or by_past:
            slow[member] = True
            yield _stated(
                Diagnosis.SLOW_MEMBER,
                [group.names[member]],
                before=float(group.load[member]),
                after=float(group.saturated[member]),
                bound=often if by_peers else None,
            )
        if by_past and not by_peers:
            before.append(member)
    for member in before:
        did, does = float(group.past_speed[member]), float(group.saturated[member])
        yield fact(FactKind.DIAGNOSIS, "own_past", [group.names[member]], before=did, after=does)
    yield from _same_host(group, slow)


def _known(speeds: Floats) -> list[float]:
    """Those that are known, ascending."""
    return sorted(speeds[~np.isnan(speeds)].tolist())


def _often(speeds: Sequence[float], without: float = math.nan) -> float:
    """
    The median of some speeds, ascending, but for one of them; nan of none.

    >>> _often([1.0, 2.0, 3.0, 9.0]), _often([1.0, 2.0, 3.0, 9.0], without=2.0)
    (2.5, 3.0)
    """
    skipped = len(speeds) if math.isnan(without) else bisect_left(speeds, without)
    count = len(speeds) - (skipped < len(speeds))
    if not count:
        return math.nan
    low, high = (at + (at >= skipped) for at in ((count - 1) // 2, count // 2))
    return (speeds[low] + speeds[high]) / 2


def _is_slow(group: OneGroup, member: int, speed: float, *, alone: bool) -> bool:
    """
    Whether a member does less than others, or it before, were seen to do.

    One that is overloaded alone is slow at any share that can be measured, if at that speed it would keep up.
    """
    does, load = float(group.saturated[member]), float(group.load[member])
    if does < SLOW * speed:
        return True
    return alone and does < group.exact * speed and load <= EQUAL * speed


def _same_host(group: OneGroup, slow: Flags) -> Iterator[Fact]:
    """Hosts all of whose members are slow, two at least, while others of the group are elsewhere."""
    where = np.array(group.hosts, np.object_)
    for host in dict.fromkeys(filter(None, where[slow].tolist())):
        there = where == host
        if there.sum() > 1 and slow[there].all() and not there.all():
            names, place = group.members(there), host.removeprefix("/")
            yield fact(FactKind.DIAGNOSIS, "same_host", names, quote=place)


def _hot_partition(group: OneGroup) -> Iterator[Fact]:
    if not group.over.any() or group.header.shares_partitions:
        return
    best = float(np.nanmax(group.capacity))
    hot = group.behind & (group.arrivals > best) & np.append(group.over, False)[group.owner]
    hot &= group.arrivals >= HOT * float(np.median(group.arrivals[group.counted]))
    few = max(1, int(group.counted.sum()) // FEW)
    if not 0 < hot.sum() <= few or not _rest_fits(group, float(group.arrivals[hot].sum())):
        return
    for row in np.flatnonzero(hot).tolist():
        alone = np.arange(len(hot)) == row
        yield _stated(
            Diagnosis.HOT_PARTITION,
            group.partitions(alone),
            after=float(group.arrivals[row]),
            bound=best,
        )


def _rest_fits(group: OneGroup, hot: float) -> bool:
    """Whether all members together can do what arrives, but for so much."""
    does = np.where(group.over, group.capacity, np.fmax(group.capacity, group.load))
    return bool(group.load.sum() - hot <= np.nansum(does))


def _too_few_members(group: OneGroup) -> Iterator[Fact]:
    if group.too_small:
        total, capacity = float(group.load.sum()), float(group.capacity.sum())
        shared, members = group.header.shares_partitions, group.members_count
        of_one = capacity / members if shared else float(np.median(group.capacity))
        yield _stated(
            Diagnosis.UNDER_PROVISIONED,
            before=members,
            after=members + math.ceil((total - capacity) / of_one),
            # a partition is no limit where several members read it
            bound=None if shared else int(group.counted.sum()),
        )
        yield fact(FactKind.DIAGNOSIS, "group_load", after=total, bound=capacity)


def _skewed_load(group: OneGroup) -> Iterator[Fact]:
    if group.too_small:
        return
    for member in np.flatnonzero(group.over).tolist():
        yield _stated(
            Diagnosis.SKEWED_LOAD,
            [group.names[member]],
            after=float(group.load[member]),
            bound=float(group.capacity[member]),
        )


def _catching_up(group: OneGroup) -> Iterator[Fact]:
    if group.behind.any():
        yield _stated(
            Diagnosis.CATCHING_UP,
            before=float(np.nanmax(group.delay[group.behind])),
            after=_until(group),
            partitions=int(group.behind.sum()),
        )


def _until(group: OneGroup) -> float | None:
    """Seconds until the last member that is behind has caught up; None unknown."""
    if not group.names:
        return None
    waits = np.nan_to_num(group.interval) * group.arrivals
    backlog = group.of_members(np.maximum(np.nan_to_num(group.lag) - waits, 0))
    spare = np.where(group.firm, group.capacity - group.load, np.nan)
    seconds = np.where(spare > 0, backlog / np.where(spare > 0, spare, 1), np.nan)
    needed = seconds[group.any_of(group.behind)]
    return float(needed.max()) if len(needed) and not np.isnan(needed).any() else None


def _unknown(group: OneGroup) -> Iterator[Fact]:
    doubtful = int(group.in_doubt.sum())
    if not group.counted.any():
        yield fact(FactKind.DIAGNOSIS, "no_partitions_seen")
    elif doubtful and not group.has_past:
        yield fact(FactKind.DIAGNOSIS, "no_past", partitions=doubtful)
    elif (group.in_doubt & np.isnan(group.lag)).any():
        rows = group.in_doubt & np.isnan(group.lag)
        yield fact(FactKind.DIAGNOSIS, "no_lag", partitions=int(rows.sum()))
    elif doubtful and math.isnan(group.interval):
        yield fact(FactKind.DIAGNOSIS, "no_commit_interval", partitions=doubtful)
    elif doubtful:
        yield fact(FactKind.DIAGNOSIS, "no_time_lag", partitions=doubtful)


RULES: tuple[tuple[Diagnosis, Rule, str | None], ...] = (
    (Diagnosis.UNKNOWN, _unreadable, None),
    (Diagnosis.NO_MEMBERS, _no_members, None),
    (Diagnosis.CRASH_LOOP, _crash_loop, None),
    (Diagnosis.SCALER_FLAPPING, _scaler_flapping, None),
    (Diagnosis.REBALANCING, _rebalancing, None),
    (Diagnosis.DATA_LOSS, _losing_records, "losing"),
    (Diagnosis.OFFSETS_SKIPPED, _skipped_records, "leaping"),
    (Diagnosis.DATA_LOSS_IMMINENT, _loss_ahead, "lost_soon"),
    (Diagnosis.UNASSIGNED_PARTITIONS, _unassigned_partitions, "unassigned"),
    (Diagnosis.HANGING_TRANSACTION, _hanging_transaction, "held"),
    (Diagnosis.GROUP_NOT_COMMITTING, _stopped, "still"),
    (Diagnosis.MEMBER_NOT_COMMITTING, _silent_member, "still"),
    (Diagnosis.STUCK_PARTITION, _stuck_partition, "still"),
    (Diagnosis.SLOW_MEMBER, _slow_member, "suspected"),
    (Diagnosis.HOT_PARTITION, _hot_partition, "over"),
    (Diagnosis.UNDER_PROVISIONED, _too_few_members, "over"),
    (Diagnosis.SKEWED_LOAD, _skewed_load, "over"),
    (Diagnosis.CATCHING_UP, _catching_up, "behind"),
    (Diagnosis.UNKNOWN, _unknown, None),
)
"""
Each with what one partition or member must be for it to hold (`Evidence.some`), in the order of `Diagnosis`.

What is unknown of some partitions hides nothing that is known of others, so it is said last. That a group vanished no
rule can see of it.
"""
