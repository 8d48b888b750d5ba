"""
How much memory Spark's Java gets on this machine, and what is said when memory was too little.

Rows are worked on by Python, so Java needs little beside it: a quarter of the machine's memory, within bounds. Whoever
knows better sets `spark.driver.memory` in `spark-defaults.conf`, and that stays.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from evenkeel.engine.errors import ConfigError

DRIVER = "spark.driver.memory"
"""Spark's name for the memory of its Java on this machine."""

SHARE, LEAST, MOST = 1 / 4, 640 << 20, 4 << 30
"""Of the machine's memory, in bytes; below `LEAST` Spark does not start."""

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where a container's limit stands."""

_TOO_LITTLE = re.compile(
    r"OutOfMemoryError|Java heap space|GC overhead limit|MemoryError|malloc of size \d+ failed"
)
_KILLED = re.compile(
    r"Python worker exited unexpectedly|Answer from Java side is empty|ExecutorLostFailure"
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


def too_little(problem: BaseException, given: str | None) -> ConfigError | None:
    """
    That memory was too little, in one line; None where a problem has nothing to do with it.

    Args:
        problem: What Spark, or the way to its Java, raised.
        given: What its Java had, as Spark writes it; None where it is a server's.
    """
    text = str(problem)
    in_java = re.search(r"OutOfMemoryError|heap space|GC overhead", text)
    who = "Spark" if in_java else "Python's workers"
    if _TOO_LITTLE.search(text):
        what = f"{who} ran out of memory"
    elif _KILLED.search(text):
        what = "a process of Spark was killed from outside, as happens when memory runs out"
    else:
        return None
    if given is None:
        return ConfigError(f"{what} (on the Spark Connect server).", fix=_FIX_OF_SERVER)
    return ConfigError(
        f"{what} (its Java has {given}, this machine {_gib(machine_bytes())}).",
        fix=f"Set {DRIVER} in spark-defaults.conf, give the machine more, or name a cluster (EVENKEEL_SPARK_MASTER).",
    )


_FIX_OF_SERVER = (
    f"Start it with more: {DRIVER}, spark.executor.memory, spark.executor.memoryOverhead."
)


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"
