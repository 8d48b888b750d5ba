"""Time and memory of one call, and how what was measured is shown."""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from rich.console import Console
from rich.table import Table

_MIB = 1 << 20
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The median processor time of some calls, and the memory one more took at its peak, beside what was there."""

    milliseconds: float
    peak_mib: float


def measure(
    call: Callable[[Any], object], argument: Callable[[], Any], repeat: int, warm_up: int = 1
) -> Measured:
    """
    Measure a call.

    Args:
        call: What is measured.
        argument: Makes a fresh argument for each call; not measured.
        repeat: Number of timed calls.
        warm_up: Calls before them, in which kernels are compiled.
    """
    for _ in range(warm_up):
        call(argument())
    times = [_timed(call, argument()) for _ in range(repeat)]
    return Measured(milliseconds=median(times), peak_mib=_peak(call, argument()))


def _timed(call: Callable[[Any], object], argument: Any) -> float:
    began = process_time()
    call(argument)
    return (process_time() - began) * 1000


def _peak(call: Callable[[Any], object], argument: Any) -> float:
    """What the system counts where it does, with whatever compiled code takes; else what Python knows of."""
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # what earlier calls left would hide what this one takes
    try:
        _RESET.write_text("5")
    except OSError:
        return _traced(call, argument)
    already = resident("VmRSS")
    call(argument)
    return max(resident("VmHWM") - already, 0.0)


def resident(what: str) -> float:
    """MiB of this process: `VmRSS` now, `VmHWM` the most there was."""
    (line,) = (s for s in _STATUS.read_text().splitlines() if s.startswith(f"{what}:"))
    return int(line.split()[1]) / 1024


def in_own_process(function: str, *arguments: str, timeout: float = 900) -> Any:
    """
    What a function returns, by way of JSON, in a process in which nothing was loaded or learned before.

    Args:
        function: `module:name`.
        arguments: Of the function.
        timeout: Seconds that it may take.
    """
    module, name = function.split(":")
    code = (
        f"import json, sys; from {module} import {name}; print(json.dumps({name}(*sys.argv[1:])))"
    )
    argv = [sys.executable, "-c", code, *arguments]
    told = subprocess.run(argv, stdout=subprocess.PIPE, text=True, timeout=timeout, check=True)
    return json.loads(told.stdout.splitlines()[-1])


def _traced(call: Callable[[Any], object], argument: Any) -> float:
    tracemalloc.start()
    try:
        call(argument)
        return tracemalloc.get_traced_memory()[1] / _MIB
    finally:
        tracemalloc.stop()


def show(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: Sequence[str] = (),
    as_markdown: bool = False,
) -> None:
    """
    Print a table.

    Args:
        title: For a terminal only.
        headings: Of its columns.
        rows: Its cells.
        words: The headings of columns that are words, not numbers.
        as_markdown: As Markdown.
    """
    if as_markdown:
        rule = ["---" if heading in words else "---:" for heading in headings]
        print("\n".join(f"| {' | '.join(cells)} |" for cells in [headings, rule, *rows]))
        return
    table = Table(title=title)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in words else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 160).print(table)
