"""What tests on real brokers and in real JVMs begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.kafka_session import ClusterInUse
from tests.helpers.kafka_stage import Stage
from tests.oracle.follower import FollowerGroupJvm
from tests.oracle.jvm import NO_COMPILER, compile_java
from tests.stage.kafka.jars import classpath, resolve_jars
from tests.stage.process import find_java, has_compiler
from tests.stage.workload.streams_app import SOURCE


@pytest.fixture(scope="session")
def compiler() -> None:
    """A Java that compiles, or no test."""
    if not has_compiler(find_java()[0]):
        pytest.skip(NO_COMPILER)


@pytest.fixture(scope="module")
def members_jvm(
    compiler: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FollowerGroupJvm]:
    """A JVM for members, of which those may follow plans."""
    with FollowerGroupJvm(tmp_path_factory.mktemp("members") / "jvm.log") as running:
        yield running


@pytest.fixture(scope="module")
def folder(compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled application of `tests.helpers.streams_instances`."""
    java, _ = find_java()
    made = tmp_path_factory.mktemp("instances")
    compile_java(java, [SOURCE], classpath(resolve_jars()), made)
    return made


@pytest.fixture
def stage(kafka_cluster: ClusterInUse, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A place for topics and groups of a test, named after its module; all of it is removed at the end."""
    name = request.module.__name__.rpartition(".")[2].removeprefix("test_").replace("_", "-")
    with Stage.on(kafka_cluster.bootstrap, f"{kafka_cluster.prefix}{name}-") as made:
        yield made
