"""`evenkeel doctor`: does everything that evenkeel needs answer, and what to do where it does not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from ..options import AsJson, Bootstrap, ClusterName, epilog

if TYPE_CHECKING:
    from ..checks import Check

EPILOG = epilog(
    [
        "evenkeel doctor                                # everything that is configured",
        "evenkeel doctor --bootstrap kafka-1:9092       # and this cluster instead of the configured ones",
        "evenkeel doctor --json | jq 'select(.outcome != \"OK\")'",
    ],
    [0, 1, 2],
    "WARN is what works without, or is not set up; any FAIL makes the exit code 1. It only reads, but for a file it "
    "makes in the lake folder and removes again.",
)


_COLUMNS = 21
"""Where what was found begins in a line."""


def doctor(
    bootstrap: Bootstrap = None, cluster: ClusterName = None, as_json: AsJson = False
) -> None:
    """Try configuration, connections, rights and versions, and say the fix for each."""
    from .. import checks
    from ..views.tables import tell, to_json

    failed = 0
    for check in checks.every(bootstrap, cluster):
        failed += check.outcome == "FAIL"
        if as_json:
            print(to_json(check.to_json()))
        else:
            tell([_line(check)], hanging=_COLUMNS)
        sys.stdout.flush()
    if failed:
        raise typer.Exit(1)


def _line(check: Check) -> str:
    from ..views.tables import text

    of = f"{check.cluster}: " if check.cluster else ""
    end = "" if check.detail.endswith(".") or not check.fix else "."
    fix = f"{end} {check.fix}" if check.fix else ""
    return f"{check.outcome:<4}  {check.name:<13}  {text(of + check.detail + fix)}"
