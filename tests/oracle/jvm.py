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
from collections.abc import Mapping
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Any, Self

from tests.stage.kafka.jars import classpath, resolve_jars, wanted
from tests.stage.process import LocalClusterError, checkout_home, find_java, has_compiler

STRATEGIES = ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "range-server")
"""What Kafka has a class for."""

SOURCES = Path(__file__).with_name("java")
NO_COMPILER = (
    "the oracle is compiled from source and this Java has no compiler: install a JDK >= 17"
    " (Debian: apt install openjdk-17-jdk-headless), or point JAVA_HOME at one"
)


class Jvm:
    """
    Kafka's classes, asked one case at a time; to be used in a `with` statement.

    A case is a line of the vectors' format, with `repeat` and `warm_up` where it is to be timed.
    """

    def __init__(self, *, heap: str = "1g", home: Path | None = None) -> None:
        """
        Start it.

        Args:
            heap: What it may use for objects, as Java writes it.
            home: Instead of `.evenkeel` of this checkout.

        Raises:
            LocalClusterError: There is no Java, or it has no compiler, or no jars.
        """
        self.folder = (home or checkout_home()) / "oracle"
        java, _ = find_java()
        classes = compiled(self.folder)
        self.log = self.folder / "jvm.log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    *(str(java), f"-Xms{heap}", f"-Xmx{heap}", "-Dlog4j2.level=OFF"),
                    *("-cp", f"{classes}:{classpath(resolve_jars())}", "Oracle"),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _value: object, _trace: TracebackType | None
    ) -> None:
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


def compiled(folder: Path) -> Path:
    """
    The folder of compiled classes, made if need be.

    Raises:
        LocalClusterError: There is no compiler, or it finds an error.
    """
    java, version = find_java()
    sources = sorted(SOURCES.glob("*.java"))
    key = hashlib.sha256(repr((version, wanted())).encode())
    for source in sources:
        key.update(source.read_bytes())
    classes = folder / f"classes-{key.hexdigest()[:16]}"
    if classes.exists():
        return classes
    if not has_compiler(java):
        raise LocalClusterError(NO_COMPILER)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as partial:
        said = subprocess.run(
            [
                *(str(java), "--module", "jdk.compiler/com.sun.tools.javac.Main"),
                *("-encoding", "UTF-8", "-proc:none", "-d", f"{partial}/classes"),
                *("-cp", classpath(resolve_jars()), *map(str, sources)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if said.returncode:
            raise LocalClusterError(f"the oracle does not compile:\n{said.stderr}")
        try:
            (Path(partial) / "classes").rename(classes)
        except OSError:
            if not classes.exists():  # somebody else may have been first
                raise
    return classes
