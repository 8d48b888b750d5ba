"""From rows to groups: which partitions concern a group, and who owns them."""

from __future__ import annotations

import pytest

from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.groups import MemberTasks, Roster
from evenkeel.engine.model.states import GroupType
from evenkeel.engine.model.tables import TEXT, KindError, Table, empty
from evenkeel.engine.snapshots import METRICS, SNAPSHOT, STEPS, groups_of, shaped, stores_of
from tests.helpers.snapshots import FIRST, change, group, groups, make_snapshot, member, topic


def _only(snapshot):
    return groups(snapshot)[0]


def _found(topics, /, **columns):
    """The one group of a snapshot of these topics."""
    return _only(make_snapshot(topics=topics, groups=[group("g", **columns)]))


def _rows(found):
    table = found.partitions
    return list(zip(table.names, table.partition.tolist(), strict=True))


def test_subscribed_topics_come_with_all_their_partitions():
    """An uncommitted, unowned partition of a subscribed topic is part of the group."""
    members = [member("m", ["a"], {"a": [1]})]
    found = _found([topic("a", 3)], members=members, committed={"a": [5]})

    assert [("a", 0), ("a", 1), ("a", 2)] == _rows(found)
    assert found.partitions.owner.tolist() == [NONE, 0, NONE]
    assert found.partitions.committed.tolist() == [5, None, None]


def test_of_an_unsubscribed_topic_only_what_was_committed():
    """Old commits are rows of their own, marked as not subscribed."""
    topics, members = [topic("a", 1), topic("b", 3)], [member("m", ["a"])]
    found = _found(topics, members=members, committed={"b": [None, 7]})

    assert [("a", 0), ("b", 0), ("b", 1)] == _rows(found)
    assert found.partitions.subscribed.tolist() == [True, False, False]


def test_commits_of_a_deleted_topic_stay_as_rows_that_do_not_exist():
    """Offsets of such a partition are unknown, not 0."""
    found = _found([topic("a", 1)], committed={"gone": [7]})

    assert (found.partitions.exists.tolist(), found.partitions.end.tolist()) == ([False], [None])
    assert found.partitions.topic_ids == (None,)


def test_a_commit_that_could_not_be_read_is_no_commit():
    """An error row carries no offset."""
    unread = {("a", 1): "UNSTABLE_OFFSET_COMMIT"}
    found = _found([topic("a", 2)], committed={"a": [7, 8]}, commit_errors=unread)

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
    found = _found([topic("a", 2)], members=members, group_type="consumer")

    assert found.type is GroupType.CONSUMER
    assert found.partitions.owner.tolist() == [0, 0]
    assert found.partitions.target_owner.tolist() == [0, 1]


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
    tables = snapshot.tables
    own = {
        n: tables[n].filter(tables[n]["group_id"].equal("g"))
        for n in ("groups", "members", "commits")
    }
    topics = tables["partitions"].filter(tables["partitions"]["topic"].equal("a"))
    (alone,) = groups_of(own | {"partitions": topics, "brokers": tables["brokers"]}, FIRST)

    assert _rows(whole) == _rows(alone)
    assert whole.partitions.owner.tolist() == alone.partitions.owner.tolist()
    assert whole.partitions.replica_rack.tolist() == alone.partitions.replica_rack.tolist()
    assert whole.members == alone.members


def test_the_roster_says_of_members_what_each_says_of_itself():
    """It is read from columns of many groups, without making a member."""
    one = member("m", ["a"], {"a": [0]})
    found = groups(
        make_snapshot(
            topics=[topic("a", 2)],
            groups=[group("g", members=[one]), group("h", members=[member("n", ["a"]), one])],
        )
    )
    for each in found:
        known = Roster.of(each.members)
        assert {n: [*v] for n, v in vars(each.roster).items()} == vars(known)
        assert (each.roster.static, each.roster.send_rack) == (known.static, known.send_rack)


def test_a_snapshot_of_an_empty_cluster_has_no_groups():
    """No rows anywhere is fine."""
    assert groups(make_snapshot()) == []


def test_every_dataset_says_snapshot_and_cluster():
    """Any row can be traced to its reading."""
    for datasets in STEPS.values():
        for schema in datasets.values():
            assert [*schema][:2] == ["snapshot_id", "cluster"]
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


THREAD = {
    "process_id": "p",
    "active_tasks": ["0_0", "1_0"],
    "standby_tasks": ["1_1"],
    "warmup_tasks": ["1_2"],
    "assigned_tasks": ["0_0", "1_0"],
    "task_offsets": '{"1_1": -2, "1_2": 40}',
    "task_end_offsets": '{"1_2": 50}',
    "client_tags": '{"zone": "x"}',
}


def _thread(**columns):
    """The tasks of one Streams thread that owns a-0 and b-0."""
    owned = {"a": [0], "b": [0]}
    members = [member("m", ["a", "b"], owned, **(THREAD | columns))]
    return _found([topic("a"), topic("b")], members=members).members[0]


def test_a_streams_thread_comes_with_its_tasks():
    """Each partition with the task that reads it; JSON columns as mappings."""
    assert _thread().tasks == MemberTasks(
        active=("0_0", "1_0"),
        standby=("1_1",),
        warmup=("1_2",),
        reads=(("0_0", "a", 0), ("1_0", "b", 0)),
        offsets={"1_1": -2, "1_2": 40},
        ends={"1_2": 50},
        tags={"zone": "x"},
    )


def test_what_a_thread_does_not_tell_is_unknown():
    """Rows of an older file: tasks without what they read, offsets None and not nothing."""
    nothing = dict.fromkeys(THREAD.keys() - {"process_id", "active_tasks"})

    assert _thread(**nothing).tasks == MemberTasks(active=("0_0", "1_0"))
    assert _thread(task_offsets="{}").tasks.offsets == {}
    assert _thread(process_id=None).tasks is None


@pytest.mark.parametrize(
    ("name", "is_store"),
    [
        ("app-counts-changelog", True),
        ("app-1-counts-changelog", True),
        ("app-changelog", True),
        ("appcounts-changelog", False),
        ("app-counts-repartition", False),
        ("app-counts-changelogs", False),
        ("other-counts-changelog", False),
        ("App-counts-changelog", False),
    ],
)
def test_stores_are_known_by_the_name_of_their_topic(name, is_store):
    """The application id and a hyphen before, `-changelog` behind; another id may begin the same."""
    assert stores_of("app", [name]) == [name] * is_store


@pytest.mark.parametrize(
    ("columns", "known"),
    [
        ({"assignor": "stream"}, ["app-a-changelog", "app-b-changelog"]),
        ({"group_type": "streams"}, ["app-a-changelog", "app-b-changelog"]),
        ({"assignor": "range"}, None),
        ({"assignor": "stream", "group_type": "consumer"}, None),
    ],
)
def test_only_streams_applications_have_stores(columns, known):
    """All partitions of its changelogs, and nothing else of the cluster; nothing of it in its own partitions."""
    topics = [
        topic("app-b-changelog", 2),
        topic("app-a-changelog", 3, end=7),
        topic("a"),
        topic("x-changelog"),
    ]
    found = _only(
        make_snapshot(
            topics=topics,
            groups=[group("app", members=[member("m", ["a"], {"a": [0]})], **columns)],
        )
    )

    assert _rows(found) == [("a", 0)]
    if known is None:
        assert found.stores is None
    else:
        assert list(found.stores.topics) == known
        assert list(found.stores.names) == ["app-a-changelog"] * 3 + ["app-b-changelog"] * 2
        assert found.stores.end.tolist() == [7, 7, 7, 1000, 1000]


def test_an_application_without_changelogs_has_an_empty_table():
    """Known to be none, unlike with a group that has no stores by its kind."""
    found = _found([topic("a")], members=1, assignor="stream")

    assert found.stores is not None
    assert len(found.stores.partition) == 0


LATER = ["not_committing", "utilization"]


@pytest.mark.parametrize("missing", [LATER, LATER[:1], []])
def test_a_file_from_before_a_column_with_a_default_is_read(missing):
    """The column is in its place and null; a table that has it keeps it."""
    schema = METRICS["member_metrics"]
    row = {"group_id": "g", "not_committing": True, "utilization": 0.5}
    whole = Table.from_rows([row], schema)
    found = shaped(whole.without(*missing), schema)

    assert found.schema == schema
    assert [found[name].null_count for name in LATER] == [int(name in missing) for name in LATER]
    assert found.without(*missing) == whole.without(*missing)


@pytest.mark.parametrize("dataset", list(SNAPSHOT))
def test_a_table_that_lacks_a_column_without_a_default_is_an_error(dataset):
    """Nothing is made up in its place; some came later."""
    schema = SNAPSHOT[dataset]
    for name in {*schema} - {
        "retention_bytes",
        "group_settings",
        "kafka_release",
        "assigned_user_data",
        "offset_reset",
        "reported_lag",
    }:
        with pytest.raises(KindError, match=f"column {name} is missing"):
            shaped(empty(schema).without(name), schema)


def test_a_table_with_more_columns_or_another_order_is_read():
    """The dataset's columns in the dataset's order."""
    schema = SNAPSHOT["brokers"]
    told = empty({**schema, "more": TEXT})

    assert [*shaped(told.select(told.names[::-1]), schema).schema.items()] == [*schema.items()]


def test_a_column_of_another_type_is_an_error():
    """A text where a number belongs."""
    schema = SNAPSHOT["brokers"]
    rows = Table.from_rows([dict.fromkeys(schema, "x")], dict.fromkeys(schema, TEXT))

    with pytest.raises(KindError, match="column node_id: text is no int32"):
        shaped(rows, schema)
