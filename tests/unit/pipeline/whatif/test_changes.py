"""Members and partitions of a group after changes."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.pipeline.whatif import (
    Can,
    Grows,
    Joins,
    Leaves,
    Stands,
    last_by_name,
    new_names,
    suppose,
)
from evenkeel.engine.pipeline.whatif.changes import layout
from tests.helpers.measuring import seen
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic

TOPICS = [topic("pay", 2, end=50), topic("orders", 4, end=100), topic("own", 1)]


def made(*members, commits=None, **columns):
    """A group of these members, at rest."""
    described = group(
        "g",
        members=[
            member("a", ["orders", "pay"], {"orders": [0, 1]}, rack="rack-a"),
            member("b", ["pay", "orders"], {"orders": [2, 3], "pay": [0]}),
            member("c", ["own"], {"own": [0]}),
            *members,
        ],
        committed=commits or {"orders": [90, 100, 100, None], "pay": 50, "own": 1000},
        **columns,
    )
    return groups(make_snapshot(topics=TOPICS, groups=[described]))[0]


def owners(one):
    """(topic, partition) -> id of its owner, of those that somebody owns."""
    table = one.partitions
    rows = zip(table.names, table.partition.tolist(), table.owner.tolist(), strict=True)
    return {(name, number): one.members[owner].id for name, number, owner in rows if owner != NONE}


def test_nothing_changes_without_changes():
    """The group and what was measured of it are the same objects."""
    found = seen(made())
    supposed = suppose(found, ())
    assert supposed.group is found.group
    assert supposed.measured is found.measured_group.measured
    assert not supposed.is_changed


@pytest.mark.parametrize(
    ("gone", "shared"), [("a", {"orders", "pay", "own"}), ("c", {"orders", "pay"})]
)
def test_what_a_member_that_leaves_owned_is_free_and_the_others_keep_theirs(gone, shared):
    """Members keep their order, whoever leaves; a topic without subscriber is none that members share any more."""
    before = made()
    then = suppose(seen(before), [Leaves(member=gone)]).group
    assert [one.id for one in then.members] == [one for one in "abc" if one != gone]
    assert owners(then) == {key: who for key, who in owners(before).items() if who != gone}
    names = np.array(list(then.partitions.names))
    assert {*names[then.partitions.assignable].tolist()} == shared


def test_who_joins_is_like_most_members_and_comes_last():
    """What most subscribe to, in whatever order they list it, static among static ones; no rack; nothing owned."""
    made_of = layout(made(), [Joins(member="new-1")])
    new = made_of.members[-1]
    assert (new.id, new.client_id, new.rack, new.instance_id) == ("new-1", "a", None, None)
    assert set(new.subscription) == {"orders", "pay"}
    assert made_of.was.tolist() == [0, 1, 2, NONE]
    assert made_of.coming == {"new-1"}
    # Kafka's assignors sort static members by instance id, before dynamic ones
    members = [member(f"id-{n}", ["pay"], instance_id=f"pod-{n}") for n in range(4)]
    made_of = layout(made(*members), [Joins(member="new-1")])
    assert made_of.members[-1].instance_id == "new-1"


def test_a_topic_grows_behind_what_it_has():
    """New partitions stand behind the others of their topic, owned by nobody, on replicas of which nothing is known."""
    supposed = suppose(seen(made()), [Grows(topic="orders", partitions=6)])
    then, table = supposed.group, supposed.group.partitions
    rows = [row for row, name in enumerate(table.names) if name == "orders"]
    assert table.partition[rows].tolist() == [0, 1, 2, 3, 4, 5]
    assert table.owner[rows[4:]].tolist() == [NONE, NONE]
    assert np.diff(table.replica_start)[rows].tolist() == [1, 1, 1, 1, 0, 0]
    assert table.assignable[rows].all()
    assert table.end.take(rows[4:]).tolist() == [0, 0]
    assert table.committed.take(rows[4:]).tolist() == [None, None]
    assert owners(then) == owners(made())
    # lag that is unknown stays unknown, what is new has none
    assert supposed.measured.lag.tolist()[:6] == [10, 0, 0, None, 0, 0]


def test_a_partition_that_was_there_once_comes_new():
    """A commit of a partition that is gone says nothing of the one that takes its number."""
    commits = {"pay": [50, 50, 7, 9], "orders": 100, "own": 1000}
    then = suppose(seen(made(commits=commits)), [Grows(topic="pay", partitions=3)]).group
    table = then.partitions
    rows = [row for row, name in enumerate(table.names) if name == "pay"]
    assert table.partition[rows].tolist() == [0, 1, 2, 3]
    assert table.exists[rows].tolist() == [True, True, True, False]
    assert table.committed.take(rows).tolist() == [50, 50, None, 9]


def test_a_rack_and_a_capacity_are_what_is_said():
    """Of members that are there and of those that join."""
    changes = [
        Joins(member="new-1"),
        Stands(member="b", rack="rack-z"),
        Stands(member="new-1", rack="rack-b"),
        Can(member="a", per_second=7.0),
    ]
    supposed = suppose(seen(made()), changes)
    assert [one.rack for one in supposed.group.members] == ["rack-a", "rack-z", None, "rack-b"]
    # of peers only what is said of one is known
    assert supposed.measured.capacity.tolist()[0] == 7
    assert supposed.measured.capacity.tolist()[3] == 7
    assert np.isnan(supposed.measured.capacity[1:3]).all()


def test_what_arrives_in_a_topic_that_grows_is_spread_evenly():
    """Keys hash anew; other topics stay as they are, and what is unknown of one partition is unknown of all."""
    one = made()
    spread = layout(one, [Grows(topic="orders", partitions=6)]).spread
    per_second = np.arange(7.0)
    total = per_second[np.array(list(one.partitions.names)) == "orders"].sum()
    assert spread(per_second)[:6] == pytest.approx([total / 6] * 6)
    assert spread(per_second)[6:].tolist() == per_second[4:].tolist()
    per_second[0] = np.nan
    assert np.isnan(spread(per_second)[:6]).all()


def test_who_leaves_first_is_the_highest_number():
    """As a StatefulSet scales down: 10 before 9; of equal names by host and id."""
    one = made(*(member(f"x{n}", client_id=f"app-{n}") for n in (2, 10, 9)))
    assert [each.client_id for each in last_by_name(one.members, 3)] == ["c", "b", "app-10"]
    static = made(member("1", client_id="z", instance_id="aa-1"))
    assert last_by_name(static.members, 1)[0].id == "c"


def test_names_that_are_taken_are_passed_over():
    """Whoever is called so, by id, client id or instance id."""
    taken = made(member("new-1"), member("x", client_id="new-3"))
    assert new_names(taken.members, 3) == ["new-2", "new-4", "new-5"]
