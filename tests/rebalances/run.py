"""Groups of processes on brokers of their own: what a scene does to them, and the snapshots meanwhile."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
from confluent_kafka import KafkaException, Producer
from kafka.admin import KafkaAdminClient

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.assignors.kit.java_order import string_hashes
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.pipeline.snapshot import take_snapshot
from tests.rebalances.scenes import DYING, EVERY_SECONDS, KINDS, POLL_SECONDS, STALL_SECONDS, Plan
from tests.stage.kafka.brokers import OFFSETS_PARTITIONS, KafkaCluster
from tests.stage.kafka.spreading import await_topics
from tests.stage.process import Process, spawn, wait_until

NAME = "scenes"
"""The cluster's."""

PARTITIONS, MORE = 6, 9
"""Of a topic, and once it has more."""

SESSION_SECONDS = {"classic": 20.0, "consumer": 10.0}
"""How long a member may be silent, where its plan says no more; of KIP-848 always, as the brokers say."""

TICK_SECONDS, PER_TICK = 1.0, 4
"""So often, so many records are written to each partition."""

LATE_SECONDS = 5.0
"""So long it is waited for what is written."""

_MEMBER = Path(__file__).with_name("member.py")
_BROKER = """
group.consumer.min.session.timeout.ms=6000
group.consumer.session.timeout.ms=10000
group.consumer.heartbeat.interval.ms=3000
"""


class Brokers(KafkaCluster):
    """Three, with a short session for KIP-848, that say why groups rebalance."""

    def _write_properties(self, node_id: int) -> None:
        super()._write_properties(node_id)
        with self._properties_path(node_id).open("a") as file:
            file.write(_BROKER)

    def _java_argv(self, class_name: str, *args: str, heap: tuple[str, ...] = ()) -> list[str]:
        java, *others = super()._java_argv(class_name, *args, heap=heap)
        return [java, "-Dcoordinator.level=INFO", "-Duser.timezone=UTC", *others]

    def logged(self) -> Iterator[str]:
        """What the brokers wrote."""
        for path in sorted(self.directory.glob("node*.log")):
            yield from path.read_text(errors="replace").splitlines()


class Group:
    """A group whose members are processes; a member is known by its number, from 0."""

    def __init__(self, plan: Plan, stage: Stage) -> None:
        self.plan, self.stage = plan, stage
        self.running: dict[int, Process] = {}
        self.clients: dict[int, str] = {}
        self.starts = 0

    @property
    def log(self) -> Path:
        """Where its members write."""
        return self.stage.folder / f"{self.plan.name}.jsonl"

    def start(self, number: int, more: Sequence[str] = ()) -> None:
        """A process more; what it subscribes to besides the group's topic."""
        self.starts += 1
        plan = self.plan
        suffix = {"own": f"-{number + 1}", "new": f"-x{self.starts}", "shared": ""}[plan.clients]
        client = self.clients[number] = plan.name + suffix
        topics = [f"^{plan.name}-t.*"] if plan.pattern else [plan.topic]
        settings = {
            "config": self._config(client),
            "topics": [*topics, *more],
            "then": [*topics, self.extra],
            "stall_seconds": STALL_SECONDS,
            "log": str(self.log),
        }
        argv = [sys.executable, str(_MEMBER), json.dumps(settings)]
        log = self.stage.folder / f"{client}.log"
        self.running[number] = spawn(argv, None, log, client, home=self.stage.folder)

    @property
    def extra(self) -> str:
        """The topic that comes later."""
        return f"{self.plan.topic}-more"

    @property
    def reads_more(self) -> bool:
        """Whether its members subscribe to that topic by its name."""
        steps = {what for _, what, _ in self.plan.script(self.plan.members)}
        return not steps.isdisjoint(("subscribe", "start_with_more"))

    def _config(self, client: str) -> dict[str, Any]:
        session = POLL_SECONDS if self.plan.short else SESSION_SECONDS["classic"]
        classic = {"session.timeout.ms": int(session * 1000)}
        return {
            "bootstrap.servers": self.stage.cluster.bootstrap,
            "group.id": self.plan.name,
            "client.id": client,
            **KINDS[self.plan.kind],
            **({} if self.plan.kind == "consumer" else classic),
            **({"max.poll.interval.ms": int(POLL_SECONDS * 1000)} if self.plan.short else {}),
            **({"group.instance.id": client} if self.plan.static else {}),
            "auto.offset.reset": "latest",
            "auto.commit.interval.ms": 1000,
            "topic.metadata.refresh.interval.ms": 3000,
            "reconnect.backoff.max.ms": 2000,
            "log_level": 1,
        }

    def start_with_more(self, number: int) -> None:
        """A process more, which reads the other topic as well."""
        self.start(number, [self.extra])

    def end(self, number: int) -> None:
        """It leaves and ends; of static members the place stays."""
        self._tell(number, signal.SIGTERM)

    def kill(self, number: int) -> None:
        """It ends at once."""
        self._tell(number, signal.SIGKILL)

    def freeze(self, number: int) -> None:
        """All of its threads stand still."""
        self._tell(number, signal.SIGSTOP)

    def thaw(self, number: int) -> None:
        """They go on."""
        self._tell(number, signal.SIGCONT)

    def stall(self, number: int) -> None:
        """It does not poll for a while."""
        self._tell(number, signal.SIGUSR1)

    def subscribe(self, number: int) -> None:
        """It reads the other topic as well."""
        self._tell(number, signal.SIGUSR2)

    def create_topic(self, _: int) -> list[tuple[str, int]]:
        """One more topic; its partitions."""
        self.stage.create({self.extra: PARTITIONS})
        return [(self.extra, number) for number in range(PARTITIONS)]

    def add_partitions(self, _: int) -> list[tuple[str, int]]:
        """Its topic gets more of them; these."""
        self.stage.widen(self.plan.topic, MORE)
        return [(self.plan.topic, number) for number in range(PARTITIONS, MORE)]

    def kill_broker(self, node: int) -> None:
        """A broker ends at once."""
        self.stage.cluster.kill(node)

    def stop_broker(self, node: int) -> None:
        """A broker hands over what it leads, and ends."""
        os.kill(self.stage.cluster.pids[node], signal.SIGTERM)

    def launch(self, node: int) -> None:
        """It is started again."""
        self.stage.cluster.launch(node)

    def _tell(self, number: int, what: signal.Signals) -> None:
        self.running[number].popen.send_signal(what)


class Stage:
    """The brokers, the groups, what is written to their topics, and everything that was done."""

    def __init__(self, cluster: Brokers, folder: Path, plans: Sequence[Plan]) -> None:
        self.cluster, self.folder = cluster, folder
        self.lake, self.settings = Recording(), self._settings()
        self.sizes: dict[str, int] = {}
        self.ticks: list[int] = []
        self.done: list[dict[str, Any]] = []
        self.admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap.split(","))
        self._ended = Event()
        self.groups = [Group(self._placed(plan), self) for plan in plans]

    @classmethod
    @contextmanager
    def on(cls, folder: Path, plans: Sequence[Plan]) -> Iterator[Stage]:
        """Started, with all groups settled; all of it ends."""
        with Brokers(folder / "brokers", home=folder, throw_away=True) as cluster:
            stage = cls(cluster, folder, plans)
            with closing(stage.admin):
                try:
                    stage._begin()
                    yield stage
                finally:
                    stage._end()

    def _settings(self) -> Settings:
        return Settings(clusters={NAME: ClusterSettings(bootstrap=self.cluster.bootstrap)})

    def _placed(self, plan: Plan) -> Plan:
        """With a name that its broker coordinates."""
        if plan.coordinator is None:
            return plan
        (topic,) = self.admin.describe_topics(["__consumer_offsets"])
        leaders = {p["partition_index"]: p["leader_id"] for p in topic["partitions"]}
        names = [f"{plan.name}-{number}" for number in range(100)]
        hashes = string_hashes(names).astype(np.int32).tolist()
        where = [abs(hash_) % OFFSETS_PARTITIONS for hash_ in hashes]
        name = next(n for n, w in zip(names, where, strict=True) if leaders[w] == plan.coordinator)
        return replace(plan, name=name)

    @property
    def dies(self) -> bool:
        """Whether a broker does."""
        return any(group.plan.coordinator == DYING for group in self.groups)

    def create(self, sizes: Mapping[str, int]) -> None:
        """Topics with so many partitions, written to from now on."""
        copies = 3 if self.dies else 1
        shapes = {t: {"num_partitions": n, "replication_factor": copies} for t, n in sizes.items()}
        self.admin.create_topics(shapes)
        await_topics(self.admin, list(sizes))
        self.sizes = {**self.sizes, **sizes}

    def widen(self, topic: str, size: int) -> None:
        """More partitions for a topic, written to once all brokers know them."""
        self.admin.create_partitions({topic: size})
        self.sizes = {**self.sizes, topic: size}

    def _begin(self) -> None:
        topics = [group.plan.topic for group in self.groups]
        topics += [group.extra for group in self.groups if group.reads_more]
        self.create(dict.fromkeys(topics, PARTITIONS))
        self._writing = Thread(target=self._write)
        self._writing.start()
        for group in self.groups:
            for number in range(group.plan.members):
                group.start(number)
        wait_until(self._settled, 120, "all groups to settle", interval=1)

    def _end(self) -> None:
        self._ended.set()
        for group in self.groups:
            for process in group.running.values():
                process.popen.kill()
                process.popen.wait()
        self._writing.join()

    def _settled(self) -> bool:
        """Whether every group has all of its members and partitions, at rest."""
        with closing(KafkaClusterReader(NAME, self.settings.clusters[NAME])) as reader:
            seen = reader.take_snapshot(f"{NAME}-20260101T000000Z-000000")
        rows = {row["group_id"]: row for row in seen.tables["groups"].to_pylist()}
        members = seen.tables["members"].to_pylist()
        for group in self.groups:
            own = [m for m in members if m["group_id"] == group.plan.name]
            counts = [len(m["assigned_partitions"] or ()) for m in own]
            even = len(own) == group.plan.members and sum(counts) == PARTITIONS and min(counts) > 0
            if not even or rows[group.plan.name]["state"] != "Stable":
                return False
            wanted = group.plan.coordinator
            assert wanted in (None, rows[group.plan.name]["coordinator"]), group.plan.name
        return True

    def _write(self) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self.cluster.bootstrap,
                "topic.metadata.refresh.interval.ms": 500,
                "linger.ms": 50,
                "acks": 1,
                "log_level": 1,
            }
        )
        due = time.monotonic()
        while not self._ended.wait(due - time.monotonic()):
            due += TICK_SECONDS
            self.ticks.append(now_ms())
            for topic, size in self.sizes.items():
                # a partition that was added a moment ago is not known here yet
                with suppress(KafkaException):
                    for partition in range(size * PER_TICK):
                        producer.produce(topic, b"x", partition=partition // PER_TICK)
            # on a busy machine records come late, but no queue grows
            producer.flush(LATE_SECONDS)

    def play(self, snapshots: int) -> None:
        """Do what is to be done until the last snapshot, one every ten seconds."""
        began = time.monotonic()
        looking = Thread(target=self._look, args=(began, snapshots))
        looking.start()
        steps = [
            (at, what, number, group)
            for group in self.groups
            for at, what, number in group.plan.script(group.plan.members)
            if at < EVERY_SECONDS * (snapshots - 1)
        ]
        for at, what, number, group in sorted(steps, key=lambda step: step[0]):
            self._ended.wait(max(began + at - time.monotonic(), 0))
            self._do(group, what, number)
        looking.join()

    def _do(self, group: Group, what: str, number: int) -> None:
        do: Callable[[int], list[tuple[str, int]] | None] = getattr(group, what)
        began, made = now_ms(), do(number)
        client = group.clients.get(number)
        step = {"at": now_ms(), "group": group.plan.name, "what": what, "member": client}
        step |= {"at": began, "partitions": made} if made else {}
        process = group.running.get(number)
        self.done.append(step | {"pid": process.pid if process else None})

    def _look(self, began: float, snapshots: int) -> None:
        for number in range(snapshots):
            self._ended.wait(max(began + EVERY_SECONDS * number - time.monotonic(), 0))
            with closing(KafkaClusterReader(NAME, self.settings.clusters[NAME])) as reader:
                take_snapshot(reader, self.lake, None, self.settings, NAME)


def now_ms() -> int:
    """The wall clock, as members note it."""
    return time.time_ns() // 1_000_000
