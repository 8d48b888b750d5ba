"""Licenses: of what evenkeel needs, and of what it bundles."""

from __future__ import annotations

import hashlib

import pytest

from tests.supply.bundled import BUNDLED, Bundled, foreign, java
from tests.supply.licenses import READ, allowed, license_of
from tests.supply.pins import ROOT
from tests.supply.runtime import closure

EACH = [pytest.param(one, id=one.name) for one in BUNDLED]


def test_evenkeel_may_depend_on_what_it_needs() -> None:
    """Every package that is installed for the wheel has a license that software under Apache-2.0 may depend on."""
    licenses = {name: license_of(one.distribution) for name, one in closure().items()}
    assert {n: one for n, one in licenses.items() if not (one and allowed(one))} == {}
    assert licenses["evenkeel"] == "Apache-2.0"
    assert len(licenses) > 100


def test_what_a_person_read_is_still_needed() -> None:
    """Of packages that are installed and that say nothing that is understood, or not all."""
    assert sorted(set(READ) - set(closure())) == []


@pytest.mark.parametrize("one", EACH)
def test_what_is_bundled_is_its_release(one: Bundled) -> None:
    """File by file; the first names the version, and the license lies beside it."""
    found = {path: hashlib.sha256((ROOT / path).read_bytes()).hexdigest() for path in one.files}
    assert found == one.files
    first, *_, terms = one.files
    assert f"v{one.version}" in (ROOT / first).read_text(encoding="utf-8")[:200]
    assert f"The {one.license} License" in (ROOT / terms).read_text(encoding="utf-8")
    assert allowed(one.license)


def test_nothing_else_is_bundled() -> None:
    """No other file of the wheel names another owner, is minified, or is no text; Java is there as source only."""
    assert set(foreign()) == {path for one in BUNDLED for path in one.files}
    assert all(path.startswith("engine/followers/java/Evenkeel") for path in java())
