"""
Tables in memory: named columns of equal length, each in NumPy arrays, any value of which may be unknown.

There are four kinds of column: `Numbers` (also truths and moments), `Texts`, `Lists` and `Structs`. A column never
changes; what is taken of one shares its memory where that is possible. `evenkeel.engine.adapters.arrow` makes Arrow
tables of them, and back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import repeat
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .arrays import NONE, Flags, Indices, Ints, ragged_entries, starts_of


@dataclass(frozen=True, slots=True)
class Kind:
    """
    What the values of a column are.

    Attributes:
        name: int16, int32, int64, float64, bool, moment (milliseconds since the epoch, UTC), text, bytes, list, struct.
        of: What the entries of lists are.
        fields: Name and kind of each field of a struct.
    """

    name: str
    of: Kind | None = None
    fields: tuple[tuple[str, Kind], ...] = ()

    def __str__(self) -> str:
        return f"list of {self.of}" if self.of else self.name


INT16, INT32, INT64 = Kind("int16"), Kind("int32"), Kind("int64")
FLOAT64, BOOL, MOMENT = Kind("float64"), Kind("bool"), Kind("moment")
TEXT, BYTES = Kind("text"), Kind("bytes")

Schema = Mapping[str, Kind]
"""The kinds of a table's columns, in their order."""

_DTYPES: Mapping[Kind, Any] = {
    **{INT16: np.int16, INT32: np.int32, INT64: np.int64},
    **{FLOAT64: np.float64, BOOL: np.bool_, MOMENT: np.int64},
}
T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class KindError(TypeError):
    """A value or a column is of another kind than its schema says."""


def list_of(kind: Kind) -> Kind:
    """Lists of values of a kind."""
    return Kind("list", of=kind)


def struct_of(schema: Schema) -> Kind:
    """Structs of these fields."""
    return Kind("struct", fields=tuple(schema.items()))


class Series(ABC):
    """
    One column: (n) values.

    Attributes:
        kind: What they are.
        known: (n) which of them are known; content of an array where they are not is arbitrary.
    """

    kind: Kind
    known: Flags

    def __len__(self) -> int:
        return len(self.known)

    @property
    def null_count(self) -> int:
        """How many values are unknown."""
        return len(self) - int(np.count_nonzero(self.known))

    @abstractmethod
    def take(self, index: npt.NDArray[Any] | Sequence[int]) -> Series:
        """The values at some places, in their order."""

    @abstractmethod
    def slice(self, start: int, stop: int) -> Series:
        """The values from one place up to another."""

    @abstractmethod
    def to_pylist(self) -> list[Any]:
        """Plain Python values, None where unknown."""

    @abstractmethod
    def equals(self, other: Series) -> bool:
        """Whether another column of the same kind has the same values, nan like nan."""

    @abstractmethod
    def codes(self) -> Ints:
        """
        (n) one number per value: the same for equal values, ascending as they do, NONE where unknown.

        Raises:
            KindError: Lists and structs have no order.
        """

    def cast(self, kind: Kind) -> Series:
        """
        The same values as another kind.

        Raises:
            KindError: They are not of that kind.
        """
        if self.kind == kind:
            return self
        if not np.any(self.known):
            return nulls(len(self), kind)
        raise KindError(f"{self.kind} is no {kind}")


class Numbers(Series):
    """
    Numbers, truths or moments.

    Attributes:
        values: (n) of the NumPy type of the kind; a moment is in milliseconds since the epoch.
    """

    def __init__(self, values: npt.NDArray[Any], kind: Kind, known: Flags | None = None) -> None:
        """
        Raises:
            KindError: A known value is not kept as it is.
        """
        self.kind, given = kind, np.asarray(values)
        with np.errstate(invalid="ignore"):
            self.values = given.astype(_DTYPES[kind], copy=False)
        self.known = np.ones(len(self.values), np.bool_) if known is None else known
        is_same = self.values is given or kind == FLOAT64
        if not is_same and not np.array_equal(self.values[self.known], given[self.known]):
            raise KindError(f"a value is no {kind}, or too large for it")

    def take(self, index: Any) -> Numbers:
        known = self.known[index] if self.null_count else None
        return Numbers(self.values[index], self.kind, known)

    def slice(self, start: int, stop: int) -> Numbers:
        return Numbers(self.values[start:stop], self.kind, self.known[start:stop])

    def to_pylist(self) -> list[Any]:
        values: list[Any] = self.values.tolist()
        if self.kind == MOMENT:
            known = self.known.tolist()
            return [_moment(v) if own else None for v, own in zip(values, known, strict=True)]
        if not self.null_count:
            return values
        return [v if known else None for v, known in zip(values, self.known.tolist(), strict=True)]

    def equals(self, other: Series) -> bool:
        return (
            isinstance(other, Numbers)
            and self.kind == other.kind
            and np.array_equal(self.known, other.known)
            and np.array_equal(
                self.values[self.known],
                other.values[self.known],
                equal_nan=self.kind == FLOAT64,
            )
        )

    def codes(self) -> Ints:
        if self.kind == FLOAT64:
            return _ranks(self.values, self.known)
        own = self.values[self.known]
        least, most = int(own.min(initial=0)), int(own.max(initial=0))
        if most - least >= 2**62:
            return _ranks(self.values, self.known)
        return np.where(self.known, self.values.astype(np.int64) - least, NONE)

    def cast(self, kind: Kind) -> Series:
        numbers = {INT16, INT32, INT64}
        if self.kind == kind or self.kind not in numbers or kind not in numbers | {FLOAT64}:
            return super().cast(kind)
        return Numbers(self.filled(0), kind, self.known)

    def filled(self, value: Any) -> npt.NDArray[Any]:
        """(n) the values, with one in place of those that are unknown."""
        return self.values if not self.null_count else np.where(self.known, self.values, value)


class Texts(Series):
    """
    Texts, or bytes: each different one is kept once.

    Attributes:
        places: (n) the place of each among *words*, NONE where unknown.
        words: Different values; some may be used by no row.
    """

    def __init__(self, places: npt.NDArray[Any], words: Sequence[Any], kind: Kind = TEXT) -> None:
        self.kind, self.words = kind, words
        self.places: Indices = np.asarray(places, np.int32)

    @cached_property
    def known(self) -> Flags:  # type: ignore[override]
        known: Flags = self.places != NONE
        return known

    def __len__(self) -> int:
        return len(self.places)

    def take(self, index: Any) -> Texts:
        return Texts(self.places[index], self.words, self.kind)

    def slice(self, start: int, stop: int) -> Texts:
        return Texts(self.places[start:stop], self.words, self.kind)

    def to_pylist(self) -> list[Any]:
        return self._words_at(self.places)

    def _words_at(self, places: npt.NDArray[Any]) -> list[Any]:
        """The words at some places; where they are few of many, no others become Python's."""
        words = self.words if len(places) < len(self.words) // 10 else [*self.words]
        return [None if place < 0 else words[place] for place in places.tolist()]

    def filled(self, word: Any) -> Texts:
        """The same values, with a word in place of those that are unknown."""
        if self.known.all():
            return self
        words = [*self.words] if word in self.words else [*self.words, word]
        return Texts(np.where(self.known, self.places, words.index(word)), words, self.kind)

    @property
    def listed(self) -> Listed:
        """The same as Python values."""
        return Listed(self)

    def equals(self, other: Series) -> bool:
        if not isinstance(other, Texts) or self.kind != other.kind or len(self) != len(other):
            return False
        same = self.words is other.words or self.words == other.words
        places = self.places if same else self.index_in(other.words)
        return np.array_equal(places, other.places)

    @cached_property
    def short(self) -> tuple[Sequence[Any], Indices]:
        """Words and places; only words that are used where there are fewer rows than words, as in a part of a table."""
        if len(self.places) >= len(self.words):
            return self.words, self.places
        used, places = np.unique(self.places, return_inverse=True)
        unknown = int(len(used) > 0 and used[0] == NONE)
        return self._words_at(used[unknown:]), (places - unknown).astype(np.int32)

    def codes(self) -> Ints:
        words, places = self.short
        order = sorted(range(len(words)), key=[*words].__getitem__)
        ranks = np.full(len(order) + 1, NONE, np.int64)
        ranks[order] = np.arange(len(order))
        codes: Ints = ranks[places]
        return codes

    def index_in(self, words: Iterable[Any] | Mapping[Any, int]) -> Ints:
        """
        (n) the place of each value among others, NONE where it is not among them or unknown.

        >>> column(["b", None, "c"], TEXT).index_in(["a", "b"]).tolist()
        [1, -1, -1]

        Args:
            words: The others, or the place of each (`places_of`).
        """
        own, own_places = self.short
        place_of = words if isinstance(words, Mapping) else places_of(words)
        places = [*map(place_of.get, own, repeat(NONE)), NONE]
        found: Ints = np.array(places, np.int64)[own_places]
        return found

    def is_in(self, words: Iterable[Any]) -> Flags:
        """(n) whether each value is one of some; an unknown one is not."""
        wanted = words if isinstance(words, set | frozenset | Mapping) else {*words}
        words, places = self.short
        there = np.array([*map(wanted.__contains__, words), False], np.bool_)
        found: Flags = there[places]
        return found

    def equal(self, word: Any) -> Flags:
        """(n) whether each value is this one."""
        return self.is_in((word,))

    def used(self) -> Texts:
        """
        The same values, with no word that no row has.

        >>> Texts(np.array([2, 0, 2]), ["a", "b", "c"]).used().words
        ['a', 'c']
        """
        return self if self._used is None else self._used

    @cached_property
    def _used(self) -> Texts | None:
        """The same, None where all words have a row."""
        there = np.zeros(len(self.words) + 1, np.bool_)  # one more, for NONE
        there[self.places] = True
        there[NONE] = False
        if there[:-1].all():
            return None
        place = np.where(there, np.cumsum(there) - 1, NONE)
        words = self._words_at(np.flatnonzero(there))
        return Texts(place[self.places], words, self.kind)


class Listed(Sequence[Any]):
    """The values of a column of texts, None where unknown; listed when one is looked at."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts

    @cached_property
    def _values(self) -> list[Any]:
        return self.texts.to_pylist()

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, at: Any) -> Any:
        return self._values[at]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)


def places_of(words: Iterable[T]) -> dict[T, int]:
    """
    The place of each word among some, the first where it is there several times.

    >>> places_of(["b", "a", "b"])
    {'b': 0, 'a': 1}
    """
    listed = [*words]
    return dict(zip(reversed(listed), range(len(listed) - 1, NONE, -1), strict=True))


class Lists(Series):
    """
    Lists of values.

    Attributes:
        start: (n + 1) where each list begins among the entries, and where the last one ends; an unknown one is empty.
        entries: Those of all lists.
    """

    def __init__(self, start: Ints, entries: Series, known: Flags | None = None) -> None:
        self.kind = list_of(entries.kind)
        self.start, self.entries = start, entries
        self.known = np.ones(len(start) - 1, np.bool_) if known is None else known

    def take(self, index: Any) -> Lists:
        places = np.arange(len(self))[index]
        start, at = ragged_entries(self.start, places)
        return Lists(start, self.entries.take(at), self.known[places])

    def slice(self, start: int, stop: int) -> Lists:
        part = self.start[start : stop + 1]
        entries = self.entries.slice(int(part[0]), int(part[-1]))
        return Lists(part - part[0], entries, self.known[start:stop])

    def to_pylist(self) -> list[Any]:
        entries, bounds = self.entries.to_pylist(), self.start.tolist()
        known = self.known.tolist()
        return [
            entries[bounds[row] : bounds[row + 1]] if known[row] else None
            for row in range(len(self))
        ]

    def equals(self, other: Series) -> bool:
        return (
            isinstance(other, Lists)
            and np.array_equal(self.known, other.known)
            and np.array_equal(self.start, other.start)
            and self.entries.equals(other.entries)
        )

    def codes(self) -> Ints:
        raise KindError("lists have no order")

    def cast(self, kind: Kind) -> Series:
        if self.kind == kind or kind.of is None or not np.any(self.known):
            return super().cast(kind)
        return Lists(self.start, self.entries.cast(kind.of), self.known)

    @property
    def lengths(self) -> Ints:
        """(n) how long each list is."""
        return np.diff(self.start)

    @property
    def rows(self) -> Ints:
        """(entries) the row of each."""
        return np.repeat(np.arange(len(self)), self.lengths)


class Structs(Series):
    """
    Values of several fields.

    Attributes:
        table: One row per value; what is in it where the value is unknown is arbitrary.
    """

    def __init__(self, table: Table, known: Flags | None = None) -> None:
        self.kind, self.table = struct_of(table.schema), table
        self.known = np.ones(len(table), np.bool_) if known is None else known

    def take(self, index: Any) -> Structs:
        return Structs(self.table.take(index), self.known[index])

    def slice(self, start: int, stop: int) -> Structs:
        return Structs(self.table.slice(start, stop), self.known[start:stop])

    def to_pylist(self) -> list[Any]:
        rows = zip(self.table.to_pylist(), self.known.tolist(), strict=True)
        return [row if known else None for row, known in rows]

    def equals(self, other: Series) -> bool:
        return (
            isinstance(other, Structs)
            and np.array_equal(self.known, other.known)
            and self.table.filter(self.known).equals(other.table.filter(self.known))
        )

    def codes(self) -> Ints:
        raise KindError("structs have no order")

    def cast(self, kind: Kind) -> Series:
        if kind.name != "struct" or [*self.table.schema] != [name for name, _ in kind.fields]:
            return super().cast(kind)
        return Structs(self.table.cast(dict(kind.fields)), self.known)


class Table:
    """
    Columns by name, all of the same length.

    >>> lags = Table({"group_id": column(["a", "b"], TEXT), "lag": column([3, None], INT64)})
    >>> lags.filter(lags["lag"].known).to_pylist()
    [{'group_id': 'a', 'lag': 3}]
    """

    __slots__ = ("_length", "columns")

    def __init__(self, columns: Mapping[str, Series], length: int | None = None) -> None:
        """
        Args:
            columns: The columns.
            length: Number of rows; only needed where there is no column.

        Raises:
            ValueError: They differ in length.
        """
        self.columns = dict(columns)
        lengths = {len(each) for each in self.columns.values()} | ({length} - {None})
        if len(lengths) > 1:
            raise ValueError(f"columns differ in length: {sorted(filter(None, lengths))}")
        self._length = next(iter(lengths), 0) or 0

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any]], schema: Schema) -> Table:
        """
        A table of rows; a key that is missing is unknown.

        Raises:
            KindError: A value is of another kind.
        """
        listed = list(rows)
        return cls(
            {name: column([row.get(name) for row in listed], kind) for name, kind in schema.items()}
        )

    @property
    def schema(self) -> dict[str, Kind]:
        """The kind of each column."""
        return {name: each.kind for name, each in self.columns.items()}

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return [*self.columns]

    def __len__(self) -> int:
        return self._length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.equals(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Table({len(self):,} rows of {', '.join(self.columns)})"

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def select(self, names: Iterable[str]) -> Table:
        """
        Some of the columns, in this order.

        Raises:
            KeyError: There is no such column.
        """
        return Table({name: self.columns[name] for name in names}, len(self))

    def without(self, *names: str) -> Table:
        """All columns but some."""
        return self.select(name for name in self.columns if name not in names)

    def replaced(self, **columns: Series) -> Table:
        """The table with some columns in place of those of the same names, or after the others."""
        return Table({**self.columns, **columns}, len(self))

    def take(self, index: npt.NDArray[Any] | Sequence[int]) -> Table:
        """The rows at some places, in their order."""
        chosen = np.asarray(index) if len(index) else np.zeros(0, np.int64)
        is_mask = chosen.dtype == np.bool_
        places = np.flatnonzero(chosen) if is_mask else chosen
        return Table({n: each.take(places) for n, each in self.columns.items()}, len(places))

    def filter(self, mask: Flags) -> Table:
        """The rows that a mask selects."""
        rows = np.flatnonzero(mask)
        if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
            return self.slice(int(rows[0]), int(rows[-1]) + 1)
        return self.take(rows)

    def slice(self, start: int, stop: int | None = None) -> Table:
        """The rows from one place up to another."""
        begin, end, _ = slice(start, stop).indices(len(self))
        end = max(begin, end)
        columns = {name: each.slice(begin, end) for name, each in self.columns.items()}
        return Table(columns, end - begin)

    def sorted_by(self, *names: str) -> Table:
        """The rows ascending by some columns; unknown values come first."""
        return self.take(np.lexsort([self.columns[name].codes() for name in reversed(names)]))

    def cast(self, schema: Schema) -> Table:
        """
        Exactly the columns of a schema.

        Raises:
            KindError: It lacks one, or one is of another kind; the message names it.
        """
        columns: dict[str, Series] = {}
        for name, kind in schema.items():
            if name not in self.columns:
                raise KindError(f"column {name} is missing")
            try:
                columns[name] = self.columns[name].cast(kind)
            except KindError as problem:
                raise KindError(f"column {name}: {problem}") from problem
        return Table(columns, len(self))

    def numbered(self, *names: str) -> tuple[Ints, Ints]:
        """
        Rows by the values of some columns.

        Returns:
            (k) the first row of each different combination, and (n) the number of each row's.
        """
        numbers = np.zeros(len(self), np.int64)
        for name in names:
            _, own = np.unique(self.columns[name].codes(), return_inverse=True)
            numbers = numbers * (own.max(initial=0) + 1) + own
            _, first, numbers = np.unique(numbers, return_index=True, return_inverse=True)
        return first, numbers

    def to_pylist(self) -> list[dict[str, Any]]:
        """A dict of plain values per row."""
        if not self.columns:
            return [{} for _ in range(len(self))]
        names = self.names
        values = zip(*(each.to_pylist() for each in self.columns.values()), strict=True)
        return [dict(zip(names, row, strict=True)) for row in values]

    def equals(self, other: Table) -> bool:
        """Whether another table has the same columns, in their order, with the same values."""
        return (self.names, len(self)) == (other.names, len(other)) and all(
            each is other.columns[name] or each.equals(other.columns[name])
            for name, each in self.columns.items()
        )


def column(values: Iterable[Any], kind: Kind) -> Series:
    """
    A column of Python values, None where unknown; a moment is a datetime with a time zone, or in milliseconds.

    >>> column([[1], None, []], list_of(INT32)).to_pylist()
    [[1], None, []]

    Raises:
        KindError: A value is of another kind.
    """
    if isinstance(values, Listed):
        return values.texts.cast(kind)
    listed = values if isinstance(values, list) else list(values)
    try:
        return _column(listed, kind)
    except (TypeError, ValueError, OverflowError, AttributeError) as problem:
        raise KindError(f"a value is no {kind}: {problem}") from problem


def _column(values: list[Any], kind: Kind) -> Series:
    if kind in (TEXT, BYTES):
        return _texts(values, kind)
    known = np.array([each is not None for each in values], np.bool_)
    is_whole = bool(known.all())
    if kind.of is not None:
        start = starts_of([0 if each is None else len(each) for each in values])
        entries = [one for each in values if each is not None for one in each]
        return Lists(start, _column(entries, kind.of), known)
    if kind.fields:
        rows = [each for each in values if each is not None]
        if is_whole:
            return Structs(Table.from_rows(rows, dict(kind.fields)), known)
        # one empty row stands for all that are unknown
        table = Table.from_rows([*rows, {}], dict(kind.fields))
        return Structs(table.take(np.where(known, np.cumsum(known) - 1, len(rows))), known)
    if kind == MOMENT:
        values = [None if each is None else _milliseconds(each) for each in values]
    dtype = _DTYPES[kind]
    plain = values if is_whole else [0 if each is None else each for each in values]
    made = np.array(plain, dtype) if plain else np.zeros(0, dtype)
    if made.ndim != 1 or not _fits(plain, kind):
        raise ValueError("it is something else")
    return Numbers(made, kind, known)


def _fits(values: Iterable[Any], kind: Kind) -> bool:
    """Whether no value is silently made one of another kind, such as a text or a float into a whole number."""
    found = set(map(type, values))
    if kind == BOOL:
        return found <= {bool, int, np.bool_}
    allowed: tuple[type, ...] = (int, np.integer)
    if kind == FLOAT64:
        allowed = (*allowed, float, np.floating)
    return all(issubclass(each, allowed) and each is not bool for each in found)


def _texts(values: list[Any], kind: Kind) -> Texts:
    python = str if kind == TEXT else bytes
    words = dict.fromkeys(values)
    words.pop(None, None)
    place_of: dict[Any, int] = {word: place for place, word in enumerate(words)}
    wrong = next((each for each in place_of if not isinstance(each, python)), None)
    if wrong is not None:
        raise ValueError(f"{wrong!r}")
    place_of[None] = NONE
    places = np.array([*map(place_of.__getitem__, values)], np.int32)
    # a member of an enumeration of texts is stored as its text
    return Texts(places, [each if type(each) is python else python(each) for each in words], kind)


def nulls(length: int, kind: Kind) -> Series:
    """(length) unknown values."""
    nobody = np.zeros(length, np.bool_)
    if kind in (TEXT, BYTES):
        return Texts(np.full(length, NONE, np.int32), [], kind)
    if kind.of is not None:
        return Lists(np.zeros(length + 1, np.int64), nulls(0, kind.of), nobody)
    if kind.fields:
        return Structs(Table({n: nulls(length, each) for n, each in kind.fields}, length), nobody)
    return Numbers(np.zeros(length, _DTYPES[kind]), kind, nobody)


def repeated(word: str, length: int) -> Texts:
    """(length) times the same text."""
    return Texts(np.zeros(length, np.int32), [word])


def empty(schema: Schema) -> Table:
    """A table of no rows."""
    return Table({name: nulls(0, kind) for name, kind in schema.items()}, 0)


def concat(tables: Sequence[Table]) -> Table:
    """
    The rows of tables with the same columns below each other.

    Raises:
        KindError: They differ in their columns.
    """
    first, *others = tables
    if not others:
        return first
    if any(each.names != first.names for each in others):
        raise KindError("tables with other columns do not go below each other")
    filled = [each for each in tables if len(each)] or [first]
    return Table(
        {name: concat_series([each.columns[name] for each in filled]) for name in first.columns},
        sum(map(len, tables)),
    )


def concat_series(parts: Sequence[Series]) -> Series:
    """
    Columns of one kind behind each other.

    Raises:
        KindError: They differ in kind.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    if any(each.kind != first.kind for each in parts):
        raise KindError(f"not all are {first.kind}: {', '.join({str(e.kind) for e in parts})}")
    if isinstance(first, Texts):
        return _joined([each for each in parts if isinstance(each, Texts)])
    known = np.concatenate([each.known for each in parts])
    if isinstance(first, Lists):
        lists = [each for each in parts if isinstance(each, Lists)]
        start = starts_of(np.concatenate([each.lengths for each in lists]))
        return Lists(start, concat_series([each.entries for each in lists]), known)
    if isinstance(first, Structs):
        return Structs(concat([each.table for each in parts if isinstance(each, Structs)]), known)
    values = [each.values for each in parts if isinstance(each, Numbers)]
    return Numbers(np.concatenate(values), first.kind, known)


def _joined(parts: Sequence[Texts]) -> Texts:
    if all(each.words is parts[0].words for each in parts):
        return Texts(np.concatenate([each.places for each in parts]), parts[0].words, parts[0].kind)
    place_of: dict[Any, int] = {}
    places = []
    for words, own_places in (each.short for each in parts):
        own = [place_of.setdefault(word, len(place_of)) for word in words]
        places.append(np.array([*own, NONE], np.int32)[own_places])
    return Texts(np.concatenate(places), [*place_of], parts[0].kind)


def _ranks(values: npt.NDArray[Any], known: Flags) -> Ints:
    _, ranks = np.unique(values, return_inverse=True)
    return np.where(known, ranks, NONE)


def _moment(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def _milliseconds(moment: datetime | int) -> int:
    return moment if isinstance(moment, int) else (moment - _EPOCH) // _MILLISECOND
