"""One row per group, holding what the plain reader sees, spread over the tasks by work."""

from __future__ import annotations

import numpy as np
import pytest
from pyspark import TaskContext

from evenkeel.engine.model import Column
from evenkeel.engine.steps import groups_with_past
from evenkeel.engine.steps.measured import measured_groups
from evenkeel.spark_tasks.group_rows import group_rows, packed_rows
from evenkeel.spark_tasks.inputs import open_measured, open_past
from evenkeel.spark_tasks.propose_candidates import propose
from tests.integration.spark_tasks.lakes import NEWEST, SETTINGS, make_lake, measure_newest

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """The lake of `lakes.py`, its newest snapshot measured; only read here."""
    made = make_lake(tmp_path_factory.mktemp("lake"))
    measure_newest(made)
    return made


@pytest.fixture(scope="module")
def inputs(spark, lake):
    """What `compute_metrics` starts from."""
    return open_past(spark, lake, SETTINGS, NEWEST)


@pytest.fixture(scope="module")
def measured(spark, lake):
    """What `propose_candidates` starts from."""
    return open_measured(spark, lake, SETTINGS, NEWEST)


def plain(value):
    """A group snapshot as nested builtins, so that `==` compares every array of it."""
    if isinstance(value, np.ndarray | Column):
        return value.tolist()
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


def test_rows_hold_what_the_plain_reader_sees(spark, lake, inputs):
    """The group, its past and its verdict come out of a nested row as out of the lake itself."""
    expected = {g.group.group: plain(g) for g in groups_with_past(lake, SETTINGS, NEWEST)}
    rows = packed_rows(spark, inputs.tables, inputs.costs).toArrow().combine_chunks()
    found = [g for batch in rows.to_batches() for g in inputs.reading.groups(batch)]
    assert expected == {g.group.group: plain(g) for g in found}
    assert len(expected["steady"]["earlier"]) == SETTINGS.lookback
    assert expected["doubted"]["withheld"] is not None


def test_rows_hold_the_metrics_that_the_lake_has(spark, lake, measured):
    """The group as it is and its metrics come out of a nested row as out of the lake itself."""
    expected = {g.group.group: plain(g) for g in measured_groups(lake, SETTINGS, NEWEST)}
    rows = packed_rows(spark, measured.tables, measured.costs).toArrow().combine_chunks()
    found = [g for batch in rows.to_batches() for g in measured.reading.measured(batch)]
    assert_same(expected, {g.group.group: plain(g) for g in found})
    assert expected["steady"]["measured"]["live"] is not None


def assert_same(expected, found):
    """Equal, an unknown number (nan) being equal to itself."""
    assert repr(expected) == repr({name: found[name] for name in expected})
    assert expected.keys() == found.keys()


def test_a_row_holds_only_partitions_that_concern_its_group(spark, inputs):
    """The partitions of topics a group has nothing to do with stay out of its row."""
    rows = packed_rows(spark, inputs.tables, inputs.costs).toArrow().to_pylist()
    topics = {row["group_id"]: {p["topic"] for p in row["partitions"]} for row in rows}
    assert topics["ledger"] == {"ledger"}
    assert topics["empty"] == {"orders"}
    assert topics["unreadable"] == set()


def in_task(settings, found):
    """A stand-in for a strategy run: says in which task it was."""
    group = found.group
    key = {"snapshot_id": group.snapshot_id, "cluster": group.cluster, "group_id": group.group}
    return [key | {"position": TaskContext.get().partitionId()}]


def test_adaptive_execution_does_not_make_one_task_of_it(spark, measured):
    """Small rows with much work stay spread over as many tasks as planned, the heaviest first in its own."""
    width = int(spark.conf.get("spark.sql.shuffle.partitions"))
    rows = packed_rows(spark, measured.tables, measured.costs)
    done = (
        propose(rows, measured.reading, in_task)
        .select("group_id", "position")
        .toArrow()
        .to_pylist()
    )
    assert len(done) == len(measured.costs)
    assert {row["position"] for row in done} == set(range(width))
    for task in range(width):
        costs = [measured.costs[row["group_id"]] for row in done if row["position"] == task]
        assert costs == sorted(costs, reverse=True)
    heavy = [row["position"] for row in done if row["group_id"] == "heavy"]
    assert [row["group_id"] for row in done if row["position"] == heavy[0]] == ["heavy"]


def test_without_packing_adaptive_execution_makes_one_task_of_it(spark, measured):
    """The trap that packing avoids is real: by bytes alone all groups end in one task."""
    plan = packed_rows(spark, measured.tables, measured.costs).select("group_id", "cost", "bucket")
    rows = group_rows(measured.tables, plan.localCheckpoint())
    done = propose(rows, measured.reading, in_task).select("position").toArrow().to_pylist()
    assert {row["position"] for row in done} == {0}
