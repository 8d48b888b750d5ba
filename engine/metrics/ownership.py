"""Who owns what, as a short text that is the same while that is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from ..model.arrays import NONE, Indices
from ..model.batch import GroupBatch


def fingerprint(batch: GroupBatch, group: int) -> str | None:
    """The fingerprint of a group's live assignment; see `fingerprint_of`."""
    rows, members, table = batch.rows(group), batch.members_of(group), batch.partitions
    return fingerprint_of(
        table.topics,
        table.topic[rows],
        table.partition[rows],
        batch.owners_of(group),
        batch.members.identities[members],
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
    own = np.flatnonzero(owner != NONE)
    if not len(own):
        return None
    first = np.full(len(identities), len(own))
    np.minimum.at(first, owner[own], np.arange(len(own)))
    order = sorted(range(len(first)), key=lambda member: (identities[member], first[member]))
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    topic = topic[own]
    begins = np.append(True, topic[1:] != topic[:-1])
    names = [topics[each] for each in topic[begins].tolist()]
    digest = hashlib.blake2b(digest_size=8)
    texts = [*(identities[member] for member in order), "", *names, ""]
    digest.update("\0".join(texts).encode())
    for numbers in (np.cumsum(begins), partition[own], place[owner[own]]):
        digest.update(np.ascontiguousarray(numbers, np.int32).tobytes())
    return digest.hexdigest()
