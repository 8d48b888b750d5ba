"""Columns of a dataset become its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from evenkeel.engine.datasets import SNAPSHOT


def table_of(
    dataset: str, columns: Mapping[str, Any], kept: np.ndarray | None, key: Mapping[str, str]
) -> pa.Table:
    """The columns of a dataset, null where there is none of that name, of the rows that are kept."""
    schema, length = SNAPSHOT[dataset], len(next(iter(columns.values())))

    def column(name: str, kind: pa.DataType) -> pa.Array:
        if name in key:
            return pa.repeat(pa.scalar(key[name]), length)
        values = columns.get(name)
        if values is None:
            return pa.nulls(length, kind)
        return values if isinstance(values, pa.Array) else pa.array(values, kind)

    arrays = [column(field.name, field.type).cast(field.type) for field in schema]
    table = pa.Table.from_arrays(arrays, schema=schema)
    return table if kept is None or kept.all() else table.filter(pa.array(kept))
