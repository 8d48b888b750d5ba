"""Fixtures for tests that need real brokers: ``kafka_cluster`` and the settled ``workload`` on it.

A test module (or the root conftest) asks for them by
``pytest_plugins = ("tests.helpers.kafka_fixtures",)``; one session then has one cluster.

By default the cluster is started and ended by the session. A cluster that exists is used when
EVENKEEL_TEST_BOOTSTRAP names it and EVENKEEL_TEST_BOOTSTRAP_MAY_WRITE is ``yes``: all that is created
there begins with ``evenkeel-test-`` and is removed at the end.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import closing

import pytest
from kafka.admin import KafkaAdminClient

from tests.helpers.kafka_session import (
    ClusterInUse,
    RunningWorkload,
    await_settled,
    start_workload,
)
from tests.helpers.own_brokers import own_brokers
from tests.stage.process import LocalClusterError, stop
from tests.stage.workload import topics

PREFIX = "evenkeel-test-"


@pytest.fixture(scope="session")
def kafka_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterInUse]:
    """Three brokers of our own, or the cluster that the environment names."""
    directory = tmp_path_factory.mktemp("kafka-cluster")
    named = os.environ.get("EVENKEEL_TEST_BOOTSTRAP")
    if named:
        if os.environ.get("EVENKEEL_TEST_BOOTSTRAP_MAY_WRITE") != "yes":
            raise LocalClusterError(
                "EVENKEEL_TEST_BOOTSTRAP is set: the tests create topics and groups there (and"
                " remove them); agree by EVENKEEL_TEST_BOOTSTRAP_MAY_WRITE=yes"
            )
        # Two sessions may use that cluster at the same time.
        prefix = f"{PREFIX}{uuid.uuid4().hex[:6]}-"
        yield ClusterInUse(named, prefix, owned=False, directory=directory)
        return
    with own_brokers(directory) as brokers:
        yield ClusterInUse(brokers.bootstrap, PREFIX, True, directory, brokers)


@pytest.fixture(scope="session")
def workload(kafka_cluster: ClusterInUse) -> Iterator[RunningWorkload]:
    """The workload, every group of it settled."""
    process = start_workload(kafka_cluster, kafka_cluster.prefix)
    try:
        yield await_settled(kafka_cluster, kafka_cluster.prefix, process)
    finally:
        stop(process, grace=10)
        if not kafka_cluster.owned:
            servers = kafka_cluster.bootstrap.split(",")
            with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
                topics.remove(admin, kafka_cluster.prefix)
