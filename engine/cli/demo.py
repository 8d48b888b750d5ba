"""A demo that runs in this folder: what it keeps stands in for a configuration where there is none."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import wiring
from ..config import Settings, load
from ..model.errors import ConfigError
from .command_end import complain

STATE = Path("demo", "state.json")
"""Where, below evenkeel's home, the demo says what it runs."""


def state() -> Mapping[str, Any] | None:
    """
    What the demo says of itself; None where there is none.

    Raises:
        ConfigError: The file is damaged.
    """
    file = Path(os.environ.get("EVENKEEL_HOME", ".evenkeel")) / STATE
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        content = None
    if not isinstance(content, Mapping) or "database_url" not in content:
        raise ConfigError(
            f"the demo's state {file} names no database.", fix="Run `make demo` again."
        )
    return content


def config_file() -> Path | None:
    """The configuration of the demo, where nothing else is configured."""
    own = os.environ.get("EVENKEEL_CONFIG") or Path("evenkeel.toml").is_file()
    if own or os.environ.get("EVENKEEL_CLUSTERS"):
        return None
    file = Path(str((state() or {}).get("config", "")))
    return file if file.is_file() else None


def settings() -> Settings:
    """
    The settings, or a demo's where nothing is configured; which one is said on standard error.

    Raises:
        ConfigError: A key is wrong, or the demo's state is damaged.
    """
    file = config_file()
    if file is None:
        return wiring.settings()
    complain(f"configuration: {file} (the demo's)")
    return load(file)
