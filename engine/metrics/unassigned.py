"""
Partitions that members subscribe to and nobody owns, while their group does not rebalance.

An assignor of the classic protocol deals out what its leader's metadata shows. A leader that may not describe a topic,
or does not subscribe to it, gives its partitions to nobody, and nobody says so. A broker (KIP-848, KIP-1071) knows all
topics, but leaves a Kafka Streams application without tasks until all of its topics are there.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import NONE, Flags, Floats, Ints
from ..model.batch import GroupBatch
from ..model.groups import GroupHeader
from ..model.states import WITHOUT_MEMBERS, GroupType
from .past import Past
from .samples import STILL_SECONDS, Samples

NEW_SECONDS = 600.0
"""
So long a partition that appeared lately and was never read may have no owner: a leader meets it after
`metadata.max.age.ms` (5 min), a broker finds what a pattern matches every 10 min (KIP-848).
"""


def unassigned(past: Past, samples: Samples) -> Floats:
    """
    (n) seconds for which nobody has owned a partition that members subscribe to; nan where somebody does, or soon will.

    What had an owner must be without one for `STILL_SECONDS`, so that two steps of a cooperative rebalance are none;
    what was read and has none in all snapshots is found at once. Snapshots in which the group rebalanced say nothing. A
    topic for which only patterns (KIP-848) speak is subscribed to once it was read: its broker may match fewer topics
    than are to be seen.

    Args:
        past: The groups and their earlier samples.
        samples: Their partitions.
    """
    batch, table = past.now, past.now.partitions
    found = np.full(len(table), np.nan)
    calm = batch.flags(_is_calm) & (batch.members.counts > 0)
    rows = np.flatnonzero(table.assignable & (table.owner == NONE) & calm[batch.group])
    rows = rows[_surely_subscribed(batch, rows)]
    if not len(rows):
        return found
    of = batch.group[rows]
    was_there, moved = (past.flags(name)[:, of] for name in ("readable", "rebalancing"))
    ownerless = [
        each.partitions.assignable & (each.partitions.owner == NONE) for each in past.earlier
    ]
    free = past.gather(ownerless, False, np.bool_)[:, rows]
    at, read = samples.at[:, rows], table.committed.known[rows]
    on, began, seconds = (
        np.ones(len(rows), np.bool_),
        np.zeros(len(rows), np.bool_),
        np.zeros(len(rows)),
    )
    for number in range(past.samples):
        began |= on & was_there[number] & ~free[number] & ~moved[number]
        on &= free[number] | moved[number]
        lasted = np.where(on & free[number], at[0] - at[number + 1], 0.0)
        seconds = np.fmax(seconds, lasted)
    least = np.where(~read & began, NEW_SECONDS, STILL_SECONDS)
    lasts = (seconds >= least) | (read & ~began)
    found[rows[lasts]] = seconds[lasts]
    return found


def _is_calm(header: GroupHeader) -> bool:
    """Whether what its members own is known and complete; partitions of a share group have no owner."""
    settled = not header.rebalancing and header.state not in WITHOUT_MEMBERS
    return settled and header.error is None and header.type is not GroupType.SHARE


def _surely_subscribed(batch: GroupBatch, rows: Ints) -> Flags:
    """(rows) whether a member names the topic of each, or it was owned or read, so that a pattern stands for it."""
    table, sure = batch.partitions, np.ones(len(rows), np.bool_)
    for group in np.unique(batch.group[rows]).tolist():
        members = batch.groups[group].members
        if not any(member.subscription_regex for member in members):
            continue
        own, mine = batch.rows(group), batch.group[rows] == group
        known = table.committed.known[own] | (table.owner[own] != NONE)
        topics = set(table.topic[own][known].tolist())
        named = {t for m in members if not m.subscription_regex for t in m.subscription or ()}
        sure[mine] = [
            topic in topics or table.topics[topic] in named
            for topic in table.topic[rows[mine]].tolist()
        ]
    return sure
