"""Parquet files that somebody made to hang or to fill a reader; what honest ones hold is in `model/test_tables.py`."""

from __future__ import annotations

from typing import Any

import pytest

from evenkeel.engine.adapters.recording.parquet import (
    _hybrid,
    contents_of,
    read_parquet,
    write_parquet,
)
from evenkeel.engine.adapters.recording.thrift import Long, varint, written
from evenkeel.engine.model.tables import INT32, TEXT, KindError, Table


def file_of(footer: bytes, pages: bytes = b"") -> bytes:
    """A file with these pages and this footer."""
    return b"PAR1" + pages + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def footer_of(*chunks: tuple[int, int], rows: int = 1) -> bytes:
    """A footer of columns that begin at a place and take so many bytes."""
    told = [{1: 1, 4: 0, 5: Long(rows), 7: Long(size), 9: Long(at)} for at, size in chunks]
    schema = [{4: "schema", 5: 1}, {1: 1, 3: 1, 4: "n"}]
    groups = [{1: [{2: Long(0), 3: each} for each in told], 2: Long(0), 3: Long(rows)}]
    return written({1: 1, 2: schema, 3: Long(rows), 4: groups})


EMPTY_PAGE = written({1: 0, 2: 0, 3: 0, 5: {1: 0, 2: 0, 3: 3, 4: 3}})
SIZE = len(EMPTY_PAGE)
ENDLESS = b"\x19\xf7" + varint(2**60)
"""A list of so many broken numbers."""


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"PAR1", "no Parquet file"),
        (file_of(b"")[:-1] + b"2", "no Parquet file"),
        (file_of(ENDLESS), "ends too early"),
        (file_of(b"\0" * 1_000_001), "footer is too long"),
        (file_of(footer_of((4, 5 * SIZE), (4, 5 * SIZE)), EMPTY_PAGE * 5), "at the same place"),
        (file_of(footer_of((4, 100_001 * SIZE)), EMPTY_PAGE * 100_001), "too many pages"),
        (file_of(footer_of((4, 70_000)), b"\x18" + varint(65_000) + b"x" * 69_000), "too long"),
        (file_of(footer_of((4, 9)), written({1: 0, 2: -1, 3: 0})), "size is negative"),
    ],
)
def test_what_would_take_for_ever_is_refused(content: bytes, why: str) -> None:
    """Before anything is unpacked."""
    with pytest.raises(ValueError, match=why):
        contents_of(content)


@pytest.mark.parametrize(
    ("data", "width", "count", "why"),
    [
        (b"\x02\x01" * 100, 1, 100, "shorter"),
        (b"\x00\x01" * 100, 1, 100, "shorter"),
        (b"\x03", 8, 8, "buffer"),
        (b"", 1, 1, "early"),
        (b"\x03" * 9, 33, 8, "wide"),
    ],
)
def test_runs_that_no_writer_makes_are_refused(
    data: bytes, width: int, count: int, why: str
) -> None:
    """Of one value each, of none, or cut off."""
    with pytest.raises(ValueError, match=why):
        _hybrid(data, width, count)


def test_a_run_fills_what_is_asked_for_and_no_more() -> None:
    """A long one costs what it is read for."""
    assert _hybrid(varint(2**40 << 1) + b"\x07", 3, 5).tolist() == [7] * 5
    assert _hybrid(varint((2**40 << 1) | 1) + b"\xff" * 30, 3, 5).tolist() == [7] * 5
    assert _hybrid(varint(1000 << 1) + varint(9 << 1 | 1), 0, 1050).tolist() == [0] * 1050


@pytest.mark.parametrize("cut", range(4, 60, 7))
def test_a_file_that_is_cut_off_is_refused(cut: int) -> None:
    """Wherever it ends."""
    table = Table.from_rows([{"a": "x", "b": 1}] * 20, {"a": TEXT, "b": INT32})
    content = write_parquet(table)
    damaged = content[:cut] + content[cut + 3 :]
    damage: Any = (ValueError, LookupError, TypeError, AttributeError, KindError)
    with pytest.raises(damage):
        read_parquet(damaged)
