"""
Releases of Kafka: to which of them the answers of each emulated strategy are true.

`python -m tests.oracle --kafka RELEASE` puts the classes of a release beside ours. Those of 3.9.1, 4.3.1 and 4.4.0
were asked, what lies between is by their sources. Where an algorithm changed between releases that are emulated, ours
goes by the release.

Source: the sources of Kafka 3.9 to 4.4 and their class files; KAFKA-17710, KAFKA-18688, KAFKA-19478, KAFKA-20198,
KAFKA-20719.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

Release = tuple[int, ...]

USUAL: Release = (4, 3)
"""Taken where nothing is known of it."""

OFFSETS_COUNT: Release = (4, 4)
"""From here on a broker places tasks by reported offsets (KAFKA-20719), and a client's quota of tasks is rounded up
(KAFKA-20198)."""

REASSIGNS_AT_REQUEST: Release = (4, 4)
"""From here on a KIP-848 group is assigned anew when most of its members request another assignor (KAFKA-20434)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueTo:
    """
    The releases that a strategy's answers are identical to, the first and the last of them.

    Attributes:
        since: The first one whose answers are the same.
        until: The last one that was asked.
        at_brokers: Whether brokers run it; otherwise a client library, whose release the protocol doesn't expose.
    """

    since: Release
    until: Release = (4, 4)
    at_brokers: bool = False


TRUE_TO: Mapping[str, TrueTo] = {
    "range": TrueTo(since=(3, 9)),
    "roundrobin": TrueTo(since=(3, 9)),
    "sticky": TrueTo(since=(3, 9)),
    "cooperative-sticky": TrueTo(since=(3, 9)),
    "uniform": TrueTo(since=(4, 0, 1), at_brokers=True),
    "range-server": TrueTo(since=(3, 9), at_brokers=True),
    "none": TrueTo(since=(4, 3)),
    "min_traffic": TrueTo(since=(4, 3)),
    "balance_subtopology": TrueTo(since=(4, 3)),
    "sticky-tasks": TrueTo(since=(4, 3)),
    "sticky-tasks-server": TrueTo(since=(4, 2), at_brokers=True),
}
"""By the strategy's name; one that is not Kafka's is not in it."""


def release_of(text: str | None) -> Release | None:
    """
    A release as numbers; None where there is none, or it is no release.

    >>> release_of("4.4.0"), release_of("4.3"), release_of("trunk"), release_of(None)
    ((4, 4, 0), (4, 3), None, None)
    """
    parts = (text or "").split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else None


def written(release: Release) -> str:
    """
    A release as text.

    >>> written((4, 4))
    '4.4'
    """
    return ".".join(map(str, release))


@cache
def untrue(strategy: str, brokers: str | None) -> TrueTo | None:
    """
    What a strategy of brokers is true to, where the brokers are known to be of another release; None otherwise.

    >>> untrue("uniform", "3.9").since, untrue("uniform", "4.4"), untrue("range", "3.9"), untrue("uniform", None)
    ((4, 0, 1), None, None, None)
    """
    known, theirs = TRUE_TO.get(strategy), release_of(brokers)
    if known is None or theirs is None or not known.at_brokers:
        return None
    return None if known.since <= theirs and theirs[:2] <= known.until else known
