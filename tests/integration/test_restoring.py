"""What restoring takes, against a Kafka Streams application whose threads say what they restored, and when."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from evenkeel.engine.model.pauses import RESTORED, RESTORES
from evenkeel.engine.model.states import PauseBasis
from evenkeel.engine.pipeline.stored_metrics import measured_groups
from evenkeel.engine.streams.live import running
from tests.helpers.applied import run_tool, settled
from tests.helpers.commands import evenkeel
from tests.helpers.kafka_stage import Stage, groups_with_targets
from tests.helpers.own_brokers import own_brokers
from tests.helpers.streams_instances import Application
from tests.integration.test_restart_times import CLUSTER, Looks
from tests.stage.kafka.jars import KAFKA_VERSION, NEWER_VERSION
from tests.stage.process import wait_until

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.timeout(1500)]

KEYS = 300_000
"""As many records are in the changelogs of the application."""

BYTES_PER_SECOND = 100_000
"""What a broker that tells of restoring gives each client, so that it takes a while."""

SETTINGS = {
    "group.streams.heartbeat.interval.ms": "1000",
    "group.streams.min.heartbeat.interval.ms": "1000",
    "group.streams.session.timeout.ms": "6000",
    "group.streams.min.session.timeout.ms": "6000",
    "group.streams.task.offset.interval.ms": "2000",
    "group.streams.min.task.offset.interval.ms": "2000",
    "quota.window.num": "2",
}
"""Members report often, and a quota holds from the first second on."""


@pytest.fixture(params=[KAFKA_VERSION, NEWER_VERSION])
def release(request: pytest.FixtureRequest) -> str:
    """Of brokers and members, which tell what they restore from 4.4 on."""
    return str(request.param)


@pytest.fixture
def stage(release: str, tmp_path: Path) -> Iterator[Stage]:
    """Brokers of the release."""
    with (
        own_brokers(tmp_path, version=release, settings=SETTINGS) as brokers,
        Stage.on(brokers.bootstrap, "evenkeel-test-restoring-") as made,
    ):
        yield made


def fill(app: Application) -> None:
    """Each record of its topic is another key of its store."""
    producer = Producer({"bootstrap.servers": app.stage.bootstrap, "linger.ms": 50, "log_level": 1})
    for number in range(KEYS):
        producer.produce(app.topic, f"value-{number}".encode(), partition=number % 6)
        producer.poll(0)
    assert producer.flush(120) == 0


def stores_hold(app: Application) -> int:
    """Records in its changelogs; 0 before all members have their tasks."""
    found = groups_with_targets(app.stage.bootstrap, f"{app.stage.prefix}*").get(app.name)
    return 0 if found is None or found.stores is None else int(found.stores.end.values.sum())


def told(app: Application, *options: str) -> dict[str, Any]:
    """What `evenkeel whatif` says of its next rebalance."""
    where = ("--group", app.name, "--bootstrap", app.stage.bootstrap, "--samples", "1")
    lines = map(json.loads, evenkeel("whatif", *where, *options, "--json").splitlines())
    [found] = (line for line in lines if line["is_running"])
    return dict(found)


def restored(app: Application, number: int) -> list[tuple[str, int, float, float]]:
    """The thread, records, begin and end of each store that an instance has restored."""
    lines = app.running[number].log_path.read_text(errors="replace").splitlines()
    words = [line.split() for line in lines if line.startswith("RESTORED ")]
    return [(w[2], int(w[4]), int(w[5]) / 1000, int(w[6]) / 1000) for w in words]


def seconds_of(stores: list[tuple[str, int, float, float]]) -> list[float]:
    """For how long each thread would restore as many records as a pause is kept for."""
    threads = defaultdict[str, list[tuple[str, int, float, float]]](list)
    for one in stores:
        threads[one[0]].append(one)
    return [
        RESTORED
        * (max(end for *_, end in own) - min(begin for *_, begin, _ in own))
        / sum(records for _, records, _, _ in own)
        for own in threads.values()
    ]


def look_until(looks: Looks, app: Application, stores: int) -> None:
    """Take snapshots until the second instance has said of so many stores that it has restored them."""

    def there() -> bool:
        looks.look()
        return len(restored(app, 1)) == stores

    wait_until(there, 300, f"{stores} stores", interval=4)


def test_who_joins_and_who_takes_over_restore_what_was_said(
    stage: Stage, release: str, folder: Path
) -> None:
    """To the record; for how long is learned where threads report it, and counts the next time."""
    settings = {
        "replication.factor": "3",
        "commit.interval.ms": "2000",
        "consumer.fetch.min.bytes": "1",
        "restore.consumer.max.partition.fetch.bytes": "20000",  # less than a second's bytes
    }
    app = Application(stage, "app", "streams", settings, folder, version=release)
    fill(app)
    app.start(0)
    wait_until(lambda: stores_hold(app) == KEYS, 180, "all keys in the changelogs", interval=1)

    looks = Looks(stage.bootstrap, stage.prefix)
    looks.look()
    joining = told(app, "--members", "+1")
    assert any("20,000 records/s (assumed)" in line for line in joining["assumed"])
    if release == NEWER_VERSION:
        quota = ("--add-config", f"consumer_byte_rate={BYTES_PER_SECOND}")
        clients = ("--entity-type", "clients", "--entity-default")
        run_tool(stage, "kafka.admin.ConfigCommand", "--alter", *quota, *clients)
    app.start(1)
    look_until(looks, app, joining["restores"])
    found = restored(app, 1)
    assert sum(records for _, records, _, _ in found) == joining["restore_offsets"]

    settled(app)
    looks.look()
    [known] = measured_groups(looks.lake, looks.settings, *looks.lake.snapshots(CLUSTER))
    assert known.measured is not None
    spans = known.measured.restores
    restore = running(known.group, restores=spans).config.restore
    print("joining", joining["restore_offsets"], joining["restore_seconds"], found)
    print("seen", spans, restore, "by the threads", seconds_of(found))
    observed = (
        (PauseBasis.OBSERVED, len(spans)) if release == NEWER_VERSION else (PauseBasis.USUAL, 0)
    )
    assert (restore.basis, restore.observed) == observed
    leaving = told(app, "--without", f"{app.name}-1")
    app.running.pop(0).popen.kill()
    look_until(looks, app, joining["restores"] + leaving["restores"])
    after = restored(app, 1)[len(found) :]
    foreseen = leaving["restore_seconds"] * restore.seconds / RESTORES.seconds
    print("leaving", leaving["restore_offsets"], foreseen, seconds_of(after), after)
    assert sum(records for _, records, _, _ in after) == leaving["restore_offsets"]
    assert leaving["restore_offsets"] + joining["restore_offsets"] == KEYS
