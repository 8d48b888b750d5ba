"""`evenkeel doctor`: does everything that evenkeel needs answer, and what to do where it does not."""

from __future__ import annotations

import sys

import typer

from ..options import AsJson, Bootstrap, ClusterName, epilog

EPILOG = epilog(
    [
        "evenkeel doctor                                # the whole configuration",
        "evenkeel doctor --bootstrap broker1:9092       # this cluster instead of the configured ones",
        "evenkeel doctor --json | jq 'select(.outcome != \"OK\")'",
    ],
    [0, 1, 2],
    "WARN means optional or not configured. Any FAIL makes the exit code 1. It only reads, except for a file that it "
    "writes to the lake folder and deletes.",
)


_COLUMNS = 21
"""Where what was found begins in a line."""


def doctor(
    bootstrap: Bootstrap = None, cluster: ClusterName = None, as_json: AsJson = False
) -> None:
    """Check configuration, connections, permissions and versions."""
    from .. import checks
    from ..views.tables import tell, text, to_json

    failed = 0
    for check in checks.every(bootstrap, cluster):
        failed += check.outcome == "FAIL"
        if as_json:
            print(to_json(check.to_json()))
        else:
            of = f"{check.cluster}: " if check.cluster else ""
            end = "" if check.detail.endswith(".") or not check.fix else "."
            fix = f"{end} {check.fix}" if check.fix else ""
            line = f"{check.outcome:<4}  {check.name:<13}  {text(of + check.detail + fix)}"
            tell([line], hanging=_COLUMNS)
        sys.stdout.flush()
    if failed:
        raise typer.Exit(1)
