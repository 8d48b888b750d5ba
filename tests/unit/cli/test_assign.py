"""`evenkeel assign`: JSON lines in, JSON lines out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import objects

CASE = {
    "id": "a",
    "strategy": "range",
    "topics": {"t": {"partitions": [[], [], []]}},
    "members": [{"id": "m1", "topics": ["t"]}, {"id": "m2", "topics": ["t"]}],
}


def test_garbage_is_answered_with_an_error_in_its_place(run):
    """What is no case gets an error object, the rest is answered, and the exit code stays 0."""
    lines = [b"not json", b"\xff\xfe", b"[]", b"", json.dumps(CASE).encode(), b'{"id": 5}']
    result = run("assign", input=b"\n".join(lines))
    rows = objects(result)
    assert len(rows) == len(lines)
    assert ["error" in row for row in rows] == [True, True, True, True, False, True]
    assert rows[5]["id"] == 5
    assert result.stderr == ""


def test_no_line_is_no_answer(run):
    """Empty input is answered by nothing, with success."""
    assert objects(run("assign", input="")) == []


def test_repeat_adds_the_time_of_the_strategy(run):
    """The median in milliseconds, as a number."""
    [row] = objects(run("assign", "--repeat", "3", input=json.dumps(CASE)))
    assert row["milliseconds"] > 0


@pytest.mark.slow
def test_a_line_is_answered_before_the_next_one_comes():
    """A program may hold the other end and ask one question after the other."""
    with subprocess.Popen(
        [sys.executable, "-c", "from evenkeel.engine.cli import main; main()", "assign"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        cwd=Path(__file__).parents[3],
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for name in ("first", "second"):
            process.stdin.write(json.dumps(CASE | {"id": name}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == name
        process.stdin.close()
        assert process.wait(timeout=20) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirection", "told"), [("<&-", "there is no standard input"), ("0>/dev/null", "Bad file")]
)
def test_an_input_that_cannot_be_read_is_exit_code_2(redirection, told):
    """A closed or write-only standard input is said in one line."""
    command = (
        f'"{sys.executable}" -c "from evenkeel.engine.cli import main; main()" assign {redirection}'
    )
    root = Path(__file__).parents[3]
    ended = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=root)
    assert ended.returncode == 2
    assert told in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


WEIGHTED = Path(__file__).parents[2] / "data" / "weighted_assignor.py"
RACKED = {
    "id": "r",
    "topics": {"t": {"partitions": [["b"], ["a"], ["a"], ["b"]]}},
    "members": [
        {"id": "m1", "topics": ["t"], "rack": "a", "owned": [["t", 0], ["t", 1]]},
        {"id": "m2", "topics": ["t"], "rack": "b", "owned": [["t", 2], ["t", 3]]},
    ],
}


def asked(run, case, *options):
    """The answer to one case."""
    [row] = objects(run("assign", *options, input=json.dumps(case)))
    return row


@pytest.mark.parametrize("strategy", ["min_traffic", "balance_subtopology"])
def test_costs_of_a_plain_case_are_weighed(run, strategy):
    """Where a move is dearer than all traffic nothing moves; what is left out costs as in Kafka."""
    case = RACKED | {"strategy": strategy}
    stay = asked(run, case | {"costs": {"traffic": 1, "non_overlap": 9}})["assignment"]
    move = {"m1": [["t", 1], ["t", 2]], "m2": [["t", 0], ["t", 3]]}
    assert stay == {m["id"]: m["owned"] for m in RACKED["members"]}
    assert asked(run, case | {"costs": {"non_overlap": 2}})["assignment"] == move
    assert asked(run, case)["assignment"] == move


def test_costs_for_a_strategy_that_weighs_none_are_an_error(run):
    """They are never passed over without a word."""
    row = asked(run, RACKED | {"strategy": "range", "costs": {"traffic": 1}})
    assert row["error"].startswith("costs: range weighs none.")
    row = asked(run, RACKED | {"strategy": "min_traffic", "costs": {"traffic": -1}})
    assert row["error"].startswith("costs.traffic: ")


def lag_aware(**more):
    """A case whose answer shows what lag the strategy saw: the most lagging partition goes to `m1` alone."""
    return {
        "id": 1,
        "strategy": "lag-aware",
        "topics": {"t": {"partitions": [[], [], []], **more.pop("topic")}},
        "members": [{"id": "m1", "topics": ["t"]}, {"id": "m2", "topics": ["t"]}],
        **more,
    }


@pytest.mark.parametrize(
    ("topic", "reset", "lags"),
    [
        ({"begin": [5] * 3, "end": [9, 9, 9], "committed": [1, 5, 99]}, None, [4, 4, 0]),
        ({"begin": [0] * 3, "end": [9, 9, 9], "committed": [None, 8, 7]}, None, [0, 1, 2]),
        ({"begin": [0] * 3, "end": [9, 9, 9], "committed": [None, 8, 7]}, "earliest", [9, 1, 2]),
        ({"end": [9, 9, 9], "committed": [9, 8, 7]}, None, [0, 1, 2]),
    ],
)
def test_a_lag_follows_from_offsets_and_the_reset_policy(run, topic, reset, lags):
    """As KIP-169 says: the same answer as with the lags themselves."""
    policy = {"auto_offset_reset": reset} if reset else {}
    by_offsets = asked(run, lag_aware(topic=topic, **policy))
    assert by_offsets == asked(run, lag_aware(topic={"lags": lags}))
    assert by_offsets != asked(run, lag_aware(topic={"lags": lags[::-1]}))


@pytest.mark.parametrize(
    ("topic", "more", "told"),
    [
        ({"end": [None, 9, 9], "committed": [1, 1, 1]}, {}, "unknown"),
        ({"end": [9, 9, 9], "lags": [1, 1, 1]}, {}, "give lags, or the offsets that they follow"),
        ({"end": [9, 9]}, {}, "end has 2 entries for 3 partitions"),
        ({"end": [9] * 3}, {"auto_offset_reset": "first"}, "auto_offset_reset: use latest, earlie"),
    ],
)
def test_offsets_that_make_no_lag_are_an_error_of_the_line(run, topic, more, told):
    """An unknown end is an unknown lag, never 0; contradictions are named."""
    assert told in asked(run, lag_aware(topic=topic, **more))["error"]


READER = """
import numpy as np
from evenkeel.engine.model.assignments import Assignment, Deployment

class Reader:
    name, works_on, needs = "reader", frozenset({"partitions"}), frozenset({"user_data"})
    deployment, source = Deployment.CLASS, "this test"

    def assign(self, group):
        wants = [set((data or {}).get("owned", ())) for data in group.user_data]
        takers = [next(m for m, want in enumerate(wants) if p in want) for p in range(group.partition_count)]
        return Assignment(owner=np.array(takers, np.int32))
"""


@pytest.mark.parametrize("place", ["reader.py", "reader:Reader"])
def test_a_custom_strategy_by_place_gets_the_user_data_of_members(
    run, tmp_path, monkeypatch, place
):
    """Whatever its user data is made of; only our own strategies demand a form of it."""
    (tmp_path / "reader.py").write_text(READER)
    monkeypatch.delitem(sys.modules, "reader", raising=False)
    members = [
        {"id": "m1", "topics": ["t"], "user_data": {"owned": [2], "zone": "a"}},
        {"id": "m2", "topics": ["t"], "user_data": {"owned": [0, 1]}},
    ]
    case = CASE | {"members": members, "strategy": "reader"}
    answered = asked(run, case, "--strategy", place)
    assert answered["assignment"] == {"m1": [["t", 2]], "m2": [["t", 0], ["t", 1]]}
    refused = asked(run, case | {"strategy": "sticky"})
    assert refused["error"].startswith("user_data of member 'm1': owned")


@pytest.mark.parametrize("verb", [["advise"], ["elect", "--member", "c1=range"]])
def test_a_strategy_by_place_is_known_to_the_other_verbs_too(run, recording, verb):
    """A row of the scoreboard, and a strategy that one can plan the way to."""
    if verb == ["advise"]:
        [row] = objects(
            run(
                "advise", "--from", recording, "--group", "uneven", "--json", "--strategy", WEIGHTED
            )
        )
        assert row["strategies"][-1]["strategy"] == "weighted"
    else:
        [row] = objects(run(*verb, "--to", f"{WEIGHTED}:Weighted", "--json"))
        assert row["plan"]["target"] == "weighted"


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (
            "rnage",
            "there is no strategy 'rnage'. Did you mean range? Known: live, ",
        ),
        ("twice.py", "twice.py has A, B. Name one class: twice.py:Class."),
        ("empty.py", "empty.py has no class with a method assign."),
        ("taken.py", "the name 'range' is taken by a strategy of evenkeel."),
    ],
)
def test_a_strategy_that_cannot_be_loaded_is_told_before_anything_is_read(
    run, tmp_path, place, told
):
    """Exit code 2 and one line, the same in every verb."""
    (tmp_path / "twice.py").write_text(
        "class A:\n def assign(self, group): ...\nclass B(A):\n pass\n"
    )
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "taken.py").write_text(READER.replace('"reader"', '"range"'))
    for call in (["assign", "--strategy"], ["advise", "--from", "nothing", "--strategy"]):
        result = run(*call, place, input="")
        assert (result.exit_code, result.stdout) == (2, "")
        assert told in result.stderr
