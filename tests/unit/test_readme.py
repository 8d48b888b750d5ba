"""The README against the code: a table, a key or a command that is not there is a lie to its reader."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from evenkeel import sql
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.cli import app
from evenkeel.engine.config import ClusterSettings, Policy, Rule, Settings, StreamsSettings, load

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _section(title: str) -> str:
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_the_strategy_table_is_the_table_of_strategies():
    """Same names, same order."""
    rows = re.findall(r"^\| `([a-z_-]+)` \|", _section("Strategies"), re.MULTILINE)

    assert rows == list(ASSIGNORS)


@pytest.mark.parametrize("model", [Settings, ClusterSettings, Rule, StreamsSettings, Policy])
def test_every_configuration_key_is_documented(model):
    """Whoever looks for a key finds it in the section Configuration."""
    documented = _section("Configuration")
    missing = [name for name in model.model_fields if f"`{name}`" not in documented]

    assert missing == []


def test_the_configuration_example_is_valid(tmp_path, monkeypatch):
    """It can be copied as it stands."""
    file = tmp_path / "evenkeel.toml"
    file.write_text(re.findall(r"```toml\n(.*?)```", README, re.DOTALL)[0], encoding="utf-8")
    monkeypatch.delenv("EVENKEEL_CLUSTERS", raising=False)
    settings = load(file)

    assert settings.cluster("eu").groups.deny == ("console-consumer-*",)
    assert settings.policy("eu", "payments-app").confirmations == 3


def test_every_command_it_names_exists():
    """`evenkeel X` and `make X` can be typed."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    typed = set(re.findall(r"^ {4}(?:\.venv/bin/)?evenkeel ([a-z-]+)", README, re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    made = set(re.findall(r"(?:^ {4}|`)(?:CLUSTER=\S+ )?make ([a-z-]+)", README, re.MULTILINE))

    assert typed
    assert typed <= set(commands)
    assert made
    assert made <= targets


def test_every_command_of_the_command_line_is_in_the_changelog():
    """No command is a secret."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]

    assert [name for name in commands if f"`{name}`" not in _section("Changelog")] == []


def test_every_view_it_promises_exists():
    """The stable surface of the history."""
    promised = re.findall(r"`([a-z_]+)`", _section("SQL").split("The views")[1].split("are the")[0])

    assert set(promised) <= set(sql.views())


def test_what_continuous_integration_runs_is_what_it_says():
    """`.ci/run` calls the README's test command and nothing weaker."""
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert "make test" in lines
    assert "make lint" in lines
