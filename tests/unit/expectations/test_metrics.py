"""Expectations of metrics: each has a case that breaks it, and says which group and why."""

from __future__ import annotations

from typing import Any

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.recording import open_recording
from evenkeel.engine.config import Settings
from evenkeel.engine.model.tables import Table
from evenkeel.engine.snapshots import METRICS, VALIDATION
from evenkeel.engine.snapshots.validation import rejection
from evenkeel.expectations.metrics import build_suites, metric_frames
from evenkeel.expectations.run import check, validate_metrics
from tests.unit.expectations.cases import NAN, Case, again, of_ghost
from tests.unit.expectations.test_candidates import lake_of_every_kind

pytestmark = pytest.mark.slow

SNAPSHOT_ID = "test-20260301T120000Z-000000"
KEY = {"snapshot_id": SNAPSHOT_ID, "cluster": "test", "config_version": "v"}
SETTINGS = Settings()

Tables = dict[str, list[dict[str, Any]]]


def of_group(name: str) -> Tables:
    """The rows of a group of two members, one idle, and three partitions, one of them not counted."""
    key = KEY | {"group_id": name}
    partitions = [
        key
        | {
            "topic": "orders",
            "partition": number,
            "subscribed": counted,
            "begin_offset": 0,
            "end_offset": 20,
            "lag": lag,
            "lag_basis": "committed",
            "lost_records": 0,
            "time_lag_basis": "unknown",
            "status": "OK",
            "member_id": "a" if counted else None,
            "counted": counted,
        }
        for number, (lag, counted) in enumerate([(4, True), (6, True), (9, False)])
    ]
    member = key | {"identity": "c@h", "client_id": "c", "client_host": "h"}
    return {
        "group_metrics": [
            key
            | {
                "group_type": "classic",
                "state": "Stable",
                "status": "OK",
                "members": 2,
                "idle_members": 1,
                "partitions": 2,
                "unowned_partitions": 0,
                "unsubscribed_partitions": 1,
                "total_lag": 10,
                "unknown_lag_partitions": 0,
                "largest_partition_lag": 6,
                "largest_member_lag": 10,
                "lag_skew": 2.0,
                "lag_lower_bound": 6,
                "lost_records": 0,
                "drain_seconds": float("inf"),
                "findings": [],
            }
        ],
        "member_metrics": [
            member | {"member_id": "a", "partitions": 2, "lag": 10},
            member | {"member_id": "b", "partitions": 0, "lag": 0},
        ],
        "partition_metrics": partitions,
        "rebalances": [],
    }


def healthy() -> Tables:
    """The rows of two groups, and of one of which nothing is known."""
    silent = KEY | {"group_id": "silent", "group_type": "classic", "state": "Dead"}
    silent |= {"status": "UNKNOWN", "error": "timeout", "findings": []}
    steady, other = of_group("steady"), of_group("other")
    tables = {name: [*steady[name], *other[name]] for name in METRICS}
    tables["group_metrics"].append(silent)
    return tables


def as_tables(rows: Tables) -> dict[str, Table]:
    """Rows as the datasets."""
    return {name: Table.from_rows(rows[name], schema) for name, schema in METRICS.items()}


def missing(dataset: str, example: str, **values: Any) -> Case:
    """That these are known, and no number is NaN."""
    return Case(
        expectation=f"{dataset}: Required values are present, and unknown values are null, never NaN.",
        values=values,
        reason=f"a value is missing or not a number: {example}: {', '.join(values)}",
    )


CASES = [
    Case(
        expectation="measured: Every group is measured once.",
        edit=lambda rows: rows[1:],
        reason="a group was measured more than once, or not at all: 0 rows",
        severity="warning",
    ),
    Case(
        expectation="group_metrics: Every row belongs to a group of the snapshot.",
        edit=of_ghost,
        groups=(None,),
        reason="a row belongs to a group that is not in the snapshot: ghost",
    ),
    Case(
        expectation="group_metrics: No group is measured twice.",
        edit=again,
        reason="a group is measured twice: steady, steady",
    ),
    missing("group_metrics", "the group", status=None, time_lag_seconds=NAN, findings=None),
    Case(
        expectation="group_metrics: total_lag is not negative.",
        values={"total_lag": -2},
        reason="total_lag is negative: the group: -2",
    ),
    Case(
        expectation="member_metrics: Every member belongs to a measured group.",
        values={"group_id": "ghost"},
        groups=(None,),
        reason="a member belongs to a group without metrics: ghost",
    ),
    Case(
        expectation="member_metrics: No member is measured twice.",
        edit=again,
        reason="a member is measured twice: a, a",
    ),
    missing("member_metrics", "a", client_id=None, capacity_per_second=NAN),
    Case(
        expectation="member_metrics: The capacity_basis is a known value.",
        values={"capacity_basis": "magic"},
        reason="the capacity_basis is not a known value: a: magic",
    ),
    Case(
        expectation="partition_metrics: Every partition belongs to a measured group.",
        values={"group_id": "ghost"},
        groups=(None,),
        reason="a partition belongs to a group without metrics: ghost",
    ),
    Case(
        expectation="partition_metrics: No partition is measured twice.",
        edit=again,
        reason="a partition is measured twice: orders-0, orders-0",
    ),
    missing("partition_metrics", "orders-0", lag_basis=None, time_lag_seconds=NAN),
    Case(
        expectation="partition_metrics: lag is not negative.",
        values={"lag": -1},
        reason="lag is negative: orders-0: -1",
    ),
]


def failures(tables: dict[str, Table], *names: str, manifest: Any = None) -> list[dict[str, Any]]:
    """What fails of these metrics, or of some frames of them."""
    frames = metric_frames(tables, ["steady", "other", "silent"])
    sizes = manifest or {dataset: len(table) for dataset, table in tables.items()}
    found = check(
        {name: frames[name] for name in names or frames}, build_suites(SNAPSHOT_ID, sizes)
    )
    return [row for row in found if not row["success"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.expectation} {[*case.values]}")
def test_an_expectation_that_is_broken_names_group_and_reason(case):
    """Each broken expectation leaves one row per group it is broken for, with its reason; the others none."""
    tables = healthy()
    dataset = "group_metrics" if case.of == "measured" else case.of
    tables[dataset] = case.apply(tables[dataset], 0)
    rows = failures(as_tables(tables), case.of)
    case.check(rows)
    assert {r["group_id"] for r in rows} <= {None, "steady", "ghost"}


def test_every_dataset_is_whole_and_of_its_snapshot():
    """Else nothing of it can be trusted: the metrics are rejected, no group withheld."""
    tables = healthy()
    for rows in filter(None, tables.values()):
        rows[0]["snapshot_id"], rows[1]["snapshot_id"] = "test-20200101T000000Z-abcdef", None
    wrong = failures(as_tables(tables), manifest=dict.fromkeys(METRICS, 99))
    reasons = {
        (r["expectation"].partition(":")[0], r["reason"]) for r in wrong if not r["group_id"]
    }
    assert reasons == {
        (dataset, reason)
        for dataset, rows in tables.items()
        for reason in (
            f"the manifest says 99 rows, the table has {len(rows)}",
            "a row belongs to another snapshot: test-20200101T000000Z-abcdef",
            "a row has no snapshot id",
        )[: None if rows else 1]
    }


def test_possible_metrics_pass():
    """Never as a time to drain, an idle member, a partition that does not count, and a group nothing is known of."""
    assert [] == failures(as_tables(healthy()))


def test_what_the_engine_measures_passes():
    """The real metrics of groups of every kind have nothing wrong with them."""
    lake, name = lake_of_every_kind()
    found = validate_metrics(lake, SETTINGS, name)
    assert found.schema == VALIDATION
    assert [] == [row for row in found.to_pylist() if not row["success"]]
    assert {"metrics"} == {*found["stage"].to_pylist()}


def test_what_is_measured_of_a_recorded_cluster_passes():
    """Rates and times over several snapshots too: no number of them is impossible."""
    lake = open_recording("tests/data/cluster-recording.evenkeel")
    name = lake.snapshot_ids[-1]
    pipeline.record_metrics(lake, name, pipeline.compute_metrics(lake, SETTINGS, name))
    found = validate_metrics(lake, SETTINGS, name).to_pylist()
    assert [] == [row for row in found if not row["success"]]


def test_too_many_wrong_groups_reject_the_snapshot():
    """Then it is not the groups that are bad."""
    lake, name = lake_of_every_kind()
    tables = {dataset: lake.read(dataset, [name]) for dataset in METRICS}
    rows = [row | {"status": "FINE"} for row in tables["group_metrics"].to_pylist()]
    tables["group_metrics"] = Table.from_rows(rows, METRICS["group_metrics"])
    lake.write("metrics", name, tables, {})
    rejected = rejection(validate_metrics(lake, SETTINGS, name))
    assert rejected == "6 of 6 groups failed validation, more than max_failed_share=0.5 allows"
