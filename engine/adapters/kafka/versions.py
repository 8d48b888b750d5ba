"""What brokers of an older version cannot tell: it is unknown, and said once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from kafka.protocol.admin import DescribeClusterRequest
from kafka.protocol.metadata import MetadataRequest

from ...model.facts import Fact, note
from .messages import ConsumerGroupDescribeRequest


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

    measure: str
    request: Any
    version: int
    since: str
    moot: bool = False


_FEATURES = (
    _Feature("topic_ids_untold", MetadataRequest, 10, "2.8"),
    _Feature("down_brokers_untold", DescribeClusterRequest, 2, "4.0"),
    _Feature("classic_members_untold", ConsumerGroupDescribeRequest, 1, "4.0", moot=True),
)


def untold(brokers: Speaks) -> list[Fact]:
    """A fact for each thing that brokers are too old to tell: their version, and since which it is told."""
    return [
        note(one.measure, [brokers.version, one.since])
        for one in _FEATURES
        if not brokers.supports(one.request, one.version)
        and (brokers.supports(one.request) or not one.moot)
    ]
