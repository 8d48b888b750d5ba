"""
How a task reaches the Spark process that an earlier task of its run has left waiting on this machine.

The process is `evenkeel.spark_tasks.shared`; this side knows its socket and its lines, and imports nothing of Spark. A
run whose second task lands on another machine finds no socket there and starts a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ENDED = "exit "
"""How the line begins by which the process says that a step has ended, and with which code."""


def place_of(dag_id: str, run_id: str) -> Path | None:
    """
    Where the process of a run listens on this machine; None where there is no folder that is ours alone.

    The address of a socket holds some hundred characters, so the run's id is not in it as it is.
    """
    folder = Path(tempfile.gettempdir()) / f"evenkeel-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not ours or found.st_mode & 0o077:
        return None
    name = hashlib.sha256(f"{dag_id}/{run_id}".encode()).hexdigest()[:20]
    return folder / f"{name}.sock"


@dataclass(frozen=True)
class Waiting:
    """The process of this run, waiting for a step: the leader of its process group, and the way to it."""

    pid: int
    connection: socket.socket

    def ask(self, step: str, arguments: Sequence[str], *, last: bool) -> Iterator[str]:
        """What it prints while it runs a step; it ends after the last."""
        request = {"step": step, "arguments": list(arguments), "last": last}
        with self.connection, self.connection.makefile("rw", errors="replace") as lines:
            lines.write(json.dumps(request) + "\n")
            lines.flush()
            yield from lines


def waiting_at(place: Path | None) -> Waiting | None:
    """The process that listens there; None when there is none."""
    if place is None:
        return None
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(place))
        return Waiting(int(place.with_suffix(".pid").read_text()), connection)
    except (OSError, ValueError):
        connection.close()
        return None


def until_end(lines: Iterable[str]) -> Iterator[tuple[str, int | None]]:
    """Each line; the last with the code by which the step has ended, if the process came to say it."""
    for line in lines:
        text = line.rstrip()
        code = text.removeprefix(ENDED)
        if text.startswith(ENDED) and code.isdigit():
            yield "", int(code)
            return
        yield text, None
