"""Services start side by side, end in the opposite order, tell how far they are, and leave nothing behind."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.stage import supervisor
from tests.stage.process import spawn, stop, sweep, wait_until
from tests.stage.supervisor import (
    Facts,
    Service,
    StateFile,
    Supervisor,
)


class Stage:
    """Services that note what happens to them, in order."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.facts: dict[str, dict[str, Any]] = {}

    def service(self, name: str, *needs: str, **facts: Any) -> Service:
        """A service that yields these facts."""

        @contextmanager
        def run(known: Mapping[str, Any]) -> Iterator[Facts]:
            self.facts[name] = dict(known)
            self.events.append(f"{name} up")
            yield dict(facts)
            self.events.append(f"{name} down")

        return Service(name, run, needs)

    def failing(self, name: str, *needs: str) -> Service:
        """A service that cannot start."""

        @contextmanager
        def run(known: Mapping[str, Any]) -> Iterator[Facts]:
            raise ValueError("no room")
            yield {}

        return Service(name, run, needs)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked at more often than in earnest."""
    monkeypatch.setattr(supervisor, "CHECK_SECONDS", 0.01)


@pytest.fixture
def stage() -> Stage:
    """An empty one."""
    return Stage()


def run(path: Path, *services: Service) -> dict[str, Any]:
    """Run services until all are ready or one has failed; the last state that was written."""
    phases: list[str] = []

    class Noting(StateFile):
        def phase(self, phase: str, error: str | None = None) -> None:
            phases.append(phase)
            super().phase(phase, error)
            if phase == "running":
                running.asked_to_end.set()

    running = Supervisor(services, Noting(path))
    worker = threading.Thread(target=running.run)
    worker.start()
    worker.join(30)
    assert not worker.is_alive()
    return json.loads(path.read_text()) | {"phases": phases}


def test_what_is_needed_comes_first_and_goes_last(stage: Stage, tmp_path: Path) -> None:
    """A service starts after what it needs, and ends before it."""
    run(tmp_path / "state", stage.service("top", "base"), stage.service("base"))
    assert stage.events == ["base up", "top up", "top down", "base down"]


def test_a_failure_is_told_and_ends_everything(stage: Stage, tmp_path: Path) -> None:
    """When one cannot start, those that need it never do, the others end, and the cause stands."""
    services = (
        stage.service("base"),
        stage.failing("middle", "base"),
        stage.service("top", "middle"),
    )
    state = run(tmp_path / "state", *services)
    assert stage.events == ["base up", "base down"]
    assert (state["error"], state["phases"]) == (
        "middle: no room",
        ["failed", "stopping", "stopped"],
    )


def test_the_state_may_hold_secrets(stage: Stage, tmp_path: Path) -> None:
    """Only its owner can read the file."""
    run(tmp_path / "state", stage.service("base", password="hidden"))
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_sweep_ends_what_ignores_sigterm_and_spares_other_homes(tmp_path: Path) -> None:
    """Marked processes are ended even when they ignore SIGTERM; those of another home live on."""
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True)"
    argv = [sys.executable, "-c", f"{deaf}; time.sleep(60)"]
    log = tmp_path / "deaf.log"
    deaf_one = spawn(argv, None, log, "the deaf one", home=tmp_path / "one")
    other = spawn(argv, None, tmp_path / "other.log", "the other", home=tmp_path / "two")
    try:
        wait_until(lambda: "deaf" in log.read_text(), 30, "it to be deaf", process=deaf_one)
        assert sweep(tmp_path / "one", grace=0.5) == 1
        assert not deaf_one.running
        assert other.running
    finally:
        stop(deaf_one, 0)
        stop(other, 0)
