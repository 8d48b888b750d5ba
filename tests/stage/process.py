"""Starting, awaiting and ending the processes of the local cluster.

Every child is the leader of its own session, logs to a file, carries the marker ``EVENKEEL_HOME``
in its environment and (on Linux) dies with its parent. So nothing is left behind in three ways:
``stop`` ends a process group, a killed parent takes its children with it, and ``sweep`` finds by the
marker whatever escaped both.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil

HOME_MARKER = "EVENKEEL_HOME"
MINIMUM_JAVA = 17
KILLED_SECONDS = 30
"""So long the kernel has at most to end what was killed: a busy machine needs more than a moment."""
# Below the ephemeral range of Linux: no outgoing connection can take a port between choice and use.
PORT_RANGE = range(20_000, 32_000)

_PR_SET_PDEATHSIG = 1
# Loaded before any fork: a forked child must not take the loader's lock.
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

T = TypeVar("T")


class LocalClusterError(RuntimeError):
    """Something the local cluster needs is missing, or did not happen in time."""


@dataclass(frozen=True)
class Process:
    """A started child: its handle, the name used in messages and the file it logs to."""

    popen: subprocess.Popen[bytes]
    name: str
    log_path: Path

    @property
    def pid(self) -> int:
        """Process id; also the id of the child's process group."""
        return self.popen.pid

    @property
    def running(self) -> bool:
        """Whether the child itself has not ended."""
        return self.popen.poll() is None


def checkout_home() -> Path:
    """``.evenkeel`` of this checkout."""
    return Path(__file__).resolve().parents[2] / ".evenkeel"


def default_home() -> Path:
    """``.evenkeel`` of this checkout, unless the environment variable EVENKEEL_HOME names another."""
    named = os.environ.get(HOME_MARKER)
    return Path(named).resolve() if named else checkout_home()


def port_is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        # As servers do: connections of an earlier server in TIME_WAIT do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


_given: set[int] = set()


def free_ports(count: int) -> list[int]:
    """``count`` different free loopback ports, none of which this process was given before."""
    found: list[int] = []
    for port in random.SystemRandom().sample(PORT_RANGE, len(PORT_RANGE)):
        if len(found) == count:
            break
        if port not in _given and port_is_free(port):
            found.append(port)
    if len(found) < count:
        raise LocalClusterError(f"no {count} free loopback ports in {PORT_RANGE}")
    # whoever was given one may not listen on it yet
    _given.update(found)
    return found


def kept_ports(place: Path, count: int) -> list[int]:
    """So many free ports, those of last time where nobody took one of them; a file keeps them for the next time."""
    ports: list[int] = json.loads(place.read_text()) if place.exists() else []
    if len(ports) != count or not all(map(port_is_free, ports)):
        ports = free_ports(count)
        # a process that is killed here leaves the file of last time, not half of one
        begun = place.with_name(f"{place.name}.{os.getpid()}.tmp")
        begun.write_text(json.dumps(ports))
        begun.replace(place)
    return ports


def asked_to_end() -> threading.Event:
    """Set once somebody asks this process to end, by SIGTERM or Ctrl-C; it is no longer ended by them."""
    event = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: event.set())
    return event


def spawn(
    argv: Sequence[str],
    env: Mapping[str, str] | None,
    log_path: Path,
    name: str,
    *,
    home: Path | None = None,
    death_signal: signal.Signals = signal.SIGKILL,
) -> Process:
    """Start a child in a session of its own, with standard output and error added to ``log_path``.

    ``env`` is laid over this process's environment; ``home`` is the marker's value. On Linux the
    child gets ``death_signal`` when the *thread* that called ``spawn`` ends, so call it from one
    that lives as long as the child may.
    """
    environment = {
        **os.environ,
        **(env or {}),
        HOME_MARKER: str((home or default_home()).resolve()),
    }
    log_path.parent.mkdir(parents=True, exist_ok=True)
    with log_path.open("ab") as log:
        popen = subprocess.Popen(
            list(argv),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_die_with_parent(death_signal) if _LIBC else None,
        )
    return Process(popen, name, log_path)


def _die_with_parent(death_signal: signal.Signals) -> Callable[[], None]:
    parent = os.getpid()

    def in_child() -> None:
        assert _LIBC is not None
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # it died before the call above
            os._exit(1)

    return in_child


def stop(process: Process, grace: float = 5.0) -> None:
    """SIGTERM the child's process group, wait up to ``grace`` seconds, SIGKILL what is left of it."""
    _signal_group(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.popen.wait(grace)
    _signal_group(process.pid, signal.SIGKILL)
    process.popen.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS says "not permitted" of a zombie
        os.killpg(group, number)


def marked_processes(home: Path) -> list[psutil.Process]:
    """This user's processes whose environment carries the marker of ``home``, without the caller
    and its ancestors."""
    own = psutil.Process()
    spared = {own.pid, *(ancestor.pid for ancestor in own.parents())}
    value = str(home.resolve())
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid in spared or process.uids().real != os.getuid():
                continue
            if process.environ().get(HOME_MARKER) == value and _alive(process):
                found.append(process)
        except (psutil.Error, OSError):  # ended meanwhile, or not ours to read
            continue
    return found


def _alive(process: psutil.Process) -> bool:
    return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)


def sweep(home: Path, grace: float = 5.0) -> int:
    """End every process marked with ``home`` (SIGTERM, wait, SIGKILL); returns how many there were."""
    found = marked_processes(home)
    for process in found:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, left = psutil.wait_procs(found, timeout=grace)
    # What was found may have started more in the meantime: look again.
    stubborn = {*left, *marked_processes(home)}
    for process in stubborn:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(list(stubborn), timeout=KILLED_SECONDS)
    return len(found)


def wait_until(
    condition: Callable[[], T],
    timeout: float,
    what: str,
    *,
    process: Process | None = None,
    interval: float = 0.05,
) -> T:
    """Poll ``condition`` until it is true and return what it returned.

    Raises LocalClusterError that names ``what`` was waited for, with the last lines of the log of
    ``process``, after ``timeout`` seconds or as soon as that process has ended.
    """
    deadline = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if process is not None and not process.running:
            code = process.popen.returncode
            raise LocalClusterError(
                f"{process.name} ended (code {code}) while waiting for {what}{_tail_of(process)}"
            )
        if time.monotonic() > deadline:
            raise LocalClusterError(f"waited {timeout:g} s for {what}{_tail_of(process)}")
        time.sleep(interval)


def _tail_of(process: Process | None) -> str:
    if process is None:
        return ""
    return f"\nlast lines of {process.log_path}:\n{tail(process.log_path)}"


def tail(path: Path, lines: int = 15) -> str:
    """The last ``lines`` lines of a text file; empty if there is none."""
    if not path.exists():
        return ""
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])


def find_java() -> tuple[Path, int]:
    """The ``java`` command (of JAVA_HOME, else of PATH) and its major version.

    Raises LocalClusterError when there is none, or none that is new enough.
    """
    need = f"install a Java {MINIMUM_JAVA} runtime or newer, or point JAVA_HOME at one"
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(str(Path(home) / "bin" / "java") if home else "java")
    if not found:
        raise LocalClusterError(
            f"no java command {f'in JAVA_HOME={home}' if home else 'on PATH'}: {need}"
        )
    answer = subprocess.run([found, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    version = int(match.group(1)) if match else 0
    if version < MINIMUM_JAVA:
        raise LocalClusterError(f"{found} is Java {version or 'of unknown version'}: {need}")
    return Path(found), version


def has_compiler(java: Path) -> bool:
    """Whether this java is a JDK's, which can run a source file, and not a bare runtime's."""
    modules = subprocess.run(
        [str(java), "--list-modules"], capture_output=True, text=True, check=False
    )
    return "jdk.compiler" in modules.stdout
