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


def test_each_line_is_answered_in_order(run):
    """One object per line of input, under the id it came with."""
    cases = "\n".join(json.dumps(CASE | {"id": name}) for name in ("a", "b"))
    rows = objects(run("assign", input=cases))
    assert [row["id"] for row in rows] == ["a", "b"]
    assert rows[0]["assignment"] == {"m1": [["t", 0], ["t", 1]], "m2": [["t", 2]]}


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
