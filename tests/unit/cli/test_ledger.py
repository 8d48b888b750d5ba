"""`evenkeel ledger`: the page and the verification, without a database."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evenkeel.engine import wiring
from tests.helpers.memory import MemoryHistory
from tests.unit.advice.test_ledger import FIRST, entries, row

AFTER = {"hour": 3600, "day": 86400, None: None}


def score(name, after, value, cases, **columns):
    """A row of `ledger_scores`."""
    return {
        "cluster": "demo",
        "score": name,
        "after_seconds": AFTER[after],
        "value": value,
        "at_least": None,
        "at_most": None,
        "cases": cases,
        "worst_group": None,
        "worst_at": None,
        "worst_value": None,
        "since": FIRST,
        "until": FIRST.replace(day=31),
        "snapshots": 8640,
        "group_days": 1204.4,
    } | columns


WORST = {"worst_group": "a|b", "worst_at": FIRST, "worst_value": -1.2e6}


@pytest.fixture
def history(monkeypatch):
    """Two scores of an hour and a day, one rate, and a ledger of three snapshots."""
    known = MemoryHistory()
    known.answers["ledger_scores"] = [
        score("switches_that_paid", "hour", 0.9, 10, at_least=0.95, **WORST),
        score("switches_that_paid", "day", None, 0, at_least=0.95),
        score("coverage", "hour", 0.8, 5000, at_least=0.75, at_most=0.85),
        score("coverage", "day", 0.853, 2, at_least=0.75, at_most=0.85),
        score("messages", None, 41.6, 1204),
    ]
    known.entries = entries(3)
    monkeypatch.setattr(wiring, "history", lambda settings: known)
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", "postgresql://db/history")
    return known


def test_the_page_has_targets_cases_and_the_worst_case(run, history):
    """A score that misses its target is marked; one without a case is neither 0 nor 100 %."""
    result = run("ledger")
    assert result.exit_code == 0, result.output
    lines = [" ".join(line.split()) for line in result.stdout.splitlines() if line]
    assert lines == [
        "demo: 8,640 snapshots from 2026-03-01 12:00 UTC to 2026-03-31 12:00 UTC, 1,204 group-days",
        "Score Target After 1 h Cases After 1 d Cases Worst case (UTC)",
        "Switches that paid at least 95% 90% (missed) 10 no case yet 0"
        " a|b 03-01 12:00: -1.2M lag-seconds",
        "Coverage of forecasts 75% to 85% 80% 5,000 85.3% (missed) 2 -",
        "Per 1,000 group-days Number Worst case (UTC)",
        "Messages 42 -",
        "- not applicable",
    ]


def test_markdown_has_the_same_cells(run, history):
    """A bar in a name does not end its cell."""
    lines = run("ledger", "--markdown").stdout.splitlines()
    assert "| --- | --- | ---: | ---: | ---: | ---: | --- |" in lines
    (paid,) = [line for line in lines if line.startswith("| Switches that paid")]
    assert r"a\|b 03" in paid


def test_an_unchanged_ledger_is_verified(run, history):
    """It prints the newest hash, which can be noted and asked for later."""
    result = run("ledger", "--verify")
    assert result.exit_code == 0, result.output
    head = row(history.entries[-1]).hash
    assert f"newest hash: {head}" in result.stdout
    assert "verified: nothing was changed" in result.stdout
    assert run("ledger", "--verify", "--head", row(history.entries[0]).hash).exit_code == 0
    (printed,) = map(json.loads, run("ledger", "--verify", "--json").stdout.splitlines())
    assert (printed["head"], printed["rows"], printed["finding"]) == (head, 3, None)


def test_what_was_changed_is_named_and_the_exit_code_is_one(run, history):
    """The first snapshot, what was expected and what was found."""
    first, second, third = history.entries
    history.entries = [first, replace(second, found=replace(second.found, groups=1)), third]
    result = run("ledger", "--verify")
    assert result.exit_code == 1
    assert (
        "CHANGED: snapshot demo-1 (row 2): advice for 2 groups expected, 1 found" in result.stdout
    )


def test_a_hash_that_is_gone_is_a_change(run, history):
    """All rows may fit again after they were computed anew; the noted hash does not."""
    result = run("ledger", "--verify", "--head", "c0ffee")
    assert result.exit_code == 1
    assert "no row of the ledger has the hash c0ffee" in result.stderr


def test_an_empty_ledger_is_said(run, history):
    """Nothing was found: that is no score."""
    history.entries = []
    assert run("ledger", "--verify").exit_code == 1
    history.answers["ledger_scores"] = []
    result = run("ledger")
    assert result.exit_code == 1
    assert "no snapshot" in result.stderr
    assert run("ledger", "--head", "c0ffee").exit_code == 2
