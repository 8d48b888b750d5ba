"""Before brokers are started or written to: their ports, and whose they are."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.stage.kafka.brokers import KafkaCluster
from tests.stage.process import LocalClusterError
from tests.stage.workload import topics


@pytest.mark.slow
def test_a_port_taken_meanwhile_is_replaced(tmp_path: Path) -> None:
    """Ports are kept over restarts as long as they are free, the cluster id always."""
    cluster = KafkaCluster(tmp_path)
    before = cluster._settle_identity()
    assert cluster._settle_identity() == before
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", before.ports[2]))
        squatter.listen()
        after = cluster._settle_identity()
    assert after.cluster_id == before.cluster_id
    assert before.ports[2] not in after.ports.values()


def test_workload_refuses_to_write_where_it_could_do_harm() -> None:
    """Another machine's cluster is written to under the test prefix only."""
    with pytest.raises(LocalClusterError, match="not on this machine"):
        topics.refuse_strangers("127.0.0.1:9092,broker.example:9092", "")
    topics.refuse_strangers("broker.example:9092", "evenkeel-test-")
    topics.refuse_strangers("127.0.0.1:9092", "")
