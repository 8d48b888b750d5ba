"""
Tables as Parquet files in memory: what recordings are made of, and no more of the format.

Read and written are numbers, truths, moments, texts, bytes, and lists of these; pages of version 1, with values as they
are or in a dictionary, packed with zstd or not at all. Any reader of Parquet reads what is written. A lake's files are
read and written with pyarrow, which is larger than everything else that the command line needs.

Source: parquet-format 2.11 (README, Encodings, `parquet.thrift`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.arrays import NONE, Flags, Ints, starts_of
from ...model.tables import (
    BOOL,
    BYTES,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    MOMENT,
    TEXT,
    Kind,
    KindError,
    Lists,
    Numbers,
    Schema,
    Series,
    Table,
    Texts,
    column,
    list_of,
)
from .thrift import Long, Reader, varint, written
from .zstd import pack, unpack

_MAGIC = b"PAR1"
_BOOLEAN, _INT32, _INT64, _DOUBLE, _BYTE_ARRAY = 0, 1, 2, 5, 6
"""Physical types."""
_UTF8, _LIST, _MILLISECONDS, _INT_16 = 0, 3, 9, 16
"""What they stand for ("converted types")."""
_STRING, _TIMESTAMP, _INTEGER = 1, 8, 10
"""The same as "logical types"."""
_OPTIONAL, _REPEATED = 1, 2
_PLAIN, _PLAIN_DICTIONARY, _RLE, _RLE_DICTIONARY = 0, 2, 3, 8
_NOT_PACKED, _ZSTD = 0, 6
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_PAGES = (5, 7, 8)
"""The fields of a page's header that say what is in a page of data, of a dictionary, or of data as of version 2."""

_TYPES = {
    **{BOOL: (_BOOLEAN, None), FLOAT64: (_DOUBLE, None), INT16: (_INT32, _INT_16)},
    **{INT32: (_INT32, None), INT64: (_INT64, None), MOMENT: (_INT64, _MILLISECONDS)},
    **{TEXT: (_BYTE_ARRAY, _UTF8), BYTES: (_BYTE_ARRAY, None)},
}
_FOOTER, _HEADER, _MANY = 1_000_000, 64_000, 100_000
"""Bytes that a footer and a page's header have at most, and pages that a file has."""
_BLOCK = 65_536
"""Numbers that are unpacked together."""
_DTYPES = {_INT32: "<i4", _INT64: "<i8", _DOUBLE: "<f8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """
    What a file holds by its own headers: a footer may say less than its pages, which readers believe.

    Attributes:
        rows, columns, row_groups: How many.
        values: Values in rows and in lists, of all columns.
        unpacked: Bytes of all pages, unpacked.
    """

    rows: int
    columns: int
    row_groups: int
    values: int
    unpacked: int


def contents_of(content: bytes) -> Contents:
    """
    What a Parquet file holds; nothing is unpacked.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: It is none.
    """
    footer = _footer(content)
    groups = footer[4]
    chunks = [each[3] for group in groups for each in group[1]]
    unpacked = values = count = before = 0
    for chunk in sorted(chunks, key=_begin):
        if _begin(chunk) < before:
            raise ValueError("two columns are at the same place")
        before = _begin(chunk) + chunk[7]
        for page in _pages(content, chunk):
            unpacked, values, count = unpacked + page.size, values + page.values, count + 1
            if count > _MANY:
                raise ValueError("it has too many pages")
    return Contents(
        rows=max(footer[3], sum(group[3] for group in groups)),
        columns=max((len(group[1]) for group in groups), default=0),
        row_groups=len(groups),
        values=max(values, sum(chunk[5] for chunk in chunks)),
        unpacked=unpacked,
    )


def read_parquet(content: bytes) -> Table:
    """
    A Parquet file as a table.

    Raises:
        KindError: A column is of a kind that is not read.
        ValueError, LookupError, TypeError, AttributeError: It is damaged, or in another form.
    """
    footer = _footer(content)
    columns = {leaf.name: leaf for leaf in _leaves(footer[2])}
    for group in footer[4]:
        for chunk in (each[3] for each in group[1]):
            leaf = columns[chunk[3][0].decode()]
            if chunk[1] != _TYPES[leaf.value_kind][0]:
                raise KindError(f"column {leaf.name} is of another kind than its file says")
            leaf.read(content, chunk)
    table = Table({name: leaf.made() for name, leaf in columns.items()}, footer[3])
    if len(table) != footer[3]:
        raise ValueError("it has other rows than it says")
    return table


def _footer(content: bytes) -> dict[int, Any]:
    length = int.from_bytes(content[-8:-4], "little")
    if content[:4] != _MAGIC or content[-4:] != _MAGIC or length > len(content) - 12:
        raise ValueError("it is no Parquet file")
    if length > _FOOTER:
        raise ValueError("its footer is too long")
    return Reader(content, len(content) - 8 - length, length).struct()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """
    Attributes:
        kind: Of data, or of a dictionary.
        size: Bytes once it is unpacked.
        values: How many.
        encoding: How they are written.
        content: As it is stored.
    """

    kind: int
    size: int
    values: int
    encoding: int
    content: bytes


def _begin(chunk: dict[int, Any]) -> int:
    """Where the pages of a column begin; a page that is not there is at 0."""
    return min((start for start in (chunk.get(11), chunk[9]) if start), default=0)


def _pages(content: bytes, chunk: dict[int, Any]) -> Iterator[_Page]:
    position = _begin(chunk) or len(content)
    end = min(position + chunk[7], len(content))
    while position < end:
        reader = Reader(content, position, _HEADER)
        header = reader.struct()
        size, packed = header[2], header[3]
        told: dict[int, Any] = next((header[kind] for kind in _PAGES if kind in header), {})
        if min(position, size, packed, told.get(1, 0)) < 0:
            raise ValueError("a size is negative")
        position = reader.position + packed
        yield _Page(
            kind=header[1],
            size=size,
            values=told.get(1, 0),
            encoding=told.get(2, _PLAIN),
            content=content[reader.position : position],
        )


def _leaves(elements: list[dict[int, Any]]) -> Iterator[_Leaf]:
    """The columns of a schema, which is a tree, written parents first."""
    rest = iter(elements[1:])
    for element in rest:
        name = element[4].decode()
        optional = element.get(3) == _OPTIONAL
        if not element.get(5):
            if element.get(3) == _REPEATED:
                raise KindError(f"column {name} is a list of another form")
            yield _Leaf(name=name, value_kind=_kind(name, element), levels=(None, None, optional))
            continue
        repeated, inner = next(rest), next(rest)
        if (element[5], repeated.get(5), repeated.get(3)) != (1, 1, _REPEATED) or inner.get(5):
            raise KindError(f"column {name} is of a kind that is not read")
        defined = int(optional)
        is_optional = inner.get(3) == _OPTIONAL
        yield _Leaf(
            name=name,
            value_kind=_kind(name, inner),
            levels=(defined, defined + 1, defined + 1 + is_optional),
        )


def _kind(name: str, element: dict[int, Any]) -> Kind:
    stored, stands_for, logical = element.get(1), element.get(6), element.get(10, {})
    if stored == _BYTE_ARRAY and (stands_for == _UTF8 or _STRING in logical):
        return TEXT
    if stored == _INT64 and _TIMESTAMP in logical:
        # in UTC, milliseconds
        told = logical[_TIMESTAMP]
        stands_for = _MILLISECONDS if told.get(1) and 1 in told.get(2, {}) else _UTF8
    elif stored == _INT32 and _INTEGER in logical:
        stands_for = {16: _INT_16, 32: None}.get(logical[_INTEGER].get(1), _UTF8)
    for kind, written_as in _TYPES.items():
        if written_as == (stored, stands_for):
            return kind
    raise KindError(f"column {name} is of a kind that is not read")


@dataclass(kw_only=True)
class _Leaf:
    """
    A column on its way out of a file.

    Attributes:
        name: Its name.
        value_kind: What its values, or the entries of its lists, are.
        levels: "Definition levels" from which on there is a list, an entry of a list, a value; None: it has no lists.
        repeats, defined: Levels of each value, page by page.
        values: Known values, page by page; of texts their places among *words*.
        words: Different texts.
    """

    name: str
    value_kind: Kind
    levels: tuple[int | None, int | None, int]
    repeats: list[Ints] = field(default_factory=list)
    defined: list[Ints] = field(default_factory=list)
    values: list[npt.NDArray[Any]] = field(default_factory=list)
    words: dict[Any, int] = field(default_factory=dict)

    def read(self, content: bytes, chunk: dict[int, Any]) -> None:
        """Take the pages of one row group."""
        dictionary: npt.NDArray[Any] | None = None
        if chunk[4] not in (_NOT_PACKED, _ZSTD):
            raise ValueError("it is packed in a way that is not read")
        for page in _pages(content, chunk):
            data = page.content if chunk[4] == _NOT_PACKED else unpack(page.content, page.size)
            if page.kind == _DICTIONARY_PAGE:
                dictionary = self._plain(data, page.values)
            elif page.kind == _DATA_PAGE:
                self._take(data, page, dictionary)
            else:
                raise ValueError("a page is of a kind that is not read")

    def _take(self, data: bytes, page: _Page, dictionary: npt.NDArray[Any] | None) -> None:
        count, (is_list, _, most) = page.values, self.levels
        repeats = defined = np.zeros(count, np.int64)
        if is_list is not None:
            repeats, data = _leveled(data, 1, count)
        if most:
            defined, data = _leveled(data, most.bit_length(), count)
        known = int(np.count_nonzero(defined == most))
        if page.encoding in (_PLAIN_DICTIONARY, _RLE_DICTIONARY):
            if dictionary is None:
                raise ValueError("a dictionary is missing")
            places = _hybrid(data[1:], data[0], known) if known else np.zeros(0, np.int64)
            values = dictionary[places]
        elif page.encoding == _RLE and self.value_kind == BOOL:
            values, _ = _leveled(data, 1, known)
        elif page.encoding == _PLAIN:
            values = self._plain(data, known)
        else:
            raise ValueError("values are written in a way that is not read")
        self.repeats.append(repeats)
        self.defined.append(defined)
        self.values.append(values)

    def _plain(self, data: bytes, count: int) -> npt.NDArray[Any]:
        """Values as they are; texts as places among the words."""
        stored = _TYPES[self.value_kind][0]
        if stored == _BOOLEAN:
            packed = np.frombuffer(data, np.uint8, -(-count // 8))
            return np.unpackbits(packed, bitorder="little", count=count)
        if stored != _BYTE_ARRAY:
            return np.frombuffer(data, _DTYPES[stored], count)
        places, position = np.empty(count, np.int32), 0
        for number in range(count):
            start = position + 4
            position = start + int.from_bytes(data[position:start], "little")
            if position > len(data):
                raise ValueError("a text ends too early")
            word: Any = data[start:position]
            if self.value_kind == TEXT:
                word = word.decode()
            places[number] = self.words.setdefault(word, len(self.words))
        return places

    def made(self) -> Series:
        """The column."""
        is_list, is_entry, most = self.levels
        if not self.defined:
            return column([], self.value_kind if is_list is None else list_of(self.value_kind))
        repeats, defined = np.concatenate(self.repeats), np.concatenate(self.defined)
        values = np.concatenate(self.values)
        if is_list is None or is_entry is None:
            return self._series(values, defined == most)
        begins = repeats == 0
        if len(begins) and not begins[0]:
            raise ValueError("a list begins nowhere")
        there = defined >= is_entry
        rows = np.cumsum(begins) - 1
        lengths = np.bincount(rows[there], minlength=int(begins.sum()))
        known = defined[begins] >= is_list
        if lengths[~known].any():
            raise ValueError("a list that is unknown has entries")
        return Lists(starts_of(lengths), self._series(values, defined[there] == most), known)

    def _series(self, values: npt.NDArray[Any], known: Flags) -> Series:
        if len(values) != np.count_nonzero(known):
            raise ValueError("there are more or fewer values than it says")
        if self.value_kind in (TEXT, BYTES):
            places = np.full(len(known), NONE, np.int32)
            places[known] = values
            return Texts(places, [*self.words], self.value_kind)
        filled = np.zeros(len(known), values.dtype)
        filled[known] = values
        return Numbers(filled, self.value_kind, known)


def _leveled(data: bytes, width: int, count: int) -> tuple[Ints, bytes]:
    """Numbers behind their length in bytes, and what comes after them."""
    end = 4 + int.from_bytes(data[:4], "little")
    return _hybrid(data[4:end], width, count), data[end:]


def _hybrid(data: bytes, width: int, count: int) -> Ints:
    """(count) numbers of *width* bits each, in runs of equal ones and of packed ones."""
    if width > 32:
        raise ValueError("numbers are too wide")
    numbers, done, reader = np.zeros(count, np.int64), 0, Reader(data)
    while done < count:
        head = reader.varint()
        start, left = reader.position, count - done
        if head & 1:
            size = min(left, (head >> 1) * 8)
            length = (head >> 1) * width
            _unpack(data[start : start + -(-size * width // 8)], width, numbers[done : done + size])
        else:
            size = min(left, head >> 1)
            length = -(-width // 8)
            numbers[done : done + size] = int.from_bytes(data[start : start + length], "little")
        if size < min(left, 8):
            raise ValueError("a run is shorter than any writer makes it")
        reader.position, done = start + length, done + size
    return numbers


def _unpack(data: bytes, width: int, numbers: Ints) -> None:
    """Fill in packed numbers."""
    weights = 1 << np.arange(width, dtype=np.int64)
    for start in range(0, len(numbers) if width else 0, _BLOCK):
        part = numbers[start : start + _BLOCK]
        packed = np.frombuffer(data, np.uint8, -(-len(part) * width // 8), start * width // 8)
        bits = np.unpackbits(packed, bitorder="little", count=len(part) * width)
        part[:] = bits.reshape(-1, width) @ weights


def write_parquet(table: Table) -> bytes:
    """A table of numbers, texts, and lists of them as a Parquet file; the same table gives the same bytes."""
    content, chunks = bytearray(_MAGIC), []
    for name, each in table.columns.items() if len(table) else ():
        chunks.append(_chunk(content, name, each))
    size = Long(sum(chunk[3][6] for chunk in chunks))
    groups = [{1: chunks, 2: size, 3: Long(len(table))}] if len(table) else []
    schema = _schema(table.schema)
    footer = written({1: 1, 2: schema, 3: Long(len(table)), 4: groups, 6: "evenkeel"})
    return bytes(content) + footer + len(footer).to_bytes(4, "little") + _MAGIC


def _schema(schema: Schema) -> list[dict[int, Any]]:
    elements: list[dict[int, Any]] = [{4: "schema", 5: len(schema)}]
    for name, kind in schema.items():
        if kind.of is None:
            elements.append(_element(name, kind))
            continue
        elements.append({3: _OPTIONAL, 4: name, 5: 1, 6: _LIST})
        elements += [{3: _REPEATED, 4: "list", 5: 1}, _element("element", kind.of)]
    return elements


def _element(name: str, kind: Kind) -> dict[int, Any]:
    stored, stands_for = _TYPES[kind]
    element = {1: stored, 3: _OPTIONAL, 4: name}
    return element if stands_for is None else element | {6: stands_for}


def _chunk(content: bytearray, name: str, each: Series) -> dict[int, Any]:
    """Add the pages of a column; what the footer says of them."""
    levels, entries, path = b"", each, [name]
    count = len(each)
    if isinstance(each, Lists):
        repeats, defined, entries = _of_lists(each)
        path, count = [name, "list", "element"], len(repeats)
        levels = _levels(repeats, 1) + _levels(defined, 2)
    else:
        levels = _levels(each.known.astype(np.int64), 1)
    begin = len(content)
    unpacked, encoding = 0, _PLAIN
    if isinstance(entries, Texts):
        encoding = _RLE_DICTIONARY
        used = entries.used()
        words = [word.encode() if used.kind == TEXT else word for word in used.words]
        listed = b"".join(len(word).to_bytes(4, "little") + word for word in words)
        header = {1: len(words), 2: _PLAIN}
        unpacked += _page(content, _DICTIONARY_PAGE, 7, header, listed)
        width = max(len(words) - 1, 0).bit_length()
        values = bytes([width]) + _packed(used.places[used.known], width)
    elif isinstance(entries, Numbers):
        known = entries.values[entries.known]
        stored = _TYPES[entries.kind][0]
        if stored == _BOOLEAN:
            values = np.packbits(known, bitorder="little").tobytes()
        else:
            values = known.astype(_DTYPES[stored]).tobytes()
    else:
        raise KindError(f"column {name}: {each.kind} is not written")
    data_at = len(content)
    header = {1: count, 2: encoding, 3: _RLE, 4: _RLE}
    unpacked += _page(content, _DATA_PAGE, 5, header, levels + values)
    told = {
        **{1: _TYPES[entries.kind][0], 2: sorted({encoding, _PLAIN, _RLE}), 3: path, 4: _ZSTD},
        **{5: Long(count), 6: Long(unpacked), 7: Long(len(content) - begin), 9: Long(data_at)},
    }
    if data_at > begin:
        told[11] = Long(begin)
    return {2: Long(begin), 3: told}


def _of_lists(lists: Lists) -> tuple[Ints, Ints, Series]:
    """Levels of each entry, and of each list that has none; and the entries."""
    lengths = lists.lengths
    rows = np.repeat(np.arange(len(lists)), np.maximum(lengths, 1))
    repeats = np.ones(len(rows), np.int64)
    repeats[np.searchsorted(rows, np.arange(len(lists)))] = 0
    defined = lists.known[rows].astype(np.int64)
    defined[lengths[rows] > 0] = 2 + lists.entries.known
    return repeats, defined, lists.entries


def _page(content: bytearray, kind: int, told_in: int, header: dict[int, Any], data: bytes) -> int:
    """Add a page; its bytes before it is packed, its header among them."""
    packed = pack(data)
    head = written({1: kind, 2: len(data), 3: len(packed), told_in: header})
    content += head + packed
    return len(head) + len(data)


def _levels(numbers: Ints, width: int) -> bytes:
    packed = _packed(numbers, width)
    return len(packed).to_bytes(4, "little") + packed


def _packed(numbers: npt.NDArray[Any], width: int) -> bytes:
    """Numbers of *width* bits each as one run of packed ones."""
    groups = -(-len(numbers) // 8)
    bits = np.zeros((8 * groups, width), np.uint8)
    bits[: len(numbers)] = (np.asarray(numbers, np.int64)[:, None] >> np.arange(width)) & 1
    return varint(groups << 1 | 1) + np.packbits(bits, axis=None, bitorder="little").tobytes()
