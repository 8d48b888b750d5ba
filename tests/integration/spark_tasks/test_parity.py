"""Spark and the plain steps say the same, table by table."""

from __future__ import annotations

import pickle

import pytest
from pydantic import SecretStr

from evenkeel.engine import pipeline
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.errors import LakeError
from evenkeel.engine.pipeline import compute_steps
from evenkeel.engine.snapshots import METRICS
from evenkeel.spark_tasks import compute_metrics, propose_candidates
from evenkeel.spark_tasks.chunk_tasks import without_secrets
from tests.integration.spark_tasks.lakes import NEWEST, SETTINGS, make_lake, measure_newest

pytestmark = pytest.mark.spark


@pytest.fixture
def lake(tmp_path):
    """The lake of `lakes.py`, its newest snapshot measured."""
    made = make_lake(tmp_path)
    measure_newest(made)
    return made


def test_metrics_of_some_groups_are_those_of_the_plain_step(spark, lake):
    """Every metrics table has the same rows in the same order; of all groups `test_job` says so."""
    expected = pipeline.compute_metrics(lake, SETTINGS, NEWEST, "*e*")
    compute_metrics.run(spark, lake, SETTINGS, NEWEST, "*e*")
    partitions = expected["partition_metrics"]
    assert len(partitions) > 400
    assert partitions["past_arrivals_per_second"].null_count < len(partitions)
    for name in METRICS:
        rows = lake.read(name, [NEWEST], groups=expected["group_metrics"]["group_id"].to_pylist())
        assert expected[name].to_pylist() == rows.to_pylist()


@pytest.mark.parametrize("smallest", [1, 1_000_000])
def test_candidates_are_those_of_the_plain_step(spark, lake, smallest, monkeypatch):
    """They have the same rows in the same order, however many tasks share the work."""
    monkeypatch.setattr(propose_candidates, "SMALLEST", smallest)
    expected = pipeline.propose_candidates(lake, SETTINGS, NEWEST)["candidates"]
    propose_candidates.run(spark, lake, SETTINGS, NEWEST)
    assert expected["forecast_lag_expected"].null_count < len(expected)
    assert expected.to_pylist() == lake.read("candidates", [NEWEST]).to_pylist()


def test_a_pattern_that_no_group_matches_changes_nothing(spark, lake):
    """It is no error, and the rows of all groups stay."""
    before = lake.read("group_metrics", [NEWEST]).to_pylist()
    assert before
    compute_metrics.run(spark, lake, SETTINGS, NEWEST, "nothing-like-this")
    assert lake.read("group_metrics", [NEWEST]).to_pylist() == before


def test_what_a_worker_says_is_the_error_of_the_step(spark, lake, monkeypatch):
    """A lake that a worker cannot use is named as it would be without Spark."""

    def unreadable(*_, **__):
        raise LakeError("lake is gone.", fix="Mount it.")

    monkeypatch.setattr(compute_steps, "measure_chunk", unreadable)
    with pytest.raises(LakeError, match="lake is gone"):
        compute_metrics.run(spark, lake, SETTINGS, NEWEST)


def test_workers_get_no_secrets():
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
    known = without_secrets(secret)
    assert b"hush" not in pickle.dumps(known)
    assert secret.version == known.version
