"""Services that need one another, started side by side and ended in the opposite order.

Each service is a context manager: entering it starts the thing, leaving it ends it, and what it
yields are facts for those that need it. Each lives in a thread of its own until everybody is asked
to stop, because the processes that it starts die with that thread (see ``process.spawn``).
How far everything is stands in a JSON file, which another process may read at any time.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

Facts = dict[str, Any]
CHECK_SECONDS = 1.0


@dataclass(frozen=True)
class Service:
    """A thing to run: its name, the names of what it needs, and how to run it.

    ``run`` gets the facts of all that is ready and yields its own. Those whose names begin with an
    underscore do not go into the file; ``_alive``, if there is one, is a function that says whether
    the service still runs.
    """

    name: str
    run: Callable[[Mapping[str, Any]], AbstractContextManager[Facts]]
    needs: tuple[str, ...] = ()


class StateFile:
    """The state of everything, written whole at every change and readable by its owner only.

    The facts of the services lie beside ``pid``, ``phase``, ``error`` and ``services``.
    """

    def __init__(self, path: Path, **about: Any) -> None:
        self.path = path
        self._lock = threading.Lock()
        me = psutil.Process()
        self._content: dict[str, Any] = {
            "pid": me.pid,
            "pid_created": me.create_time(),
            "phase": "starting",
            "error": None,
            "services": {},
            **about,
        }

    def phase(self, phase: str, error: str | None = None) -> None:
        """Say what everything is about, and why it failed if it did; the first failure stays."""
        with self._lock:
            self._content["phase"] = phase
            self._content["error"] = self._content["error"] or error
            self._write()

    def service(self, name: str, state: str, facts: Mapping[str, Any] | None = None) -> None:
        """Say how far one service is."""
        with self._lock:
            self._content["services"][name] = {"state": state, "at": time.time()}
            self._content.update(facts or {})
            self._write()

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_name(self.path.name + ".partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(self._content, file, indent=1)
        partial.replace(self.path)


def read_state(path: Path) -> dict[str, Any] | None:
    """The state of a supervisor that is alive; None without one."""
    try:
        state: dict[str, Any] = json.loads(path.read_text())
        process = psutil.Process(state["pid"])
        # a process id is used again some day: the same number is not yet the same process
        same = abs(process.create_time() - state["pid_created"]) < 1
    except (OSError, ValueError, KeyError, psutil.Error):
        return None
    return state if same and process.status() != psutil.STATUS_ZOMBIE else None


class Supervisor:
    """Runs services until asked to stop, or until one of them fails or ends; *facts* are of those that are ready."""

    def __init__(self, services: Sequence[Service], state: StateFile) -> None:
        self._services = {service.name: service for service in services}
        self._state = state
        self.facts: Facts = {}
        self._ready = {name: threading.Event() for name in self._services}
        self._ended = {name: threading.Event() for name in self._services}
        self.asked_to_end = threading.Event()

    def run(self) -> None:
        """Start all, wait, end all; returns when the last has ended."""
        threads = [
            threading.Thread(target=self._live, args=(service,), name=service.name)
            for service in self._services.values()
        ]
        for thread in threads:
            thread.start()
        while not self.asked_to_end.wait(CHECK_SECONDS):
            if all(event.is_set() for event in self._ready.values()):
                self._state.phase("running")
                break
        # the main thread has to wake up now and then, or it would see no signal
        while not self.asked_to_end.wait(CHECK_SECONDS):
            pass
        self._state.phase("stopping")
        for thread in threads:
            thread.join()
        self._state.phase("stopped")

    def _live(self, service: Service) -> None:
        try:
            if self._await_needs(service):
                self._hold(service)
        except BaseException as problem:  # noqa: BLE001 -- it is told, and ends everything
            self._state.phase("failed", f"{service.name}: {problem}")
            self._state.service(service.name, "failed")
            self.asked_to_end.set()
        finally:
            self._ended[service.name].set()

    def _await_needs(self, service: Service) -> bool:
        self._state.service(service.name, "waiting")
        for name in service.needs:
            while not self._ready[name].wait(0.1):
                if self.asked_to_end.is_set():
                    return False
        return not self.asked_to_end.is_set()

    def _hold(self, service: Service) -> None:
        self._state.service(service.name, "starting")
        with service.run(dict(self.facts)) as found:
            alive = found.pop("_alive", lambda: True)
            self.facts.update(found)
            told = {name: fact for name, fact in found.items() if name[0] != "_"}
            self._state.service(service.name, "ready", told)
            self._ready[service.name].set()
            while not self.asked_to_end.wait(CHECK_SECONDS):
                if not alive():
                    raise RuntimeError("it has ended by itself")
            for name, other in self._services.items():
                if service.name in other.needs:
                    self._ended[name].wait()
            self._state.service(service.name, "stopping")
        self._state.service(service.name, "stopped")
