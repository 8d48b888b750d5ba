"""
How much memory Spark's Java gets on this machine, and what is said when memory was too little.

Rows are worked on by Python, so Java needs little beside it: a quarter of the machine's memory, within bounds. Whoever
knows better sets `spark.driver.memory` in `spark-defaults.conf`, and that stays.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from evenkeel.engine.model.errors import ConfigError

DRIVER = "spark.driver.memory"
"""Spark's name for the memory of its Java on this machine."""

USUAL = "1g"
"""What Spark gives it where nobody says how much."""

EXECUTOR, OVERHEAD = "spark.executor.memory", "spark.executor.memoryOverhead"
"""The same of an executor's Java on a cluster, and of what else runs there, Python above all."""

SHARE, LEAST, MOST = 1 / 4, 640 << 20, 4 << 30
"""Of the machine's memory, in bytes, where nobody says how much."""

STARTS = 480 << 20
"""Bytes below which Spark refuses to start."""

OUT_OF_MEMORY = 52
"""The code by which Spark's Java ends when it runs out of memory (`SparkExitCode.OOM`)."""

JAVA = 17
"""The oldest that Spark runs on."""

_UNITS = {"": 20, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
"""Of Spark's sizes, as powers of two; without one they are MiB."""

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where a container's limit stands."""

_IN_JAVA = re.compile(r"OutOfMemoryError|Java heap space|GC overhead limit")
_IN_PYTHON = re.compile(r"MemoryError|(malloc|realloc) of size \d+ failed")
_KILLED = re.compile(
    r"Python worker exited unexpectedly|Answer from Java side is empty|ExecutorLostFailure"
)
_FIX = "Set {} in spark-defaults.conf to more."
_FIX_OF_WORKERS = (
    f"Set EVENKEEL_SPARK_MASTER=local[1] for fewer workers at once, or {DRIVER} to less; "
    "else give the machine or its container more."
)


_FIX_OF_SERVER = (
    f"Start it with more: {DRIVER}, spark.executor.memory, spark.executor.memoryOverhead."
)


def machine_bytes(limits: Iterable[str] = LIMITS) -> int:
    """The memory of this machine, or of the container that this runs in."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits_in_bytes = [whole]
    for place in limits:
        try:
            text = Path(place).read_text().strip()
        except OSError:
            continue
        limits_in_bytes += [int(text)] if text.isdigit() else []
    return min(limits_in_bytes)


def driver_options(known: Mapping[str, str], machine: int) -> dict[str, str]:
    """
    What Spark's Java gets of a machine with so many bytes; nothing where the user has said it.

    >>> driver_options({}, 8 << 30), driver_options({}, 64 << 30), driver_options({}, 1 << 30)
    ({'spark.driver.memory': '2048m'}, {'spark.driver.memory': '4096m'}, {'spark.driver.memory': '640m'})
    >>> driver_options({"spark.driver.memory": "12g"}, 8 << 30)
    {}
    """
    if DRIVER in known:
        return {}
    return {DRIVER: f"{int(min(max(machine * SHARE, LEAST), MOST)) >> 20}m"}


def bytes_of(size: str) -> int | None:
    """
    A size as Spark writes it; None where it is none.

    >>> bytes_of("300m") == bytes_of("300") == bytes_of("307200kb") == 300 << 20, bytes_of("much")
    (True, None)
    """
    match = re.fullmatch(r"(\d+)(?:(b)|([kmgtp]?)b?)", size.strip().lower())
    return None if match is None else int(match[1]) << _UNITS[match[2] or match[3]]


def check(given: str) -> None:
    """
    See whether Spark would start with so much memory, before a JVM prints a wall of text about it.

    Raises:
        ConfigError: It would not.
    """
    size = bytes_of(given)
    if size is not None and size < STARTS:
        raise ConfigError(
            f"{DRIVER} is {given}, and Spark does not start below {STARTS >> 20}m.",
            fix=f"Set it in spark-defaults.conf to {LEAST >> 20}m or more.",
        )


def not_started(given: str) -> ConfigError | None:
    """
    Why Spark's Java ended before it answered, with so much memory; None where there is no Java, or one that is too old.

    The same Java is asked for its version with as much.
    """
    size = bytes_of(given)
    home = os.environ.get("JAVA_HOME")
    words = [f"{home}/bin/java" if home else "java", *([f"-Xmx{size}"] if size else []), "-version"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError:
        return None
    lines = [line.strip().rstrip(".") for line in (done.stdout + done.stderr).splitlines()]
    lines = [line for line in lines if line and not line.startswith("Error occurred during")]
    version = re.search(r'version "(\d+)', "\n".join(lines))
    if version is not None and int(version[1]) < JAVA:
        return None
    said = "before it answered" if version or not lines else f"at once: {lines[0]}"
    return ConfigError(
        f"Spark's Java ended {said}, as happens when there is less memory than its {given} ({DRIVER}).",
        fix=f"Set {DRIVER} in spark-defaults.conf to less, or let this process have more (ulimit -v, the container).",
    )


def too_little(
    problem: BaseException, given: str | None, java_ended: int | None = None, *, local: bool = True
) -> ConfigError | None:
    """
    That memory was too little, in one line; None where a problem has nothing to do with it.

    Args:
        problem: What Spark, or the way to its Java, raised.
        given: What its Java on this machine had, as Spark writes it; None where it is a server's.
        java_ended: The code by which that has ended, if it has.
        local: Whether the workers run on this machine, not on a cluster.
    """
    text = "\n".join(_texts(problem))
    if java_ended == OUT_OF_MEMORY or _IN_JAVA.search(text):
        what = "Spark's Java ran out of memory"
        fix = _FIX.format(DRIVER if local or java_ended else EXECUTOR)
    elif _IN_PYTHON.search(text):
        what = "a Python worker of Spark ran out of memory"
        fix = _FIX_OF_WORKERS if local else _FIX.format(OVERHEAD)
    elif java_ended is not None or _KILLED.search(text):
        who = "a worker of Spark" if java_ended is None else "Spark's Java"
        what = f"{who} was killed from outside, as happens when memory runs out"
        fix = _FIX_OF_WORKERS if local else _FIX.format(OVERHEAD)
    else:
        return None
    if given is None:
        return ConfigError(f"{what} (on the Spark Connect server).", fix=_FIX_OF_SERVER)
    had = f"(Spark's Java has {given} here, the machine {_gib(machine_bytes())})"
    return ConfigError(f"{what} {had}.", fix=fix)


def _texts(problem: BaseException | None) -> Iterator[str]:
    """What a problem says, and those that it came from; a dead Java leaves the words of its own problems unsaid."""
    while problem is not None:
        with suppress(Exception):
            yield str(problem)
        problem = problem.__cause__ or problem.__context__


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"
