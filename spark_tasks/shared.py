"""
One Spark application for both steps of a run: a process that works on the first, then waits a while for the second.

    python -m evenkeel.spark_tasks.shared --socket PATH [--wait SECONDS] STEP ARGUMENT ...

STEP is a module of this package with a `main`, its arguments are those of the module itself. What is printed while a
step runs, by Spark's Java as well, goes to whoever asked for it: for the first step that is standard output, for a
later one its connection to the socket. The last line is `exit CODE`.

A request is one line of JSON, `{"step": ..., "arguments": [...], "last": bool}`. The process ends after a step that
failed, after the last, and when nobody asks for `--wait` seconds; so nothing is left behind by a run that ends between
its steps, and a step that is repeated never meets the session of one that failed.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from pyspark.sql import SparkSession

from evenkeel.spark_tasks import job, preflight
from evenkeel.spark_tasks.session import on_cluster

END = "exit"
"""How the last line begins that a step prints."""

STEPS = ("compute_metrics", "propose_candidates")
"""What can be asked for."""


class Output:
    """
    What this process and its children print, handed on to whoever waits for it.

    File descriptors 1 and 2 become a pipe of our own, so that a reader who goes away breaks nothing.
    """

    def __init__(self) -> None:
        self._sink: IO[bytes] | None = os.fdopen(os.dup(1), "wb", buffering=0)
        self._turn = threading.Lock()
        reading, writing = os.pipe()
        for number in (1, 2):
            os.dup2(writing, number)
        os.close(writing)
        self._lines = os.fdopen(reading, "rb")
        self._handed_on = threading.Event()
        threading.Thread(target=self._hand_on, daemon=True).start()

    def _hand_on(self) -> None:
        for line in self._lines:
            if line == _MARK:
                self._handed_on.set()
                continue
            self._write(line)

    def _write(self, line: bytes) -> None:
        with self._turn:
            try:
                if self._sink is not None:
                    self._sink.write(line)
            except OSError:
                self._sink = None

    def to(self, sink: IO[bytes]) -> None:
        """Hand on to this from now on."""
        with self._turn:
            self._sink = sink

    def finish(self, code: int) -> None:
        """Hand on what was printed so far, then how the step ended; nobody listens then."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._handed_on.clear()
        os.write(1, _MARK)
        self._handed_on.wait(10)
        self._write(f"{END} {code}\n".encode())
        with self._turn:
            if self._sink is not None:
                self._sink.close()
            self._sink = None


_MARK = b"\x00evenkeel: all of a step is printed\n"


class Kept:
    """A session that is opened when first asked for and serves every step after it."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._spark: SparkSession | None = None

    @contextmanager
    def __call__(self, *of: Any) -> Iterator[SparkSession]:
        """The session; the arguments are those of `session.session`, for the first step that asks."""
        if self._spark is None:
            self._spark = self._open.enter_context(job.session(*of))
        elif on_cluster():
            print(preflight.identity(self._spark), flush=True)
        yield self._spark

    def close(self) -> None:
        """Stop it."""
        self._spark = None
        self._open.close()


def serve(place: Path, wait: float, first: Mapping[str, Any]) -> int:
    """
    Work on a first step, then on those that are asked for.

    Args:
        place: Where the socket is made; the folder is ours alone. Beside it, `.pid` says who we are.
        wait: Seconds until it ends when nobody asks.
        first: The first request.

    Returns:
        0, or the exit code of the step that failed.
    """
    kept, output = Kept(), Output()
    pid = place.with_suffix(".pid")
    with socket.socket(socket.AF_UNIX) as listening:
        place.unlink(missing_ok=True)
        pid.write_text(str(os.getpid()))
        try:
            listening.bind(str(place))
            listening.listen()
            code = _work(kept, output, first)
            listening.settimeout(wait)
            while not code and not first["last"]:
                try:
                    asking, _ = listening.accept()
                except TimeoutError:
                    break
                with asking:
                    first = _request(asking)
                    output.to(asking.makefile("wb", buffering=0))
                    code = _work(kept, output, first)
        finally:
            kept.close()
            place.unlink(missing_ok=True)
            pid.unlink(missing_ok=True)
    return code


def _request(asking: socket.socket) -> dict[str, Any]:
    with asking.makefile("rb") as lines:
        request: dict[str, Any] = json.loads(lines.readline())
    return request


def _work(kept: Kept, output: Output, request: Mapping[str, Any]) -> int:
    """Run a step; of the last, and of one that failed, the end of the session belongs to what is printed."""
    code = 1
    try:
        step = import_module(f"evenkeel.spark_tasks.{_known(request['step'])}")
        code = step.main(list(request["arguments"]), sessions=kept)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
        raise
    except Exception:  # noqa: BLE001 the process has to say how it ended
        traceback.print_exc()
    finally:
        if code or request["last"]:
            kept.close()
        output.finish(code)
    return code


def _known(step: str) -> str:
    if step not in STEPS:
        raise ValueError(f"there is no step {step!r}")
    return step


def main(words: list[str] | None = None) -> int:
    """Run until nobody asks."""
    parser = argparse.ArgumentParser(prog="python -m evenkeel.spark_tasks.shared")
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--wait", type=float, default=0.0)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args(words)
    first = {"step": asked.step, "arguments": asked.arguments, "last": asked.wait <= 0}
    return serve(asked.socket, asked.wait, first)


if __name__ == "__main__":
    sys.exit(main())
