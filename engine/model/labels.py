"""One word of an enumeration per row of a long array, kept as small numbers."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

E = TypeVar("E", bound=enum.StrEnum)


class Labels(Generic[E]):
    """
    A word of an enumeration for each of n rows.

    >>> class Color(enum.StrEnum):
    ...     RED = "red"
    ...     BLUE = "blue"
    >>> chosen = Labels.choose(Color, [np.array([True, False])], [Color.RED], Color.BLUE)
    >>> chosen.texts(), chosen.equal(Color.RED).tolist()
    (['red', 'blue'], [True, False])
    """

    __slots__ = ("codes", "words")

    def __init__(self, words: Sequence[E], codes: npt.NDArray[Any]) -> None:
        """
        Args:
            words: The words of the enumeration, in its order.
            codes: (n) which of them each row has.
        """
        self.words: tuple[E, ...] = tuple(words)
        self.codes: npt.NDArray[np.int8] = np.asarray(codes, np.int8)

    @classmethod
    def choose(
        cls,
        kind: type[E],
        conditions: Sequence[npt.NDArray[np.bool_]],
        words: Sequence[E | npt.NDArray[np.int8]],
        otherwise: E | npt.NDArray[np.int8],
    ) -> Labels[E]:
        """
        The word of the first condition that holds.

        Args:
            kind: The enumeration.
            conditions: (n) each.
            words: One word per condition, or (n) numbers of words (`number`).
            otherwise: Where none holds.
        """
        place = {word: code for code, word in enumerate(kind)}

        def codes(word: E | npt.NDArray[np.int8]) -> Any:
            return word if isinstance(word, np.ndarray) else np.int8(place[word])

        return cls(
            list(kind), np.select(list(conditions), [codes(w) for w in words], codes(otherwise))
        )

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> E:
        return self.words[int(self.codes[row])]

    def __iter__(self) -> Iterator[E]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels | list) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Labels({self.tolist()})"

    def take(self, index: Any) -> Labels[E]:
        """The rows that an index, slice or mask selects."""
        return Labels(self.words, self.codes[index])

    def equal(self, word: E) -> npt.NDArray[np.bool_]:
        """(n) which rows have that word."""
        same: npt.NDArray[np.bool_] = self.codes == self.words.index(word)
        return same

    def tolist(self) -> list[E]:
        """The words."""
        return [self.words[code] for code in self.codes.tolist()]

    def texts(self) -> list[str]:
        """The words as plain text."""
        return [word.value for word in self.tolist()]
