"""What changed for a group between two snapshots, and what nobody can know."""

from __future__ import annotations

import pytest

from evenkeel.engine import wiring
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import SnapshotNotFound
from evenkeel.engine.model.facts import finding
from evenkeel.engine.records import ValidationRow, table_of
from evenkeel.engine.snapshots import facts_of
from evenkeel.engine.snapshots.compare import compare
from tests.helpers.history_rows import validation
from tests.helpers.snapshots import change, group, make_snapshot, member, topic

OWNED = {"a": {"orders": [0, 1]}, "b": {"orders": [2, 3]}}


def _members(owned=OWNED, **columns):
    return [member(name, ["orders"], own, **columns) for name, own in owned.items()]


def _snapshot(number, members, topics=None, problems=(), brokers=None, **columns):
    return make_snapshot(
        number=number,
        topics=topics or [topic("orders", 4)],
        groups=[group("app", members=members, **columns), group("other", members=1)],
        problems=problems,
        **({} if brokers is None else {"brokers": brokers}),
    )


def _compared(before, after, facts=({}, {}), name="app"):
    lake = wiring.scratch()
    for snapshot, more in zip((before, after), facts, strict=True):
        lake.write("snapshot", snapshot.snapshot_id, snapshot.tables, facts_of(snapshot) | more)
    return compare(lake, Settings(), before.snapshot_id, after.snapshot_id, name)


def _facts(found):
    """What differs of the group and of members that stayed."""
    return {
        (each.what, each.member and each.member.id): (each.before, each.after)
        for each in found.changes
        if each.what not in ("owner", "replica_racks")
        and not each.what.startswith(("member_", "topic_"))
    }


def _who(found, what):
    """The ids of members that joined, left or restarted."""
    return [each.member.id for each in found.of(f"member_{what}")]


def _topics(found):
    return [
        (each.topic, each.what.removeprefix("topic_"), each.before, each.after)
        for each in found.changes
        if each.what.startswith("topic_")
    ]


def _moves(found):
    return [
        (each.partition, each.before and each.before.id, each.after and each.after.id)
        for each in found.of("owner")
    ]


def test_equal_snapshots_differ_in_nothing():
    """Offsets move on all the time and are no change."""
    later = _snapshot(1, _members(), [topic("orders", 4, end=5000)])
    found = _compared(_snapshot(0, _members()), later)

    assert found.nothing
    assert (found.present, found.unknown) == ((True, True), ())


def test_members_join_and_leave_and_their_partitions_change_owner():
    """A new name joined, a missing one left; unowned before or after is nobody."""
    after = {"a": {"orders": [0, 2]}, "c": {"orders": [3]}}
    found = _compared(_snapshot(0, _members()), _snapshot(1, _members(after)))

    assert _who(found, "joined") == ["c"]
    assert _who(found, "left") == ["b"]
    assert _who(found, "restarted") == []
    assert _moves(found) == [(1, "a", None), (2, "b", "a"), (3, "b", "c")]
    assert not found.nothing


@pytest.mark.parametrize("instance", [None, "static-1"])
def test_a_member_that_restarts_keeps_its_partitions(instance):
    """Another member id under the same identity is a restart, and no partition changed owner by it."""
    who = {"client_id": "a", "instance_id": instance}
    hosts = ("/10.0.0.1", "/10.0.0.1" if instance is None else "/10.0.0.9")
    sides = [
        _snapshot(n, [member(f"a-{n}", ["orders"], {"orders": range(4)}, client_host=host, **who)])
        for n, host in enumerate(hosts)
    ]
    found = _compared(*sides)

    assert [(each.what, each.before, each.after) for each in found.changes] == [
        ("member_restarted", "a-0", "a-1")
    ]


def test_members_of_one_identity_are_told_apart_by_id_first():
    """Of two threads with one client id, the one that stayed is not taken for the one that restarted."""
    before = [
        member(m, ["orders"], {"orders": [p]}, client_id="x") for p, m in enumerate(["x1", "x2"])
    ]
    after = [
        member(m, ["orders"], {"orders": [p]}, client_id="x")
        for m, p in {"x2": 1, "x3": 0, "x4": 2}.items()
    ]
    found = _compared(_snapshot(0, before), _snapshot(1, after))

    assert [(each.before, each.after) for each in found.of("member_restarted")] == [("x1", "x3")]
    assert _who(found, "joined") == ["x4"]
    assert _moves(found) == [(2, None, "x4")]


def test_the_group_as_a_whole_changes():
    """Type, state, strategy, epochs: each with what it was and is."""
    before = _snapshot(0, _members(), state="Stable")
    after = _snapshot(
        1,
        _members(kind="consumer"),
        group_type="consumer",
        state="Assigning",
        assignor="uniform",
        epoch=7,
        assignment_epoch=6,
    )

    assert _facts(_compared(before, after)) == {
        ("type", None): ("classic", "consumer"),
        ("state", None): ("Stable", "Assigning"),
        ("strategy", None): ("range", "uniform"),
        ("epoch", None): (None, 7),
        ("assignment_epoch", None): (None, 6),
        ("kind", "a"): ("classic", "consumer"),
        ("kind", "b"): ("classic", "consumer"),
    }


def test_the_generation_is_what_members_tell_and_unknown_where_none_does():
    """A member that carries no generation makes no change of it."""
    told = [
        _snapshot(n, [member("a", ["orders"], OWNED["a"], generation=generation)])
        for n, generation in enumerate([4, 6, None])
    ]

    assert _facts(_compared(told[0], told[1])) == {("generation", None): (4, 6)}
    assert _facts(_compared(told[1], told[2])) == {}


def test_racks_and_subscriptions_of_members_that_stayed():
    """Per member; a topic that the whole group began to read stands among the topics too."""
    topics = [topic("orders", 4), topic("pay", 2)]
    before = [
        member("a", ["orders"], OWNED["a"], rack="rack-a"),
        member("b", ["orders"], OWNED["b"]),
    ]
    after = [
        member("a", ["pay", "orders"], OWNED["a"], rack="rack-b"),
        member("b", ["orders"], OWNED["b"]),
    ]
    found = _compared(_snapshot(0, before, topics), _snapshot(1, after, topics))

    assert _facts(found) == {
        ("subscription", "a"): (["orders"], ["orders", "pay"]),
        ("rack", "a"): ("rack-a", "rack-b"),
    }
    assert _topics(found) == [("pay", "subscribed", 2, 2)]


def test_topics_come_go_grow_and_are_made_anew():
    """By topic id where there is one: the same name with another id is another topic."""
    names = ["gone", "grown", "made", "new", "same"]
    owned = {"a": {"same": [0]}}
    member_of_all = [member("a", names, owned["a"])]
    before = [topic("gone", 2), topic("grown", 2), topic("made", 2), topic("same", 1)]
    after = [
        topic("grown", 3),
        topic("made", 2, topic_id="another"),
        topic("new", 1),
        topic("same", 1),
    ]
    found = _compared(_snapshot(0, member_of_all, before), _snapshot(1, member_of_all, after))

    assert _topics(found) == [
        ("gone", "gone", 2, None),
        ("grown", "partitions_added", 2, 3),
        ("made", "recreated", 2, 2),
        ("new", "created", None, 1),
    ]


def test_a_topic_of_fewer_partitions_was_made_anew_whatever_its_id():
    """Old brokers tell no topic ids, but partitions are never taken away."""
    sides = [
        _snapshot(
            n, [member("a", ["orders"], {"orders": [0]})], [topic("orders", count, topic_id=None)]
        )
        for n, count in enumerate([4, 2])
    ]

    assert _topics(_compared(*sides)) == [("orders", "recreated", 4, 2)]


def test_topics_that_could_not_be_read_did_not_go():
    """Neither when no broker told any, nor when one topic has an error."""
    before = _snapshot(0, _members())
    blind = _snapshot(
        1,
        _members(),
        [topic("x", 1)],
        problems=[finding("topics_unread", quote="no broker answered")],
    )
    found = _compared(before, blind)
    assert _topics(found) == []
    assert found.unknown == (
        "the topics could not be read in the later snapshot: no broker answered",
    )

    one = _snapshot(
        1,
        _members(),
        [topic("x", 1)],
        problems=[finding("topic_unread", ["orders"], quote="not authorised")],
    )
    found = _compared(before, one)
    assert _topics(found) == []
    assert found.unknown == (
        "topic orders could not be read in the later snapshot: not authorised",
    )


def test_replicas_that_moved_to_other_racks():
    """The racks count, not the brokers; a broker without a rack is none; unknown replicas are left out."""
    brokers = {0: "rack-a", 1: "rack-b", 2: "rack-b", 3: None}
    before = [topic("orders", 4, replicas=[[0], [1], [0, 1], [0]])]
    after = [topic("orders", 4, replicas=[[1], [2], [1, 3], []])]
    found = _compared(
        *(_snapshot(n, _members(), t, brokers=brokers) for n, t in enumerate([before, after]))
    )

    assert [(r.partition, r.before, r.after) for r in found.of("replica_racks")] == [
        (0, ("rack-a",), ("rack-b",)),
        (2, ("rack-a", "rack-b"), (None, "rack-b")),
    ]
    assert found.unknown == (
        "in one of the snapshots the replicas of 1 partition are unknown; their racks are not compared",
    )


def test_a_classic_group_in_motion_tells_members_and_nothing_more():
    """No strategy, owner or subscription is told then, so none of them changed."""
    moving = _snapshot(
        1,
        [member("a") | dict.fromkeys(("subscription", "assigned_topics", "assigned_partitions"))],
        state="PreparingRebalance",
        assignor=None,
    )
    found = _compared(_snapshot(0, _members(rack="rack-a")), moving)

    assert _who(found, "left") == ["b"]
    assert _facts(found) == {("state", None): ("Stable", "PreparingRebalance")}
    assert (_moves(found), _topics(found)) == ([], [])
    assert found.unknown == (
        "the group was rebalancing in the later snapshot (PreparingRebalance); "
        "owners, subscriptions and strategy are not compared",
    )


def test_a_group_that_could_not_be_read_lost_nobody():
    """Its members are unknown, not gone."""
    unread = _snapshot(0, [], error="not authorised: DESCRIBE", state="Unknown")
    found = _compared(unread, _snapshot(1, _members(), epoch=3, assignment_epoch=3))

    assert found.nothing
    assert found.unknown == (
        "the group could not be read in the earlier snapshot (not authorised: DESCRIBE); "
        "members, owners, subscriptions, strategy and epochs are not compared",
    )


def test_a_group_that_is_in_one_snapshot_only():
    """It came or went; nothing else is said of it."""
    without = change(_snapshot(0, _members()), "groups", lambda rows: rows[1:])
    found = _compared(without, _snapshot(1, _members()))

    assert (found.present, found.nothing, found.changes) == ((False, True), False, ())
    assert _compared(without, without, name="app").nothing


def test_what_members_are_configured_to_list():
    """The last rule that fits the group counts, as everywhere; a snapshot that kept nothing is unknown."""

    def listed(*rules):
        return {"listings": [{"groups": g, "assignors": a} for g, a in rules]}

    before, after = _snapshot(0, _members()), _snapshot(1, _members())
    sides = listed(("*", ["range"]), ("oth*", ["x"])), listed(("*", ["range"]), ("app", ["sticky"]))

    found = _compared(before, after, sides)
    assert _facts(found) == {("configured_assignors", None): (["range"], ["sticky"])}
    assert _compared(before, after, (sides[0], sides[0])).nothing
    assert _compared(before, after, ({}, sides[1])).unknown == (
        "the earlier snapshot did not keep which strategies members were said to list",
    )


def test_configuration_that_both_snapshots_know():
    """Retention, compaction and reading from followers; what one of them may not know did not change."""

    def side(number, policy, retention, followers):
        kept = {"retention_ms": retention, "retention_bytes": retention and 2 * retention}
        return make_snapshot(
            number=number,
            topics=[topic("orders", 4, cleanup_policy=policy, **kept)],
            groups=[group("app", members=_members())],
            follower_fetching=followers,
        )

    known = side(0, "delete", -1, False), side(1, "compact", 1000, True)
    found = _compared(*known)
    assert [(each.what, each.topic, each.before, each.after) for each in found.changes] == [
        ("follower_fetching", None, False, True),
        ("cleanup_policy", "orders", "delete", "compact"),
        ("retention_ms", "orders", -1, 1000),
        ("retention_bytes", "orders", -2, 2000),
    ]
    assert _compared(known[0], side(1, None, None, None)).nothing


def test_copies_of_stores_that_a_thread_keeps():
    """Standbys and warm-ups of a Streams application, for threads that stayed; their order means nothing."""

    def side(number, standby, warmup):
        thread = member(
            "a", ["orders"], OWNED["a"], process_id="p", standby_tasks=standby, warmup_tasks=warmup
        )
        return _snapshot(number, [thread], group_type="streams", assignor=None)

    found = _compared(side(0, ["0_1", "0_0"], ["1_0"]), side(1, ["0_0", "0_1"], []))
    assert _facts(found) == {("warmup_tasks", "a"): (["1_0"], [])}
    assert _facts(_compared(side(0, ["0_1"], []), side(1, ["0_2"], []))) == {
        ("standby_tasks", "a"): (["0_1"], ["0_2"])
    }


def test_what_validation_holds_against_a_snapshot_is_said():
    """A group that was withheld, and a snapshot that was rejected, are compared with that warning."""
    lake, sides = wiring.scratch(), [_snapshot(n, _members()) for n in range(2)]
    for snapshot in sides:
        lake.write("snapshot", snapshot.snapshot_id, snapshot.tables, facts_of(snapshot))
    for snapshot, (failing, reason) in zip(
        sides, (("app", "no end"), (None, "no brokers")), strict=True
    ):
        failed = validation(
            failing,
            success=False,
            reason=reason,
            snapshot_id=snapshot.snapshot_id,
            cluster="test",
        )
        table = table_of(ValidationRow, [failed])
        lake.write("validation", snapshot.snapshot_id, {"validation": table}, {})
    found = compare(lake, Settings(), *(s.snapshot_id for s in sides), "app")

    assert found.unknown == (
        "validation skipped the group in the earlier snapshot: no end",
        "validation rejected the later snapshot: no brokers",
    )


def test_a_snapshot_that_is_not_there_is_an_error():
    """Nothing is compared with nothing."""
    snapshot = _snapshot(0, _members())
    lake = wiring.scratch()
    lake.write("snapshot", snapshot.snapshot_id, snapshot.tables, facts_of(snapshot))

    with pytest.raises(SnapshotNotFound):
        compare(lake, Settings(), snapshot.snapshot_id, _snapshot(1, _members()).snapshot_id, "app")
