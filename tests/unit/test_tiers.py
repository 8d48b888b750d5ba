"""The tiers split the tests: each is run, once."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path

from _pytest.mark.expression import Expression

from tests.tiers import TIERS, stray

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
