"""Which partitions of each group are kept of every snapshot."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.adapters.postgres.worst import worst

ROWS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["t", "é", "u"]),
        st.integers(0, 9),
        st.none() | st.integers(0, 5),
    ),
    unique_by=lambda row: row[:3],
)


@given(ROWS, st.integers(1, 4))
def test_each_group_keeps_its_worst(
    rows: list[tuple[str, str, int, int | None]], most: int
) -> None:
    """As sorting each group by hand: largest lag first, unknown last, then topic and partition."""
    names = ("group_id", "topic", "partition", "lag")
    kinds = (pa.string(), pa.string(), pa.int32(), pa.int64())
    columns = [[row[i] for row in rows] for i in range(4)]
    table = pa.table(columns, schema=pa.schema(list(zip(names, kinds, strict=True))))
    expected = []
    for group in sorted({row[0] for row in rows}):
        own = [row for row in rows if row[0] == group]
        own.sort(key=lambda row: (row[3] is None, -(row[3] or 0), row[1].encode(), row[2]))
        expected += [(*row, place) for place, row in enumerate(own[:most], 1)]
    found = worst(table, most).to_pylist()
    assert [tuple(row[name] for name in (*names, "place")) for row in found] == expected
