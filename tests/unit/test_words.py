"""A concept has one term, the field's: what is written with a former one is found, with file, line and replacement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PLACES = (
    "docs",
    "engine",
    "dags",
    "spark_tasks",
    "sql",
    "expectations",
    "tests/helpers",
    "tests/stage",
)
LIST = CHECKOUT / "tests/helpers/prose.py"
"""What lists former terms itself."""

KINDS = {".py", ".sql", ".md", ".html", ".txt", ".toml", ".json"}

TERMS: Mapping[str, str] = {
    r"yardstick": "best_undeployable, or baseline",
    r"told_at\b": "notified_at",
    r"taken_up_(at|by)|TAKEN_UP": "adopted_at, claimed_by, ADOPTED",
    r"[\"'`]taken up[\"'`]": "adopted",
    r"overtaken": "superseded",
    r"\bwell_seconds": "resolve_after_seconds",
    r"\bagain_seconds": "flap_window_seconds",
    r"dead.band": "hysteresis",
    r"objective_seconds": "lag_slo_seconds",
    r"\bmessage_seconds": "repeat_interval_seconds",
    r"no_reverse_seconds": "revert_cooldown_seconds",
    r"late_after_seconds": "stale_after_seconds",
    r"withhold_share": "max_failed_share",
    r"vanished_seconds": "deleted_after_seconds",
    r"lag_floor": "lag_lower_bound",
    r"[\"'`]not judged[\"'`]|NOT_JUDGED": "not evaluated",
    r"[\"'`]keeps up[\"'`]|KEEPS_UP": "healthy",
    r"losing records|LOSING_RECORDS": "data loss",
    r"records soon lost|LOSS_AHEAD": "data loss imminent",
    r"skipped records|SKIPPED_RECORDS": "offsets skipped",
    r"[\"'`]silent member[\"'`]|SILENT_MEMBER": "member not committing",
    r"[\"'`]too few members[\"'`]|TOO_FEW_MEMBERS": "under-provisioned",
    r"snapshot late\b": "snapshot stale",
    r"silent_seconds": "not_committing_seconds",
    r"near_floor": "near_lower_bound",
    r"history_upkeep|admin upkeep": "maintain_history, admin maintain",
    r"evenkeel apply\b": "evenkeel runbook",
    r"--frontier": "--tradeoff",
    r"told_incidents|seconds_to_told": "notified_incidents, seconds_to_notified",
    r"not_well_(before|now)_share": "unhealthy_..._share",
    r"withheld_groups": "skipped_groups",
    r"utilisation|judgement": "utilization, judgment",
    r"[\"'`](can|could) run[\"'`]": "available, needs restart",
    r"[\"'`]infeasible[\"'`]": "not applicable",
}
"""A former term, as a pattern, and what is written in its place."""

ANY_TERM = re.compile("|".join(TERMS))


def written() -> Iterator[Path]:
    """What people read or type, and the code behind it."""
    yield from CHECKOUT.glob("*.md")
    for place in PLACES:
        for path in sorted((CHECKOUT / place).rglob("*")):
            if path.suffix in KINDS and "__pycache__" not in path.parts and path != LIST:
                yield path


def former(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, term and replacement of each former term in a text."""
    if not ANY_TERM.search(text):
        return
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, new in TERMS.items():
            if found := re.search(pattern, line):
                yield number, found[0], new


@pytest.mark.parametrize("line", ["the yardstick", "dead_band = 0.5", 'state == "taken up"'])
def test_a_former_term_is_found(line: str) -> None:
    """With its line, and what to write instead."""
    assert [number for number, _, _ in former(f"first\n{line}")] == [2]


def test_no_former_term_is_written() -> None:
    """Documents, configuration, SQL, messages and code use one term for a concept."""
    found = [
        f"{path.relative_to(CHECKOUT)}:{number}: write {new} for {term!r}"
        for path in written()
        for number, term, new in former(path.read_text(encoding="utf-8"))
    ]
    assert found == []
