"""`evenkeel backfill` on a lake and a real Postgres."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory
from tests.helpers.cookbook_history import write

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

CONFIG = """
lake = "{lake}"

[clusters.example]
bootstrap = "127.0.0.1:1"

[[rules]]
price_per_gb = 0.02
currency = "EUR"

[[rules]]
groups = "search-*"
lag_slo_seconds = 3600
"""

DAYS = ("--cluster", "example", "--from", "2026-03-02", "--to", "2026-03-02")


@pytest.fixture(scope="module")
def place(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A configuration beside a lake of nine hours, and the history that was made of it by other rules."""
    home = tmp_path_factory.mktemp("home")
    write(PostgresHistory(module_database_url), 18, FileLake(home / "lake"))
    (home / "evenkeel.toml").write_text(CONFIG.format(lake=home / "lake"))
    return home, module_database_url


@pytest.fixture(autouse=True)
def _configured(run: object, place: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENKEEL_CONFIG", str(place[0] / "evenkeel.toml"))
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", place[1])


def test_it_says_how_far_it_is_and_what_differs(run):
    """How far it is, then of how many groups something else would have been said, and how to see all."""
    dry = run("backfill", *DAYS, "--dry-run")
    assert dry.exit_code == 0
    assert dry.stdout == "nothing was done\n"
    assert "example: 18 snapshots to judge by configuration " in dry.stderr
    assert "candidates of 9 snapshots of these" in dry.stderr
    assert run("query", "backfill_changes").exit_code == 1

    done = run("backfill", *DAYS)
    assert done.exit_code == 0
    assert done.stderr.splitlines()[-1] == "18 of 18 snapshots, through 2026-03-02 08:30:00 UTC"
    first, search, last = done.stdout.splitlines()
    assert first == "18 snapshots evaluated: 1 of 6 groups have different results"
    assert re.fullmatch(r"search-suggest: skewed load -> healthy for \d h( \d+ min)?; .*", search)
    command = re.fullmatch(r"all that differs: evenkeel (query .*)", last)
    rows = run(*command[1].split(), "--csv").stdout.splitlines()
    assert rows[0].startswith("cluster,group_id,what,then_was,now_is,snapshots,hours")
    assert rows[1].startswith("example,search-suggest,diagnosis,skewed load,healthy,")
    assert command[1].endswith(
        "--param since=2026-03-02T00:00:00Z --param until=2026-03-03T00:00:00Z"
    )


def test_a_pattern_that_fits_no_group_is_told_so(run):
    """It is no answer that nothing would have been told otherwise."""
    done = run("backfill", *DAYS, "--group", "serach-*", "--candidates-every", "none")
    assert (
        done.stdout == "18 snapshots evaluated: none has a group serach-* that could be evaluated\n"
    )


def test_where_nothing_differs_it_says_so(run):
    """Of groups that no changed rule is about."""
    done = run("backfill", *DAYS, "--group", "mail-*", "--candidates-every", "none")
    assert done.stdout == "18 snapshots evaluated: of 1 group none has different results\n"
    assert "candidates of 0 snapshots" in done.stderr


def test_what_cannot_be_done_is_one_line(run):
    """With the exit code of wrong input, and what would do."""
    wrong = run("backfill", "--cluster", "example", "--from", "2026-03-01", "--to", "2026-03-02")
    assert wrong.exit_code == 2
    assert wrong.stderr.splitlines()[-1] == (
        "evenkeel: the lake has snapshots of example only from 2026-03-02 to 2026-03-02."
        " Use --from 2026-03-02 --to 2026-03-02."
    )
    span = run("backfill", *DAYS, "--candidates-every", "often")
    assert span.exit_code == 2
    assert "'often' is no span of time" in span.stderr
