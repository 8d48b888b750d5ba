"""A command loads what it needs and nothing else, so that it answers at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
HEAVY = (
    "airflow",
    "great_expectations",
    "kafka",
    "matplotlib",
    "pandas",
    "psycopg",
    "pyspark",
    "scipy",
    "slack_sdk",
    "sqlalchemy",
)

PROGRAM = """
import sys
from evenkeel.engine.cli import app

recording, *names = sys.argv[1:]
for command in (
    ["advise", "--from", recording, "--group", "uneven"],
    ["lag", "--from", recording],
    ["recording", "show", recording],
    ["assign"],
):
    sys.argv[1:] = command
    try:
        app()
    except SystemExit as ended:
        assert not ended.code, command
    print("after", *command[:1], *(n for n in names if n in sys.modules), file=sys.stderr)
from importlib.util import find_spec
print("then", find_spec("pandas").name, file=sys.stderr)
"""


def ended(program: str, *arguments: str) -> list[str]:
    """What a program of its own process said on standard error."""
    command = [sys.executable, "-c", program, *arguments]
    case = '{"id": 1, "strategy": "range", "topics": {}, "members": []}'
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, input=case)
    assert result.returncode == 0, result.stderr
    return result.stderr.splitlines()


def test_what_needs_no_service_loads_no_client_and_no_pandas(recording):
    """Advice and lag of a recording, and `assign`; yet a custom strategy that wants pandas gets it."""
    lines = [
        line for line in ended(PROGRAM, str(recording), *HEAVY) if line[:5] in ("after", "then ")
    ]
    verbs = ("advise", "lag", "recording", "assign")
    assert lines == [*(f"after {verb}" for verb in verbs), "then pandas"]


def test_help_loads_nothing_that_computes():
    """Who asks how to call it waits for nothing."""
    program = """
import sys
from evenkeel.engine.cli import app
try:
    app()
except SystemExit:
    names = ("numpy", "pyarrow", "rich", "evenkeel.sql", *sys.argv[2:])
    print(*(n for n in names if n in sys.modules), file=sys.stderr)
    print(*(n for n in sys.modules if n.startswith("evenkeel.engine.cli.verbs.")), file=sys.stderr)
"""
    assert ended(program, "--help") == ["", ""]


def test_shell_completion_knows_the_verbs_and_loads_only_what_fits():
    """Each press of Tab starts the program anew."""
    program = """
import os, sys
os.environ.update(_EVENKEEL_COMPLETE="complete_bash", COMP_WORDS="evenkeel ch", COMP_CWORD="1")
from evenkeel.engine.cli import app
sys.stdout = sys.stderr
try:
    app([])
except SystemExit:
    print(*(n for n in sys.modules if n.startswith(("evenkeel.engine.cli.verbs.", "numpy"))))
"""
    assert ended(program) == ["check-assignor", "evenkeel.engine.cli.verbs.check_assignor"]
