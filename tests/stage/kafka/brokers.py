"""Three real Kafka brokers in three racks on this machine, from jars alone.

``python -m tests.stage brokers DIRECTORY`` runs them alone, until SIGTERM or Ctrl-C.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from kafka import TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from tests.stage.kafka.jars import KAFKA_VERSION, classpath, resolve_jars
from tests.stage.kafka.spreading import brokers_know
from tests.stage.process import (
    LocalClusterError,
    Process,
    asked_to_end,
    default_home,
    find_java,
    free_ports,
    port_is_free,
    spawn,
    stop,
    wait_until,
)

# Node 1 is the only controller as well. With three voters the last node to stop has lost its quorum
# and cannot leave cleanly, which costs the next start the ten seconds of a broker's session; and on
# busy cores a lone voter has no elections to lose.
CONTROLLER = 1
RACKS = {1: "rack-a", 2: "rack-b", 3: "rack-c"}
# Ten seconds on an idle machine.
START_TIMEOUT_SECONDS = 240
# As broker.properties says.
OFFSETS_PARTITIONS = 8
# A broker that hands over its leaders needs about a second; one without a controller never ends.
STOP_GRACE_SECONDS = 6

# Fast to start rather than fast to run, and small: three of these share two cores with all the rest.
_JVM_FLAGS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xlog:disable")
_BROKER_HEAP = ("-Xms64m", "-Xmx256m", "-Xss512k")

_PROPERTIES = Path(__file__).with_name("broker.properties")
_LOGGING = Path(__file__).with_name("log4j2.properties")


@dataclass(frozen=True)
class _Identity:
    """What stays the same over restarts: the cluster's id and its ports."""

    cluster_id: str
    controller_port: int
    ports: dict[int, int]

    @classmethod
    def fresh(cls, cluster_id: str | None = None) -> _Identity:
        controller_port, *ports = free_ports(1 + len(RACKS))
        return cls(
            cluster_id or _random_id(), controller_port, dict(zip(RACKS, ports, strict=True))
        )

    def usable(self) -> bool:
        return all(map(port_is_free, [self.controller_port, *self.ports.values()]))

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(self.__dict__, indent=1))

    @classmethod
    def load(cls, path: Path) -> _Identity:
        kept = json.loads(path.read_text())
        ports = {int(node): port for node, port in kept["ports"].items()}
        return cls(kept["cluster_id"], kept["controller_port"], ports)


def _random_id() -> str:
    """A Kafka uuid: 16 bytes in url-safe base 64; never with a leading dash, which tools misread."""
    return base64.urlsafe_b64encode(b"\x01" + uuid.uuid4().bytes[1:]).decode().rstrip("=")


class KafkaCluster:
    """Three brokers (nodes 1, 2, 3 in rack-a, rack-b, rack-c) on loopback; node 1 is also controller.

    ``directory`` holds data, logs and settings; started again on it, the cluster keeps its topics,
    groups and (where still free) its ports, unless it is to ``throw_away``: then leaving it as a
    context kills it, which takes no time. ``settings`` are those of every node.
    ``home`` marks the processes for ``sweep``. The thread
    that starts it must live as long as the cluster, see ``spawn``.
    """

    def __init__(
        self,
        directory: Path,
        *,
        home: Path | None = None,
        jars: Path | None = None,
        throw_away: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.directory = directory.resolve()
        self.home = (home or default_home()).resolve()
        self._jars = jars
        self._throw_away = throw_away
        self._settings = dict(settings or {})
        self._java = Path()
        self._identity: _Identity | None = None
        self._processes: dict[int, Process] = {}

    def __enter__(self) -> KafkaCluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._throw_away:
            for node_id in list(self._processes):
                self.kill(node_id)
        else:
            self.stop()

    @property
    def bootstrap(self) -> str:
        """The three brokers' addresses, as ``bootstrap.servers`` takes them."""
        assert self._identity, "the cluster was never started"
        return ",".join(f"127.0.0.1:{port}" for port in self._identity.ports.values())

    @property
    def cluster_id(self) -> str:
        """The id that the brokers report."""
        assert self._identity, "the cluster was never started"
        return self._identity.cluster_id

    @property
    def pids(self) -> dict[int, int]:
        """Process id of each running node."""
        return {node: process.pid for node, process in self._processes.items()}

    def start(self, timeout: float = START_TIMEOUT_SECONDS) -> None:
        """Start all nodes and return when three brokers and all group coordinators answer."""
        self._java, _ = find_java()
        self._jars = self._jars or resolve_jars()
        self.directory.mkdir(parents=True, exist_ok=True)
        self._identity = self._settle_identity()
        for node_id in RACKS:
            self._write_properties(node_id)
        self._format()
        try:
            for node_id in RACKS:
                self.launch(node_id)
            self._await_brokers(timeout)
        except BaseException:
            self.stop()
            raise

    def stop(self, grace: float = STOP_GRACE_SECONDS) -> None:
        """SIGTERM the nodes one by one, the controller last (a broker cannot leave without it, and
        hangs); SIGKILL any that is not gone after ``grace`` seconds."""
        for node_id in sorted(self._processes, key=lambda node: node == CONTROLLER):
            stop(self._processes.pop(node_id), grace)

    def kill(self, node_id: int) -> None:
        """SIGKILL one node, as a crashed machine would look to the others.

        While the controller is down no leadership moves: kill 2 or 3 to see a failover.
        """
        process = self._processes.pop(node_id)
        os.killpg(process.pid, signal.SIGKILL)
        process.popen.wait()

    def restart(self, node_id: int, timeout: float = START_TIMEOUT_SECONDS) -> None:
        """Start one node again (stopping it first if it runs) and wait until all answer and know one another."""
        if node_id in self._processes:
            stop(self._processes.pop(node_id), STOP_GRACE_SECONDS)
        self.launch(node_id)
        self._await_brokers(timeout)

    def set(self, node_id: int, key: str, value: str) -> None:
        """Give a node another setting; it counts from its next ``restart`` on, until a ``start`` of all."""
        path = self._properties_path(node_id)
        others = [line for line in path.read_text().splitlines() if not line.startswith(f"{key}=")]
        path.write_text("\n".join([*others, f"{key}={value}", ""]))

    def tool(self, class_name: str, *args: str, timeout: float = 240) -> str:
        """Run a command-line tool class of Kafka's jars and return what it printed.

        Raises LocalClusterError with its error output if it fails.
        """
        argv = self._java_argv(class_name, *args)
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, check=False)
        if answer.returncode != 0:
            raise LocalClusterError(f"{class_name} failed:\n{answer.stdout}{answer.stderr}")
        return answer.stdout

    def _settle_identity(self) -> _Identity:
        path = self.directory / "cluster.json"
        if path.exists():
            identity = _Identity.load(path)
            if identity.usable():
                return identity
            identity = _Identity.fresh(identity.cluster_id)
        else:
            identity = _Identity.fresh()
        identity.save(path)
        return identity

    def _properties_path(self, node_id: int) -> Path:
        return self.directory / f"node{node_id}.properties"

    def _data(self, node_id: int) -> Path:
        return self.directory / f"data{node_id}"

    def _write_properties(self, node_id: int) -> None:
        assert self._identity
        port, controller_port = self._identity.ports[node_id], self._identity.controller_port
        both = node_id == CONTROLLER
        listeners = f"PLAINTEXT://127.0.0.1:{port}"
        text = _PROPERTIES.read_text().format(
            node_id=node_id,
            rack=RACKS[node_id],
            roles="broker,controller" if both else "broker",
            listeners=f"{listeners},CONTROLLER://127.0.0.1:{controller_port}"
            if both
            else listeners,
            port=port,
            controller=CONTROLLER,
            controller_port=controller_port,
            data=self._data(node_id),
        )
        own = "".join(f"{key}={value}\n" for key, value in self._settings.items())
        self._properties_path(node_id).write_text(text + own)

    def _format(self) -> None:
        """Format the first node with Kafka's tool and give the others its bootstrap metadata.

        Only two small files are written, and they differ in the ids alone: a JVM for each node
        would take three times as long.
        """
        assert self._identity
        first, *others = RACKS
        if not (self._data(first) / "meta.properties").exists():
            properties = str(self._properties_path(first))
            arguments = ("format", "-t", self._identity.cluster_id, "-c", properties)
            self.tool("kafka.tools.StorageTool", *arguments)
        for node_id in others:
            data = self._data(node_id)
            if (data / "meta.properties").exists():
                continue
            data.mkdir(exist_ok=True)
            # from 4.4 on it is in the log of metadata, which only the controller starts with
            if (bootstrap := self._data(first) / "bootstrap.checkpoint").exists():
                shutil.copy(bootstrap, data)
            (data / "meta.properties").write_text(
                f"version=1\ncluster.id={self._identity.cluster_id}\n"
                f"node.id={node_id}\ndirectory.id={_random_id()}\n"
            )

    def _java_argv(self, class_name: str, *args: str, heap: tuple[str, ...] = ()) -> list[str]:
        assert self._jars
        flags = [*_JVM_FLAGS, *heap, f"-Dlog4j2.configurationFile={_LOGGING}"]
        return [str(self._java), *flags, "-cp", classpath(self._jars), class_name, *args]

    def launch(self, node_id: int) -> None:
        """Start one node, and wait for nothing."""
        properties = str(self._properties_path(node_id))
        argv = self._java_argv("kafka.Kafka", properties, heap=_BROKER_HEAP)
        log = self.directory / f"node{node_id}.log"
        self._processes[node_id] = spawn(argv, None, log, f"broker {node_id}", home=self.home)

    def _await_brokers(self, timeout: float) -> None:
        # Errors of connections that are refused while the brokers start are expected, not news.
        client = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        for node_id, process in self._processes.items():
            wait_until(
                lambda node_id=node_id: node_id in _brokers(client),
                timeout,
                f"broker {node_id} of Kafka {KAFKA_VERSION}",
                process=process,
            )
        with closing(KafkaAdminClient(bootstrap_servers=self.bootstrap.split(","))) as reader:
            wait_until(
                lambda: brokers_know(reader, list(self._processes)),
                timeout,
                "every broker to know the others",
            )
        wait_until(
            lambda: _coordinators_answer(self.bootstrap),
            timeout,
            "the group coordinators",
            interval=0.2,
        )


def _brokers(client: AdminClient) -> set[int]:
    try:
        return set(client.list_topics(timeout=1).brokers)
    except KafkaException:
        return set()


def _coordinators_answer(bootstrap: str) -> bool:
    """Whether the coordinator of each partition of the topic of offsets answers, asked by a client that knows none yet.

    The first request for one makes Kafka create that topic.
    Not asked of confluent-kafka: librdkafka 2.16 aborts the process when an admin request to a
    coordinator that is not there yet runs out of its time.
    """
    # names that end so have hash codes in a row, so each is of another partition
    groups = [f"no-such-group-{number}" for number in range(OFFSETS_PARTITIONS)]
    asked = {group: [TopicPartition("no-such-topic", 0)] for group in groups}
    try:
        with closing(KafkaAdminClient(bootstrap_servers=bootstrap.split(","))) as reader:
            reader.list_group_offsets(asked)
    except KafkaError:
        return False
    return True


def main(arguments: list[str]) -> int:
    """Run three brokers alone; the first line it prints is their address."""
    parser = argparse.ArgumentParser(prog="python -m tests.stage brokers", description=__doc__)
    parser.add_argument("directory", type=Path)
    ended = asked_to_end()
    with KafkaCluster(parser.parse_args(arguments).directory) as cluster:
        print(cluster.bootstrap, flush=True)
        ended.wait()
    return 0
