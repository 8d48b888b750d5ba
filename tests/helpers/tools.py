"""Programs that some tests ask and that no Python package brings: `make tools` installs what can be had."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest


def tool(name: str) -> str | None:
    """Where a program is: beside this Python, where `make tools` puts it, or on the path."""
    places = (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
    return shutil.which(name, path=os.pathsep.join(places))


def needs(name: str) -> pytest.MarkDecorator:
    """Skips a test where a program is not installed."""
    return pytest.mark.skipif(tool(name) is None, reason=f"{name} is not installed: make tools")
