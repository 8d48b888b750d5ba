"""Arrays of whole numbers, some of which may be unknown, and ragged lists in two arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
NONE = -1
"""The index for no owner."""


class Column:
    """
    Whole numbers, some of them unknown: int64 values with a mask.

    >>> lag = Column.of([3, None, 0])
    >>> lag.tolist(), lag.total(), lag.max()
    ([3, None, 0], None, 3)
    """

    __slots__ = ("known", "values")

    def __init__(self, values: Ints, known: Flags | None = None) -> None:
        """
        Args:
            values: int64, any content where unknown.
            known: bool of the same length; without it everything is known.
        """
        self.values: Ints = np.asarray(values, dtype=np.int64)
        self.known: Flags = (
            np.ones(len(self.values), dtype=np.bool_)
            if known is None
            else np.asarray(known, dtype=np.bool_)
        )

    @classmethod
    def of(cls, numbers: Iterable[int | None]) -> Column:
        """Build from Python numbers, None where unknown."""
        listed = list(numbers)
        values = np.fromiter((0 if n is None else n for n in listed), np.int64, len(listed))
        return cls(values, np.fromiter((n is not None for n in listed), np.bool_, len(listed)))

    @classmethod
    def unknown(cls, length: int) -> Column:
        """*length* unknown numbers."""
        return cls(np.zeros(length, np.int64), np.zeros(length, np.bool_))

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Column) and self.tolist() == other.tolist()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Column({self.tolist()})"

    def take(self, index: Any) -> Column:
        """The entries an index or mask selects."""
        return Column(self.values[index], self.known[index])

    def tolist(self) -> list[int | None]:
        """Python numbers, None where unknown."""
        pairs = zip(self.values.tolist(), self.known.tolist(), strict=True)
        return [value if known else None for value, known in pairs]

    def filled(self, value: int) -> Ints:
        """The numbers with *value* in place of the unknown ones."""
        return np.where(self.known, self.values, value)

    def floats(self) -> Floats:
        """The numbers, nan in place of the unknown ones."""
        if self.known.all():
            return self.values.astype(np.float64)
        return np.where(self.known, self.values, np.nan)

    def total(self) -> int | None:
        """The sum; None when any is unknown; 0 for no numbers at all."""
        return int(self.values.sum()) if bool(self.known.all()) else None

    def max(self) -> int | None:
        """The largest known number, None when none is known."""
        return int(self.values[self.known].max()) if bool(self.known.any()) else None


def starts_of(sizes: Sequence[int] | Ints) -> Ints:
    """
    Where each of some lists begins that lie behind each other, and where the last one ends.

    >>> starts_of([1, 0, 2]).tolist()
    [0, 1, 1, 3]
    """
    start = np.zeros(len(sizes) + 1, np.int64)
    np.add.accumulate(sizes, out=start[1:])  # of few sizes twice as fast as `np.cumsum`
    return start


def parts_within(sizes: Iterable[int], most: int) -> Iterator[slice]:
    """
    Consecutive items together, as long as their sizes add up to *most*; a larger item is a part of its own.

    >>> [(part.start, part.stop) for part in parts_within([1, 9, 2, 2], 4)]
    [(0, 1), (1, 2), (2, 4)]
    """
    first = end = total = 0
    for size in sizes:
        if end > first and total + size > most:
            yield slice(first, end)
            first, total = end, 0
        end, total = end + 1, total + size
    if end > first:
        yield slice(first, end)


def ragged_entries(start: Ints, rows: Ints | Indices) -> tuple[Ints, Ints]:
    """
    Some rows of a ragged array, each as often as it is named: where each begins then, and which entries they take.

    >>> start, entries = ragged_entries(np.array([0, 1, 1, 3]), np.array([2, 0]))
    >>> start.tolist(), entries.tolist()
    ([0, 2, 3], [1, 2, 0])
    """
    sizes = start[rows + 1] - start[rows]
    begin = starts_of(sizes)
    entries = np.repeat(start[rows] - begin[:-1], sizes)
    entries += np.arange(begin[-1])
    return begin, entries


def ragged(lists: Sequence[Sequence[int]]) -> tuple[Ints, Indices]:
    """
    Pack lists of indices into (start, values): list i is `values[start[i]:start[i + 1]]`.

    >>> start, values = ragged([[7], [], [8, 9]])
    >>> start.tolist(), values.tolist()
    ([0, 1, 1, 3], [7, 8, 9])
    """
    start = starts_of([len(one) for one in lists])
    return start, np.fromiter((v for one in lists for v in one), np.int32, int(start[-1]))
