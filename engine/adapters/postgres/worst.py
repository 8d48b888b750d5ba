"""Which partitions of each group are kept of every snapshot."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...model.arrays import Ints

WORST = 20
"""How many."""


def worst(partitions: pa.Table, most: int = WORST) -> pa.Table:
    """
    Each group's partitions of the largest lag, with their *place* from 1; unknown lag comes last.

    >>> lags = pa.table({"group_id": list("aab"), "topic": list("ttt"), "partition": [0, 1, 0], "lag": [1, None, 2]})
    >>> worst(lags, 1).select(["group_id", "lag", "place"]).to_pylist()
    [{'group_id': 'a', 'lag': 1, 'place': 1}, {'group_id': 'b', 'lag': 2, 'place': 1}]
    """
    group, lag = _rank(partitions["group_id"]), partitions["lag"]
    unknown, size = lag.is_null().to_numpy(), pc.fill_null(lag, 0).to_numpy()
    partition = pc.fill_null(partitions["partition"], 0).to_numpy()
    order = np.lexsort((partition, _rank(partitions["topic"]), -size, unknown, group))
    sorted_group = group[order]
    place = np.arange(len(order)) - np.searchsorted(sorted_group, sorted_group) + 1
    kept = place <= most
    table = partitions.take(pa.array(order[kept]))
    return table.append_column("place", pa.array(place[kept], pa.int32()))


def _rank(names: pa.ChunkedArray) -> Ints:
    """The place of each name among the distinct ones in their order."""
    encoded = names.combine_chunks().dictionary_encode()
    ranks: Ints = pc.rank(encoded.dictionary, tiebreaker="first").to_numpy().astype(np.int64)
    codes: Ints = pc.fill_null(encoded.indices, 0).to_numpy()
    return ranks[codes]
