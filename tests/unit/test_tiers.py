"""The tiers split the tests: each is run, once, and the program says what became of them."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path
from types import SimpleNamespace

import pytest
from _pytest.mark.expression import Expression

from tests import tiers
from tests.stage.process import wait_until
from tests.tiers import TIERS, Tier, main, stray, write_summary

MARKS = ("airflow", "slow", "postgres", "kafka", "spark")


def test_whatever_its_marks_a_test_is_in_one_tier() -> None:
    """Every set of marks is selected by exactly one of the expressions."""
    every = chain.from_iterable(combinations(MARKS, n) for n in range(len(MARKS) + 1))
    chosen = {marks: [tier.name for tier in TIERS if tier.chooses(marks)] for marks in every}
    assert {marks: names for marks, names in chosen.items() if len(names) != 1} == {}
    assert chosen[()] == ["fast"]
    assert chosen[MARKS] == ["flow"]


def test_a_test_that_no_tier_would_run_is_seen() -> None:
    """Unmarked where only marked ones are looked for, or marked where the tier of its marks does not look."""
    assert stray("tests/integration/cli/test_x.py::test_y", {"parametrize"})
    assert stray("tests/unit/dags/test_x.py::test_y", set())
    assert not stray("tests/integration/cli/test_x.py::test_y", {"kafka"})
    assert not stray("tests/unit/cli/test_x.py::test_y", set())
    assert stray("tests/unit/cli/test_x.py::test_y", {"postgres"})
    assert not stray("tests/unit/ports/test_x.py::test_y", {"postgres"})
    assert not stray(".src/evenkeel/engine/model/groups.py::evenkeel.engine.model", set())


def test_nightly_tests_are_left_to_the_night() -> None:
    """A run takes either those that are marked so, or the others; at night every property has its turn, too."""
    fast = next(tier for tier in TIERS if tier.name == "fast")
    day, night = (
        Expression.compile(command[command.index("-m", 3) + 1])
        for command in (fast.command(Path("report"), nightly) for nightly in (False, True))
    )
    marks: list[set[str]] = [set(), {"nightly"}, {"hypothesis"}]
    assert [day.evaluate(each.__contains__) for each in marks] == [True, False, True]
    assert [night.evaluate(each.__contains__) for each in marks] == [False, True, True]


@pytest.mark.slow
def test_a_tier_that_fails_fails_the_whole_and_the_next_one_is_run(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Real runs of two small tiers, in one lane: what they print, a line for each, a failing exit code."""
    (tmp_path / "test_bad.py").write_text("def test_bad():\n    assert False\n")
    good = "import pytest\ndef test_good():\n    pass\ndef test_out():\n    pytest.skip('no')\n"
    (tmp_path / "test_good.py").write_text(good)
    made = tuple(Tier(n, "made up", "not kafka", (f"test_{n}.py",)) for n in ("bad", "good"))
    monkeypatch.setattr(tiers, "TIERS", made)
    monkeypatch.setattr(tiers, "CHECKOUT", tmp_path)
    assert main([]) == 1
    printed = capfd.readouterr().out
    *_, bad, good = printed.splitlines()
    for title, counted in (("== bad: made up\n", "1 failed"), ("== good: made up\n", "1 passed")):
        assert counted in printed.partition(title)[2]
    assert bad.split()[:7] == ["bad", "FAILED", "1", "tests,", "1", "failed,", "0"]
    assert good.split()[:8] == ["good", "ok", "2", "tests,", "0", "failed,", "1", "skipped"]
    assert main(["good"]) == 0
    assert main(["--nightly", "good"]) == 0, "a tier without nightly tests is no failure"
    with pytest.raises(SystemExit):
        main(["nosuch"])


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_ended_and_says_which_test_it_was_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The next tier of its lane is not begun."""
    began = tmp_path / "began"
    hangs = (
        f"import time\ndef test_it():\n    open({str(began)!r}, 'w').close()\n    time.sleep(600)\n"
    )
    (tmp_path / "test_hangs.py").write_text(hangs)
    made = tuple(
        Tier(n, "made up", "not kafka", ("test_hangs.py",), waits=True) for n in ("hangs", "after")
    )
    monkeypatch.setattr(tiers, "TIERS", made)
    monkeypatch.setattr(tiers, "CHECKOUT", tmp_path)

    def wait(running: list[object], seconds: float) -> SimpleNamespace:
        """The limit is over once the test hangs."""
        wait_until(began.exists, 60, "the test to begin")
        return SimpleNamespace(not_done=running, seconds=seconds)

    monkeypatch.setattr(tiers, "wait", wait)
    assert main(["--limit-minutes", "5"]) == 1
    out, told = capfd.readouterr()
    assert "test_hangs.py:4: KeyboardInterrupt" in out
    assert out.splitlines()[-1].split()[:2] == ["hangs", "FAILED"]
    assert told == "ended: it took longer than 5 minutes\n"


def test_a_nightly_run_leaves_its_summary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A row for each tier, with date and commit, in place of what was there."""
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- nightly -->\nold\n<!-- end -->\nafter\n")
    monkeypatch.setattr(tiers, "README", readme)
    write_summary([tiers.Outcome("brokers", 1, 7, 1, 0, 61.4, 30.0)])
    text = readme.read_text()
    assert "| `brokers` | FAILED | 7 tests, 1 failed, 0 skipped | 61 |" in text
    assert text.startswith("before\n<!-- nightly -->\n\nLast run: 20")
    assert text.endswith("<!-- end -->\nafter\n")
    assert "old" not in text
