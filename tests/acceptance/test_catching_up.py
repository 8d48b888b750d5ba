"""
Whose turn it is, under a real Airflow with a real history: snapshots that wait, and clusters in each other's way.

Steps, tasks, pool and runs are those of the DAG; only what Spark would compute is computed by the plain form, which
needs no seconds to start, and by which a large cluster takes as long as the test wants.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import quote

import pytest

from evenkeel.dags import NAMES
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory
from tests.helpers.dagbag import show_dags
from tests.helpers.local_pipeline import LocalPipeline, paused_airflow
from tests.helpers.snapshots import group, make_snapshot, store, topic
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.postgres_fixtures",)

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.postgres,
    pytest.mark.slow,
    # starting everything counts as part of the first test
    pytest.mark.timeout(1500),
]

WHOLE = "advise_assignments"
RUN_SECONDS = 900
SMALL = ("one", "two")

SHOWN = """

# what Spark would do is done by the plain form
import sys
from evenkeel.dags.spark_step import SparkStep
SparkStep.command = lambda self: [
    sys.executable, "-m", "tests.helpers.plain_step", self.snapshot_id, *self.also
]

from datetime import timedelta
from airflow.sdk import dag, task
from evenkeel.dags import defaults

AGAIN = {"retries": 3, "retry_delay": timedelta(seconds=1)}

@dag(schedule=None, params={"ids": []}, default_args=AGAIN)
def give():
    @task(outlets=[defaults.SNAPSHOT])
    def hand_on(**context):
        context["outlet_events"][defaults.SNAPSHOT].add_partitions(context["params"]["ids"])

    hand_on()

give()

@dag(schedule=None, params={"until": ""}, default_args=AGAIN)
def hold():
    @task(pool=defaults.SPARK_POOL, weight_rule="absolute", priority_weight=2**31 - 1)
    def take_the_slot(**context):
        import pathlib, time
        while not pathlib.Path(context["params"]["until"]).exists():
            time.sleep(0.2)

    take_the_slot()

hold()
"""
"""
What stands in the DAG folder beside the file of the README: a DAG that hands snapshots on as `snapshot_offsets` does,
and one that keeps the slot of the pool until a file is there, and goes before whatever waits for anything.
"""


@dataclass(frozen=True, kw_only=True)
class Pipeline(LocalPipeline):
    """An Airflow, the lake and the history that its tasks use."""

    lake: FileLake
    history: PostgresHistory
    taken: dict[str, int] = field(default_factory=dict)

    def take(self, cluster: str, count: int = 1) -> list[str]:
        """The next snapshots of a cluster, in the lake and in the history."""
        found = []
        for _ in range(count):
            number = self.taken.get(cluster, 0)
            groups = [group("orders-app", members=2, lag={"orders": 3 + number})]
            topics = [topic("orders", 4, end=1000 + 50 * number)]
            made = make_snapshot(cluster=cluster, number=number, topics=topics, groups=groups)
            found += store(self.lake, made)
            self.taken[cluster] = number + 1
        for one in found:
            self.history.store_snapshot(self.lake.manifest("snapshot", one))
        return found

    def give(self, *snapshot_ids: str) -> None:
        """Hand snapshots on, and wait until each has its run."""
        self.api.trigger("give", ids=list(snapshot_ids))
        wait_until(lambda: {*snapshot_ids} <= self.keys(), RUN_SECONDS, "the runs", interval=1)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep all that waits for the pool waiting."""
        until = self.home / f"until-{len(self.api.runs('hold'))}"
        run_id = self.api.trigger("hold", until=str(until))
        try:
            wait_until(lambda: self._has_slot(run_id), RUN_SECONDS, "the slot", interval=1)
            yield
            wait_until(self._all_wait, RUN_SECONDS, "all runs to wait for the slot", interval=1)
            assert self._has_slot(run_id)
        finally:
            until.touch()

    def _has_slot(self, run_id: str) -> bool:
        """Whether that run of `hold` keeps the slot; when it cannot any more, nobody need wait."""
        found = self.api.call("GET", f"dags/hold/dagRuns/{quote(run_id, safe='')}/taskInstances")
        states = {each["state"] for each in found["task_instances"]}
        assert states.isdisjoint({"success", "failed", "upstream_failed"}), states
        return "running" in states

    def _all_wait(self) -> bool:
        """Whether the first task of every run is in the queue of the pool, so that their order alone decides."""
        under_way = {run["dag_run_id"] for run in self.api.runs(WHOLE, "queued", "running")}
        path = f"dags/{WHOLE}/dagRuns/~/taskInstances?state=scheduled&limit=100"
        waiting = self.api.call("GET", path)["task_instances"]
        return under_way == {
            each["dag_run_id"] for each in waiting if each["task_id"] == "validate_snapshot"
        }

    def keys(self) -> set[str]:
        """The snapshots that have started a run."""
        return {run["partition_key"] for run in self.api.runs(WHOLE)}

    def settle(self) -> None:
        """Wait until no run is under way."""
        states = ("queued", "running")
        wait_until(
            lambda: not self.api.runs(WHOLE, *states), RUN_SECONDS, "the runs to end", interval=1
        )

    def steps(self, step: str, cluster: str) -> list[str]:
        """The snapshots of a cluster that a step was run on, in that order."""
        found = self.rows(
            "select snapshot_id from step_run where step = %s and outcome = 'ok'"
            " and snapshot_id like %s order by started_at",
            step,
            f"{cluster}-%",
        )
        return [row["snapshot_id"] for row in found]

    def in_turn(self) -> list[tuple[str, str]]:
        """The snapshots and steps of those that had the pool, in the order in which they were run."""
        found = self.rows(
            "select snapshot_id, step from step_run where outcome = 'ok' and step = any(%s)"
            " order by started_at",
            ["compute_metrics", "propose_candidates"],
        )
        return [(row["snapshot_id"], row["step"]) for row in found]


@pytest.fixture(scope="module")
def hanging() -> Iterator[str]:
    """An address that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="module")
def pipeline(
    hanging: str,
    module_database_url: str,
    module_empty_database: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Pipeline]:
    """Everything runs, and no snapshot is there yet."""
    home = tmp_path_factory.mktemp("airflow")
    dags = show_dags(home / "dags")
    shown = dags / "evenkeel_dags.py"
    shown.write_text(shown.read_text() + SHOWN)
    # snapshots of the others are the test's; whoever reads them is refused at once
    clusters = {name: {"bootstrap": "127.0.0.1:1"} for name in ("late", "giant", "person", *SMALL)}
    clusters["hangs"] = {"bootstrap": hanging}
    with paused_airflow(
        home,
        dags,
        history=module_database_url,
        empty_database=module_empty_database,
        known={*NAMES, "give", "hold"},
        environment={"EVENKEEL_CLUSTERS": json.dumps(clusters), "EVENKEEL_SPARK_ABOVE": "0"},
    ) as api:
        api.pause(["give", "hold", WHOLE], paused=False)
        yield Pipeline(
            api=api,
            url=module_database_url,
            home=home,
            lake=FileLake(home / "lake"),
            history=PostgresHistory(module_database_url),
        )


def test_one_run_takes_all_snapshots_that_wait(pipeline: Pipeline) -> None:
    """Metrics of each, candidates and advice of the newest alone; one had failed, and the other runs end at once."""
    failed, *others = ids = pipeline.take("late", 3)
    pipeline.history.take_up_by_hand(failed, "asset_triggered__failed")
    with pipeline.held():
        pipeline.give(*ids)
    pipeline.settle()
    states = pipeline.rows(
        "select snapshot_id, state, measured_at is not null as measured, failed_steps, superseded_by"
        " from snapshot_health where cluster = 'late' order by started_at"
    )
    newest = others[-1]
    assert [(row["state"], row["measured"]) for row in states] == [("superseded", True)] * 2 + [
        ("advised", True)
    ]
    assert {row["superseded_by"] for row in states} == {None, newest}
    assert {row["failed_steps"] for row in states} == {0}
    for step in ("compute_metrics", "propose_candidates", "validate_candidates", "advise"):
        assert pipeline.steps(step, "late") == [newest]
    runs = [run for run in pipeline.api.runs(WHOLE) if run["partition_key"] in ids]
    assert {run["state"] for run in runs} == {"success"}
    assert len(runs) == len(ids)
    assert {row["state"] for row in pipeline.history.query("advice_age", hours=10**5)} == {
        "advised",
        "superseded",
    }


def test_no_cluster_waits_for_another_longer_than_one_run(pipeline: Pipeline) -> None:
    """
    While one cluster hangs, a large one, two small ones, the large one again and a person wait for their turn.

    The person's snapshot goes first, then those that came first; a run that has begun is finished.
    """
    pipeline.api.pause(["snapshot_offsets"], paused=False)
    hung = pipeline.api.trigger("snapshot_offsets", cluster="hangs")
    (asked,) = pipeline.take("person")
    before = len(pipeline.in_turn())
    with pipeline.held():
        giant = pipeline.take("giant")
        pipeline.give(*giant)
        small = [one for name in SMALL for one in pipeline.take(name)]
        pipeline.give(*small)
        again = pipeline.take("giant")
        pipeline.give(*again)
        pipeline.api.trigger(WHOLE, snapshot_id=asked)
    pipeline.settle()
    # the large one's first snapshot is superseded by its second, whose own run then has nothing to do
    expected = [asked, again[0], *small]
    had = pipeline.in_turn()[before:]
    begun = list(dict.fromkeys(snapshot_id for snapshot_id, _ in had))
    assert begun[:2] == expected[:2]
    assert sorted(begun) == sorted(expected)
    assert len(had) == 2 * len(expected)
    # what Spark does of a run is one task: nobody comes between its two steps
    assert had == [
        (one, step) for one in begun for step in ("compute_metrics", "propose_candidates")
    ]
    (state,) = [
        r["state"] for r in pipeline.api.runs("snapshot_offsets") if r["dag_run_id"] == hung
    ]
    taken = pipeline.rows("select 1 from snapshot where cluster = 'hangs'")
    assert (state in ("queued", "running", "failed"), taken) == (True, [])
    (advised,) = pipeline.rows("select state from snapshot_health where snapshot_id = %s", asked)
    assert advised["state"] == "advised"
