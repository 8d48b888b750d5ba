"""
Topic ids as the group coordinator knows topics: numbers whose order and hash decide ties.

Who has recorded no id gets a stand-in made of the topic's name: the same name gives the same answer
everywhere, and the answer is one Kafka could give, but where a tie is broken by topic id it need not
be the one that the cluster gives.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from hashlib import md5
from uuid import UUID

from ....model.errors import Infeasible
from ...interface import GroupSpec
from ...kit.java_order import Uuids, utf16, uuid_halves


def topic_ids(group: GroupSpec) -> Uuids:
    """
    The id of each topic (T), a stand-in where none is known.

    Raises:
        Infeasible: An id is neither a UUID nor Kafka's short form of one.

    >>> from dataclasses import replace
    >>> from evenkeel.engine.assignors.interface import spec
    >>> ids = ("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "-B1Prn3sEdCnZQCgyR5r9g", None)
    >>> same, again, stand_in = topic_ids(replace(spec({}, {"t": 1, "u": 1, "v": 1}), topic_ids=ids)).tolist()
    >>> same == again, same, stand_in
    (True, [-568210367123287600, -6384696206158828554], [4772353579196757375, -7292576561881665254])
    """
    named = zip(group.topics, group.topic_ids, strict=True)
    return uuid_halves(
        [_stand_in(name) if known is None else _id(name, known) for name, known in named]
    )


def _stand_in(name: str) -> UUID:
    return UUID(bytes=md5(utf16(name), usedforsecurity=False).digest(), version=3)


def _id(topic: str, text: str) -> UUID:
    """The id as Kafka's clients (32 hex digits) or its tools (22 characters) write it."""
    try:
        return UUID(text)
    except ValueError:
        pass
    try:
        return UUID(bytes=urlsafe_b64decode(text + "=="))
    except ValueError:
        raise Infeasible(
            f"topic {topic!r} has the id {text!r}, which is no topic id.",
            fix="Give it as a UUID, as Kafka's tools print it, or leave it out.",
        ) from None
