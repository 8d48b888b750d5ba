"""What a snapshot shows of groups whose other assignments are replayed, from its stored tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..advice.counterfactual import BestWay, Present
from ..advice.scoring import Moves
from ..metrics.counterfactual import capacity_ends
from ..model.arrays import NONE, Flags, Floats, Indices
from ..model.assignments import Candidate
from ..model.states import CapacityBasis
from ..model.tables import Table, Texts
from ..snapshots import rows_of_groups
from ..snapshots.arrays import floats_of, truths_of

Read = Callable[[str, Collection[str] | None, Sequence[str]], Table]
"""The columns of a dataset of one snapshot, for some groups or (None) all."""

MovesOf = Callable[[Mapping[str, Collection[str]]], Mapping[str, Mapping[str, Moves]]]
"""What strategies of some groups move, by group id and strategy."""

PARTITIONS = (
    *("group_id", "topic", "partition", "counted", "member_id", "end_offset", "lag"),
    *("production_per_second", "backlog", "stuck"),
)
MEMBERS = (
    *("group_id", "member_id", "identity", "capacity_per_second", "capacity_basis"),
    "not_committing",
)

USUAL_AGE = 2.5
"""Seconds since the last commit, on average, with Kafka's own default."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Shown:
    """
    A group as replays need it, and the names behind its numbers.

    Attributes:
        present: The arrays.
        rows: (n) names of the partitions that count.
        members: (M) ids of the members.
    """

    present: Present
    rows: list[str]
    members: list[str]


def shown(
    read: Read, metrics: Mapping[str, Mapping[str, Any]], groups: Collection[str]
) -> dict[str, Shown]:
    """
    What a snapshot shows of some groups, by name; nothing of one whose lag or an end offset is unknown.

    Args:
        read: The tables of the snapshot.
        metrics: Metrics of the groups by name.
        groups: The groups.
    """
    if not groups:
        return {}
    names = sorted(groups)
    partitions = rows_of_groups(read("partition_metrics", names, PARTITIONS), names)
    members = rows_of_groups(read("member_metrics", names, MEMBERS), names)
    found: dict[str, Shown] = {}
    for number, name in enumerate(names):
        own, theirs = (
            each.rows.slice(each.start[number], each.start[number + 1])
            for each in (partitions, members)
        )
        one = _shown(own.filter(truths_of(own["counted"])), theirs, metrics[name])
        if one is not None:
            found[name] = one
    return found


def _shown(partitions: Table, members: Table, metrics: Mapping[str, Any]) -> Shown | None:
    lag, arrives = metrics.get("total_lag"), metrics.get("production_per_second")
    if lag is None or arrives is None or not len(members) or partitions["end_offset"].null_count:
        return None
    owner = _places(partitions["member_id"], members["member_id"].to_pylist())
    order = _order(members["identity"].to_pylist(), owner)
    members = members.take(order)
    owner = np.append(np.argsort(order), NONE)[owner].astype(np.int32)
    identities = tuple(members["identity"].to_pylist())
    age = _age(metrics)
    rows = _named(partitions)
    delay = metrics.get("delay_seconds")
    is_behind = delay is None or delay > 0
    present = Present(
        partitions=_fingerprint(rows),
        members=identities,
        ids=_fingerprint(members["member_id"].to_pylist()),
        assignment=metrics.get("assignment"),
        owner=owner,
        stuck=truths_of(partitions["stuck"]),
        ends=floats_of(partitions["end_offset"]),
        rates=np.nan_to_num(floats_of(partitions["production_per_second"])),
        backlog=_backlog(partitions, age) if is_behind else np.zeros(len(partitions)),
        capacity=_alike(_capacity(members), identities),
        as_peers=_is(members, CapacityBasis.AS_ITS_PEERS),
        lag=lag,
        arrives=arrives,
        age=age,
        delay_seconds=delay,
    )
    return Shown(present=present, rows=rows, members=members["member_id"].to_pylist())


def best_ways(
    moves_of: MovesOf, groups: Mapping[str, Shown], chosen: Mapping[str, Candidate | None]
) -> dict[str, BestWay]:
    """
    The assignments of some candidates, by group.

    Args:
        moves_of: What strategies move.
        groups: What the snapshot shows of the groups.
        chosen: The candidate of each.
    """
    wanted = {name: each for name, each in chosen.items() if each is not None and name in groups}
    moves = moves_of({name: [each.strategy] for name, each in wanted.items()})
    ways: dict[str, BestWay] = {}
    for name, candidate in wanted.items():
        if (changed := moves[name].get(candidate.strategy)) is None:
            continue
        one, forecast = groups[name], candidate.forecast
        owner = one.present.owner.copy()
        row_of = {name: row for row, name in enumerate(one.rows)}
        place = {member: number for number, member in enumerate(one.members)}
        for move in changed:
            if (at := row_of.get(_name(move.topic, move.partition))) is not None:
                owner[at] = place.get(move.to_member or "", NONE)
        price = forecast.price_offset_seconds if forecast else None
        ways[name] = BestWay(strategy=candidate.strategy, owner=owner, price=price or 0.0)
    return ways


def _places(names: Texts, among: Sequence[str]) -> Indices:
    """The place of each name among others, NONE where it has none."""
    return names.index_in(among).astype(np.int32)


def _named(rows: Table) -> list[str]:
    """One text per partition."""
    pairs = zip(rows["topic"].to_pylist(), rows["partition"].to_pylist(), strict=True)
    return [_name(topic, number) for topic, number in pairs]


def _name(topic: str, partition: int) -> str:
    return f"{topic}/{partition}"


def _fingerprint(rows: Sequence[str]) -> str:
    """A short text that is the same for the same names."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update("\0".join(rows).encode())
    return digest.hexdigest()


def _order(identities: Sequence[str], owner: Indices) -> list[int]:
    """Members by identity; those who share one by the first partition that each has."""
    first = np.full(len(identities) + 1, len(owner))
    np.minimum.at(first, owner, np.arange(len(owner)))
    return sorted(range(len(identities)), key=lambda m: (identities[m], first[m]))


def _is(members: Table, basis: CapacityBasis) -> Flags:
    """(M) whose capacity is known in a way."""
    found: Flags = members["capacity_basis"].equal(basis.value)
    return found


def _capacity(members: Table) -> Floats:
    at_least = _is(members, CapacityBasis.AT_LEAST)
    silent = truths_of(members["not_committing"])
    per_second = floats_of(members["capacity_per_second"])
    known = np.where(silent, 0.0, per_second)
    return capacity_ends(known, at_least & ~silent)


def _alike(capacity: Floats, identities: Sequence[str]) -> Floats:
    """(3, M) capacities; of members who cannot be told apart the least and the most of them all."""
    if len(set(identities)) == len(identities):
        return capacity
    _, who = np.unique(np.array(identities, np.object_), return_inverse=True)
    alike = capacity.copy()
    for end, worst in ((0, np.maximum), (1, np.maximum), (2, np.minimum)):
        of_identity = np.full(who.max() + 1, 0.0 if worst is np.maximum else np.inf)
        worst.at(of_identity, who, capacity[end])
        alike[end] = of_identity[who]
    return alike


def _age(metrics: Mapping[str, Any]) -> float:
    """Seconds since the last commit, on average."""
    ages, interval = metrics.get("commit_ages_seconds"), metrics.get("commit_interval_seconds")
    if ages:
        return float(np.mean(ages))
    return USUAL_AGE if interval is None else interval / 2


def _backlog(partitions: Table, age: float) -> Floats:
    """(n) offsets that wait; of a group that has no forecast, its lag without what waits for the next commit."""
    stored = floats_of(partitions["backlog"])
    lag = floats_of(partitions["lag"])
    speed = np.nan_to_num(floats_of(partitions["production_per_second"]))
    return np.where(np.isnan(stored), np.maximum(np.nan_to_num(lag) - age * speed, 0.0), stored)
