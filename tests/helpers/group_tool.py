"""Kafka's own `kafka-consumer-groups --describe` and `kafka-share-groups --describe`, as rows."""

from __future__ import annotations

import subprocess

from tests.stage.kafka.jars import classpath, resolve_jars
from tests.stage.process import find_java

COMMAND = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
SHARE_COMMAND = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"


def described(
    bootstrap: str, *groups: str, timeout: float = 240, command: str = COMMAND
) -> list[dict[str, str]]:
    """
    What the tool prints of these groups (all without any): one dictionary per line, by its own headings.

    Lines without a partition are left out; `-` stands as printed.
    """
    java, _ = find_java()
    argv = [str(java), "-cp", classpath(resolve_jars()), command]
    # the tool's own limit of five seconds is too short for a JVM that starts on a busy machine
    argv += ["--bootstrap-server", bootstrap, "--describe", "--timeout", "60000"]
    argv += [word for group in groups for word in ("--group", group)] or ["--all-groups"]
    out = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, check=True).stdout
    table: list[dict[str, str]] = []
    header: list[str] = []
    for line in out.splitlines():
        words = line.split()
        if words[:1] == ["GROUP"]:
            header = words
        elif header and len(words) >= len(header):
            table.append(dict(zip(header, words, strict=False)))
    return [row for row in table if row["PARTITION"] != "-"]
