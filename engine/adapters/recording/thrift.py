"""
Thrift's compact protocol, as far as the headers of Parquet files need it.

Source: the specification of the compact protocol in Apache Thrift.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_STRUCT, _LIST, _SET, _BINARY, _DOUBLE, _I64, _I32, _BYTE = 12, 9, 10, 8, 7, 6, 5, 3
_BOOLS, _INTS = (1, 2), (4, 5, 6)
_DEEPEST = 8


class Reader:
    """
    A position in bytes.

    Args:
        data: All of them.
        position: Where it is.
        most: Bytes that are read at most.

    Raises:
        ValueError, IndexError: What is there is not Thrift, or is longer.
    """

    def __init__(self, data: bytes, position: int = 0, most: int | None = None) -> None:
        self.data, self.position = data, position
        self._end = len(data) if most is None else min(position + most, len(data))

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a struct by number: numbers, bytes, lists, and structs."""
        return dict(self._fields(depth))

    def varint(self) -> int:
        """An unsigned number."""
        value = shift = 0
        while (byte := self._take()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number is too long")
        return value | byte << shift

    def _take(self) -> int:
        self._skip(1)
        return self.data[self.position - 1]

    def _skip(self, length: int) -> None:
        self.position += length
        if self.position > self._end:
            raise ValueError("it ends too early, or is too long")

    def _number(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def _fields(self, depth: int) -> Iterator[tuple[int, Any]]:
        number = 0
        while head := self._take():
            number = number + (head >> 4) if head >> 4 else self._number()
            kind = head & 0x0F
            yield number, kind == 1 if kind in _BOOLS else self._value(kind, depth)

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("it is nested too deep")
        if kind in _INTS:
            return self._number()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind == _BINARY:
            length = self.varint()
            self._skip(length)
            return self.data[self.position - length : self.position]
        if kind in (_LIST, _SET):
            head = self._take()
            count = self.varint() if head >> 4 == 15 else head >> 4
            return [self._value(head & 0x0F, depth + 1) for _ in range(count)]
        if kind in (_BYTE, *_BOOLS):  # a truth in a list takes a byte
            return self._take()
        if kind == _DOUBLE:
            self._skip(8)
            return None
        raise ValueError(f"there is no type {kind}")


def written(fields: Mapping[int, Any]) -> bytes:
    """
    A struct: whole numbers as 32 bits, or as 64 where they come as `Long`, texts, lists of one type, and structs.

    >>> Reader(written({1: 300, 2: "x", 4: [{1: Long(-1)}]})).struct()
    {1: 300, 2: b'x', 4: [{1: -1}]}
    """
    parts, before = bytearray(), 0
    for number, value in sorted(fields.items()):
        assert number - before <= 15
        parts.append((number - before) << 4 | _kind(value))
        parts += _bytes(value)
        before = number
    return bytes(parts) + b"\0"


class Long(int):
    """A whole number of 64 bits."""


def varint(value: int) -> bytes:
    """An unsigned number."""
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _kind(value: Any) -> int:
    if isinstance(value, int):
        return _I64 if isinstance(value, Long) else _I32
    if isinstance(value, str):
        return _BINARY
    return _STRUCT if isinstance(value, Mapping) else _LIST


def _bytes(value: Any) -> bytes:
    if isinstance(value, int):
        return varint(value << 1 if value >= 0 else ~value << 1 | 1)
    if isinstance(value, str):
        return varint(len(value.encode())) + value.encode()
    if isinstance(value, Mapping):
        return written(value)
    assert isinstance(value, Sequence)
    kind = _kind(value[0]) if value else _STRUCT
    head = bytes([len(value) << 4 | kind]) if len(value) < 15 else bytes([0xF0 | kind])
    length = b"" if len(value) < 15 else varint(len(value))
    return head + length + b"".join(map(_bytes, value))
