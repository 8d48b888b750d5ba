"""Who owns what, as a short text that is the same while that is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..model.arrays import NONE, Indices, Ints, starts_of
from ..model.batch import GroupBatch


def fingerprints(batch: GroupBatch) -> list[str | None]:
    """(G) the fingerprint of each group's live assignment; see `fingerprint_of`."""
    table, members = batch.partitions, batch.members
    return _fingerprints(
        table.topics,
        table.topic,
        table.partition,
        table.owner,
        batch.start,
        members.identities,
        members.start,
    )


def fingerprint_of(
    topics: Sequence[str],
    topic: Indices,
    partition: Indices,
    owner: Indices,
    identities: Sequence[str],
) -> str | None:
    """
    A fingerprint of an assignment, 16 hexadecimal digits; None where nobody owns anything.

    Members count by identity (instance id, else client id and host), so one that restarts and gets back what it had
    changes nothing, nor do two of the same identity that change places. Partitions without owner do not count.

    Args:
        topics: Names of topics.
        topic: (n) into *topics*; rows in order of topic name and partition.
        partition: (n) number of the partition.
        owner: (n) into *identities*, or NONE.
        identities: (M) of the members.

    Cost: a sort of the members and a pass over the partitions.
    """
    rows, members = (starts_of([len(each)]) for each in (topic, identities))
    return _fingerprints(topics, topic, partition, owner, rows, identities, members)[0]


def _fingerprints(
    topics: Sequence[str],
    topic: Indices,
    partition: Indices,
    owner: Indices,
    start: Ints,
    identities: Sequence[str],
    members: Ints,
) -> list[str | None]:
    """(G) fingerprints of groups behind each other; rows and members of each begin at *start* and *members*."""
    own = np.flatnonzero(owner != NONE)
    start = np.searchsorted(own, start)
    topic, partition, owner = topic[own], partition[own].astype(np.int32), owner[own]
    first = np.full(len(identities), len(own))
    np.minimum.at(first, owner, np.arange(len(own)))
    rank = {each: number for number, each in enumerate(sorted({*identities}))}
    ranks = np.fromiter(map(rank.__getitem__, identities), np.int64, len(identities))
    group = np.repeat(np.arange(len(members) - 1), np.diff(members))
    order = np.lexsort((first, ranks, group))
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order)) - members[group]
    begins = np.ones(len(own), np.bool_)
    begins[1:] = topic[1:] != topic[:-1]
    begins[start[:-1][start[:-1] < len(own)]] = True
    turn = np.cumsum(begins)
    numbers = (turn, partition, place[owner])
    listed, ordered = topic[begins].tolist(), order.tolist()
    found: list[str | None] = []
    for (begin, end), (low, high) in zip(
        pairwise(start.tolist()), pairwise(members.tolist()), strict=True
    ):
        if begin == end:
            found.append(None)
            continue
        before, last = int(turn[begin]) - 1, int(turn[end - 1])
        names = [topics[each] for each in listed[before:last]]
        digest = hashlib.blake2b(digest_size=8)
        texts = [*(identities[member] for member in ordered[low:high]), "", *names, ""]
        digest.update("\0".join(texts).encode())
        for each, less in zip(numbers, (before, 0, 0), strict=True):
            digest.update((each[begin:end] - less).astype(np.int32).tobytes())
        found.append(digest.hexdigest())
    return found
