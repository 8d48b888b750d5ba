"""Spark and the plain steps say the same, table by table."""

from __future__ import annotations

import pickle

import pytest
from pydantic import SecretStr

from evenkeel.engine import steps
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.datasets import CANDIDATES, METRICS
from evenkeel.engine.errors import SnapshotNotFound
from evenkeel.spark_tasks.compute_metrics import metric_tables
from evenkeel.spark_tasks.inputs import open_past
from evenkeel.spark_tasks.propose_candidates import candidate_tables
from tests.helpers.snapshots import snapshot_id
from tests.integration.spark_tasks.lakes import NEWEST, SETTINGS, make_lake, measure_newest

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """The lake of `lakes.py`, its newest snapshot measured; only read here."""
    made = make_lake(tmp_path_factory.mktemp("lake"))
    measure_newest(made)
    return made


@pytest.mark.parametrize("pattern", ["*", "*e*"])
def test_metrics_are_those_of_the_plain_step(spark, lake, pattern):
    """Every metrics table has the same schema, rows and order."""
    expected = steps.compute_metrics(lake, SETTINGS, NEWEST, pattern)
    actual = metric_tables(spark, lake, SETTINGS, NEWEST, pattern)
    assert expected["partition_metrics"].num_rows > 400
    for name, schema in METRICS.items():
        assert actual[name].schema == schema
        assert expected[name].to_pylist() == actual[name].to_pylist()


def test_candidates_are_those_of_the_plain_step(spark, lake):
    """The candidates have the same schema, rows and order."""
    expected = steps.propose_candidates(lake, SETTINGS, NEWEST)["candidates"]
    actual = candidate_tables(spark, lake, SETTINGS, NEWEST)["candidates"]
    assert actual.schema == CANDIDATES["candidates"]
    assert expected.to_pylist() == actual.to_pylist()


def test_a_snapshot_without_past_is_measured(spark, lake):
    """The oldest snapshot has no earlier one to look back on, and no rates."""
    first = snapshot_id(0)
    expected = steps.compute_metrics(lake, SETTINGS, first)
    actual = metric_tables(spark, lake, SETTINGS, first)
    assert expected["group_metrics"].to_pylist() == actual["group_metrics"].to_pylist()
    assert actual["group_metrics"]["rates_since"].null_count == actual["group_metrics"].num_rows


def test_no_group_at_all_gives_empty_tables(spark, lake):
    """A pattern that nothing matches is no error."""
    actual = metric_tables(spark, lake, SETTINGS, NEWEST, "nothing-like-this")
    assert [table.num_rows for table in actual.values()] == [0, 0, 0]
    assert candidate_tables(spark, lake, SETTINGS, NEWEST, "nothing")["candidates"].num_rows == 0


def test_workers_get_no_secrets(spark, lake):
    """What is pickled for the workers holds neither passwords nor addresses, and the same version."""
    secret = SETTINGS.model_copy(
        update={
            "database_url": SecretStr("postgresql://u:hush@db/h"),
            "slack_token": SecretStr("hush"),
            "clusters": {
                "test": ClusterSettings(bootstrap="b:9092", properties={"x.password": "hush"})
            },
        }
    )
    reading = open_past(spark, lake, secret, NEWEST).reading
    assert b"hush" not in pickle.dumps(reading)
    assert secret.version == reading.settings.version


def test_an_unknown_snapshot_is_refused(spark, lake):
    """A snapshot the lake does not hold is named in the error."""
    with pytest.raises(SnapshotNotFound, match="test-20260301T134000Z-000014"):
        metric_tables(spark, lake, SETTINGS, snapshot_id(20))
