"""`evenkeel top` on a pseudo-terminal: keys are pressed, and the terminal is afterwards as it was before."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.helpers.terminal import Keyed
from tests.unit.cli.conftest import RECORDED

pytestmark = pytest.mark.slow

PROGRAM = "from evenkeel.engine.cli import app; app()"
TOP = (sys.executable, "-c", PROGRAM, "top", "--from", str(RECORDED))
BACK = "\x1b[?25h\x1b[?1049l"
"""The cursor again, and what was on the terminal before."""


@pytest.fixture
def terminal(tmp_path: Path) -> Keyed:
    """The command with its screen drawn."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EVENKEEL_")}
    return Keyed(TOP, 80, tmp_path, kept)


def test_keys_lead_to_a_group_and_back_and_q_quits(terminal):
    """Down, Enter, Escape, a name, q; nothing is said, nothing typed is seen."""
    with terminal:
        before = terminal.settings
        assert "empty-with-commits" in terminal.drawn("q quit")
        assert terminal.settings != before
        terminal.press("\x1b[B")
        terminal.drawn("keeps-rebalancing: keeps-rebalancing-")
        terminal.press("\r")
        assert "newsletters-0" in terminal.drawn("Esc back")
        terminal.press("\x1b")
        terminal.drawn("/ filter")
        terminal.press("/skewed")
        assert "keeps-rebalancing" not in terminal.drawn("/skewed█")
        terminal.press("\r")
        terminal.drawn("Esc clear /skewed")
        terminal.press("q")
        code, said, sent = terminal.ended()
        assert (code, said) == (0, "")
        assert sent.endswith(BACK)
        assert terminal.settings == before


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=lambda one: str(one)
)
def test_a_signal_leaves_the_terminal_as_it_was(terminal, sent, code):
    """Ctrl-C and what ends services; no traceback."""
    with terminal:
        before = terminal.settings
        terminal.drawn("q quit")
        terminal.program.send_signal(sent)
        assert terminal.ended()[:2] == (code, "")
        assert terminal.settings == before
