"""From rows to groups: which partitions concern a group, and who owns them."""

from __future__ import annotations

import pyarrow as pa

from engine.datasets import SNAPSHOT, STEPS, ClusterTables, assemble
from engine.model import NONE, GroupType
from tests.helpers.snapshots import FIRST, change, group, groups, make_snapshot, member, topic


def _only(snapshot):
    return groups(snapshot)[0]


def _rows(found):
    table = found.partitions
    return list(zip(table.names, table.partition.tolist(), strict=True))


def test_subscribed_topics_come_with_all_their_partitions():
    """An uncommitted, unowned partition of a subscribed topic is part of the group."""
    found = _only(
        make_snapshot(
            topics=[topic("a", 3)],
            groups=[group("g", members=[member("m", ["a"], {"a": [1]})], committed={"a": [5]})],
        )
    )

    assert [("a", 0), ("a", 1), ("a", 2)] == _rows(found)
    assert found.partitions.owner.tolist() == [NONE, 0, NONE]
    assert found.partitions.committed.tolist() == [5, None, None]


def test_of_an_unsubscribed_topic_only_what_was_committed():
    """Old commits are rows of their own, marked as not subscribed."""
    found = _only(
        make_snapshot(
            topics=[topic("a", 1), topic("b", 3)],
            groups=[group("g", members=[member("m", ["a"])], committed={"b": [None, 7]})],
        )
    )

    assert [("a", 0), ("b", 0), ("b", 1)] == _rows(found)
    assert found.partitions.subscribed.tolist() == [True, False, False]


def test_commits_of_a_deleted_topic_stay_as_rows_that_do_not_exist():
    """Offsets of such a partition are unknown, not 0."""
    found = _only(
        make_snapshot(topics=[topic("a", 1)], groups=[group("g", committed={"gone": [7]})])
    )

    assert (found.partitions.exists.tolist(), found.partitions.end.tolist()) == ([False], [None])
    assert found.partitions.topic_ids == (None,)


def test_a_commit_that_could_not_be_read_is_no_commit():
    """An error row carries no offset."""
    described = group(
        "g", committed={"a": [7, 8]}, commit_errors={("a", 1): "UNSTABLE_OFFSET_COMMIT"}
    )
    found = _only(make_snapshot(topics=[topic("a", 2)], groups=[described]))

    assert found.partitions.committed.tolist() == [7, None]
    assert found.partitions.commit_unread.tolist() == [False, True]


def test_racks_of_leader_and_replicas_follow_the_brokers():
    """NONE stands for a broker without rack; the racks are named once."""
    found = _only(
        make_snapshot(
            brokers={1: "r1", 2: None, 3: "r3"},
            topics=[topic("a", 2, replicas=[[3, 2], [1]], in_sync=[[3], [1]])],
            groups=[group("g", members=1, topics=["a"])],
        )
    )
    table = found.partitions

    assert table.racks == ("r1", "r3")
    assert table.leader_rack.tolist() == [1, 0]
    assert table.replica_rack.tolist() == [1, NONE, 0]
    assert table.in_sync.tolist() == [True, False, True]


def test_target_and_current_owner_are_kept_apart():
    """A KIP-848 group on its way from one to the other shows both."""
    members = [
        member("m", ["a"], {"a": [0, 1]}, target={"a": [0]}),
        member("n", ["a"], {}, target={"a": [1]}),
    ]
    found = _only(
        make_snapshot(
            topics=[topic("a", 2)], groups=[group("g", members=members, group_type="consumer")]
        )
    )

    assert found.type is GroupType.CONSUMER
    assert (found.partitions.owner.tolist(), found.partitions.target_owner.tolist()) == (
        [0, 0],
        [0, 1],
    )


def test_members_keep_the_brokers_listing_order():
    """Strategies see members in that order."""
    snapshot = make_snapshot(
        topics=[topic("a", 1)],
        groups=[group("g", members=[member("z", ["a"]), member("a", ["a"])])],
    )
    shuffled = change(snapshot, "members", lambda rows: rows[::-1])

    assert ["z", "a"] == [m.id for m in _only(shuffled).members]


def test_one_groups_own_rows_make_the_same_group():
    """Spark hands over a group's rows alone; the group must not depend on what else there is."""
    snapshot = make_snapshot(
        topics=[topic("a", 2), topic("b", 4)],
        groups=[group("g", members=2, lag={"a": 3}), group("h", members=1, lag={"b": 1})],
    )
    whole = _only(snapshot)
    tables = {n: t for n, t in snapshot.tables.items()}
    own = {
        n: tables[n].filter(pa.compute.equal(tables[n]["group_id"], "g"))
        for n in ("groups", "members", "commits")
    }
    topics = tables["partitions"].filter(pa.compute.equal(tables["partitions"]["topic"], "a"))
    alone = assemble(
        own["groups"].to_pylist()[0],
        own["members"],
        own["commits"],
        ClusterTables(topics, tables["brokers"]),
        FIRST,
    )

    assert _rows(whole) == _rows(alone)
    assert whole.partitions.owner.tolist() == alone.partitions.owner.tolist()
    assert whole.partitions.replica_rack.tolist() == alone.partitions.replica_rack.tolist()
    assert whole.members == alone.members


def test_a_snapshot_of_an_empty_cluster_has_no_groups():
    """No rows anywhere is fine."""
    assert groups(make_snapshot()) == []


def test_every_dataset_says_snapshot_and_cluster():
    """Any row can be traced to its reading."""
    for datasets in STEPS.values():
        for schema in datasets.values():
            assert schema.names[:2] == ["snapshot_id", "cluster"]
    assert set(SNAPSHOT) == {"brokers", "groups", "members", "partitions", "commits"}


def test_damaged_rows_do_not_stop_the_reading_of_others():
    """A group type nobody knows and lists of unequal length are for validation to judge."""

    def damage(rows):
        rows[0]["assigned_partitions"] = []

    snapshot = make_snapshot(
        topics=[topic("a", 1)],
        groups=[group("g", members=1, topics=["a"], group_type="swarm"), group("h")],
    )
    found = groups(change(snapshot, "members", damage))

    assert found[0].type is GroupType.UNKNOWN
    assert found[0].partitions.owner.tolist() == [NONE]
    assert found[1].group == "h"
