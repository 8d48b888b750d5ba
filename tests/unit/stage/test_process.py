"""Processes of the stage: what is missing or has ended is told, and what is left over is ended."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.stage.process import (
    LocalClusterError,
    find_java,
    spawn,
    stop,
    sweep,
    wait_until,
)


def test_missing_java_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a Java the error says in one line what to install."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(LocalClusterError, match=r"^no java command .*: install a Java 17 .*$"):
        find_java()


def test_waiting_fails_with_the_reason_and_the_log(tmp_path: Path) -> None:
    """A wait ends at once when the awaited process has ended, and shows its last lines."""
    argv = [sys.executable, "-c", "print('no such key'); raise SystemExit(3)"]
    child = spawn(argv, None, tmp_path / "child.log", "the child", home=tmp_path)
    with pytest.raises(LocalClusterError, match=r"the child ended \(code 3\)(.|\n)*no such key"):
        wait_until(lambda: False, 30, "its answer", process=child)


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
