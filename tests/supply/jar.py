"""The jar of a release: evenkeel's assignors for consumers (Java 11 or newer) and for brokers (Java 17 or newer)."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.oracle.compare import compare
from tests.oracle.follower import FollowerJvm, follower_jar, server_assignor_jar
from tests.oracle.follower.cases import answered, random_case
from tests.oracle.jvm import Jvm
from tests.supply.pins import ROOT

OURS = ("fair", "lag-aware", "racks-server")
"""Strategies with a class in the jar, beside the one that follows a plan."""
CASES = 20


def build(folder: Path, version: str, at: datetime) -> Path:
    """
    Compile the Java sources and pack them; the same sources and compiler make the same bytes.

    Raises:
        LocalClusterError: There is no JDK, no Kafka to compile with, or the sources have an error.
    """
    jar = folder / f"evenkeel-assignors-{version}.jar"
    entries = {
        "META-INF/MANIFEST.MF": (
            "Manifest-Version: 1.0\r\nImplementation-Title: evenkeel\r\n"
            f"Implementation-Version: {version}\r\nAutomatic-Module-Name: io.evenkeel\r\n\r\n"
        ).encode(),
        "META-INF/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    with TemporaryDirectory(prefix="evenkeel-jar-") as home:
        for part in (follower_jar(Path(home)), server_assignor_jar(Path(home))):
            with zipfile.ZipFile(part) as packed:
                entries |= {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in entries.items():
            packed.writestr(
                zipfile.ZipInfo(name, at.timetuple()[:6]), content, zipfile.ZIP_DEFLATED
            )
    return jar


def wrong(jar: Path, log: Path) -> Iterator[str]:
    """
    What its classes answer otherwise than evenkeel does, in a JVM beside Kafka's.

    Raises:
        LocalClusterError: A class cannot be loaded, or does not answer.
    """
    with FollowerJvm(log, jar=jar) as jvm:
        for case in map(random_case, range(CASES)):
            if (answer := jvm.follow(json.dumps(case["plan"]), case)) != answered(case):
                yield f"evenkeel-plan: {answer}"
    with Jvm(jar=jar, log=log) as jvm:
        for strategy in OURS:
            yield from compare(jvm, strategy, CASES, seed=1).shown
