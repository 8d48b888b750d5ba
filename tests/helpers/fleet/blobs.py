"""What classic members send and get, as bytes on the wire (`ConsumerProtocolSubscription`, `...Assignment`)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import numpy as np

from evenkeel.engine.model import Ints

VERSION = 3


def subscription(topics: Sequence[str], generation: int | None, rack: str | None) -> bytes:
    """The metadata a member joins with."""
    body = struct.pack(">hi", VERSION, len(topics)) + b"".join(map(_text, topics))
    body += struct.pack(">iii", -1, 0, -1 if generation is None else generation)
    return body + (struct.pack(">h", -1) if rack is None else _text(rack))


def assignment(owned: Iterable[tuple[str, Ints]]) -> bytes:
    """What a member was given: partition numbers by topic."""
    parts = [
        _text(topic) + struct.pack(">i", len(numbers)) + numbers.astype(np.dtype(">i4")).tobytes()
        for topic, numbers in owned
    ]
    return struct.pack(">hi", VERSION, len(parts)) + b"".join(parts) + struct.pack(">i", -1)


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()
