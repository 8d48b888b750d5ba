"""A snapshot's expectations: each has a case that breaks it, and says which group and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evenkeel.engine.config import Settings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.snapshots import SNAPSHOT, VALIDATION
from evenkeel.expectations.frames import snapshot_frames
from evenkeel.expectations.run import check, validate_snapshot
from evenkeel.expectations.snapshot import build_suites
from tests.helpers.fluid.lake import situations_lake
from tests.helpers.snapshots import change, group, make_snapshot, member, topic
from tests.unit.expectations.cases import Case
from tests.unit.expectations.one_lake import OneLake

pytestmark = pytest.mark.slow

SETTINGS = Settings(max_failed_share=0.5)


def healthy() -> ClusterSnapshot:
    """Four groups that have nothing in common but `shared`, in which nothing is wrong."""
    return make_snapshot(
        topics=[topic(name, 3, end=100) for name in ("orders", "clicks", "shared", "unused")],
        groups=[
            group("orders-app", members=2, lag={"orders": [1, 2, 3], "shared": 0}),
            group("clicks-app", members=1, lag={"clicks": [0, 0, None]}),
            group("audit", members=1, topics=["shared"]),
            group("old", committed={"orders": 5}),
        ],
    )


DATASETS = {"reading": "groups", "assignments": "members", "subscriptions": "members"}
"""What is changed, where it is not called as what the expectation is about."""


def put(row: int, **values: Any) -> Callable[[list[dict[str, Any]]], None]:
    """Change columns of one row."""
    return lambda rows: rows[row].update(values)


def again(row: int, **values: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Repeat one row, changed."""
    return lambda rows: [*rows, rows[row] | values]


def without(row: int) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Leave one row out."""
    return lambda rows: [one for i, one in enumerate(rows) if i != row]


# rows of partitions: orders 0-2, clicks 3-5, shared 6-8, unused 9-11
OF_ORDERS = ("old", "orders-app")
OF_SHARED = ("audit", "orders-app")

WHOLE = (
    "It has the number of rows of its manifest.",
    "Its rows belong to this snapshot.",
    "Its rows have a snapshot id.",
)
"""What is expected of every dataset."""

NOBODY = (None,)
"""It is said of no group."""

CASES = [
    Case(
        expectation="reading: started_at is a moment with a time zone.",
        groups=NOBODY,
        facts={"started_at": "2026-03-01T12:00:00"},
        reason="started_at is missing or has no time zone",
    ),
    Case(
        expectation="reading: finished_at is a moment with a time zone.",
        groups=NOBODY,
        facts={"finished_at": None},
        reason="finished_at is missing or has no time zone",
    ),
    Case(
        expectation="reading: It finished after it started.",
        groups=NOBODY,
        facts={"finished_at": "2026-03-01T11:59:59+00:00"},
        reason="it finished before it started: 2026-03-01 12:00:00+00:00 to 2026-03-01 11:59:59+00:00",
    ),
    Case(
        expectation="brokers: There is at least one broker.",
        groups=NOBODY,
        edit=lambda rows: [],
        reason="there is no broker",
    ),
    Case(
        expectation="brokers: Every broker has an id.",
        groups=NOBODY,
        edit=put(1, node_id=None),
        reason="a broker has no id: broker-1:9092",
    ),
    Case(
        expectation="brokers: No two brokers have the same id.",
        groups=NOBODY,
        edit=put(1, node_id=0),
        reason="two brokers have the same id: 0 at broker-0:9092, 0 at broker-1:9092",
    ),
    Case(
        expectation="groups: Every group has an id.",
        groups=NOBODY,
        edit=again(3, group_id=None),
        reason="a group has no id",
    ),
    Case(
        expectation="groups: No group is listed twice.",
        groups=NOBODY,
        edit=again(3),
        reason="a group is listed twice: old (classic, Empty), old (classic, Empty)",
    ),
    Case(
        expectation="groups: The group could be read.",
        edit=put(2, error="GROUP_AUTHORIZATION_FAILED", state=None),
        groups=("audit",),
        reason="could not be read: GROUP_AUTHORIZATION_FAILED",
    ),
    Case(
        expectation="groups: A readable group has a state.",
        edit=put(2, state=None),
        groups=("audit",),
        reason="there is neither a state nor an error",
    ),
    Case(
        expectation="groups: The state of the group is a known value.",
        edit=put(2, state="Asleep"),
        groups=("audit",),
        reason="the state is not a known value: Asleep",
    ),
    Case(
        expectation="groups: The type of the group is a known value.",
        edit=put(2, group_type="swarm"),
        groups=("audit",),
        reason="the type is not a known value: swarm",
    ),
    Case(
        expectation="members: Every member belongs to a listed group.",
        groups=NOBODY,
        edit=again(3, group_id="ghost", position=0, assigned_topics=[], assigned_partitions=[]),
        reason="a member belongs to a group that is not listed: audit-0 of ghost",
    ),
    Case(
        expectation="members: Every member has an id.",
        edit=put(0, member_id=None),
        groups=("orders-app",),
        reason="a member has no id: client orders-app-0 at position 0",
    ),
    Case(
        expectation="members: No member is listed twice.",
        edit=put(1, member_id="orders-app-0"),
        groups=("orders-app",),
        reason="a member is listed twice: orders-app-0, orders-app-0",
    ),
    Case(
        expectation="members: Positions of members start at 0 and have no gaps.",
        edit=put(1, position=2),
        groups=("orders-app",),
        reason="a member row is missing or duplicated: orders-app-1 at position 2",
    ),
    *(
        Case(
            expectation=f"members: {which.title()} topics and partitions are pairs.",
            edit=put(3, **{f"{which}_topics": ["shared"]}),
            groups=("audit",),
            reason="an assignment has a different number of topics and partitions: audit-0",
        )
        for which in ("assigned", "target")
    ),
    *(
        Case(
            expectation=f"partitions: Every partition row has a {column}.",
            groups=NOBODY,
            edit=again(11, **{"partition": 3, column: None}),
            reason=f"a partition row has no {column}: {shown}",
        )
        for column, shown in (("topic", "(none)-3"), ("partition", "unused-(none)"))
    ),
    Case(
        expectation="partitions: No partition is listed twice.",
        groups=NOBODY,
        edit=again(11),
        reason="a partition is listed twice: unused-2, unused-2",
    ),
    Case(
        expectation="partitions: Partitions of a topic start at 0 and have no gaps.",
        edit=without(0),
        groups=OF_ORDERS,
        reason="a partition row is missing: orders has a partition 1, orders has a partition 2",
    ),
    Case(
        expectation="partitions: begin_offset is not negative.",
        edit=put(7, begin_offset=-4),
        groups=OF_SHARED,
        reason="begin_offset is negative: shared-1 at -4",
    ),
    Case(
        expectation="partitions: end_offset is not negative.",
        edit=put(7, end_offset=-1, begin_offset=None, last_stable_offset=None),
        groups=OF_SHARED,
        reason="end_offset is negative: shared-1 at -1",
    ),
    Case(
        expectation="partitions: last_stable_offset is not negative.",
        edit=put(7, last_stable_offset=-1),
        groups=OF_SHARED,
        reason="last_stable_offset is negative: shared-1 at -1",
    ),
    Case(
        expectation="partitions: begin_offset is not above end_offset.",
        edit=put(7, begin_offset=101),
        groups=OF_SHARED,
        reason="begin_offset is above end_offset: shared-1: 101 above 100",
    ),
    Case(
        expectation="partitions: last_stable_offset is not above end_offset.",
        edit=put(7, last_stable_offset=9_007_199_254_740_995),
        groups=OF_SHARED,
        reason="last_stable_offset is above end_offset: shared-1: 9007199254740995 above 100",
    ),
    Case(
        expectation="partitions: A partition without an end offset has an error.",
        edit=put(7, end_offset=None),
        groups=OF_SHARED,
        severity="warning",
        reason="an end offset is unknown without an error: shared-1",
    ),
    Case(
        expectation="partitions: The offsets of the partition could be read.",
        edit=put(7, end_offset=None, error="broker 1 did not answer"),
        groups=OF_SHARED,
        severity="warning",
        reason="offsets could not be read: shared-1: broker 1 did not answer",
    ),
    Case(
        expectation="commits: Every commit belongs to a listed group.",
        groups=NOBODY,
        edit=again(0, group_id="ghost"),
        reason="a commit belongs to a group that is not listed: orders-0 of ghost",
    ),
    *(
        Case(
            expectation=f"commits: Every commit row has a {column}.",
            edit=again(0, **{column: None}),
            groups=("orders-app",),
            reason=f"a commit row has no {column}: {shown}",
        )
        for column, shown in (("topic", "(none)-0"), ("partition", "orders-(none)"))
    ),
    Case(
        expectation="commits: A partition has one commit.",
        edit=again(0, committed_offset=7),
        groups=("orders-app",),
        reason="a partition has more than one commit: orders-0 at 99, orders-0 at 7",
    ),
    Case(
        expectation="commits: The commit could be read.",
        edit=put(0, committed_offset=None, error="timeout"),
        groups=("orders-app",),
        reason="a commit could not be read: orders-0: timeout",
    ),
    Case(
        expectation="commits: committed_offset is not negative.",
        edit=lambda rows: [
            r | {"committed_offset": -1} if r["group_id"] == "orders-app" else r for r in rows
        ],
        groups=("orders-app",),
        reason="committed_offset is negative: orders-0 at -1, orders-1 at -1, orders-2 at -1 and 3 more",
    ),
    Case(
        expectation="commits: reported_lag is not negative.",
        edit=put(0, reported_lag=-1),
        groups=("orders-app",),
        reason="reported_lag is negative: orders-0: -1",
    ),
    Case(
        expectation="commits: A committed partition exists.",
        edit=again(0, partition=3),
        groups=("orders-app",),
        severity="warning",
        reason="a commit belongs to a partition that does not exist: orders-3",
    ),
    Case(
        expectation="commits: A committed topic exists.",
        edit=again(0, topic="deleted"),
        groups=("orders-app",),
        severity="info",
        reason="a commit belongs to a topic that does not exist: deleted",
    ),
    Case(
        expectation="assignments: An assigned partition was read.",
        edit=put(3, assigned_topics=["shared", "hidden"], assigned_partitions=[0, 1]),
        groups=("audit",),
        reason="a member owns a partition that was not read: hidden-1 of audit-0",
    ),
    Case(
        expectation="assignments: A partition of a stable group has one owner.",
        edit=put(0, assigned_topics=["orders", "orders"], assigned_partitions=[0, 1]),
        groups=("orders-app",),
        reason="a partition has two owners although the group is stable: "
        "orders-1 of orders-app-0, orders-1 of orders-app-1",
    ),
    Case(
        expectation="subscriptions: A subscribed topic exists.",
        edit=put(3, subscription=["shared", "soon"]),
        groups=("audit",),
        severity="warning",
        reason="a member subscribes to a topic that does not exist: soon",
    ),
]


def failures(snapshot: ClusterSnapshot, settings: Settings = SETTINGS) -> list[dict[str, Any]]:
    """The failed rows of a whole validation."""
    found = validate_snapshot(OneLake(snapshot), settings, snapshot.snapshot_id)
    assert found.schema == VALIDATION
    return [row for row in found.to_pylist() if not row["success"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.expectation)
def test_an_expectation_that_is_broken_names_group_and_reason(case):
    """Each broken expectation leaves one row per group it is broken for, with severity and reason."""
    edit = case.edit or (lambda rows: rows)
    snapshot = change(healthy(), DATASETS.get(case.of, case.of), edit)
    lake = OneLake(snapshot, facts=case.facts)
    manifest = lake.manifest("snapshot", snapshot.snapshot_id)
    frame = snapshot_frames(manifest, snapshot.tables)[case.of]
    rows = check({case.of: frame}, build_suites(snapshot.snapshot_id, manifest.rows))
    for row in case.check(rows):
        assert 0 < row["unexpected_count"] <= max(row["checked_count"], 1)


def test_every_expectation_has_a_case():
    """No expectation of the suites is left without a case that breaks it."""
    suites = build_suites("x", {name: 0 for name in SNAPSHOT})
    written = {f"{name}: {e.description}" for name, s in suites.items() for e in s.expectations}
    assert written == {case.expectation for case in CASES} | {
        f"{name}: {description}" for name in SNAPSHOT for description in WHOLE
    }


def test_every_dataset_is_whole_and_of_its_snapshot():
    """Else nothing of it can be trusted: the snapshot is rejected, no group withheld."""
    snapshot, foreign = healthy(), "test-20200101T000000Z-abcdef"
    for name in SNAPSHOT:
        snapshot = change(snapshot, name, put(0, snapshot_id=foreign))
        snapshot = change(snapshot, name, put(1, snapshot_id=None))
    lake = OneLake(snapshot, rows=dict.fromkeys(SNAPSHOT, 99))
    found = validate_snapshot(lake, SETTINGS, snapshot.snapshot_id).to_pylist()
    failed = {r["expectation"]: (r["group_id"], r["reason"]) for r in found if not r["success"]}
    for name, table in snapshot.tables.items():
        wrong = [f"{name}: {description}" for description in WHOLE]
        assert [failed.pop(each) for each in wrong] == [
            (None, f"the manifest says 99 rows, the table has {len(table)}"),
            (None, f"a row belongs to another snapshot: {foreign}"),
            (None, "a row has no snapshot id"),
        ]
    assert failed == {}


def test_a_healthy_snapshot_leaves_only_passing_rows():
    """Everything that was checked is there, has passed and concerns no group."""
    snapshot = healthy()
    rows = validate_snapshot(OneLake(snapshot), SETTINGS, snapshot.snapshot_id).to_pylist()
    assert {True} == {row["success"] for row in rows}
    assert {None} == {row["group_id"] for row in rows}
    assert {c.expectation for c in CASES} < {row["expectation"] for row in rows}
    assert {"snapshot"} == {row["stage"] for row in rows}


def test_an_empty_cluster_is_healthy():
    """A cluster without groups and topics has nothing wrong with it."""
    assert [] == failures(make_snapshot())


def test_one_bad_group_leaves_the_others_alone():
    """Only the group that could not be read fails, and the snapshot is not rejected."""
    broken = failures(change(healthy(), "groups", put(0, error="timeout")))
    assert [("orders-app", "critical")] == [(r["group_id"], r["severity"]) for r in broken]


def test_a_bad_partition_that_no_group_looks_at_rejects_nothing():
    """It is noted as a warning of no group."""
    broken = failures(change(healthy(), "partitions", put(10, begin_offset=-4)))
    assert [(None, "warning", "begin_offset is negative: unused-1 at -4")] == [
        (r["group_id"], r["severity"], r["reason"]) for r in broken
    ]


def test_a_rebalancing_group_may_claim_a_partition_twice():
    """Between two generations members say what they owned, not what they own."""
    snapshot = change(healthy(), "groups", put(0, state="PreparingRebalance"))
    edit = put(0, assigned_topics=["orders", "orders"], assigned_partitions=[0, 1])
    assert [] == failures(change(snapshot, "members", edit))


def test_members_of_a_share_group_share_partitions():
    """Two owners of a partition are what a share group is for."""
    owners = [member(name, owned={"orders": [0]}) for name in "ab"]
    snapshot = make_snapshot(
        topics=[topic("orders")], groups=[group("queue", members=owners, group_type="share")]
    )
    assert [] == failures(snapshot)


@pytest.mark.parametrize(("share", "rejected"), [(0.24, True), (0.25, False)])
def test_more_withheld_groups_than_allowed_reject_the_snapshot(share, rejected):
    """One of four withheld groups is a quarter, which a limit of a quarter still allows."""
    snapshot = change(healthy(), "groups", put(0, error="timeout"))
    broken = failures(snapshot, Settings(max_failed_share=share))
    reasons = [row["reason"] for row in broken if row["group_id"] is None]
    expected = f"1 of 4 groups failed validation, more than max_failed_share={share:g} allows"
    assert ([expected] if rejected else []) == reasons


def test_a_warning_withholds_nobody():
    """A limit of nothing is not passed by a group that is only warned about."""
    snapshot = change(healthy(), "partitions", put(7, end_offset=None))
    assert {"warning"} == {r["severity"] for r in failures(snapshot, Settings(max_failed_share=0))}


IN_MOTION = (
    *("healthy-restart-storm", "healthy-fewer-members", "healthy-cooperative", "healthy-modern"),
    *("healthy-new-partitions", "rebalancing", "vanished", "unassigned-partitions", "unreadable"),
)


@pytest.mark.parametrize(("number", "failed"), [(0, set()), (41, {"unreadable"})])
def test_only_what_cannot_be_read_is_objected_to(number, failed):
    """Every other group is sound, also where members come and go."""
    lake, ids = situations_lake(IN_MOTION, 42)
    rows = validate_snapshot(lake, Settings(), ids[number]).to_pylist()

    assert {row["group_id"] for row in rows if not row["success"]} == failed


def test_long_values_from_outside_are_cut():
    """A reason stays readable whatever a broker or client put into a field."""
    broken = failures(change(healthy(), "groups", put(0, error="x" * 500 + "\n" + "y" * 500)))
    assert len(broken[0]["reason"]) < 120
    assert "\n" not in broken[0]["reason"]
