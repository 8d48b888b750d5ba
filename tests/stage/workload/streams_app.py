"""The workload's Kafka Streams applications: one JVM that runs ``streams/CountingApp.java``."""

from __future__ import annotations

from pathlib import Path

from tests.stage.kafka.jars import classpath, resolve_jars
from tests.stage.process import Process, find_java, has_compiler, spawn, stop
from tests.stage.workload.groups import GroupPlan

SOURCE = Path(__file__).with_name("streams") / "CountingApp.java"
INSTANCES = 2
NO_COMPILER = "Kafka Streams applications run from source: this Java has no compiler, install a JDK"

FLAGS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms32m", "-Xmx160m", "-Xss512k")
# A second on an idle machine; what CountingApp.java takes at most is less.
_STOP_GRACE_SECONDS = 25.0


class StreamsApp:
    """The running applications of the plans given."""

    def __init__(self, process: Process, prefix: str, bootstrap: str) -> None:
        self._process = process
        self._prefix = prefix
        self.bootstrap = bootstrap

    @classmethod
    def start(
        cls, bootstrap: str, prefix: str, plans: list[GroupPlan], directory: Path
    ) -> StreamsApp:
        """Start them; needs a Java that can run a source file."""
        java, _ = find_java()
        protocols = {"streams": "streams", "streams-classic": "classic"}
        apps = [f"{prefix}{p.name}:{prefix}{p.topics[0]}:{protocols[p.kind]}" for p in plans]
        log = directory / "streams.log"
        log.unlink(missing_ok=True)
        argv = [str(java), *FLAGS, "-cp", classpath(resolve_jars()), str(SOURCE)]
        argv += [bootstrap, str(directory / "streams-state"), *apps]
        return cls(spawn(argv, None, log, "streams applications"), prefix, bootstrap)

    @staticmethod
    def can_run() -> bool:
        """Whether this machine's Java can run a source file."""
        return has_compiler(find_java()[0])

    @property
    def process(self) -> Process:
        """The JVM."""
        return self._process

    def running(self, plan: GroupPlan) -> int:
        """How many instances of an application say that they run."""
        states: dict[str, str] = {}
        for line in self._process.log_path.read_text(errors="replace").splitlines():
            words = line.split()
            if len(words) == 3 and words[0] == "STATE":
                states[words[1]] = words[2]
        names = (f"{self._prefix}{plan.name}-{n + 1}" for n in range(INSTANCES))
        return sum(states.get(name) == "RUNNING" for name in names)

    def stop(self) -> None:
        """Let the instances leave their groups and end the JVM."""
        stop(self._process, _STOP_GRACE_SECONDS)
