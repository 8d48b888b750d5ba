"""Every table on a pseudo-terminal: no number and no name is cropped, however narrow it is."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evenkeel.engine.cli.views.columns import head
from evenkeel.engine.cli.views.layout import LEFT_OUT, plain_heading
from evenkeel.engine.records import columns_of_query
from tests.helpers.terminal import on_terminal
from tests.unit.cli.conftest import RECORDED

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
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
VERBS = (
    ["lag", "--from", RECORDED],
    ["advise", "--from", RECORDED],
    ["advise", "--from", RECORDED, "--group", "racks-avoidable"],
    ["tasks", "streams-classic", "--from", RECORDED],
    ["advise", "--from", RECORDED, "--group", "racks-avoidable", "--tradeoff"],
    ["whatif", "skewed-load", "--from", RECORDED, "--members", "+2", "--strategy", "range"],
    ["whatif", "skewed-load", "--from", RECORDED, "--strategy", "min_traffic"],
    ["elect", "--from", RECORDED, "--assignors", "range,cooperative-sticky"],
    ["elect", "--member", "c1=range,cooperative-sticky", "--member", "c2=range"],
    ["diff", "keeps-rebalancing", "--from", RECORDED, "--since", "5"],
    ["recording", "show", RECORDED],
    ["query"],
    ["query", "groups"],
    ["query", "groups"],
)
QUERIES = len(VERBS) - 2
GROUPS = [
    {
        "cluster": "production-eu-central-1",
        "group_id": f"orders-fulfilment-{number}",
        "status": "OK",
        "state": "Stable",
        "group_type": "classic",
        "assignor": "cooperative-sticky",
        "members": 698,
        "partitions": 2688 + number,
        "total_lag": 10**9 + number,
        "lag_skew": 1.25,
        "cross_rack_share": None,
        "time_lag_seconds": 93.5,
        "verdict": "stay",
        "strategy": None,
        "reason": "nothing to gain: no strategy is better by as much as the policy asks",
        "best_undeployable": None,
        "best_undeployable_reason": None,
        "error": None,
        "findings": [],
        "taken_at": "2026-03-01 00:00:00",
        "advised_on": None,
    }
    for number in range(9)
]


def environment() -> dict[str, str]:
    """The process's own, without settings of evenkeel, and a database that nobody asks."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("EVENKEEL_")}
    return kept | {"EVENKEEL_DATABASE_URL": "postgresql://h/history"}


def rows(lines: list[str]) -> list[str]:
    """The lines below the rule of each table, up to the next empty line or remark."""
    found, inside = [], False
    for line in lines:
        rule = line.startswith("───")
        inside = rule or (inside and bool(line) and not line.startswith(LEFT_OUT))
        found += [line] if inside and not rule else []
    return found


def parted(lines: list[str]) -> list[list[str]]:
    """What each command printed."""
    starts = [place for place, line in enumerate(lines) if line.startswith(MARK)]
    return [lines[a + 1 : b] for a, b in itertools.pairwise([*starts, len(lines)])]


@pytest.fixture(scope="module")
def command() -> list[str]:
    """All verbs in one process."""
    verbs = json.dumps([[str(word) for word in words] for words in VERBS])
    return [sys.executable, "-c", PROGRAM, verbs, json.dumps(GROUPS)]


@pytest.fixture(scope="module")
def piped(command, tmp_path_factory) -> list[list[str]]:
    """The complete tables of each verb."""
    folder = tmp_path_factory.mktemp("pipe")
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=True
    )
    return parted(done.stdout.splitlines())


@pytest.fixture(scope="module", params=[80, 160])
def screen(command, tmp_path_factory, request) -> tuple[int, list[list[str]]]:
    """The width of a terminal, and what each verb shows on it."""
    folder = tmp_path_factory.mktemp("terminal")
    return request.param, parted(on_terminal(command, request.param, folder, environment()))


@pytest.mark.parametrize(
    "verb", range(len(VERBS)), ids=lambda place: " ".join(map(str, VERBS[place][:2]))
)
def test_a_table_shows_whole_words_only(verb, screen, piped):
    """Whatever stands in a row on the screen stands in the complete table as well, and no line is too long."""
    width, shown = screen
    words = {word for line in piped[verb] for word in line.split()}
    assert words
    assert {word for line in rows(shown[verb]) for word in line.split()} <= words
    assert [line for line in shown[verb] if len(line) > width and len(line.split()) > 1] == []


def test_a_query_says_what_it_leaves_out(screen):
    """21 columns fit no such terminal: 698 members are 698, every group and lag is there, and the rest is named."""
    _, shown = screen
    lines = shown[QUERIES]
    text = " ".join(lines)
    assert "Members 698" in text or all(" 698 " in line for line in rows(lines))
    assert all(group["group_id"] in text for group in GROUPS)
    assert all(f"{group['total_lag']:,}" in text for group in GROUPS)
    assert all(column in text for column in ("Status", "Advised on", "Findings"))


def test_one_row_of_a_query_is_a_block_with_all_columns(screen):
    """Nothing is left out where there is room for a line per column."""
    _, shown = screen
    lines = [line for line in shown[QUERIES + 1] if line.strip() and not line.startswith(" ")]
    declared = columns_of_query("groups")
    names = [plain_heading(head(declared[column])) for column in GROUPS[0]]
    assert [line[: len(name) + 2] for line, name in zip(lines, names, strict=False)] == [
        f"{name:<{len(name) + 2}}" for name in names
    ]
