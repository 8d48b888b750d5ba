"""That a group is gone while records arrive: said of what an earlier snapshot had of it."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from ..metrics.observe import Observation
from ..model.facts import FactKind, fact
from ..model.states import Diagnosis
from ..model.tables import Table
from .details import last_commit, last_members
from .evaluation import Judged, Trouble


def vanished_of(
    last: Observation, number: int, partitions: Table, since: datetime | None = None
) -> Judged:
    """
    What is said of a group that a complete snapshot does not list any more.

    Args:
        last: What the numbers said of it when it was there last.
        number: Its number among the groups of that.
        partitions: The snapshot's rows of the dataset `partitions`, at least those of the group's topics that it has.
        since: When the first snapshot without it was taken; None: in this one.

    Returns:
        Without a trouble where nobody misses it: no records arrive.
    """
    rows = last.batch.rows(number)
    arrivals = _since_then(last, number, partitions)
    if arrivals is None:
        known = last.evidence.arrivals[rows][last.counted[rows]]
        arrivals = float(np.nansum(known))
    lag = last.lag.for_people.take(rows).take(last.counted[rows]).total()
    gone = fact(
        FactKind.DIAGNOSIS,
        "group_deleted",
        before=int(last.batch.members.counts[number]),
        after=arrivals,
        bound=lag,
        partitions=int(last.counted[rows].sum()),
    )
    name = last.batch.headers[number].group
    if not arrivals > 0:
        return Judged(group_id=name, gone=gone)
    before = (
        *last_members([(last.batch, number)]),
        *last_commit(last.samples, rows, last.counted[rows]),
    )
    trouble = Trouble(kind=Diagnosis.GROUP_DELETED, facts=(gone, *before), since=since)
    return Judged(
        group_id=name,
        troubles=(trouble,),
        gone=gone,
    )


def _since_then(last: Observation, number: int, partitions: Table) -> float | None:
    """Records/s that have arrived since in the group's partitions; None where no end of them was read again."""
    table, rows = last.batch.partitions, last.batch.rows(number)
    topics = {table.topics[topic] for topic in table.topic[rows].tolist()}
    own = partitions.filter(partitions["topic"].is_in(topics))
    columns = ("topic", "partition", "end_offset", "end_at")
    ends = {
        (topic, partition): (end, at.timestamp())
        for topic, partition, end, at in zip(*(own[c].to_pylist() for c in columns), strict=True)
        if end is not None and at is not None
    }
    arrived, seconds = 0, 0.0
    for row in range(rows.start, rows.stop):
        now = ends.get((table.topics[table.topic[row]], int(table.partition[row])))
        if now is None or not last.counted[row] or not table.end.known[row]:
            continue
        # a topic that was made anew begins at 0 again
        arrived += max(now[0] - int(table.end.values[row]), 0)
        seconds = max(seconds, now[1] - float(table.end_at_ms.values[row]) / 1000)
    return arrived / seconds if seconds > 0 else None
