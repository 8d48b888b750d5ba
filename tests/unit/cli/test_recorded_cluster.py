"""The recording of the demo: each of its groups is what it is there for, and every verb finds it by its name."""

from __future__ import annotations

import json
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


@pytest.fixture(scope="module")
def told():
    """What `advise` says of each recorded group, fourteen of every type."""
    result = CliRunner().invoke(app, ["advise", "--from", RECORDED, "--json"])
    assert result.exit_code == 0, result.output
    rows = {row["group"]: row for row in map(json.loads, result.stdout.splitlines())}
    assert len(rows) == 14
    return rows


@pytest.mark.parametrize(
    ("group", "verdict", "strategy", "words"),
    [
        ("balanced", "stay", None, "no better strategy"),
        (
            "slow-member",
            "stay",
            None,
            "slow member: no strategy that this group can deploy would help enough",
        ),
        ("hot-partition", "stay", None, "sensors-0 receives 4 records/s"),
        ("skewed-load", "stay", "roundrobin", "lag in an hour"),
        (
            "racks-ignored",
            "stay",
            None,
            "no better strategy: uniform, range-server are within the minimum gain",
        ),
        ("racks-avoidable", "stay", "sticky", "pending: evidence "),
        ("idle-members", "stay", None, "no better strategy"),
        ("empty-with-commits", "not evaluated", None, "no members (Empty)"),
        ("never-committed", "stay", None, "set auto_offset_reset in a rule"),
        ("cooperative", "stay", None, "no better strategy"),
        ("static-members", "stay", None, "no better strategy"),
        ("keeps-rebalancing", "not evaluated", None, "rebalancing"),
        (
            "streams-classic",
            "stay",
            None,
            "no better strategy: none, min_traffic, balance_subtopology",
        ),
        (
            "streams-kip1071",
            "stay",
            None,
            "no better strategy: sticky-tasks-server is within the minimum gain",
        ),
    ],
)
def test_each_group_is_told_what_it_is_there_to_show(told, group, verdict, strategy, words):
    """A verdict, the strategy if there is one, and the reason."""
    row = told[group]

    assert (row["verdict"], row["strategy"]) == (verdict, strategy)
    assert words in row["reason"]


def test_a_group_that_lost_rack_awareness_is_shown_what_is_possible(told):
    """The broker's assignors look at no rack; what would be best is named all the same."""
    rows = {row["strategy"]: row for row in told["racks-ignored"]["strategies"]}

    assert (rows["live"]["cross_rack_share"], rows["min_traffic"]["cross_rack_share"]) == (1 / 3, 0)
    assert "lost rack awareness: 33% of its partitions" in "".join(rows["live"]["findings"])


def test_drain_moves_nothing_in_a_group_that_keeps_up(told):
    """What its commits are behind is no backlog."""
    (row,) = [row for row in told["balanced"]["strategies"] if row["strategy"] == "drain"]

    assert (row["moves"], row["proof"]) == (0, "exact; no backlog: no partition moves")


def test_a_streams_application_is_replayed_task_by_task(told):
    """It runs `min_traffic` in a real Kafka: that strategy's replay moves nothing, without it more would cross."""
    rows = {row["strategy"]: row for row in told["streams-classic"]["strategies"]}

    assert (rows["min_traffic"]["feasibility"], rows["min_traffic"]["moves"]) == ("available", 0)
    assert rows["min_traffic"]["cross_rack_share"] == rows["live"]["cross_rack_share"]
    assert rows["none"]["cross_rack_share"] > rows["live"]["cross_rack_share"]
    assert rows["range"]["feasibility"] == "not applicable"


def test_the_front_door_shows_what_is_printed():
    """Line by line, of some of the groups."""
    (sample,) = re.findall(
        r"^```\n(GROUP .*?)^```", README.read_text(encoding="utf-8"), re.M | re.S
    )
    printed = CliRunner().invoke(app, ["advise", "--from", RECORDED]).stdout

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


VERBS = ("lag", "advise", "elect", "diff", "tasks", "whatif", "backtest", "report")


def call(verb: str, pattern: str) -> list[str]:
    """The verb's arguments."""
    return [verb, "--group", pattern, "--from", RECORDED]


@pytest.mark.parametrize("verb", VERBS)
def test_a_pattern_without_a_group_is_told(run, verb):
    """Exit code 1, nothing on standard output, and how many groups there are, or which name is nearly so."""
    result = run(*call(verb, "nobody-*"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no group 'nobody-*' in cluster demo (14 groups at" in result.stderr
    assert "Did you mean slow-member" in run(*call(verb, "slowmember")).stderr


@pytest.mark.parametrize(
    ("verb", "pattern", "groups"),
    [
        ("lag", "racks-*", ["racks-avoidable", "racks-ignored"]),
        ("advise", "racks-*", ["racks-avoidable", "racks-ignored"]),
        (
            *("elect", "s*"),
            ["skewed-load", "slow-member", "static-members", "streams-classic", "streams-kip1071"],
        ),
        ("diff", "s*", ["slow-member", "static-members"]),
        ("tasks", "streams-*", ["streams-classic", "streams-kip1071"]),
        ("whatif", "racks-*", ["racks-avoidable", "racks-ignored"]),
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


def test_what_is_not_known_is_nowhere_promised():
    """Its peers would have to do half as much again as they ever did: nobody says what lag that gives."""

    def rows_of(*words):
        return objects(CliRunner().invoke(app, [*words, "--from", RECORDED, "--json"]))

    [advice] = rows_of("advise", "--group", "slow-member")
    [row] = [each for each in advice["strategies"] if each["strategy"] == "balanced"]
    supposed = rows_of("whatif", "--group", "slow-member", "--strategy", "balanced")
    [balanced] = [each for each in supposed if each["strategy"] == "balanced"]

    assert (row["forecast_lag_expected"], balanced["forecast_lag_expected"]) == (None, None)
    assert balanced["forecast_utilization_expected"] is None
    assert advice["best_undeployable_reason"] is None
