"""A group is a name or a shell pattern in every verb; one that is not there is told with the names that are near."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import objects

pytestmark = pytest.mark.slow

RECORDED = Path(__file__).parents[2] / "data" / "cluster-recording.evenkeel"
VERBS = (
    ("lag", "--group"),
    ("advise", "--group"),
    ("elect", None),
    ("diff", None),
    ("tasks", None),
    ("whatif", None),
)


def call(verb: str, option: str | None, pattern: str) -> list[str]:
    """The verb's arguments."""
    return [verb, *([option] if option else []), pattern, "--from", str(RECORDED)]


@pytest.mark.parametrize(("verb", "option"), VERBS)
def test_a_pattern_without_a_group_is_told(run, verb, option):
    """Exit code 1, nothing on standard output, and how many groups there are, or which name is nearly so."""
    result = run(*call(verb, option, "nobody-*"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no group of cluster demo matches 'nobody-*' (14 groups at" in result.stderr
    assert "Did you mean slow-member" in run(*call(verb, option, "slowmember")).stderr


@pytest.mark.parametrize(
    ("verb", "option", "pattern", "groups"),
    [
        ("lag", "--group", "racks-*", ["racks-avoidable", "racks-ignored"]),
        ("advise", "--group", "racks-*", ["racks-avoidable", "racks-ignored"]),
        ("elect", None, "racks-*", ["racks-avoidable", "racks-ignored"]),
        ("diff", None, "s*", ["slow-member", "static-members"]),
        ("tasks", None, "streams-*", ["streams-classic", "streams-kip1071"]),
        ("whatif", None, "racks-*", ["racks-avoidable", "racks-ignored"]),
    ],
)
def test_a_pattern_means_every_group_that_matches(run, verb, option, pattern, groups):
    """Each of them is in the answer."""
    rows = objects(run(*call(verb, option, pattern), "--json"))
    told = {row["group"] for row in rows}
    assert told >= set(groups) if verb != "diff" else told <= {*groups, "streams-classic"}
    shown = run(*call(verb, option, pattern)).stdout
    assert all(name in shown for name in groups)


def test_a_group_of_a_pattern_that_cannot_be_shown_is_told_beside_the_others(run):
    """Of several groups those that have tasks are shown."""
    result = run(*call("tasks", None, "s*"))
    assert result.exit_code == 0
    assert "left out: group slow-member is no Kafka Streams application" in result.stderr
    assert "streams-classic: 12 tasks on 2 clients" in result.stdout


def test_a_pattern_of_which_no_group_can_be_shown_fails(run):
    """Exit code 1, each with its reason and then how many there were."""
    result = run(*call("tasks", None, "r*"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith("evenkeel: none of 2 matching groups could be shown.\n")
