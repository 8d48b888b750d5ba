"""`evenkeel diff`: what is printed of two stored snapshots of a group, and which two they are."""

from __future__ import annotations

import re

import pytest

from evenkeel.engine.cli.views.differences import LISTED, SHOWN
from tests.helpers.snapshots import group, make_snapshot, member, snapshot_id, topic
from tests.unit.cli.conftest import objects, words_of


@pytest.fixture
def shown(run, kept):
    """Run the command on a lake of snapshots of the group `app`, each described by its members."""

    def show(*each, arguments=(), topics=(), **columns):
        taken = [
            make_snapshot(
                number=n,
                topics=topics or [topic("orders", 6)],
                groups=[group("app", members=members, **columns)],
            )
            for n, members in enumerate(each)
        ]
        kept(*taken)
        return run("diff", "--group", "app", "--from", "lake", *arguments)

    return show


def _lines(result):
    assert result.exit_code == 0, result.output
    return [line.rstrip() for line in result.stdout.splitlines()]


ONE = [member("a", ["orders"], {"orders": range(6)})]
TWO = [
    member("a", ["orders"], {"orders": [0, 1, 4]}),
    member("b", ["orders"], {"orders": [2, 3, 5]}),
]


def test_people_read_what_changed(shown):
    """How much changed and when, then a line per change by kind, with who got which partitions from whom."""
    assert _lines(shown(ONE, TWO)) == [
        "app (test): 1 joined, 3 reassigned; 2026-03-01 12:00 UTC -> 12:05 UTC (5 min)",
        "",
        "  Joined      b",
        "  Reassigned  a -> b: orders 2-3, 5 (3 partitions)",
    ]


def test_nothing_changed_is_said(run, shown):
    """One sentence, not an empty answer; for machines no line at all."""
    (line,) = _lines(shown(ONE, ONE))
    assert line.startswith("app (test): no change; ")
    assert objects(run("diff", "--group", "app", "--from", "lake", "--json")) == []


def test_machines_get_an_object_per_change(shown):
    """All have the same keys; nobody is null."""
    rows = objects(shown(TWO, ONE[:0], arguments=["--json"]))

    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    assert {(r["from"], r["to"], r["cluster"], r["group"]) for r in rows} == {
        (snapshot_id(0), snapshot_id(1), "test", "app")
    }
    changes = [(r["change"], r["member"], r["partition"], r["before"], r["after"]) for r in rows]
    assert changes[:4] == [
        ("member_left", "a", None, "a", None),
        ("member_left", "b", None, "b", None),
        ("state", None, None, "Stable", "Empty"),
        ("strategy", None, None, "range", None),
    ]
    assert changes[4:] == [
        ("owner", None, p, owner, None) for p, owner in enumerate(["a", "a", "b", "b", "a", "b"])
    ]


def test_since_counts_snapshots_or_names_one(run, shown):
    """The newest is compared with the one before it, with an older one, or with the one that is named."""
    plain = [row["change"] for row in objects(shown(TWO, ONE, ONE, arguments=["--json"]))]
    assert plain == []
    for since in ("2", snapshot_id(0)):
        rows = objects(run("diff", "--group", "app", "--from", "lake", "--json", "--since", since))
        assert {row["from"] for row in rows} == {snapshot_id(0)}
        assert [row["change"] for row in rows] == ["member_left"] + 3 * ["owner"]


REFUSED = (
    ("2", 1, "cluster test has 2 stored snapshots, none is 2 before the newest. Use --since 1"),
    ("0", 2, "--since 0 is no snapshot before the newest"),
    ("-1", 2, "--since -1 is no snapshot before the newest"),
    ("yesterday", 2, "'yesterday' is not a snapshot id"),
    (snapshot_id(1), 2, "is the newest snapshot"),
    (snapshot_id(7), 2, "there is no snapshot test-"),
    (snapshot_id(0, "prod"), 2, "of cluster test here"),
)


def test_a_snapshot_that_cannot_be_meant_is_refused(run, shown):
    """Each with what is there instead."""
    shown(ONE, ONE)
    for since, code, told in REFUSED:
        result = run("diff", "--group", "app", "--from", "lake", f"--since={since}")
        assert (result.exit_code, result.stdout) == (code, ""), since
        assert told in result.stderr


def test_one_snapshot_cannot_be_compared(shown):
    """The fix is to take another."""
    result = shown(ONE)

    assert result.exit_code == 1
    assert "1 stored snapshot, none" in result.stderr
    assert "evenkeel snapshot take" in result.stderr


def test_where_nothing_can_be_compared_the_fix_is_said(run, recording):
    """An empty lake, and a group that is in neither snapshot."""
    empty, nobody = (
        run("diff", "--group", "app"),
        run("diff", "--group", "nobody", "--from", recording),
    )

    assert (empty.exit_code, nobody.exit_code, nobody.stdout) == (1, 1, "")
    assert "holds no snapshot" in empty.stderr
    assert "no group 'nobody'" in nobody.stderr


def test_a_group_that_came_or_went(run, kept):
    """In one of the two snapshots only: which one is said, and nothing else."""
    taken = [
        make_snapshot(number=n, groups=[group(name, members=ONE)])
        for n, name in enumerate(["went", "came"])
    ]
    kept(*taken)

    came, went = (run("diff", "--group", name, "--from", "lake") for name in ("came", "went"))
    for result, where in ((came, "earlier"), (went, "later")):
        (line,) = _lines(result)
        assert f": not in the {where} snapshot; " in line
    (row,) = objects(run("diff", "--group", "came", "--from", "lake", "--json"))
    assert (row["change"], row["before"], row["after"]) == ("group", False, True)


def test_what_is_not_known_is_said_and_no_change(run, recording):
    """A group that rebalances tells no owners."""
    result = run("diff", "--group", "moving", "--from", recording)

    assert ": no change in what could be compared; " in _lines(result)[0]
    assert "Not compared: the group was rebalancing in the earlier" in result.stdout
    rows = objects(run("diff", "--group", "moving", "--from", recording, "--json"))
    assert {row["change"] for row in rows} == {"not_compared"}
    assert "rebalancing" in rows[0]["reason"]


def test_a_restarted_member_goes_by_its_name_of_now(shown):
    """Partitions it lost on the way are from the member as it is called now, not by the end of an id."""
    before = [member("a-11111111", ["orders"], {"orders": range(6)}, client_id="a")]
    after = [
        member("a-22222222", ["orders"], {"orders": range(5)}, client_id="a"),
        member("b-33333333", ["orders"], {"orders": [5]}, client_id="b"),
    ]
    lines = _lines(shown(before, after))

    assert "  Restarted   a" in lines
    assert "  Reassigned  a -> b: orders 5 (1 partition)" in lines


def test_topics_racks_and_subscriptions_read_plainly(run, kept):
    """Counts with their noun, a rack that nobody knows as ?, racks of replicas together."""
    before = make_snapshot(
        number=0,
        topics=[topic("orders", 2, replicas=[[0, 1], [0, 1]], retention_ms=-1)],
        follower_fetching=False,
        groups=[group("app", members=[member("a", ["orders"], {"orders": [0, 1]})])],
    )
    joined = member("a", ["orders", "pay"], {"orders": [0, 1]}, rack="rack-a")
    after = make_snapshot(
        number=1,
        topics=[topic("orders", 2, replicas=[[0, 2], [2, 0]], retention_ms=9000), topic("pay", 1)],
        follower_fetching=True,
        groups=[group("app", members=[joined])],
    )
    kept(before, after)
    lines = _lines(run("diff", "--group", "app", "--from", "lake"))

    told = {tuple(re.split("  +", line.strip())) for line in lines}
    assert told >= {
        ("Subscription", "a: orders -> orders, pay"),
        ("Rack", "a: ? -> rack-a"),
        ("Retention (ms)", "orders: -1 -> 9,000"),
        ("Fetch from followers", "no -> yes"),
        ("Topic created", "pay: 1 partition"),
        ("Topic subscribed", "pay: 1 partition"),
        ("Replica racks", "rack-a, rack-b -> rack-a, rack-c: orders 0-1 (2 partitions)"),
    }


def test_long_lists_are_cut_and_say_so(run, shown):
    """Names of members, and lines; machines get all of it."""
    some = [member(f"m{n:03}", ["orders"], rack="a") for n in range(SHOWN + 10)]
    moved = [one | {"rack": "b"} for one in some]
    result = shown([*ONE, *some], [*ONE, *moved])
    assert "  and 10 more (--json has all)" in result.stdout
    assert result.stdout.count("  Rack ") == SHOWN
    many = [member(f"m{n:03}", ["orders"]) for n in range(SHOWN + 10)]
    result = shown(ONE, [*ONE, *many])
    assert "  Joined    m000, m001," in result.stdout
    assert f"and {SHOWN + 10 - LISTED} more" in words_of(result.stdout)
    assert len(objects(run("diff", "--group", "app", "--from", "lake", "--json"))) == SHOWN + 10
