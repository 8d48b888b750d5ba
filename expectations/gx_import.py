"""Great Expectations, without what it loads beside itself and nothing here has a use for."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

LATER = ("altair", "scipy.stats")
"""Loaded when something is asked of them: they draw, and compare distributions."""

LEFT_OUT = "pyspark"
"""Great Expectations does without it: what is validated are frames of pandas."""


class _Sparing(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Say that there is no Spark, and put off what is not needed; nothing about anything else."""
        if name == LEFT_OUT:
            raise ModuleNotFoundError("not looked for here", name=name)
        spec = PathFinder.find_spec(name, path) if name in LATER else None
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


def load_great_expectations() -> None:
    """
    Import it, in half the time; a process that has it already keeps what it has.

    Whoever imports Spark afterwards, or uses what was put off, gets it.
    """
    if "great_expectations" in sys.modules:
        return
    finder = _Sparing()
    sys.meta_path.insert(0, finder)
    try:
        importlib.import_module("great_expectations.expectations")
    finally:
        sys.meta_path.remove(finder)
