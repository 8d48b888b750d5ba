"""A consumer of librdkafka that joins a group and does what its coordinator says: `librdkafka ADDRESS STRATEGY`."""

from __future__ import annotations

import os
import sys

from confluent_kafka import Consumer


def main(address: str, strategy: str) -> None:
    """Until whoever started it is gone, or ends it."""
    parent = os.getppid()
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "evenkeel-test-oracle",
            "partition.assignment.strategy": strategy,
            "log_level": 0,
            "retry.backoff.ms": 1,
        }
    )
    consumer.subscribe(["evenkeel-test-oracle"])
    while os.getppid() == parent:
        consumer.poll(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
