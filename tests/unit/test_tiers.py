"""The tiers split the tests: each is run, once, and the program says what became of them."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

from tests import tiers
from tests.tiers import TIERS, Tier, batches, main, stray

MARKS = ("airflow", "slow", "postgres", "kafka", "spark")


def test_whatever_its_marks_a_test_is_in_one_tier() -> None:
    """Every set of marks is selected by exactly one of the expressions."""
    every = chain.from_iterable(combinations(MARKS, n) for n in range(len(MARKS) + 1))
    chosen = {
        marks: [t.name for t in TIERS if Expression.compile(t.marks).evaluate(marks.__contains__)]
        for marks in every
    }
    assert {marks: names for marks, names in chosen.items() if len(names) != 1} == {}
    assert chosen[()] == ["unit"]
    assert chosen[MARKS] == ["flow"]


def test_a_test_that_no_tier_would_run_is_seen() -> None:
    """Unmarked where only marked ones are looked for, or marked where the tier of its marks does not look."""
    assert stray("tests/integration/cli/test_x.py::test_y", {"parametrize"})
    assert stray("tests/unit/dags/test_x.py::test_y", set())
    assert not stray("tests/integration/cli/test_x.py::test_y", {"kafka"})
    assert not stray("tests/unit/cli/test_x.py::test_y", set())
    assert stray("tests/unit/cli/test_x.py::test_y", {"postgres"})
    assert not stray("tests/unit/ports/test_x.py::test_y", {"postgres"})
    assert not stray(".src/evenkeel/engine/model.py::evenkeel.engine.model", set())


def test_only_tiers_without_services_run_at_the_same_time() -> None:
    """Chosen or not, each tier is in one batch, in the order of all."""
    every = [[tier.name for tier in batch] for batch in batches([t.name for t in TIERS])]
    assert [*chain.from_iterable(every)] == [tier.name for tier in TIERS]
    assert [batch for batch in every if len(batch) > 1] == [["unit", "slow"]]
    assert [[t.name for t in batch] for batch in batches(["slow", "spark"])] == [
        ["slow"],
        ["spark"],
    ]


@pytest.mark.parametrize("beside", [False, True])
def test_a_tier_that_fails_fails_the_whole_and_the_next_one_is_run(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    beside: bool,
) -> None:
    """Real runs of two small tiers: what they print in their order, a line for each, and a failing exit code."""
    (tmp_path / "test_bad.py").write_text("def test_bad():\n    assert False\n")
    good = "import pytest\ndef test_good():\n    pass\ndef test_out():\n    pytest.skip('no')\n"
    (tmp_path / "test_good.py").write_text(good)
    made = tuple(
        Tier(n, "made up", "not kafka", (f"test_{n}.py",), beside=beside and n == "good")
        for n in ("bad", "good")
    )
    monkeypatch.setattr(tiers, "TIERS", made)
    monkeypatch.setattr(tiers, "CHECKOUT", tmp_path)
    assert main([]) == 1
    printed = capfd.readouterr().out
    *_, bad, good = printed.splitlines()
    first, second = printed.index("== bad: made up"), printed.index("== good: made up")
    assert first < printed.index("1 failed") < second < printed.index("1 passed, 1 skipped")
    assert bad.split()[:7] == ["bad", "FAILED", "1", "tests,", "1", "failed,", "0"]
    assert good.split()[:8] == ["good", "ok", "2", "tests,", "0", "failed,", "1", "skipped"]
    assert main(["good"]) == 0
    with pytest.raises(SystemExit):
        main(["nosuch"])
