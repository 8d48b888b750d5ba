"""
What a Parquet file holds by its own headers, before anything of it is unpacked: a footer may say less than its pages,
and readers believe the pages.

Source: `FileMetaData` and `PageHeader` of parquet-format 2.11, in Thrift's compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_STRUCT, _LIST, _SET, _BINARY, _DOUBLE, _BYTE = 12, 9, 10, 8, 7, 3
_BOOLS, _INTS = (1, 2), (4, 5, 6)
_DEEPEST = 8
_PAGES = (5, 7, 8)
"""The fields of a header that say what is in a page of data, of a dictionary, or of data as of version 2."""
_MAGIC = b"PAR1"


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

    def fields(self, depth: int = 0) -> Iterator[tuple[int, Any]]:
        """The fields of a struct: numbers, bytes, lists, and structs as dicts of theirs."""
        number = 0
        while head := self.take():
            number = number + (head >> 4) if head >> 4 else self.number()
            kind = head & 0x0F
            yield number, kind == 1 if kind in _BOOLS else self._value(kind, depth)

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("it is nested too deep")
        if kind in _INTS:
            return self.number()
        if kind == _STRUCT:
            return dict(self.fields(depth + 1))
        if kind == _BINARY:
            length = self.varint()
            self.position += length
            if self.position > len(self.data):
                raise ValueError("it ends too early")
            return self.data[self.position - length : self.position]
        if kind in (_LIST, _SET):
            head = self.take()
            count = self.varint() if head >> 4 == 15 else head >> 4
            return [self._value(head & 0x0F, depth + 1) for _ in range(count)]
        if kind in (_BYTE, *_BOOLS):  # a truth in a list takes a byte
            return self.take()
        if kind == _DOUBLE:
            self.position += 8
            return None
        raise ValueError(f"there is no type {kind}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """
    What a file holds.

    Attributes:
        rows, columns, row_groups: How many.
        values: Values in rows and in lists, of all columns.
        unpacked: Bytes of all pages, unpacked.
        largest: Bytes of the largest page, unpacked: no text is longer.
    """

    rows: int
    columns: int
    row_groups: int
    values: int
    unpacked: int
    largest: int


def contents_of(content: bytes) -> Contents:
    """
    What a Parquet file holds.

    Raises:
        ValueError, LookupError, TypeError: It is none.
    """
    if content[:4] != _MAGIC or content[-4:] != _MAGIC:
        raise ValueError("it is no Parquet file")
    length = int.from_bytes(content[-8:-4], "little")
    if length > len(content) - 12:
        raise ValueError("it has no footer")
    footer = dict(_Thrift(content, len(content) - 8 - length).fields())
    groups = footer[4]
    chunks = [column[3] for group in groups for column in group[1]]
    unpacked = paged = largest = 0
    for chunk in chunks:
        starts = (chunk.get(11), chunk[9])
        position = min(start for start in starts if start is not None)
        end = min(position + chunk[7], len(content))
        while position < end:
            thrift = _Thrift(content, position)
            header = dict(thrift.fields())
            size, packed = header[2], header[3]
            told = [header[kind].get(1, 0) for kind in _PAGES if kind in header]
            if min(position, size, packed, *told) < 0:
                raise ValueError("a size is negative")
            unpacked, paged = unpacked + size, paged + sum(told)
            largest = max(largest, size)
            position = thrift.position + packed
    return Contents(
        rows=max(footer[3], sum(group[3] for group in groups)),
        columns=max((len(group[1]) for group in groups), default=0),
        row_groups=len(groups),
        values=max(paged, sum(chunk[5] for chunk in chunks)),
        unpacked=unpacked,
        largest=largest,
    )
