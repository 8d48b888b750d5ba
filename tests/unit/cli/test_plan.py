"""`evenkeel plan`: what a group's members shall get, as a file for followers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evenkeel.engine.followers.plan import Plan, read_plan
from tests.helpers.snapshots import group, make_snapshot, member, topic
from tests.unit.cli.conftest import lacking, objects, words_of


def owners(plan: Plan) -> dict[tuple[str, int], str]:
    """Partition -> member id."""
    return {pair: str(one.member_id) for one in plan.members for pair in one.pairs}


def test_a_plan_is_what_advise_says_a_strategy_would_give(run, told, recording):
    """Its moves and no other; who has what now, changed by them, is the plan."""
    asked = ("advise", "--group", "uneven", "--from", recording, "--tradeoff", "--json")
    (row,) = objects(told(*asked))
    least = next(each for each in row["strategies"] if each["strategy"] == "min_traffic")
    moved = {(m["topic"], m["partition"]): m["to_member"] for m in least["moved"]}
    now = owners(
        read_plan(
            run("plan", "--group", "uneven", "--from", recording, "--strategy", "live").stdout
        )
    )

    result = run("plan", "--group", "uneven", "--from", recording, "--strategy", "min_traffic")

    assert result.exit_code == 0, result.output
    plan = read_plan(result.stdout)
    assert owners(plan) == now | moved
    assert len(moved) == least["moves"] > 0
    assert (plan.group, plan.strategy) == ("uneven", "min_traffic")
    assert plan.valid_until - plan.made_at == timedelta(days=7)
    assert {name: topic.partitions for name, topic in plan.topics.items()} == {"orders": 6}
    assert (
        f"the plan: uneven by min_traffic, 6 partitions to 2 members; {least['moves']} partitions"
    ) in result.stderr


def test_a_file_is_written_whole(run, recording, tmp_path):
    """Under its name there is the plan or what was there before; nothing else is left."""
    result = run(
        *("plan", "--group", "uneven", "--from", recording, "--strategy", "balanced"),
        *("--out", "plan.json", "--valid", "36h", "--fallback", "roundrobin"),
    )

    assert (result.exit_code, result.stdout) == (0, "")
    plan = read_plan((tmp_path / "plan.json").read_bytes())
    assert plan.fallback == "roundrobin"
    assert plan.valid_until - plan.made_at == timedelta(hours=36)
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]
    # it names clients and hosts: a leader reads it as its owner, or by the group
    assert (tmp_path / "plan.json").stat().st_mode & 0o777 & 0o137 == 0


def test_a_record_is_the_group_and_its_plan_on_one_line(run, recording):
    """As a console producer reads it from a pipe."""
    result = run("plan", "--group", "uneven", "--from", recording, "--strategy", "live", "--record")
    key, tab, value = result.stdout.partition("\t")
    assert (key, tab, value.count("\n")) == ("uneven", "\t", 1)
    assert read_plan(value).group == "uneven"


MEMBERS = (
    member("a-1", ["orders"], {"orders": [0, 1]}, instance_id="a", client_host="/10.0.0.1"),
    member("x-1", ["orders"], {"orders": [2]}, client_id="x", client_host="/10.0.0.2"),
    member("x-2", ["orders"], {}, client_id="x", client_host="/10.0.0.2"),
)


@pytest.fixture
def planned(run, kept):
    """Plan for a stored group of these columns."""

    def plan(*options, members=MEMBERS, **columns):
        made = group("g", members=members, **columns)
        kept(make_snapshot(topics=[topic("orders", 4)], groups=[made]))
        return run("plan", "--group", "g", "--from", "lake", *options)

    return plan


def test_members_are_known_by_what_they_keep(planned):
    """The instance id; of others client id and host, and what that leaves open is said."""
    result = planned("--strategy", "roundrobin", assignor="sticky")
    plan = read_plan(result.stdout)
    assert [(one.instance_id, one.client_id, one.host) for one in plan.members] == [
        ("a", "a-1", "10.0.0.1"),
        (None, "x", "10.0.0.2"),
        (None, "x", "10.0.0.2"),
    ]
    assert plan.fallback == "sticky"
    told = """
    1 had no owner … in which all list evenkeel-plan: restart a member without group.instance.id
    … 2 members of 3 are known by client id and host only … several members are x@/10.0.0.2
    """
    assert lacking(result.stderr, told) is None


@pytest.mark.parametrize(
    ("own", "told"),
    [
        (
            {"group_type": "consumer", "assignor": "uniform"},
            "its broker assigns by uniform. Plans are for groups of the classic protocol. "
            "group.remote.assignor=evenkeel-racks on every member keeps partitions in their racks",
        ),
        ({"assignor": "stream"}, "a Kafka Streams application"),
        ({"members": []}, "no members"),
        (
            {"state": "PreparingRebalance"},
            "has no result for group g: rebalancing (PreparingRebalance). Retry once the group is Stable.",
        ),
    ],
)
def test_a_group_that_cannot_follow_a_plan_says_why(planned, own, told):
    """Those whose broker assigns, those that assign tasks, those without anybody."""
    result = planned("--strategy", "range", **own)
    assert result.exit_code == 1
    assert told in words_of(result.stderr)


def test_a_static_member_that_is_back_at_once_brings_no_rebalance(planned):
    """Where all are static that is said, instead of to restart one."""
    own = member("a-1", ["orders"], {"orders": [0, 1, 2, 3]}, instance_id="a")
    remarks = planned("--strategy", "range", members=[own]).stderr
    told = "all are static: one that is back within its session.timeout.ms brings no rebalance"
    assert told in remarks
    assert "restart a member" not in remarks
