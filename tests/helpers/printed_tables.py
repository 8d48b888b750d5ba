"""
What verbs print of the recording of the tests: `python -m tests.helpers.printed_tables` writes `tests/data/tables.txt`.

All verbs run in one process, on a pseudo-terminal of a given width or in a pipe; a database that nobody asks answers.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.helpers.terminal import on_terminal

DATA = Path(__file__).parents[1] / "data"
FILE = DATA / "tables.txt"
WIDTHS: Mapping[str, int | None] = {"in a pipe": None, "120 columns": 120, "80 columns": 80}
MARK = "=== "
PROGRAM = """
import json, sys
from types import SimpleNamespace
from evenkeel.engine import wiring
from evenkeel.engine.cli import app

commands, rows = map(json.loads, sys.argv[1:])
wiring.history = lambda settings: SimpleNamespace(query=lambda name, **given: rows)
for number, command in enumerate(commands):
    print("=== ", number, flush=True)
    if number == len(commands) - 1:
        del rows[1:]
    sys.argv[1:] = command
    try:
        app()
    except SystemExit as ended:
        assert not ended.code, command
"""
RECORDED = ("--from", "cluster-recording.evenkeel")
VERBS = (
    ("lag", *RECORDED),
    ("lag", *RECORDED, "--group", "skewed-load"),
    ("whatif", "--group", "skewed-load", *RECORDED, "--members", "+2"),
    (
        "whatif",
        "--group",
        "racks-avoidable",
        *RECORDED,
        "--without-rack",
        "rack-a",
        "--strategy",
        "roundrobin",
    ),
    ("whatif", "--group", "streams-classic", *RECORDED, "--members", "+1", "--rack", "new=rack-a"),
    ("diff", "--group", "keeps-rebalancing", *RECORDED, "--since", "9"),
    ("readiness", *RECORDED),
    ("elect", *RECORDED),
    ("elect", "--group", "slow-member", *RECORDED, "--to", "cooperative-sticky"),
    ("elect", "--member", "c1=range,sticky", "--member", "c2=range", "--member", "c3=sticky"),
    ("tasks", "--group", "streams-classic", *RECORDED),
    ("advise", *RECORDED, "--group", "racks-avoidable", "--tradeoff"),
    ("explain", "payments-0", "--group", "skewed-load", "--strategy", "balanced", *RECORDED),
    ("backtest", *RECORDED, "--group", "slow-member"),
    ("recording", "show", "cluster-recording.evenkeel"),
    ("query",),
    ("query", "groups"),
    ("query", "groups"),
)
"""The last two of many rows and of one."""

GROUPS = [
    {
        "cluster": "production-eu-central-1",
        "group_id": f"orders-fulfilment-{number}",
        "total_lag": 10 ** (9 - number),
        "time_lag_seconds": 93.5 * (9 - number),
        "incident": None if number else "under-provisioned",
        "lasting_seconds": None if number else 7800.0,
        "verdict": "stay" if number else "switch",
        "strategy": None if number else "cooperative-sticky",
        "diagnosis": "healthy" if number else "under-provisioned",
        "status": "OK" if number else "WARN",
        "members": 698,
        "partitions": 2688 + number,
        "diagnosis_reason": None if number else "its members process less than it receives",
        "incident_since": None if number else "2026-02-28 21:50:00",
        "incident_severity": None if number else "warning",
        "error": None,
        "state": "Stable",
        "group_type": "classic",
        "assignor": "range",
        "lag_skew": 1.25,
        "cross_rack_share": None,
        "reason": "nothing to gain: no strategy is better by as much as the policy asks",
        "best_undeployable": None,
        "best_undeployable_reason": None,
        "findings": [],
        "taken_at": "2026-03-01 00:00:00",
        "advised_on": None,
    }
    for number in range(9)
]


def printed(columns: int | None) -> list[list[str]]:
    """The lines of each verb on a terminal of that many columns; without it in a pipe."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EVENKEEL_")}
    environment = kept | {"EVENKEEL_DATABASE_URL": "postgresql://h/history"}
    command = [sys.executable, "-c", PROGRAM, json.dumps(VERBS), json.dumps(GROUPS)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / RECORDED[1]).symlink_to(DATA / RECORDED[1])
        if columns is None:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, check=True
            )
            lines = [line.rstrip() for line in done.stdout.splitlines()]
        else:
            lines = on_terminal(command, columns, Path(folder), environment)
    starts = [place for place, line in enumerate(lines) if line.startswith(MARK)]
    parts = [lines[a + 1 : b] for a, b in itertools.pairwise([*starts, len(lines)])]
    return [part[:-1] if part and not part[-1] else part for part in parts]


def sample(shown: Mapping[str, list[list[str]]]) -> list[str]:
    """The file: each verb in a pipe, then on terminals where more than the rules below headings is different."""
    lines: list[str] = []
    for place, verb in enumerate(VERBS):
        piped, *_ = (each[place] for each in shown.values())
        for name, each in shown.items():
            same = _without_rules(each[place]) == _without_rules(piped) and each[place] is not piped
            title = f"{MARK}evenkeel {' '.join(verb)}: {name}"
            lines += [title, *(["(as in a pipe)"] if same else each[place])]
    return lines


def _without_rules(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith("──")]


def main() -> None:
    """Write the file."""
    shown = {name: printed(columns) for name, columns in WIDTHS.items()}
    FILE.write_text("\n".join(sample(shown)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
