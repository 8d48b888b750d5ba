"""What the demo notes of itself may hold passwords."""

from __future__ import annotations

from pathlib import Path

from tests.stage.supervisor import StateFile, Supervisor


def test_the_state_may_hold_secrets(tmp_path: Path) -> None:
    """Only its owner can read the file."""
    running = Supervisor([], StateFile(tmp_path / "state"))
    running.asked_to_end.set()
    running.run()
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0
