"""What brokers of an older version cannot tell: it is unknown, and said once; and the features of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from kafka.protocol.admin import DescribeClusterRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from ...model.coordinators import GROUP_VERSION
from ...model.facts import Fact, note
from .connection import Connection, Unanswered
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


_TELLS_FEATURES = 3
"""From this version on ApiVersions names the features that a cluster has finalized (KIP-584)."""


async def group_version(connection: Connection) -> int | None:
    """The level of `group.version` that the cluster has finalized, 0 without; None where no broker answers."""
    if not connection.supports(ApiVersionsRequest, _TELLS_FEATURES):
        return 0
    request = ApiVersionsRequest(
        client_software_name="evenkeel",
        client_software_version="1",
        min_version=_TELLS_FEATURES,
    )
    try:
        answer = await connection.ask_any(request)
    except Unanswered:
        return None
    if answer.error_code:
        return None
    levels = {one.name: one.max_version_level for one in answer.finalized_features or ()}
    return int(levels.get(GROUP_VERSION, 0))
