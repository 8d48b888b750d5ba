"""
Memory of Spark's Java process on this machine, and errors for lack of memory.

Python processes the rows, so Java gets a quarter of the memory of the machine, within bounds. `spark.driver.memory` in
`spark-defaults.conf` overrides it.
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
"""Spark setting for the memory of the driver's Java process."""

USUAL = "1g"
"""Default of Spark."""

EXECUTOR, OVERHEAD = "spark.executor.memory", "spark.executor.memoryOverhead"
"""Spark settings for the memory of executors on a cluster: Java, and everything else (mostly Python)."""

SHARE, LEAST, MOST = 1 / 4, 640 << 20, 4 << 30
"""Bounds of the default, in bytes."""

STARTS = 480 << 20
"""Minimum memory of Spark, in bytes."""

OUT_OF_MEMORY = 52
"""Exit code of Spark's Java process without memory (`SparkExitCode.OOM`)."""

JAVA = 17
"""Oldest Java version of Spark."""

_UNITS = {"": 20, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
"""Units of Spark's sizes, as powers of two; the default is MiB."""

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Files with the memory limit of a container."""

_IN_JAVA = re.compile(r"OutOfMemoryError|Java heap space|GC overhead limit")
_IN_PYTHON = re.compile(r"MemoryError|(malloc|realloc) of size \d+ failed")
_KILLED = re.compile(
    r"Python worker exited unexpectedly|Answer from Java side is empty|ExecutorLostFailure"
)
_FIX = "Increase {} in spark-defaults.conf."
_FIX_OF_WORKERS = (
    f"Set EVENKEEL_SPARK_MASTER=local[1] for fewer parallel workers, decrease {DRIVER}, "
    "or increase the memory of the machine or its container."
)


_FIX_OF_SERVER = (
    f"Start it with larger {DRIVER}, spark.executor.memory and spark.executor.memoryOverhead."
)


def machine_bytes(limits: Iterable[str] = LIMITS) -> int:
    """The memory of this machine or container, in bytes."""
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
    The memory setting for a machine with so many bytes; empty if the user configured one.

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
    Parse a size in the form of Spark; None if it is invalid.

    >>> bytes_of("300m") == bytes_of("300") == bytes_of("307200kb") == 300 << 20, bytes_of("much")
    (True, None)
    """
    match = re.fullmatch(r"(\d+)(?:(b)|([kmgtp]?)b?)", size.strip().lower())
    return None if match is None else int(match[1]) << _UNITS[match[2] or match[3]]


def check(given: str) -> None:
    """
    Check that Spark can start with this memory.

    Raises:
        ConfigError: It cannot.
    """
    size = bytes_of(given)
    if size is not None and size < STARTS:
        raise ConfigError(
            f"{DRIVER} is {given}, and Spark does not start below {STARTS >> 20}m.",
            fix=f"Set it in spark-defaults.conf to {LEAST >> 20}m or more.",
        )


def not_started(given: str) -> ConfigError | None:
    """
    The reason that Spark's Java process ended early with this memory; None without Java, or with one that is too old.

    Runs the same Java with the same memory to print its version.
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
        f"Spark's Java ended {said}, probably because less memory is available than its {given} ({DRIVER}).",
        fix=f"Decrease {DRIVER} in spark-defaults.conf, or raise the memory limit (ulimit -v, container).",
    )


def too_little(
    problem: BaseException, given: str | None, java_ended: int | None = None, *, local: bool = True
) -> ConfigError | None:
    """
    The error for lack of memory in one line; None for other errors.

    Args:
        problem: The error of Spark or of the connection to its Java process.
        given: Memory of its Java process on this machine; None for a server.
        java_ended: Exit code of that process, if it ended.
        local: Whether the workers run on this machine.
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
        what = f"{who} was killed, probably for lack of memory"
        fix = _FIX_OF_WORKERS if local else _FIX.format(OVERHEAD)
    else:
        return None
    if given is None:
        return ConfigError(f"{what} (on the Spark Connect server).", fix=_FIX_OF_SERVER)
    had = f"(Spark's Java has {given} here, the machine {_gib(machine_bytes())})"
    return ConfigError(f"{what} {had}.", fix=fix)


def _texts(problem: BaseException | None) -> Iterator[str]:
    """The text of an error and of its causes; errors of a dead Java process are ignored."""
    while problem is not None:
        with suppress(Exception):
            yield str(problem)
        problem = problem.__cause__ or problem.__context__


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"
