"""
The requests kafka-python 3.0 lacks: describe KIP-848 groups (key 69), KIP-1071 groups (key 89) and share groups (key
77), and the offsets of share groups (key 90).

kafka-python makes a message class of the JSON file of the same name in this package; the field
order is the order on the wire, after Kafka 4.3.
"""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage


class ConsumerGroupDescribeRequest(ApiMessage, load_json=__package__):  # type: ignore
    """Describe groups of the consumer protocol; v0 from Kafka 3.7, v1 from 4.0."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=__package__):  # type: ignore
    """Members with racks, epochs, subscription, assignment and target; v1 with member types."""


class StreamsGroupDescribeRequest(ApiMessage, load_json=__package__):  # type: ignore
    """Describe groups of the streams protocol; v0 from Kafka 4.1."""


class StreamsGroupDescribeResponse(ApiMessage, load_json=__package__):  # type: ignore
    """Topology and members with process ids, racks, tags, current and target tasks."""


class ShareGroupDescribeRequest(ApiMessage, load_json=__package__):  # type: ignore
    """Describe share groups (KIP-932); v1 from Kafka 4.1."""


class ShareGroupDescribeResponse(ApiMessage, load_json=__package__):  # type: ignore
    """Members with racks, epochs, subscription and assignment; several members may have the same partition."""


class DescribeShareGroupOffsetsRequest(ApiMessage, load_json=__package__):  # type: ignore
    """Start offsets of share groups (KIP-932); v0 from Kafka 4.1, v1 from 4.2."""


class DescribeShareGroupOffsetsResponse(ApiMessage, load_json=__package__):  # type: ignore
    """The start offset of each share-partition; v1 with its lag (KIP-1226)."""
