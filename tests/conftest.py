"""What holds for every test: how hard Hypothesis tries, and that each test belongs to one tier."""

from __future__ import annotations

import os

import pytest
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test that no tier would run."""
    lost = [
        item.nodeid
        for item in items
        if stray(item.nodeid, {mark.name for mark in item.iter_markers()})
    ]
    if lost:
        raise pytest.UsageError(
            f"no tier runs these: mark what service they need, or move them to tests/unit: {lost}"
        )
