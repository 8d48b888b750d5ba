"""What holds for every test: how hard Hypothesis tries, that each belongs to one tier, and that fast ones are fast."""

from __future__ import annotations

import gc
import os
import socket
import sys
from collections.abc import Generator, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from tests.tiers import stray

EXAMPLES = {"quick": 20, "ci": 50, "nightly": 500}
"""Cases of a property by profile; HYPOTHESIS_PROFILE chooses one. They are others in every run."""

for _name, _examples in EXAMPLES.items():
    # a busy machine is no reason to fail: nothing here depends on the clock
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


class _Examples:
    """Only a file with an example is searched for examples; the others need not even be imported for it."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Leave out what holds none."""
        found = yield
        if b">>> " in file_path.read_bytes():
            return found
        return [one for one in found if not isinstance(one, DoctestModule)]


def pytest_configure(config: pytest.Config) -> None:
    """A plugin of its own holds for the engine's files too; what a conftest has holds for those beside it."""
    config.pluginmanager.register(_Examples())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: nothing is gained by looking for garbage in it, now or during tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test that no tier would run."""
    is_stray = cache(stray)
    lost = [
        item.nodeid
        for item in items
        if is_stray(item.nodeid.partition("::")[0], frozenset(m.name for m in item.iter_markers()))
    ]
    if lost:
        raise pytest.UsageError(
            f"no tier runs these: mark what service they need, or move them to tests/unit: {lost}"
        )


HEAVY = frozenset({"airflow", "great_expectations", "numba", "pyspark"})
MARKED = frozenset({"airflow", "slow", "postgres", "kafka", "spark", "nightly"})


class _Refusing:
    """An importer that refuses what takes seconds to load."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        """Refuse, or leave it to the others."""
        if name in HEAVY:
            raise AssertionError(f"{name} takes seconds to import: mark this test slow")
        return None


def _no_socket(*_: object) -> None:
    raise AssertionError("a fast test uses no socket: mark this test slow")


@pytest.fixture(autouse=True)
def _fast_is_fast(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test without a mark opens no socket and loads nothing that takes seconds."""
    if MARKED.isdisjoint(mark.name for mark in request.node.iter_markers()):
        for method in ("bind", "connect", "connect_ex"):
            monkeypatch.setattr(socket.socket, method, _no_socket)
        monkeypatch.setattr(sys, "meta_path", [_Refusing(), *sys.meta_path])
        # loops stay interpreted, however much the tests before have asked of them
        monkeypatch.setattr("evenkeel.engine.assignors.kit.kernels._numba_version", lambda: None)
