"""The bill of materials of a release; only `make sbom` and the nightly tests have what it is written with."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.supply import pins, runtime
from tests.supply.bundled import BUNDLED, java

pytestmark = pytest.mark.nightly
AT = datetime(2026, 11, 26, tzinfo=UTC)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A file that stands for a wheel."""
    path = tmp_path / "evenkeel-0.1.0-py3-none-any.whl"
    path.write_bytes(b"wheel")
    return path


@pytest.fixture
def bill(wheel: Path) -> dict[str, Any]:
    """Its bill, as read."""
    from tests.supply import sbom

    found: dict[str, Any] = json.loads(sbom.bill(wheel, AT))
    return found


def test_the_bill_is_valid(wheel: Path) -> None:
    """By the schema of CycloneDX 1.6."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    from tests.supply import sbom

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(sbom.bill(wheel, AT)) is None


def test_the_bill_has_what_is_needed_as_pinned(bill: dict[str, Any]) -> None:
    """Every package with version and license, and what needs it."""
    wanted = pins.pinned()
    found = {each["purl"]: each for each in bill["components"]}
    needed = set(runtime.closure()) - {"evenkeel"}
    assert set(found) == {f"pkg:pypi/{name}@{wanted[name]}" for name in needed}
    assert [purl for purl, each in found.items() if not each["licenses"]] == []
    reached = {each for one in bill["dependencies"] for each in one.get("dependsOn", ())}
    assert set(found) <= reached


def test_the_bill_has_what_is_bundled(bill: dict[str, Any]) -> None:
    """uPlot with its files, and the sources in Java."""
    inside = {each["bom-ref"]: each for each in bill["metadata"]["component"]["components"]}
    assert set(inside) == {*(one.purl for one in BUNDLED), *java()}
    for one in BUNDLED:
        files = {each["bom-ref"]: each for each in inside[one.purl]["components"]}
        assert {path: file["hashes"][0]["content"] for path, file in files.items()} == one.files
