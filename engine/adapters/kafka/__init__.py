"""
Kafka through kafka-python: the reader behind port `Cluster`, and what `doctor` asks.

`reader` puts a snapshot together from `groups` (lists, descriptions, commits), `topics`
(partitions, offsets) and `members` (rows, with `decode` for blobs); `connection` sends the
requests, two of which stand in `messages`. `properties` (with `tls` and `oauth`) says how to log in,
`refusals` what a refusal means.
"""

from .health import Health, HealthCheck
from .reader import KafkaClusterReader

__all__ = ["Health", "HealthCheck", "KafkaClusterReader"]
