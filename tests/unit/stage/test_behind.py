"""What is said of the distance from snapshot to advice."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Any

import psutil
import pytest

from tests.stage import behind
from tests.stage.process import wait_until


def row(seconds: float, state: str = "advised", **more: Any) -> dict[str, Any]:
    """A snapshot and how long after it its advice came."""
    known = {"snapshot_id": f"demo-{seconds:g}", "state": state, "advised_after_seconds": seconds}
    return known | {"waited_seconds": None, "run_seconds": None} | more


def test_a_distance_beyond_the_bound_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """One is enough; so does a time without any snapshot. A line for each stands above."""
    rows = [row(95, waited_seconds=5.0, run_seconds=90.0), row(130, "overtaken")]
    assert behind.verdict(rows, 130) == 0
    shown = capsys.readouterr().out
    assert "longest distance 2 min 10 s: within 2 min 10 s" in shown
    assert shown.split("demo-95")[1].split("\n")[0].split() == [
        "advised",
        "1",
        "min",
        "35",
        "s",
        "5",
        "s",
        "1",
        "min",
        "30",
        "s",
    ]
    assert behind.verdict(rows, 129) == 1
    assert "NOT within" in capsys.readouterr().out
    assert behind.verdict([], 600) == 1


def test_a_line_counts_what_waits() -> None:
    """By state, with the longest distance so far."""
    since = datetime.now(tz=UTC) - timedelta(minutes=3)
    said = behind.line([row(95), row(130, "overtaken"), row(20, "at work")], since)
    assert said.split("  ")[-1] == (
        "3 snapshots (1 advised, 1 overtaken, 1 at work), longest distance 2 min 10 s"
    )
    assert "3 min" in said


def test_what_burns_ends_with_the_watching() -> None:
    """So many processes, each in a session of its own, and none of them afterwards."""
    with behind.burning(2):
        found = wait_until(two_that_burn, 30, "two that burn")
        assert len({os.getsid(process.pid) for process in found}) == 2
    assert not any(process.is_running() for process in found)


def two_that_burn() -> list[psutil.Process]:
    """Both of them, once both have their words: a process that was just started may have none."""
    found = [p for p in psutil.Process().children() if behind.BURN in p.cmdline()]
    return found if len(found) == 2 else []
