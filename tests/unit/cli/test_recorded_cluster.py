"""The recording of the demo: each of its groups is what it is there for, and every verb finds it by its name."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evenkeel.engine.cli import app
from tests.helpers import made_tables
from tests.unit.cli.conftest import RECORDED, objects

pytestmark = pytest.mark.slow

README = Path(__file__).parents[3] / "README.md"

ON_PAGES = sorted(
    {
        found[1]
        for page in made_tables.written()
        for found in re.finditer(
            r"^ {4}(?:\.venv/bin/)?evenkeel (.* --from tests/data/cluster-recording\.evenkeel\b.*)",
            page.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    }
)
"""What the documents show to type about the recording, after `evenkeel`."""


def test_a_streams_application_is_replayed_task_by_task(told):
    """It runs `min_traffic` in a real Kafka: that strategy's replay moves nothing, without it more would cross."""
    asked = ("advise", "--group", "streams-classic", "--from", RECORDED, "--json")
    [group] = objects(told(*asked))
    rows = {row["strategy"]: row for row in group["strategies"]}

    assert (rows["min_traffic"]["feasibility"], rows["min_traffic"]["moves"]) == ("available", 0)
    assert rows["min_traffic"]["cross_rack_share"] == rows["live"]["cross_rack_share"]
    assert rows["none"]["cross_rack_share"] > rows["live"]["cross_rack_share"]
    assert rows["range"]["feasibility"] == "not applicable"


def test_the_front_door_shows_what_is_printed(told):
    """Line by line, of some of the groups."""
    (sample,) = re.findall(
        r"^```\n(GROUP .*?)^```", README.read_text(encoding="utf-8"), re.M | re.S
    )
    printed = told("advise", "--from", RECORDED).stdout

    assert sample.splitlines()
    assert [line for line in sample.splitlines() if line not in printed.splitlines()] == []


@pytest.mark.parametrize("command", ON_PAGES)
def test_what_the_documents_show_to_type_can_be_typed(command, monkeypatch, tmp_path):
    """As it is on the page, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    words = shlex.split(
        command.replace("tests/data/cluster-recording.evenkeel", str(RECORDED)), True
    )
    result = CliRunner().invoke(app, words)

    assert result.exit_code == 0, result.output
    assert (
        "skewed-load" in result.stdout or "racks-avoidable" in result.stdout or words[0] == "report"
    )


VERBS = ("lag", "diff", "backtest")


def call(verb: str, pattern: str) -> list[str]:
    """The verb's arguments."""
    return [verb, "--group", pattern, "--from", RECORDED]


@pytest.mark.parametrize("verb", VERBS)
def test_a_pattern_without_a_group_is_told(told, verb):
    """Exit code 1, nothing on standard output, and how many groups there are, or which name is nearly so."""
    result = told(*call(verb, "nobody-*"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no group 'nobody-*' in cluster demo (14 groups at" in result.stderr
    assert "Did you mean slow-member" in told(*call(verb, "slowmember")).stderr


@pytest.mark.parametrize(
    ("verb", "pattern", "groups"),
    [
        ("lag", "racks-*", ["racks-avoidable", "racks-ignored"]),
        (
            *("elect", "s*"),
            ["skewed-load", "slow-member", "static-members", "streams-classic", "streams-kip1071"],
        ),
        ("diff", "s*", ["slow-member", "static-members"]),
        ("tasks", "streams-*", ["streams-classic", "streams-kip1071"]),
    ],
)
def test_a_pattern_means_every_group_that_matches(run, verb, pattern, groups):
    """Each of them is in the answer."""
    rows = objects(run(*call(verb, pattern), "--json"))
    told = list(dict.fromkeys(row["group"] for row in rows))
    assert told == sorted(told)
    assert told == groups if verb != "diff" else {*told} <= {*groups, "streams-classic"}
    shown = run(*call(verb, pattern)).stdout
    assert all(name in shown for name in groups)


def test_a_group_of_a_pattern_that_cannot_be_shown_is_told_beside_the_others(run):
    """Of several groups those that have tasks are shown."""
    result = run(*call("tasks", "s*"))
    assert result.exit_code == 0
    assert "left out: group slow-member is no Kafka Streams application" in result.stderr
    assert "streams-classic: 12 tasks on 2 clients" in result.stdout


def test_a_pattern_of_which_no_group_can_be_shown_fails(run):
    """Exit code 1, each with its reason and then how many there were."""
    result = run(*call("tasks", "r*"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith("evenkeel: none of 2 matching groups could be shown.\n")


def test_advice_runbook_and_election_give_one_price():
    """The records that are delayed, and how many members are restarted, are the same whoever is asked."""

    def asked(*words):
        return CliRunner().invoke(app, [*words, "--group", "skewed-load", "--from", RECORDED])

    [advice] = objects(asked("advise", "--json"))
    [price] = [row for row in advice["strategies"] if row["strategy"] == "roundrobin"]
    [runbook] = objects(asked("runbook", "--strategy", "roundrobin", "--json"))
    [election] = objects(asked("elect", "--to", "roundrobin", "--json"))

    [round_] = runbook["ways"][0]["rounds"]
    assert round_["waiting_offsets"] == price["price_held_up_offsets"]
    assert price["price_restarts"] == runbook["members"] == election["plan"]["members"]
    assert f"{price['price_restarts']} restarts delay about 1,080 records" in advice["reason"]
    assert "~1,100 records delayed" in asked("advise").stdout
    assert "about 1,100 records are delayed" in asked("runbook", "--strategy", "roundrobin").stdout


def test_a_diagnosis_comes_with_what_to_do():
    """In the words of its alert, whoever is asked; a healthy group needs none."""

    def asked(*words):
        result = CliRunner().invoke(app, [*words, "--from", RECORDED])
        return " ".join((result.stdout + result.stderr).split())

    action = "Compare the host of slow-member-3 with its peers."
    for verb in ("lag", "advise", "runbook"):
        assert action in asked(verb, "--group", "slow-member")
    assert "Action" not in asked("advise", "--group", "cooperative")
