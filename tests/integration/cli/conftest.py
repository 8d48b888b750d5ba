"""The command line in an empty folder, asked in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from evenkeel.engine.cli import app


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run the command in an empty folder, without any setting of the environment."""
    for name in ("CONFIG", "LAKE", "DATABASE_URL", "SLACK_TOKEN", "HOME", "DEBUG", "CLUSTERS"):
        monkeypatch.delenv(f"EVENKEEL_{name}", raising=False)
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str | Path, **more: Any) -> Result:
        return CliRunner().invoke(app, [str(a) for a in arguments], **more)

    return invoke


def objects(result: Result) -> list[dict[str, Any]]:
    """Standard output as JSON lines."""
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]
