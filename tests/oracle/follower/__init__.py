"""
Java's follower of a plan in a JVM, asked one question at a time (`FollowerOracle.java`).

The follower is compiled as a user would do it: for Java 11, and with nothing but Kafka's client beside it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.oracle.jvm import MEMBER_ASSIGNORS, NO_COMPILER, SERVER_ASSIGNOR, Jvm, compile_java
from tests.stage.kafka.jars import classpath, resolve_jars, wanted
from tests.stage.process import LocalClusterError, checkout_home, find_java, has_compiler

SOURCE = Path(__file__).parents[3] / "engine/followers/java/EvenkeelPlanAssignor.java"
HARNESS = [
    Path(__file__).with_name(f"{name}.java")
    for name in ("FollowerGroup", "FollowerOracle", "TellingAssignor")
]
CLIENT = ("kafka-clients-*.jar", "slf4j-api-*.jar")
"""What an application has that consumes: Kafka's client, and what that logs by."""


def follower_jar(home: Path | None = None) -> Path:
    """
    The follower and our other classes for members as a jar, made if need be.

    Args:
        home: Instead of `.evenkeel` of this checkout.

    Raises:
        LocalClusterError: There is no compiler, or it finds an error or a warning.
    """
    jars = resolve_jars()
    client = ":".join(str(next(jars.glob(name))) for name in CLIENT)
    options = ("--release", "11", "-Xlint:all", "-Werror")
    return _jar("follower", [SOURCE, *MEMBER_ASSIGNORS], client, home or checkout_home(), *options)


def server_assignor_jar(home: Path | None = None) -> Path:
    """
    The assignor for brokers as a jar, made if need be.

    Args:
        home: Instead of `.evenkeel` of this checkout.

    Raises:
        LocalClusterError: There is no compiler, or it finds an error or a warning.
    """
    options = ("--release", "17", "-Xlint:all", "-Werror")
    on = classpath(resolve_jars())
    return _jar("server-assignor", SERVER_ASSIGNOR, on, home or checkout_home(), *options)


def _jar(name: str, sources: list[Path], on: str, home: Path, *options: str) -> Path:
    java, version = find_java()
    key = hashlib.sha256(repr((version, wanted(), on, options)).encode())
    for source in sources:
        key.update(source.read_bytes())
    jar = home / "oracle" / f"{name}-{key.hexdigest()[:16]}.jar"
    if jar.exists():
        return jar
    if not has_compiler(java):
        raise LocalClusterError(NO_COMPILER)
    jar.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jar.parent) as partial:
        classes = Path(partial) / "classes"
        compile_java(java, sources, on, classes, *options)
        made = Path(partial) / jar.name
        with zipfile.ZipFile(made, "w") as archive:
            for one in sorted(classes.rglob("*.class")):
                archive.write(one, one.relative_to(classes))
        made.rename(jar)
    return jar


class _Asked(Jvm):
    """A Java class beside the follower; to be used in a `with` statement."""

    def __init__(
        self, log: Path, *options: str, home: Path | None = None, jar: Path | None = None
    ) -> None:
        """
        Start it.

        Args:
            log: The file that what it logs goes to.
            options: More for Java.
            home: Instead of `.evenkeel` of this checkout.
            jar: Our classes, instead of those compiled here.

        Raises:
            LocalClusterError: There is no Java, or it has no compiler, or no jars.
        """
        java, _ = find_java()
        own = follower_jar(home)
        jars = classpath(resolve_jars())
        harness = _jar("follower-harness", HARNESS, f"{own}:{jars}", home or checkout_home())
        self.log = log
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                [
                    *(str(java), "-Xmx256m", "-XX:+UseSerialGC", "-Dlog4j2.level=WARN"),
                    *("-XX:TieredStopAtLevel=1", *options, "-cp", f"{harness}:{jar or own}:{jars}"),
                    f"io.evenkeel.{self.main}",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
            )

    def warned(self) -> list[str]:
        """What the follower has warned of so far, without time and thread."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line.split(" WARN ", 1)[1] for line in lines if " WARN Group " in line]


class FollowerJvm(_Asked):
    """Java's follower; to be used in a `with` statement."""

    main = "FollowerOracle"

    def follow(self, plan: str | bytes, case: Mapping[str, Any]) -> dict[str, Any]:
        """
        What the rule gives.

        Args:
            plan: As it is stored.
            case: `group`, `now`, `present` and `fallback`, as in `plan-cases.jsonl`.

        Returns:
            `assignment`, `withheld` and `reasons`, or `refused` with the reason.
        """
        stored = plan.encode() if isinstance(plan, str) else plan
        asked = {name: case[name] for name in ("group", "now", "present", "fallback")}
        encoded = base64.b64encode(stored).decode()
        return self.ask({"id": case.get("name"), "ask": "follow", "plan": encoded} | asked)

    def settle(
        self,
        settings: Mapping[str, str],
        topics: Mapping[str, int],
        members: list[dict[str, Any]],
        keep: str | None = None,
    ) -> dict[str, Any]:
        """
        What a cooperative group comes to that the assignor leads.

        Args:
            settings: Of the client.
            topics: Topic -> number of partitions.
            members: Each `id`, `topics`, `owned`; where it has one `instance_id`, `user_data`, `generation`, `rack`.
            keep: Calls of the same word ask the same assignor.

        Returns:
            `rounds`, the `first` and the last `assignment`, and `told`, the user data that each member got with the
            last; `refused` where it does not take the settings.
        """
        asked = {"ask": "settle", "configs": settings, "topics": topics, "members": members}
        return self.ask(asked | ({"keep": keep} if keep else {}))

    def joins(self, settings: Mapping[str, str], given: list[list[Any]]) -> dict[str, Any]:
        """
        What a member sends along when it joins again.

        Args:
            settings: Of the client.
            given: The partitions that it got before.
        """
        sent = self.ask({"ask": "join", "configs": settings, "given": given})["sent"]
        return dict(json.loads(sent))


class FollowerGroupJvm(_Asked):
    """Members of groups on real brokers, in one JVM; to be used in a `with` statement, whose end kills them."""

    main = "FollowerGroup"

    def start(self, name: str, settings: Mapping[str, str], topics: list[str]) -> None:
        """A member with these settings of the client joins; it is known here by *name*."""
        self.ask({"ask": "start", "name": name, "configs": settings, "topics": topics})

    def stop(self, *names: str) -> None:
        """Members are closed, all at once, as when their application ends."""
        self.ask({"ask": "stop", "names": names})

    def rebalance(self, name: str) -> None:
        """The group of a member has a rebalance."""
        self.ask({"ask": "rebalance", "name": name})

    def owned(self) -> dict[str, list[tuple[str, int]]]:
        """
        Name of each member -> what it has now, sorted.

        Raises:
            AssertionError: Since it was last asked a member has failed, or got what another had at that moment.
        """
        told = self.ask({"ask": "owned"})
        if told["troubles"]:
            raise AssertionError("; ".join(told["troubles"]))
        return {m: sorted((t, n) for t, n in own) for m, own in told["owned"].items()}
