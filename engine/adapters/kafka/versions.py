"""What brokers of an older version cannot tell: it is unknown, and said once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from kafka.protocol.admin import DescribeClusterRequest
from kafka.protocol.metadata import MetadataRequest

from evenkeel.engine.adapters.kafka.messages import ConsumerGroupDescribeRequest


class Speaks(Protocol):
    """Somebody who knows which requests the brokers know."""

    @property
    def version(self) -> str:
        """The brokers' version, as far as that is known."""

    def supports(self, request: Any, version: int = 0) -> bool:
        """Whether they know a request, at least in this version."""


@dataclass(frozen=True, slots=True)
class _Feature:
    """Something that a request tells from a version on; without the request at all there is no such thing (*moot*)."""

    what: str
    request: Any
    version: int
    since: str
    moot: bool = False


_FEATURES = (
    _Feature(
        "topic ids, so that a topic made again under its name cannot be told from the first",
        MetadataRequest,
        10,
        "2.8",
    ),
    _Feature("which brokers are down, nor their racks", DescribeClusterRequest, 2, "4.0"),
    _Feature(
        "which members of a KIP-848 group still speak the classic protocol",
        ConsumerGroupDescribeRequest,
        1,
        "4.0",
        moot=True,
    ),
)


def untold(brokers: Speaks) -> list[str]:
    """A line for each thing that brokers are too old to tell."""
    return [
        f"brokers of about Kafka {brokers.version} do not tell {one.what} (told from {one.since} on)"
        for one in _FEATURES
        if not brokers.supports(one.request, one.version)
        and (brokers.supports(one.request) or not one.moot)
    ]
