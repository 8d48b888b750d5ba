"""Who owns what, as a short text that is the same while that is the same."""

from __future__ import annotations

import hashlib

import numpy as np

from evenkeel.engine.batch import GroupBatch
from evenkeel.engine.model import NONE


def fingerprint(batch: GroupBatch, group: int) -> str | None:
    """
    A fingerprint of a group's assignment, 16 hexadecimal digits; None where nobody owns anything.

    Members count by identity (instance id, else client id and host), so one that restarts and gets back what it had
    changes nothing, nor do two of the same identity that change places. Partitions without owner do not count.

    Cost: a sort of its members and a pass over its partitions.
    """
    rows, members = batch.rows(group), batch.members_of(group)
    owner = batch.owners_of(group)
    own = np.flatnonzero(owner != NONE)
    if not len(own):
        return None
    owner, first = owner[own], np.full(members.stop - members.start, len(owner))
    np.minimum.at(first, owner, np.arange(len(owner)))
    identities = batch.members.identities[members]
    order = sorted(range(len(first)), key=lambda member: (identities[member], first[member]))
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    table = batch.partitions
    topic, number = table.topic[rows][own], table.partition[rows][own]
    named, place_of_topic = np.unique(topic, return_inverse=True)
    names = [table.topics[each] for each in named.tolist()]
    digest = hashlib.blake2b(digest_size=8)
    for text in (*(identities[member] for member in order), "", *names):
        digest.update(f"{text}\0".encode())
    for numbers in (place_of_topic, number, place[owner]):
        digest.update(np.ascontiguousarray(numbers, np.int32).tobytes())
    return digest.hexdigest()
