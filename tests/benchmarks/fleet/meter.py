"""
Run a command and say what it took, all its processes together: `python meter.py RESULT LIMIT COMMAND...`

Processor seconds are those the kernel counts, of every process that came out of the command: whoever outlives its
parent becomes a child of this program, which waits for all of them. What the kernel forgets, the times of processes
whose parent ignores their end (Spark's Python workers), is looked at a few times a second, and the last look counts.
Memory is the sum of their proportional set sizes, so pages that forked workers share count once, looked at as often.

What the command prints goes to this program's own output; the last line of it is part of the result. Needs nothing but
Python and Linux.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EVERY_SECONDS = 0.25
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
CUT_OFF = 124


@dataclass(frozen=True)
class Seen:
    """
    A process at one moment.

    Attributes:
        number: Its id.
        parent: Its parent's.
        seconds: Of its own and of the children it waited for.
    """

    number: int
    parent: int
    seconds: float


def descendants(root: int) -> list[Seen]:
    """The processes below one, itself left out."""
    children: dict[int, list[Seen]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError, ValueError, IndexError):
                # after the name, which may hold anything, comes the state as field 3 of proc(5)
                fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
                seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
                seen = Seen(int(entry), int(fields[1]), seconds)
                children.setdefault(seen.parent, []).append(seen)
    found, waiting = list[Seen](), [root]
    while waiting:
        own = children.get(waiting.pop(), [])
        found += own
        waiting += [seen.number for seen in own]
    return found


def ignores_ends(process: int) -> bool:
    """Whether a process ignores that its children end; then nobody is told what they took."""
    with suppress(OSError, ValueError):
        for line in Path("/proc", str(process), "status").read_text().splitlines():
            if line.startswith("SigIgn:"):
                return bool(int(line.split()[1], 16) >> (signal.SIGCHLD - 1) & 1)
    return False


def proportional_mb(process: int) -> float:
    """Megabytes of a process, shared pages shared out among those who have them; 0 once it is gone."""
    with suppress(OSError, ValueError):
        for line in Path("/proc", str(process), "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0.0


class Watch(threading.Thread):
    """Looks at all processes below this one until it is told to end."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak_mb = 0.0
        self.reaped: dict[int, float] = {}
        """Process -> its seconds, of those this program has waited for."""
        self._unwaited: dict[int, float] = {}
        """The same when last seen, of those whose parent ignores their end."""
        self._ended = threading.Event()

    def run(self) -> None:
        """Look, and look again."""
        while not self._ended.wait(EVERY_SECONDS):
            found = descendants(os.getpid())
            deaf = {parent for parent in {seen.parent for seen in found} if ignores_ends(parent)}
            self._unwaited |= {seen.number: seen.seconds for seen in found if seen.parent in deaf}
            memory = sum(proportional_mb(seen.number) for seen in found)
            self.peak_mb = max(self.peak_mb, memory)

    def seconds(self) -> float:
        """Processor seconds of those that are gone."""
        return sum({**self._unwaited, **self.reaped}.values())

    def end(self) -> None:
        """Stop looking."""
        self._ended.set()
        self.join()


def measure(command: list[str], limit: float) -> dict[str, Any]:
    """What a command took; after *limit* seconds it is killed with all that came out of it."""
    for option, value in ((_PR_SET_PDEATHSIG, signal.SIGTERM), (_PR_SET_CHILD_SUBREAPER, 1)):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    signal.signal(signal.SIGTERM, _end)
    watch, last, began = Watch(), deque[str](maxlen=1), time.monotonic()
    started = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    timer = threading.Timer(limit, _cut_off)
    timer.daemon = True
    watch.start()
    timer.start()
    assert started.stdout is not None
    for line in started.stdout:
        text = line.decode(errors="replace")
        print(text, end="", flush=True)
        last.extend([text.strip()] if text.strip() else [])
    code = _wait_for_all(started.pid, watch.reaped)
    ended = time.monotonic()
    timer.cancel()
    watch.end()
    cut_off = ended - began >= limit
    return {
        "exit_code": CUT_OFF if cut_off else code,
        "last_line": f"cut off after {limit:g} s" if cut_off else "".join(last),
        "wall_seconds": ended - began,
        "processor_seconds": watch.seconds(),
        "peak_mb": watch.peak_mb,
    }


def _wait_for_all(first: int, reaped: dict[int, float]) -> int:
    """Wait until nobody is left; processor seconds go into *reaped*, the exit code of the first is returned."""
    code = 0
    while True:
        try:
            process, status, used = os.wait4(-1, 0)
        except ChildProcessError:
            return code
        reaped[process] = reaped.get(process, 0) + used.ru_utime + used.ru_stime
        if process == first:
            code = os.waitstatus_to_exitcode(status)


def _end(*_: object) -> None:
    """Whoever asked for it is gone, or wants no more of it."""
    _kill_all()
    os._exit(128 + signal.SIGTERM)


def _cut_off() -> None:
    """Kill, and kill again what was just being started."""
    for _ in range(20):
        _kill_all()
        time.sleep(EVERY_SECONDS)


def _kill_all() -> None:
    for seen in descendants(os.getpid()):
        with suppress(ProcessLookupError):
            os.kill(seen.number, signal.SIGKILL)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(measure(sys.argv[3:], float(sys.argv[2]))))
