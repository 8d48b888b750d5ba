"""The files of `sql`: each says what it is, and the loader reads what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from evenkeel import sql
from evenkeel.engine.model.states import REBALANCING
from tests.helpers import cookbook

ROOT = Path(__file__).resolve().parents[3]
QUERIES = sorted(sql.queries())
STATEMENTS = sorted(sql.statements())


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_reads_like_documentation(name: str) -> None:
    """A query begins with the question it answers and what a row is; it describes its parameters and no other."""
    query = sql.queries()[name]
    assert re.match(r"(What|Which|Who|Where|Why|How|Are) .*\? .*One row", query.summary)
    used = set().union(*map(sql.bound, query.parts))
    assert {p.name for p in query.parameters} == used
    assert all(p.type and p.meaning and p.meaning.endswith(".") for p in query.parameters)


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_casts_its_parameters_to_their_types(name: str) -> None:
    """A parameter is cast to its described type wherever it is used, so that null and text from a command line work."""
    query = sql.queries()[name]
    (code,) = query.parts
    for parameter in query.parameters:
        cast = f"CAST(:{parameter.name} AS {parameter.type})"
        assert code.count(f":{parameter.name}") == code.count(cast) > 0


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_says_what_it_does(name: str) -> None:
    """An internal statement begins with a sentence, and what it describes as a parameter it uses."""
    statement = sql.statements()[name]
    assert statement.text.startswith("-- ")
    assert statement.summary.endswith((".", ":"))
    used = set().union(*map(sql.bound, statement.parts))
    assert {p.name for p in statement.parameters} == used


def test_every_statement_is_used() -> None:
    """Each internal statement is named by the code that runs it."""
    code = "\n".join(
        file.read_text(encoding="utf-8")
        for folder in ("engine", "dags")
        for file in sorted((ROOT / folder).rglob("*.py"))
    )
    assert [name for name in STATEMENTS if f'"{name}"' not in code] == []


def test_a_statement_that_is_all_of_a_method_has_its_name() -> None:
    """What a method of a port executes in a transaction of its own stands in the file of the method's name."""
    called = re.compile(r"def (\w+)\(|self\._execute\(\s*\"(\w+)\"")
    pairs = []
    for file in sorted((ROOT / "engine" / "adapters" / "postgres").glob("*.py")):
        method = ""
        for name, statement in called.findall(file.read_text(encoding="utf-8")):
            method = name or method
            pairs += [(method, statement)] if statement else []

    assert len(pairs) > 10
    assert [pair for pair in pairs if pair[0] != pair[1]] == []


def test_views_say_what_a_row_is_and_come_after_what_they_read() -> None:
    """A view begins with what a row is, is named as its file, and follows the views it reads from."""
    names = list(sql.views())
    for name, text in sql.views().items():
        assert text.startswith("-- One row per ")
        assert f"CREATE OR REPLACE VIEW {name} AS" in text
        code = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
        mentioned = [n for n in names if n != name and re.search(rf"\b{n}\b", code)]
        assert all(names.index(n) < names.index(name) for n in mentioned)


def test_migrations_are_numbered_without_a_gap() -> None:
    """The migrations are 0001, 0002, ..., each after the one before it."""
    scripts = ScriptDirectory(str(sql.MIGRATIONS))
    found = [(each.revision, each.down_revision) for each in scripts.walk_revisions()][::-1]
    numbers = [f"{n:04}" for n in range(1, len(found) + 1)]
    assert found == list(zip(numbers, [None, *numbers], strict=False))
    assert all(Path(each.path).stem.startswith(each.revision) for each in scripts.walk_revisions())


def test_parameters_have_defaults_types_and_meanings() -> None:
    """The header tells which parameter must be given, and what the others are without being given."""
    by_name = {p.name: p for p in sql.queries()["lag_history"].parameters}
    assert by_name["group"].required
    assert (by_name["cluster"].required, by_name["cluster"].default) == (False, None)
    assert (by_name["hours"].default, by_name["hours"].type) == ("24", "double precision")


def test_a_file_of_several_statements_is_split_at_their_ends() -> None:
    """Statements are executed one by one; comment lines belong to none of them."""
    parts = sql.statements()["expire"].parts
    assert [part.split()[:3] for part in parts] == [
        ["DELETE", "FROM", "step_run"],
        ["DELETE", "FROM", "silence"],
        ["DELETE", "FROM", "alert"],
        ["DELETE", "FROM", "incident"],
        ["SELECT", "cluster", "FROM"],
        ["UPDATE", "advice", "SET"],
        ["DELETE", "FROM", "consumer_group"],
        ["DELETE", "FROM", "member_span"],
        ["DELETE", "FROM", "snapshot"],
    ]


def test_sql_knows_the_states_in_which_members_are_not_compared() -> None:
    """They are those in which metrics have no row of a member: a new one in the model must be one wherever one is."""
    listed = [
        (path.name, set(re.findall(r"'(\w+)'", states)))
        for path in sorted((ROOT / "sql").rglob("*.sql"))
        for states in re.findall(r"state (?:NOT )?IN \(([^)]*)\)", path.read_text())
        if "Rebalance" in states
    ]
    assert listed == [("functions.sql", REBALANCING)]


def test_each_question_of_the_cookbook_is_answered_by_one_query() -> None:
    """Those that people ask over time; nothing is answered twice under two names."""
    asked = [example.query for example in cookbook.EXAMPLES]
    assert asked[:7] == [
        "worse_groups",
        "advice_totals",
        "advice_totals",
        "strategy_wins",
        "strategy_history",
        "strategy_history",
        "open_switches",
    ]
    assert {"members", "churn", "rack_cost_daily", "advice_scorecard"} <= set(asked)
    questions = [query.summary.partition("? ")[0] for query in sql.queries().values()]
    assert len(set(questions)) == len(questions)


def test_a_query_of_a_period_takes_its_end() -> None:
    """Whoever can say how long a period is, or when it begins, can say when it ends; without it, it ends now."""
    periods = {"hours", "days", "since"}
    for name, query in sql.queries().items():
        parameters = {p.name: p for p in query.parameters}
        moments = [p for p in parameters.values() if p.name in ("since", "until", "at")]
        assert {p.type for p in moments} <= {"timestamptz"}, name
        ends = parameters.keys() & {"until", "at"}
        assert bool(ends) == bool(periods & parameters.keys()), name
        for until in ends - {"at"}:
            assert parameters[until].default is None, name
            assert not parameters[until].required, name
            assert "null for now" in (parameters[until].meaning or ""), name
