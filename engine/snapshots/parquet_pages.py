"""
How much the pages of a Parquet file hold by their own headers: a footer may say less, and readers believe the pages.

Source: `PageHeader` of parquet-format 2.11, in Thrift's compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.parquet as pq

_STRUCT, _LIST, _SET, _BINARY, _DOUBLE, _BYTE = 12, 9, 10, 8, 7, 3
_BOOLS, _INTS = (1, 2), (4, 5, 6)
_DEEPEST = 8
_KINDS = (5, 7, 8)
"""The fields of a header that say of a page of data, of a dictionary, or of data as of version 2 what is in it."""


class _Thrift:
    """A position in bytes."""

    def __init__(self, data: bytes, position: int) -> None:
        self.data, self.position = data, position

    def take(self) -> int:
        self.position += 1
        return self.data[self.position - 1]

    def varint(self) -> int:
        value = shift = 0
        while (byte := self.take()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number is too long")
        return value | byte << shift

    def number(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def fields(self, depth: int = 0) -> Iterator[tuple[int, int | dict[int, int]]]:
        """The fields of a struct that are numbers, or structs with those of theirs."""
        number = 0
        while head := self.take():
            number = number + (head >> 4) if head >> 4 else self.number()
            value = self._value(head & 0x0F, depth)
            if value is not None:
                yield number, value

    def _value(self, kind: int, depth: int) -> int | dict[int, int] | None:
        if depth > _DEEPEST:
            raise ValueError("it is nested too deep")
        if kind in _INTS:
            return self.number()
        if kind == _STRUCT:
            return {n: v for n, v in self.fields(depth + 1) if isinstance(v, int)}
        if kind == _BINARY:
            length = self.varint()
            self.position += length
        elif kind in (_LIST, _SET):
            head = self.take()
            for _ in range(self.varint() if head >> 4 == 15 else head >> 4):
                self._value(head & 0x0F, depth + 1)
        elif kind == _DOUBLE:
            self.position += 8
        elif kind == _BYTE:
            self.position += 1
        elif kind not in _BOOLS:
            raise ValueError(f"there is no type {kind}")
        return None


def contents_of(content: bytes, metadata: pq.FileMetaData) -> tuple[int, int]:
    """
    Bytes once they are unpacked, and values in rows and lists, of all pages of a file.

    Args:
        content: The file.
        metadata: Its footer.

    Raises:
        ValueError, IndexError: A header is none.
    """
    size = values = 0
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            starts = (column.dictionary_page_offset, column.data_page_offset)
            position = min(start for start in starts if start is not None)
            end = min(position + column.total_compressed_size, len(content))
            while position < end:
                thrift = _Thrift(content, position)
                header = dict(thrift.fields())
                unpacked, packed = header[2], header[3]
                if not isinstance(unpacked, int) or not isinstance(packed, int):
                    raise ValueError("a page has no size")
                told = [each.get(1, 0) for n in _KINDS if isinstance(each := header.get(n), dict)]
                if min(position, unpacked, packed, *told) < 0:
                    raise ValueError("a size is negative")
                size, values = size + unpacked, values + sum(told)
                position = thrift.position + packed
    return size, values
