"""The model of faults itself: a short run of it, so that it stays fit for the nightly ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.tiers import CHECKOUT

pytestmark = pytest.mark.postgres


def test_a_short_run_with_faults_keeps_its_promises() -> None:
    """Five snapshots of a seed, in a process of its own as the nightly tier has it."""
    command = [sys.executable, "-m", "tests.faults", "--seed", "7", "--snapshots", "5"]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "lost 0, doubled 0, false incidents 0" in ended.stdout
