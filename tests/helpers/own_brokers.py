"""Three brokers that a test, a module or a session has for itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic
from kafka.admin import KafkaAdminClient

from tests.stage.kafka.brokers import KafkaCluster
from tests.stage.kafka.jars import resolve_jars
from tests.stage.kafka.spreading import await_topics
from tests.stage.process import sweep


@contextmanager
def own_brokers(
    directory: Path,
    *,
    version: str | None = None,
    jars: Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[KafkaCluster]:
    """Brokers of a release (else of *jars*, else of the stage's) that are killed at the end, with all they started."""
    try:
        jars = resolve_jars(version=version) if version else jars
        brokers = KafkaCluster(
            directory / "brokers", home=directory, jars=jars, throw_away=True, settings=settings
        )
        with brokers:
            yield brokers
    finally:
        sweep(directory)


@contextmanager
def brokers_with_topics(directory: Path, version: str, topics: Collection[str]) -> Iterator[str]:
    """The addresses of brokers of a release, all of which know topics of four partitions with two replicas."""
    with own_brokers(directory, version=version) as brokers:
        admin = AdminClient({"bootstrap.servers": brokers.bootstrap, "log_level": 1})
        for made in admin.create_topics([NewTopic(name, 4, 2) for name in topics]).values():
            made.result()
        with closing(KafkaAdminClient(bootstrap_servers=brokers.bootstrap.split(","))) as asking:
            await_topics(asking, topics)
        yield brokers.bootstrap
