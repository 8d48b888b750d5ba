"""Zstandard, which Python has itself from 3.14 on."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL = 12
"""Higher levels take ten times as long for a tenth of the size."""


def pack(content: bytes) -> bytes:
    """The content, packed."""
    return zstd.compress(content, LEVEL)


def unpack(content: bytes, size: int) -> bytes:
    """
    What was packed; no more is unpacked than it shall be.

    Raises:
        ValueError: It is damaged, or not of this size.
    """
    try:
        unpacked = zstd.ZstdDecompressor().decompress(content, max_length=size + 1)
    except zstd.ZstdError as problem:
        raise ValueError("it cannot be unpacked") from problem
    if len(unpacked) != size:
        raise ValueError("a page has another size than it says")
    return unpacked
