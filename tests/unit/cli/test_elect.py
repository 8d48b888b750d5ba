"""`evenkeel elect`: made-up groups, groups of a recording or a live cluster, and the way to another strategy."""

from __future__ import annotations

import re

import pytest

from tests.unit.cli.conftest import RECORDED, lacking, objects


@pytest.fixture
def asked(run):
    """What is printed of a group of the recording; the only object with `--json`."""

    def ask(*arguments):
        given = ["elect", "--group", *arguments, "--from", RECORDED]
        if "--json" not in arguments:
            return run(*given).stdout
        [row] = objects(run(*given))
        return row

    return ask


def cells(text, name):
    """The cells of the line that starts with this word."""
    line = next(one for one in text.splitlines() if one.startswith(f"{name} "))
    return re.split(r" {2,}", line)


def test_a_made_up_group_elects_refuses_and_leads(run):
    """In the order of the options: c3 shares nothing with those before it."""
    given = ["c1=range,CooperativeStickyAssignor", "c2=range", "c3=sticky"]
    options = [word for one in given for word in ("--member", one)]

    [row] = objects(run("elect", *options, "--json"))

    assert (row["elected"], row["candidates"], row["votes"]) == ("range", ["range"], {"range": 2})
    assert (row["leader"], row["next_leader"]) == ("c1", "c2")
    assert [(m["member"], m["vote"], m["refused"]) for m in row["members"]] == [
        ("c1", "range", False),
        ("c2", "range", False),
        ("c3", None, True),
    ]
    assert row["members"][0]["assignors"] == ["range", "cooperative-sticky"]


def test_an_id_may_hold_an_equals_sign(run):
    """The list is what stands behind the last one."""
    [row] = objects(run("elect", "--member", "a=b=range", "--json"))

    assert row["members"][0]["member"] == "a=b"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "--member a=cooperative-sticky,range --member b=cooperative-sticky",
            "1 of 2 members list eager strategies with cooperative-sticky",
        ),
        # it may be somebody's own class, or a slip
        ("--member a=rnage", "Elected rnage … rnage is not a known strategy"),
    ],
)
def test_what_is_odd_about_lists_is_said(run, line, told):
    """One that keeps Java members from cooperating, and one that nobody knows."""
    assert lacking(run("elect", *line.split()).stdout, told) is None


def test_where_nothing_has_to_be_done_the_plan_says_so(run):
    """No empty table."""
    text = run("elect", "--member", "a=range", "--to", "RangeAssignor").stdout

    assert text.rstrip().endswith("The group already runs this strategy: no step is needed.")


def test_a_plan_is_an_object_too(run):
    """Steps with their setting, their lists and their stages, and how many restarts are needed."""
    [row] = objects(run("elect", "--member", "a=range,sticky", "--to", "sticky", "--json"))

    assert row["plan"]["restarts"] == 1
    [step] = row["plan"]["steps"]
    assert step["lists"] == ["sticky", "range"]
    assert step["stages"] == [
        {"first": 1, "last": 1, "elected": "sticky", "members": 1, "refused": 0}
    ]


def test_without_lists_only_what_the_broker_says_is_known(asked):
    """A real recording: the election is unknown, and who would lead next is the first of the broker's order."""
    row = asked("slow-member", "--json")

    assert (row["runs"], row["elected"], row["votes"], row["leader"]) == ("range", None, None, None)
    assert {m["assignors"] for m in row["members"]} == {None}
    assert row["coordinator_order"] == [m["member"] for m in row["members"]]
    assert "VOTE" not in asked("slow-member")


def test_lists_of_the_command_line_are_every_members_and_beat_configuration(asked, tmp_path):
    """What is typed now counts."""
    (tmp_path / "evenkeel.toml").write_text('[[rules]]\nassignors = ["sticky", "range"]\n')
    configured = asked("slow-member", "--json")
    typed = asked("slow-member", "--assignors", "range,sticky", "--json")

    assert (configured["lists_said_by"], configured["elected"]) == ("configuration", "sticky")
    assert "it runs range, but its lists elect sticky: check them" in configured["remarks"]
    assert (typed["lists_said_by"], typed["elected"]) == ("command line", "range")
    assert typed["remarks"] == []


def test_patterns_that_do_not_fit_all_members_leave_the_election_unknown(asked, tmp_path):
    """How many are missing is said; the others' lists are shown."""
    (tmp_path / "evenkeel.toml").write_text(
        '[[rules]]\nassignors = {"slow-member-1" = ["range", "sticky"]}\n'
    )
    text = asked("slow-member")

    assert "the lists of 2 of 3 members are not known: no pattern matches them" in text
    assert cells(text, "slow-member-1")[1:] == ["range, sticky", "?"]
    assert cells(text, "slow-member-2")[1:] == ["?", "?"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "racks-ignored",
            "a KIP-848 group: it elects nothing and has no leader, its broker assigns by uniform",
        ),
        ("streams-kip1071", "a Streams group (KIP-1071)"),
        ("empty-with-commits", "as consumers do that call assign()"),
    ],
)
def test_a_group_that_elects_nothing_says_why(asked, name, words):
    """And claims no leader."""
    row, text = asked(name, "--assignors", "range", "--json"), asked(name)

    assert words in row["remarks"][0]
    assert (row["elected"], row["coordinator_order"], row["lists_said_by"]) == (None, None, None)
    assert lacking(text, f"Elected nothing … Note … {words}") is None
    assert "Leader" not in text


def test_a_kip_848_group_has_no_way_to_a_strategy_of_clients(asked):
    """Its broker assigns."""
    row = asked("racks-ignored", "--json", "--to", "sticky")

    assert row["plan"] is None
    assert any("does not assign by 'sticky'" in remark for remark in row["remarks"])


def test_a_group_that_rebalances_has_an_election_but_no_present_strategy(asked):
    """What it has elected is not told meanwhile; its members' lists still decide."""
    given = ("keeps-rebalancing", "--to", "sticky", "--json")
    unknown, known = asked(*given), asked(*given, "--assignors", "range")

    assert "Elected   unknown; votes unknown" in asked("keeps-rebalancing")
    assert unknown["plan"] is None
    assert any("the steps to sticky are not known" in remark for remark in unknown["remarks"])
    assert (known["runs"], known["elected"], known["plan"]["present"]) == (None, "range", "range")
