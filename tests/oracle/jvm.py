"""
A Java process that puts groups before Kafka's own assignors (`java/Oracle.java`).

It is compiled once per source, set of jars and Java, into `.evenkeel/oracle`; the jars are those
of the local cluster.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Timer
from typing import Any, ClassVar, Self

from evenkeel.engine.model.releases import release_of
from tests.stage.kafka.jars import KAFKA_VERSION, classpath, resolve_jars, wanted
from tests.stage.process import LocalClusterError, checkout_home, find_java, has_compiler

KAFKAS = ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "range-server")
STRATEGIES = (*KAFKAS, "racks-server", "fair", "lag-aware")
"""What there is a class for: Kafka's, then ours for brokers, last ours for members."""

SOURCES = Path(__file__).with_name("java")
_OURS = Path(__file__).parents[2] / "engine/followers/java"
SERVER_ASSIGNOR = sorted(_OURS.glob("EvenkeelServer*.java"))
MEMBER_ASSIGNORS = [_OURS / f"Evenkeel{name}Assignor.java" for name in ("Fair", "LagAware")]
"""Ours, which are asked as Kafka's are."""
NO_COMPILER = (
    "there are Java sources to compile and this Java has no compiler: install a JDK >= 17"
    " (Debian: apt install openjdk-17-jdk-headless), or point JAVA_HOME at one"
)


class Jvm:
    """
    Kafka's classes, asked one case at a time; to be used in a `with` statement.

    A case is a line of the vectors' format, with `repeat` and `warm_up` where it is to be timed.
    """

    main: ClassVar[str] = "Oracle"
    """The Java class that is asked."""

    def __init__(
        self,
        *,
        heap: str = "1g",
        home: Path | None = None,
        log: Path | None = None,
        jar: Path | None = None,
        kafka: str = KAFKA_VERSION,
    ) -> None:
        """
        Start it.

        Args:
            heap: What it may use for objects, as Java writes it.
            home: Instead of `.evenkeel` of this checkout.
            log: The file that warnings go to; without it there are none.
            jar: Our classes, instead of those compiled here.
            kafka: The release whose classes are asked.

        Raises:
            LocalClusterError: There is no Java, or it has no compiler, or no jars.
        """
        self.folder, self.kafka = (home or checkout_home()) / "oracle", kafka
        java, _ = find_java()
        classes = compiled(self.folder, kafka)
        before = f"{jar}:" if jar else ""
        level = "OFF" if log is None else "WARN"
        self.log = log or self.folder / f"{self.main}.log"
        with self.log.open("wb") as file:
            self._process = subprocess.Popen(
                [
                    *(str(java), f"-Xms{heap}", f"-Xmx{heap}", f"-Dlog4j2.level={level}"),
                    *(
                        "-cp",
                        f"{before}{classes}:{classpath(resolve_jars(version=kafka))}",
                        self.main,
                    ),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, case: Mapping[str, Any], timeout: float = 60) -> dict[str, Any]:
        """
        What Kafka answers; an exception of Java's is an answer with `error`.

        Args:
            case: The case.
            timeout: Seconds after which the process is ended.

        Raises:
            LocalClusterError: It did not answer; the last lines of its log are in the message.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        watch = Timer(timeout, self._process.kill)
        watch.start()
        try:
            self._process.stdin.write(json.dumps(case).encode() + b"\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        finally:
            watch.cancel()
        if not answer:
            said = "\n".join(self.log.read_text(errors="replace").splitlines()[-8:])
            raise LocalClusterError(
                f"the oracle did not answer case {case.get('id')!r} within {timeout:g} s;"
                f" the last it said:\n{said or '(nothing)'}"
            )
        return dict(json.loads(answer))


def ready() -> None:
    """
    Make sure that a `Jvm` can be had: jars fetched, harness compiled.

    Raises:
        LocalClusterError: It cannot.
    """
    resolve_jars()
    compiled(checkout_home() / "oracle")


def sources_for(kafka: str) -> list[Path]:
    """The harness as it compiles with a release, with the newest variant of what differs by release."""
    variants = {
        release_of(each.name.removeprefix("from-")): each for each in SOURCES.glob("from-*")
    }
    fitting = max(since for since in variants if since and since <= (release_of(kafka) or ()))
    return [*sorted(SOURCES.glob("*.java")), *sorted(variants[fitting].glob("*.java"))]


def compiled(folder: Path, kafka: str = KAFKA_VERSION) -> Path:
    """
    The folder of compiled classes, made if need be; an older Kafka runs those of ours.

    Raises:
        LocalClusterError: There is no compiler, or it finds an error.
    """
    java, version = find_java()
    kafka = KAFKA_VERSION if kafka < KAFKA_VERSION else kafka
    sources = [*sources_for(kafka), *SERVER_ASSIGNOR, *MEMBER_ASSIGNORS]
    key = hashlib.sha256(repr((version, wanted(kafka))).encode())
    for source in sources:
        key.update(source.read_bytes())
    classes = folder / f"classes-{key.hexdigest()[:16]}"
    if classes.exists():
        return classes
    if not has_compiler(java):
        raise LocalClusterError(NO_COMPILER)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as partial:
        made = Path(partial) / "classes"
        compile_java(java, sources, classpath(resolve_jars(version=kafka)), made)
        try:
            made.rename(classes)
        except OSError:
            if not classes.exists():  # somebody else may have been first
                raise
    return classes


def compile_java(java: Path, sources: Sequence[Path], on: str, target: Path, *options: str) -> None:
    """
    Compile source files.

    Args:
        java: Of a JDK.
        sources: The files.
        on: The class path.
        target: The folder that the classes go to.
        options: More for the compiler.

    Raises:
        LocalClusterError: It finds an error.
    """
    said = subprocess.run(
        [
            *(str(java), "--module", "jdk.compiler/com.sun.tools.javac.Main"),
            *("-encoding", "UTF-8", "-proc:none", "-d", str(target), *options),
            *("-cp", on, *map(str, sources)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if said.returncode:
        raise LocalClusterError(f"it does not compile:\n{said.stdout}{said.stderr}")
