"""The nightly audit: what is vulnerable fails, and what could not be checked never looks as if it had been."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.supply.audit import KNOWN, Ask, Unanswered, audit
from tests.tiers import NOT_CHECKED

VULNERABLE = {"id": "CVE-1", "fix_versions": ["3"], "aliases": [], "description": ""}


def _database(*packages: dict[str, object], knows: bool = True, down: tuple[str, ...] = ()) -> Ask:
    """One that answers about pins with the packages, and about what it has to know if it does."""

    def ask(service: str, pins: Path) -> str:
        if service in down:
            raise Unanswered("no route")
        name, version = KNOWN.split("==")
        known = {"name": name, "version": version, "vulns": [VULNERABLE] if knows else []}
        asked = pins.read_text(encoding="utf-8")
        return json.dumps({"dependencies": [known] if asked == f"{KNOWN}\n" else packages})

    return ask


CLEAN = {"name": "a", "version": "1", "vulns": []}
AFFECTED = {"name": "b", "version": "2", "vulns": [VULNERABLE]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("database", "code", "printed"),
    [
        (_database(CLEAN), 0, "pins.txt: pypi knows no vulnerability"),
        (_database(CLEAN, down=("pypi",)), 0, "pins.txt: osv knows no vulnerability"),
        (_database(CLEAN, AFFECTED), 1, "VULNERABLE b 2: CVE-1, fixed in 3"),
        (_database(CLEAN, UNKNOWN), NOT_CHECKED, "NOT CHECKED, unknown to pypi: c"),
        (_database(AFFECTED, UNKNOWN), 1, "NOT CHECKED, unknown to pypi: c"),
        (_database(CLEAN, knows=False), NOT_CHECKED, "does not know the vulnerability of jinja2"),
        (_database(CLEAN, down=("pypi", "osv")), NOT_CHECKED, "pypi: no route; osv: no route"),
    ],
)
def test_an_audit_says_what_it_checked(
    database: Ask, code: int, printed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It passes only if a database that knows what it has to know has answered about every pin."""
    pins = tmp_path / "pins.txt"
    pins.write_text("a==1\n")
    assert audit(pins, database) == code
    assert printed in capsys.readouterr().out
