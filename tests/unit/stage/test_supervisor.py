"""Services start side by side, end in the opposite order, and tell how far they are."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.stage import supervisor
from tests.stage.process import wait_until
from tests.stage.supervisor import (
    Facts,
    Service,
    StateFile,
    Supervisor,
    read_state,
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


def test_a_service_gets_the_facts_of_what_it_needs(stage: Stage, tmp_path: Path) -> None:
    """What one yields is known to those that need it, and stands in the file unless private."""
    base = stage.service("base", port=7, _handle=stage)
    state = run(tmp_path / "state", base, stage.service("top", "base"))
    assert stage.facts["top"] == {"port": 7, "_handle": stage}
    assert (state["port"], "_handle" in state) == (7, False)


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


def test_a_service_that_ends_by_itself_is_a_failure(stage: Stage, tmp_path: Path) -> None:
    """What reports not to be alive any more ends everything, while another still starts."""
    path = tmp_path / "state"
    dead = stage.service("base", _alive=lambda: False)

    @contextmanager
    def never_ready(known: Mapping[str, Any]) -> Iterator[Facts]:
        wait_until(lambda: (read_state(path) or {}).get("error"), 20, "the failure to be told")
        yield {}

    state = run(path, dead, Service("slow", never_ready))
    assert state["error"] == "base: it has ended by itself"


def test_the_state_may_hold_secrets(stage: Stage, tmp_path: Path) -> None:
    """Only its owner can read the file."""
    run(tmp_path / "state", stage.service("base", password="hidden"))
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_the_state_of_a_dead_process_does_not_count(tmp_path: Path) -> None:
    """A process id that is in use again by another process is not taken for the daemon."""
    StateFile(tmp_path / "state", cluster=None).phase("running")
    assert (read_state(tmp_path / "state") or {})["pid"] == os.getpid()

    content = json.loads((tmp_path / "state").read_text())
    content["pid_created"] = psutil.Process().create_time() - 60
    (tmp_path / "state").write_text(json.dumps(content))
    assert read_state(tmp_path / "state") is None


@pytest.mark.parametrize("content", [None, "", "{", '{"pid": 1}'])
def test_half_a_state_does_not_count(content: str | None, tmp_path: Path) -> None:
    """Without a whole file there is no daemon."""
    if content is not None:
        (tmp_path / "state").write_text(content)
    assert read_state(tmp_path / "state") is None
