"""
The orders in which Java walks its collections, for output identical to Kafka's.

A `HashMap` or `HashSet` is walked by bucket, and within a bucket in the order of insertion; a
bucket is made of the key's hash and the table's capacity, so the order is a pure function of the
keys and of how they came in. Strings compare by UTF-16 code units, Kafka's topic ids as pairs of
signed numbers. Source: JDK 17, `java.util.HashMap` and `java.lang.String`; Kafka 4.3, `Uuid`.

Not emulated: a bucket of nine colliding keys or more in a table of 64 or more, which Java turns into a tree, and in
`capacity` the early growth that answers them in a smaller one; only keys made to collide get there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from uuid import UUID

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from ...model.arrays import Ints
from .orders import numbered, stable_order

Hashes = npt.NDArray[np.uint32]
"""Java's 32-bit hash codes, unsigned."""

Uuids = npt.NDArray[np.int64]
"""(n, 2) the upper and the lower 64 bits of UUIDs, signed as in Java."""

_LEAST_CAPACITY = 16
_GREATEST_CAPACITY = 1 << 30
_LEAST_TREE_CAPACITY = 64
_MOST_IN_A_BUCKET = 8
_MANY = 100
"""From so many names on, whole arrays order them faster."""

_WORD = 8
_BYTES = np.uint64(1) << np.arange(0, 64, 8, dtype=np.uint64)
_LEFT = ~np.append(np.uint64(2**64 - 1) >> np.arange(0, 64, 8, dtype=np.uint64), np.uint64(0))
"""The first so many bytes of a word."""

_AT_ONCE = 1 << 10
"""So many names are hashed at a time, since a processor keeps their characters at hand."""


def utf16(text: str) -> bytes:
    """
    A sort key that orders as Java's `String.compareTo`: UTF-16 code units, a lone surrogate
    included.

    It differs from Python's order only between characters beyond U+FFFF and those from U+E000 to
    U+FFFF.

    >>> sorted(["\\uffee", "\\U0001f600"]) == sorted(["\\uffee", "\\U0001f600"], key=utf16)
    False
    """
    return text.encode("utf-16-be", "surrogatepass")


def sort_keys(names: Sequence[str]) -> Sequence[str] | Sequence[bytes]:
    """
    Keys that put *names* in Java's string order: the names themselves where that is Python's order too.

    >>> sort_keys(["t2", "t10"]), sort_keys(["\\uffee"]) == [utf16("\\uffee")]
    (['t2', 't10'], True)
    """
    return names if "".join(names).isascii() else [utf16(name) for name in names]


def string_order(names: Sequence[str], start: Ints | None = None) -> Ints:
    """
    The indices of *names* in Java's string order; equal names keep their order.

    Args:
        names: The names.
        start: Where each of several lists begins that lie behind each other, and where the last one ends: then each
            list is in order, list after list. None: there is one.

    >>> string_order(["t2", "t10", "t1"]).tolist()
    [2, 1, 0]
    >>> string_order(["t2", "t10", "t1"], np.array([0, 2, 3])).tolist()
    [1, 0, 2]
    """
    bounds = np.array([0, len(names)]) if start is None else start
    if len(names) >= _MANY and (joined := "\0".join(names)).isascii():
        units = np.frombuffer(joined.encode() + bytes(_WORD + 1), np.uint8)
        ends = np.flatnonzero(units[:-_WORD] == 0)
        if len(ends) == len(names):
            return _ascii_order(names, units, ends, bounds)
    keys = sort_keys(names)
    ordered = (sorted(range(a, b), key=keys.__getitem__) for a, b in pairwise(bounds.tolist()))
    return np.fromiter(chain.from_iterable(ordered), np.int64, len(keys))


def _ascii_order(
    names: Sequence[str], units: npt.NDArray[np.uint8], ends: Ints, start: Ints
) -> Ints:
    """
    The same by the first characters that tell the names of a list apart; few are not told apart by so many.

    Args:
        names, start: As of `string_order`.
        units: The characters of all names, a zero after each, and then a word of zeros.
        ends: Where each name ends in these.
    """
    words = np.ndarray(len(units) - _WORD, ">u8", units, strides=1)  # from each character on
    at = np.append(0, ends[:-1] + 1)
    sizes = np.diff(start)
    first, counts = start[:-1][sizes > 0], sizes[sizes > 0]
    goes_on = True
    while goes_on:
        here = words[at].astype(np.uint64)
        differing = np.bitwise_or.reduceat(here ^ here[first].repeat(counts), first)
        common = _WORD - np.searchsorted(_BYTES, differing, "right")
        at = np.minimum(at + common.repeat(counts), ends)
        goes_on = bool(((common == _WORD) & (at < ends)[first]).any())
    here = words[at].astype(np.uint64) & _LEFT[np.minimum(ends - at, _WORD)]
    bits = 8 * ((63 - len(counts).bit_length()) // 8)
    keys = (here >> np.uint64(64 - bits)).astype(np.int64)
    keys += (np.arange(len(counts)) << bits).repeat(counts)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    if (keys[1:] == keys[:-1]).any():
        cuts = np.flatnonzero(np.diff(keys, prepend=-1, append=-1))
        runs = np.flatnonzero(np.diff(cuts) > 1)
        for a, b in zip(cuts[runs].tolist(), cuts[runs + 1].tolist(), strict=True):
            order[a:b] = sorted(order[a:b].tolist(), key=names.__getitem__)
    return order


def string_hashes(names: Sequence[str]) -> Hashes:
    """
    `String.hashCode` of many names at once: the base-31 polynomial over UTF-16 code units, in 32
    bits.

    >>> string_hashes(["Aa", "BB", ""]).tolist()
    [2112, 2112, 0]
    """
    joined = "".join(names)
    lengths = np.fromiter(map(len, names), np.int64, len(names))
    ascii = joined.isascii()
    units = np.frombuffer(joined.encode() if ascii else utf16(joined), np.uint8 if ascii else ">u2")
    if len(units) != len(joined):  # characters beyond U+FFFF are two units each
        lengths = np.array([len(utf16(name)) // 2 for name in names], np.int64)
    starts = np.cumsum(lengths) - lengths
    hashes = np.zeros(len(names), np.uint32)
    for length in (np.flatnonzero(np.bincount(lengths)[1:]) + 1).tolist():
        powers = np.full(length, 31, np.uint32)
        powers[-1] = 1
        powers = np.cumprod(powers[::-1], dtype=np.uint32)[::-1].copy()  # as it is walked
        of_length, windows = np.flatnonzero(lengths == length), sliding_window_view(units, length)
        for at in range(0, len(of_length), _AT_ONCE):
            some = of_length[at : at + _AT_ONCE]
            characters = windows[starts[some]].astype(np.uint32)
            hashes[some] = np.einsum("ij,j->i", characters, powers)
    return hashes


def capacity(size: int, initial: int = _LEAST_CAPACITY) -> int:
    """
    Buckets of a `HashMap` or `HashSet` that took *size* keys one by one.

    Args:
        size: Number of distinct keys.
        initial: The capacity asked for at construction; one copied from a collection of n asks for
            int(n / 0.75) + 1.

    >>> capacity(12), capacity(13), capacity(12, initial=int(12 / 0.75) + 1)
    (16, 32, 32)
    """
    buckets = 1
    while buckets < initial:
        buckets *= 2
    while size > 0.75 * buckets and buckets < _GREATEST_CAPACITY:
        buckets *= 2
    return buckets


def bucket_order(hashes: Hashes, buckets: int) -> Ints:
    """
    The order in which a table of *buckets* is walked, given its keys' hashes in the order of
    insertion.

    >>> bucket_order(np.array([17, 16, 1], np.uint32), 16).tolist()
    [1, 0, 2]
    """
    spread = hashes ^ (hashes >> np.uint32(16))
    return np.argsort(spread & np.uint32(buckets - 1), kind="stable")


def bucket_orders(hashes: Hashes, start: Ints, *, copied: bool = False) -> Ints:
    """
    `bucket_order` of several tables, one after the other.

    Args:
        hashes: Of the keys of all tables; each table's are distinct.
        start: Where each table's keys begin, and where the last one's end.
        copied: Whether each table was made of all its keys at once; else it took them one by one.

    >>> hashes = np.array([17, 16, 16, 1], np.uint32)
    >>> bucket_orders(hashes, np.array([0, 2, 4])).tolist()
    [1, 0, 2, 3]
    """
    spread, sizes = hashes ^ (hashes >> np.uint32(16)), np.diff(start)
    some, place = numbered(sizes, int(sizes.max(initial=0)) + 1)
    initial = [
        max(_LEAST_CAPACITY, int(n / 0.75) + 1) if copied else _LEAST_CAPACITY
        for n in some.tolist()
    ]
    buckets = np.array(list(map(capacity, some.tolist(), initial)), np.uint32)
    of_table = np.arange(len(sizes)).repeat(sizes)
    bucket = spread & (buckets - np.uint32(1))[place[of_table]]
    return stable_order(of_table, bucket.astype(np.int64))


def map_order(names: Sequence[str], initial: int = _LEAST_CAPACITY) -> Ints:
    """
    The indices of distinct *names* in the order a `HashMap<String, ...>` or `HashSet<String>` is
    walked.

    Args:
        names: Distinct keys in the order of insertion.
        initial: As for `capacity`.

    >>> names = ["t0", "t1", "orders", "Aa", "BB"]
    >>> [names[i] for i in map_order(names)]
    ['Aa', 'BB', 'orders', 't0', 't1']
    """
    return bucket_order(string_hashes(names), capacity(len(names), initial))


def topic_partition_hashes(topic_hashes: Hashes, numbers: Ints) -> Hashes:
    """
    `TopicPartition.hashCode` of many partitions at once.

    Args:
        topic_hashes: (n) the hash of each one's topic name.
        numbers: (n) each one's number.

    >>> topic_partition_hashes(string_hashes(["t", "t"]), np.array([0, 2])).tolist()
    [1077, 1139]
    """
    hashes: Hashes = np.uint32(31) * (np.uint32(31) + numbers.astype(np.uint32)) + topic_hashes
    return hashes


class JavaSet:
    """
    A `HashSet` of whole numbers with hashes of their own, that can be asked which one it would walk first.

    Its table grows with it and never shrinks, so what it held before may show.

    >>> some = JavaSet()
    >>> for key, hash_code in [(1, 17), (2, 33), (3, 5)]:
    ...     some.add(key, hash_code)
    >>> some.first(), len(some)
    (1, 3)
    >>> some.remove(1)
    >>> some.add(1, 17)
    >>> some.first()
    2
    """

    __slots__ = ("_buckets", "_spread")

    def __init__(self) -> None:
        self._buckets = _LEAST_CAPACITY
        self._spread: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._spread)

    def add(self, key: int, hash_code: int) -> None:
        """Add a key, with its hash in 32 bits, unsigned; one that is there stays as it is."""
        if key in self._spread:
            return
        spread = hash_code ^ (hash_code >> 16)
        if self._buckets < _LEAST_TREE_CAPACITY:
            last_bits = self._buckets - 1
            sharing = sum(not (other ^ spread) & last_bits for other in self._spread.values())
            if sharing >= _MOST_IN_A_BUCKET:
                self._buckets *= 2
        self._spread[key] = spread
        if len(self._spread) > 0.75 * self._buckets:
            self._buckets *= 2

    def remove(self, key: int) -> None:
        """Remove a key that is there."""
        del self._spread[key]

    def first(self) -> int:
        """The key it would walk first; there must be one."""
        last_bits = self._buckets - 1
        return min(self._spread, key=lambda key: self._spread[key] & last_bits)

    def state(self) -> tuple[int, tuple[int, ...]]:
        """Its capacity and its keys in the order of insertion: two that are equal here stay so under equal changes."""
        return self._buckets, tuple(self._spread)


def uuid_halves(uuids: Sequence[UUID]) -> Uuids:
    """
    UUIDs as pairs of signed numbers.

    >>> uuid_halves([UUID(int=1), UUID(int=(1 << 128) - 1)]).tolist()
    [[0, 1], [-1, -1]]
    """
    return packed_halves(b"".join(one.bytes for one in uuids))


def packed_halves(packed: bytes) -> Uuids:
    """The same, of UUIDs of 16 bytes each."""
    return np.frombuffer(packed, dtype=">i8").astype(np.int64).reshape(-1, 2)


def uuid_hashes(uuids: Uuids) -> Hashes:
    """
    `Uuid.hashCode` of many ids at once: all four 32-bit quarters, one xor the other.

    >>> uuid_hashes(uuid_halves([UUID("00000001-0000-0002-0000-000400000008")])).tolist()
    [15]
    """
    folded = (uuids[:, 0] ^ uuids[:, 1]).view(np.uint64)
    hashes: Hashes = (folded ^ (folded >> np.uint64(32))).astype(np.uint32)
    return hashes


def uuid_order(uuids: Uuids) -> Ints:
    """
    The indices of *uuids* in the order of `Uuid.compareTo`, which takes half of all ids for negative.

    >>> first, last = UUID(int=1 << 127), UUID(int=1)
    >>> uuid_order(uuid_halves([last, first])).tolist()
    [1, 0]
    """
    return np.lexsort((uuids[:, 1], uuids[:, 0]))
