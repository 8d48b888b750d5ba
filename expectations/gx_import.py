"""Imports and runs Great Expectations faster: most of a small snapshot's validation is start-up."""

from __future__ import annotations

import copy
import gc
import importlib.abc
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

LATER = ("altair", "scipy.stats")
"""Modules that are loaded at their first use: plots, and comparisons of distributions."""

LEFT_OUT = "pyspark"
"""Not needed, because the validated frames are pandas frames."""


class _Sparing(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Hide Spark and defer unused modules during the import."""
        if name == LEFT_OUT:
            raise ModuleNotFoundError("not looked for here", name=name)
        spec = PathFinder.find_spec(name, path) if name in LATER else None
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


def load_great_expectations() -> None:
    """
    Import it, unless it is already imported.

    Later imports of Spark, and uses of the deferred modules, work as usual.
    """
    if "great_expectations" in sys.modules:
        return
    finder = _Sparing()
    sys.meta_path.insert(0, finder)
    try:
        with _models_made_faster():
            importlib.import_module("great_expectations.expectations")
    finally:
        sys.meta_path.remove(finder)


@contextmanager
def _models_made_faster() -> Iterator[None]:
    """
    Let its hundreds of models copy the fields of their bases without all that is below; collect no garbage meanwhile.

    A model changes only what is copied: the field, its description and its table of validators.
    """
    from pydantic.v1 import main
    from pydantic.v1.fields import ModelField

    deep = main.smart_deepcopy

    def copied(known: Any) -> Any:
        if type(known) is not dict or not all(type(f) is ModelField for f in known.values()):
            return deep(known)
        fields = {name: copy.copy(field) for name, field in known.items()}
        for field in fields.values():
            field.field_info = copy.copy(field.field_info)
            field.class_validators = dict(field.class_validators)
        return fields

    collecting = gc.isenabled()
    gc.disable()
    main.smart_deepcopy = copied
    try:
        yield
    finally:
        main.smart_deepcopy = deep
        if collecting:
            gc.enable()


@contextmanager
def configured_once() -> Iterator[None]:
    """
    Let each expectation make its configuration once, as nothing changes it during a validation.

    Great Expectations asks for it dozens of times for each metric.
    """
    from great_expectations.expectations.expectation import Expectation

    made = Expectation.configuration
    # with the expectation, whose id would otherwise become another's
    kept: dict[int, tuple[Any, Any]] = {}

    def configuration(self: Any) -> Any:
        if id(self) not in kept:
            kept[id(self)] = self, made.fget(self)
        return kept[id(self)][1]

    Expectation.configuration = property(configuration)
    try:
        yield
    finally:
        Expectation.configuration = made
