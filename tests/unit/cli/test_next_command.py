"""The command that the message of an incident ends with, run as it is copied."""

from __future__ import annotations

import shlex

import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.messages.incident_message import next_command
from evenkeel.engine.model.states import Diagnosis
from tests.unit.cli.conftest import Run

ODD = "bad\x1b[31m[red]name"


@pytest.mark.parametrize("group", ["uneven", ODD])
@pytest.mark.parametrize(
    "cause", [Diagnosis.NO_MEMBERS, Diagnosis.CATCHING_UP, Diagnosis.REBALANCING]
)
def test_it_shows_the_group(run: Run, kafka, lake, tmp_path, cause: Diagnosis, group: str) -> None:
    """Live, from the stored snapshots, and compared with when it was well: with the configuration that is there."""
    config = f'lake = "{lake}"\n[clusters.prod]\nbootstrap = "b:9092"\n'
    (tmp_path / "evenkeel.toml").write_text(config)
    good = FileLake(lake).snapshots("prod", limit=2)[-1]

    program, *arguments = shlex.split(next_command("prod", group, cause, good))
    result = run(*arguments)

    assert program == "evenkeel"
    assert result.exit_code == 0, result.output
    text = result.output.replace("\\x1b", "\x1b")
    assert group in text
    assert "locked" not in text
