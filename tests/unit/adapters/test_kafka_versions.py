"""What older brokers cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from evenkeel.engine.adapters.kafka.versions import untold
from tests.helpers.facts import said

IDS, DOWN, KINDS = "topic ids", "which brokers are down", "classic protocol"


@dataclass
class Brokers:
    """They know these requests up to these versions."""

    version: str
    known: dict[str, int]

    def supports(self, request: Any, version: int = 0) -> bool:
        """As listed."""
        return self.known.get(request.__name__, -1) >= version


@pytest.mark.parametrize(
    ("brokers", "missing"),
    [
        (Brokers("2.7", {"MetadataRequest": 9}), [IDS, DOWN]),
        (Brokers("3.6", {"MetadataRequest": 12, "DescribeClusterRequest": 0}), [DOWN]),
        (
            Brokers(
                "3.9",
                {
                    "MetadataRequest": 12,
                    "DescribeClusterRequest": 1,
                    "ConsumerGroupDescribeRequest": 0,
                },
            ),
            [DOWN, KINDS],
        ),
        (
            Brokers(
                "4.3",
                {
                    "MetadataRequest": 13,
                    "DescribeClusterRequest": 2,
                    "ConsumerGroupDescribeRequest": 1,
                },
            ),
            [],
        ),
    ],
)
def test_what_is_too_new_for_the_brokers_is_said_once_each(
    brokers: Brokers, missing: list[str]
) -> None:
    """With their version; what they have no groups of is no loss."""
    lines = said(untold(brokers))

    assert [what in line for what, line in zip(missing, lines, strict=True)] == [True] * len(
        missing
    )
    assert all(f"Kafka {brokers.version}" in line for line in lines)
