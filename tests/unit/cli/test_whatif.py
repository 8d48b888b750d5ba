"""`evenkeel whatif`: other members, partitions, racks and capacities, of recorded and of made-up groups."""

from __future__ import annotations

import json

import pytest

from tests.helpers.snapshots import group, make_snapshot, member, topic
from tests.unit.cli.conftest import RECORDED, lacking, objects

pytestmark = pytest.mark.slow


@pytest.fixture
def asked(run):
    """Ask about a recorded group."""
    return lambda *arguments, **more: run(
        "whatif", "--group", *arguments, "--from", RECORDED, **more
    )


@pytest.fixture
def made(kept):
    """A lake with one group whose members share a client id, and one that nobody is in."""
    members = [
        member(f"app-{n}", ["t"], {"t": [2 * n, 2 * n + 1]}, client_id="app", client_host=host)
        for n, host in enumerate(["/h1", "/h2", "/h2"])
    ]
    groups = [
        group("g", members=members, lag={"t": 0}, assignor="cooperative-sticky"),
        group("nobody", lag={"t": 1}),
    ]
    return kept(make_snapshot(topics=[topic("t", 6)], groups=groups))


def test_moves_are_listed_if_asked(asked):
    """With `--wide`; the rest of what is printed is among the tables that were reviewed."""
    options = ("--without", "skewed-load-2")
    moves = "  baskets-2: skewed-load-2 -> skewed-load-3"
    assert moves not in asked("skewed-load", *options).stdout.splitlines()
    assert moves in asked("skewed-load", *options, "--wide").stdout.splitlines()


def test_what_was_assumed_stands_below(asked):
    """Who leaves, who joins and what it can do, how a topic grows."""
    shown = asked(
        *("skewed-load", "--without", "skewed-load-2", "--members", "+2", "--rack", "new=a,b"),
        *("--partitions", "visits=8", "--capacity", "skewed-load-1=9"),
    ).stdout
    told = """
    Assumed: Replayed for the next rebalance of the group, with its present assignment: range.
    … Replayed for a fresh assignment, as after a restart of all members: roundrobin, sticky,
    … skewed-load-2 leaves. … new-1, new-2 join, sorted by that name
    … New members subscribe to baskets, payments, visits, as all others do.
    … New members can process 6 records/s, the median of their peers.
    … Topic visits has 8 partitions, 4 of them new: incoming records are spread evenly
    … new-1 is in rack a, which has no known replica. … new-2 is in rack b, which has no known replica.
    … skewed-load-1 processes 9 records/s.
    """
    assert lacking(shown, told) is None


def test_who_leaves_is_said_where_nobody_says_who(asked):
    """The highest number, and of static members how long it takes."""
    shown = asked("static-members", "--members", "-1").stdout
    assert "static-members-3 leaves: the last by name" in shown
    assert "static-members-3 is a static member: its partitions pause until" in shown


def test_what_the_group_runs_is_said_where_it_is_not_asked(asked, run, kept):
    """Because others were named, or because nobody but its members knows it."""
    shown = asked("skewed-load", "--strategy", "sticky").stdout
    assert "  The strategy of the group, range, is not replayed here.\n" in shown
    own = group("g", members=2, lag={"t": 0}, assignor="acme")
    lake = kept(make_snapshot(topics=[topic("t", 6)], groups=[own]))
    shown = run("whatif", "--group", "g", "--from", lake, "--members", "+1").stdout
    assert "(rebalanced)" not in shown
    assert "  The strategy of the group, acme, is not replayed here.\n" in shown


@pytest.fixture
def planned(run, kept):
    """Ask about a group that follows a plan, and one that does not."""
    rows = [
        member(name, ["t"], {"t": owned}, instance_id=name, follows="balanced")
        for name, owned in {"app-1": [0], "app-2": [1, 2, 3], "app-3": [4, 5]}.items()
    ]
    own = [
        group("g", members=rows, lag={"t": 0}, assignor="evenkeel-plan"),
        group("other", members=2, lag={"t": 0}),
    ]
    lake = kept(make_snapshot(topics=[topic("t", 6)], groups=own))
    return lambda *options, **more: run("whatif", "--group", *options, "--from", lake, **more)


def plan_file(folder, *, group="g", fallback="range"):
    """A plan of g as it is stored."""
    members = [
        {"instance_id": name, "partitions": {"t": owned}}
        for name, owned in {"app-1": [0], "app-2": [1, 2, 3], "app-3": [4, 5]}.items()
    ]
    times = {"made_at": "2026-03-01T11:00:00Z", "valid_until": "2026-03-08T11:00:00Z"}
    plan = {"schema": "evenkeel-plan/1", "group": group, "fallback": fallback, "members": members}
    path = folder / "plan.json"
    path.write_text(json.dumps(plan | times))
    return path


def test_a_group_that_follows_a_plan_gets_what_its_followers_give(planned, tmp_path):
    """First in the table, with its moves and the plan that was supposed."""
    shown = planned("g", "--without", "app-1", "--wide").stdout
    told = """
    What if: g (test) with evenkeel-plan, … The plan of the group (by balanced) is
    … Moves with evenkeel-plan: 1 partition t-0: app-1 -> app-3
    """
    assert lacking(shown, told) is None
    shown = planned("g", "--without", "app-1", "--plan", plan_file(tmp_path), "--wide").stdout
    told = """
    The group follows the given plan; range assigns the partitions that it leaves out. … t-0: app-1 -> app-2
    """
    assert lacking(shown, told) is None
    alone = objects(planned("g", "--strategy", "evenkeel-plan", "--json"))
    assert [one["strategy"] for one in alone] == ["live", "evenkeel-plan"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["other", "--plan", "plan.json"], "group other follows no plan: it runs range."),
        (["g", "--plan", "of-another.json"], "the plan is made for group 'other', this is 'g'."),
        (["g", "--plan", "broken.json"], "--plan broken.json is no plan: it is no JSON object."),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(planned, tmp_path, monkeypatch, options, problem):
    """A group that follows none, another group's, no plan."""
    monkeypatch.chdir(tmp_path)
    plan_file(tmp_path, group="other").rename("of-another.json")
    plan_file(tmp_path)
    (tmp_path / "broken.json").write_text("[]")
    refused = planned(*options)
    assert refused.exit_code == 2
    assert problem in refused.stderr


def test_json_has_one_object_per_strategy(asked):
    """The group as it is, then each with its assignment as `evenkeel assign` writes it, and figures by their names."""
    today, first, *others = objects(asked("skewed-load", "--members", "-1", "--json"))
    assert (today["strategy"], today["members"], today["moves"]) == ("live", 3, 0)
    assert (first["strategy"], first["is_running"], first["members"]) == ("range", True, 2)
    assert sorted(len(pairs) for pairs in first["assignment"].values()) == [6, 6]
    assert all(
        isinstance(number, int) for pairs in first["assignment"].values() for _, number in pairs
    )
    assert first["forecast_lag_low"] <= first["forecast_lag_expected"] <= first["forecast_lag_high"]
    assert first["diagnosis"] == "skewed load"
    assert {row["strategy"] for row in others} >= {"roundrobin", "sticky", "cooperative-sticky"}
    assert len(first["moved"]) == first["moves"] == 3
    assert first["assumed"]


def test_the_assignment_is_the_answer_of_assign(asked, run):
    """A case that owns what the others have now gets the same from `evenkeel assign --settled`."""
    rows = objects(asked("cooperative", "--without", "cooperative-2", "--json"))
    today, first = rows[0], rows[1]
    stay = [name for name in today["assignment"] if name in first["assignment"]]
    own = {"topics": ["inventory"], "generation": 1}
    case = {
        "id": 1,
        "strategy": "cooperative-sticky",
        "topics": {"inventory": {"partitions": [[]] * 7}},
        "members": [{"id": name, "owned": today["assignment"][name]} | own for name in stay],
    }
    [answer] = objects(run("assign", "--settled", input=json.dumps(case) + "\n"))
    assert first["strategy"] == "cooperative-sticky"
    assert answer["assignment"] == first["assignment"]


def test_only_the_named_strategies_are_asked(asked):
    """The one that it runs first, whatever order they are named in; also one that it could not run."""
    named = ("--strategy", "uniform", "--strategy", "range", "--strategy", "min_traffic")
    _, *rows = objects(asked("balanced", *named, "--json"))
    assert [row["strategy"] for row in rows] == ["range", "uniform", "min_traffic"]


def test_a_strategy_without_an_answer_says_why(asked):
    """Its cells are empty, not 0."""
    result = asked("skewed-load", "--strategy", "min_traffic")
    told = "Not available for this group: min_traffic: a missing rack switches it off"
    assert lacking(result.stdout, told) is None
    [_, row] = objects(asked("skewed-load", "--strategy", "min_traffic", "--json"))
    assert (row["assignment"], row["moves"], row["diagnosis"]) == (None, None, None)
    assert (row["feasibility"], row["moved"]) == ("not applicable", [])


def test_a_member_has_three_names(run, made):
    """Its id, the short name that is shown, and a client id that is its own."""
    for name in ("app-0", "app at h1"):
        _, first, *_ = objects(
            run("whatif", "--group", "g", "--from", made, "--without", name, "--json")
        )
        assert set(first["assignment"]) == {"app-1", "app-2"}


def test_a_client_id_that_several_have_is_no_name(run, made):
    """All of them are listed with their ids."""
    result = run("whatif", "--group", "g", "--from", made, "--without", "app")
    told = """
    --without app means 3 members: app at h1 (app-0), app at h2 #1 (app-1), app at h2 #2 (app-2). Name one by its
    member id.
    """
    assert (result.exit_code, lacking(result.stderr, told)) == (2, None)


def test_of_many_groups_those_that_cannot_be_rehearsed_are_told(asked):
    """Of whose members no rack is known, and who would end with the racks; the others are shown."""
    shown = asked("[bs]*d", "--without-rack", "rack-a", "--strategy", "range")
    assert (shown.exit_code, "What if: balanced" in shown.stdout) == (0, True)
    told = "left out: --without-rack rack-a: the rack of no member of skewed-load is known. Set client.rack on them"
    assert lacking(shown.stderr, told) is None
    racks = [each for rack in "abc" for each in ("--without-rack", f"rack-{rack}")]
    ended = asked("balanced", *racks)
    told = "without 3 no member would be left. Add members: --members +1 --rack new=RACK."
    assert (ended.exit_code, lacking(ended.stderr, told)) == (1, None)


def test_of_an_application_json_has_every_task(asked):
    """Owners and copies by the names of instances, and the settings that are supposed."""
    options = (
        "--set",
        "streams.num.standby.replicas=1",
        "--without",
        "streams-kip1071-1",
        "--json",
    )
    now, then = objects(asked("streams-kip1071", *options))

    assert (now["strategy"], now["moves"], now["assumed"]) == ("live", None, [])
    assert (then["strategy"], then["moves"], len(then["moved"])) == ("sticky-tasks-server", 6, 6)
    assert set(then["active"].values()) == {"streams-kip1071-2"}
    assert {each["from"] for each in then["moved"]} == {"streams-kip1071-1"}
    assert [each["tasks"] for each in then["on"]] == [12]
    assert "num_standby_replicas=1 is set on all members" in then["assumed"]
