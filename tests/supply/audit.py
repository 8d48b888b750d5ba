"""
``python -m tests.supply.audit``: known vulnerabilities of what `constraints.txt` pins, by pip-audit.

A database that does not answer looks like one that knows of no vulnerability: pip-audit skips what is not found, and
passes. So each is asked first about a release that has one. Exit code 0: every pin was checked, and none has a known
vulnerability; 1: some have; `NOT_CHECKED`: no database answered, or it did not know some package.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.supply.pins import CONSTRAINTS
from tests.tiers import NOT_CHECKED

KNOWN = "jinja2==3.1.2"
"""A release with a known vulnerability (CVE-2024-22195)."""

SERVICES = ("pypi", "osv")
"""The databases that pip-audit asks."""

SECONDS = 900


class Unanswered(Exception):
    """No list of vulnerabilities came, and why."""


@dataclass(frozen=True)
class Findings:
    """What a database knows of some packages."""

    vulnerable: tuple[str, ...]
    """Package, advisory and the releases that fix it, one a line."""
    unknown: tuple[str, ...]
    """Packages that it does not know."""


Ask = Callable[[str, Path], str]
"""What pip-audit prints when it asks a database about the pins of a file."""


def pip_audit(service: str, pins: Path) -> str:
    """
    Ask a database about every pin of a file.

    Raises:
        Unanswered: It ended otherwise than with a list.
    """
    command = [sys.executable, "-m", "pip_audit", "--vulnerability-service", service]
    options = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
    try:
        done = subprocess.run(
            [*command, *options, "--requirement", str(pins)],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unanswered(f"no answer within {SECONDS} s") from None
    if not done.stdout.strip():
        raise Unanswered((done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1])
    return done.stdout


def findings(answer: str) -> Findings:
    """What pip-audit printed, read."""
    packages: list[dict[str, Any]] = json.loads(answer)["dependencies"]
    return Findings(
        tuple(
            f"{each['name']} {each['version']}: {found['id']}, fixed in "
            f"{', '.join(found['fix_versions']) or 'no release'}"
            for each in packages
            for found in each.get("vulns", ())
        ),
        tuple(each["name"] for each in packages if "skip_reason" in each),
    )


def answering(ask: Ask, services: Sequence[str] = SERVICES) -> str:
    """
    The first database that knows the vulnerability that it has to know.

    Raises:
        Unanswered: None does; with what came of each.
    """
    reasons = []
    with TemporaryDirectory(prefix="evenkeel-audit-") as folder:
        known = Path(folder) / "known.txt"
        known.write_text(f"{KNOWN}\n", encoding="utf-8")
        for service in services:
            try:
                if findings(ask(service, known)).vulnerable:
                    return service
                reasons.append(f"{service}: does not know the vulnerability of {KNOWN}")
            except Unanswered as error:
                reasons.append(f"{service}: {error}")
    raise Unanswered("; ".join(reasons))


def audit(pins: Path, ask: Ask = pip_audit) -> int:
    """Check every pin of a file and print what is found; the program's exit code."""
    try:
        service = answering(ask)
        found = findings(ask(service, pins))
    except Unanswered as error:
        print(f"NOT CHECKED for known vulnerabilities: {pins.name}. No database answers: {error}")
        return NOT_CHECKED
    for line in found.vulnerable:
        print(f"VULNERABLE {line}")
    if found.unknown:
        print(f"NOT CHECKED, unknown to {service}: {', '.join(found.unknown)}")
    if not found.vulnerable and not found.unknown:
        print(f"{pins.name}: {service} knows no vulnerability")
    return 1 if found.vulnerable else NOT_CHECKED if found.unknown else 0


if __name__ == "__main__":
    sys.exit(audit(CONSTRAINTS))
