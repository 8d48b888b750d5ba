"""
### Advise on a snapshot

**What it does.** One run per snapshot; the snapshot id is the partition key of the run.

1. `validate_snapshot` claims the snapshot and validates it group by group.
2. `measure_and_propose` computes lag, rates, skew and cross-rack traffic, and simulates every strategy for
   every group: the steps `compute_metrics` and `propose_candidates`. Up to the setting `spark_above`
   it does so itself, above that in one Spark application. The log shows which.
3. `validate_candidates` validates metrics and candidates and stores them in the history database.
4. `advise` decides for each group: switch or stay, with the reason.
5. `alert` notifies Slack of news.

**If snapshots come faster than runs finish.** The active run claims all waiting snapshots of its cluster:
it computes metrics for each, and candidates and advice for the newest. The others are *superseded*, and
their own runs are skipped. A run whose snapshot is done or claimed is also skipped. The first two tasks
use the pool `spark`: manual runs go first, then the oldest run. A started run is finished first, so a
cluster waits for at most one run of another.

**When it fails.** The last line of the task log has the error and the fix. `step_run` shows which step
failed; the output of Spark is above the last line of the log. A *rejected* snapshot isn't a failure:
`validate_snapshot` logs the reason and continues with the next waiting snapshot. Without one, the steps
up to `advise` are skipped. Groups with invalid data are skipped by validation; all others continue.

**How to run it again.** Clear the failed task. Every step can be repeated and gives the same rows.
`measure_and_propose` reuses results of the same configuration and version in the lake. Stored advice is
not changed. `watch_pipeline` triggers a run for a snapshot without advice. To trigger one yourself, set
`snapshot_id`: the run goes first and uses exactly that snapshot. With `groups`, only matching groups are
computed and replaced; advice is stored when all groups of the snapshot have candidates. Slack is notified
of the newest snapshot of a cluster only.

**Where to look.**

    select * from latest_advice;
    select snapshot_id, state, superseded_by, seconds_to_advice from snapshot_health order by started_at desc;
    select group_id, expectation, reason from validation where not success and snapshot_id = '...';
    select * from strategy_scoreboard where group_id = '...';
    select * from step_run where outcome = 'failed' order by started_at desc limit 10;
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import Param, PartitionedAssetTimetable, TriggerRule, dag, task

from evenkeel.dags import defaults
from evenkeel.dags.spark_step import SparkStep

ASKED = "{{ dag_run.partition_key or params.snapshot_id or '' }}"
"""The snapshot that triggered the run, or the parameter of a manual run."""

CLAIMED = "{{ ti.xcom_pull(task_ids='validate_snapshot') or '' }}"
"""The claimed snapshot: the newest waiting one of the cluster; empty if it was rejected."""

TOLD = "{{ ti.xcom_pull(task_ids='validate_snapshot') or dag_run.partition_key or params.snapshot_id or '' }}"

RUNS_AT_ONCE = 16
"""Maximum number of active runs; they wait for the pool, where manual runs go first."""


@dag(
    dag_id="advise_assignments",
    doc_md=__doc__,
    schedule=PartitionedAssetTimetable(assets=defaults.SNAPSHOT),
    params={
        "snapshot_id": Param(
            None,
            type=["null", "string"],
            title="Snapshot",
            description="Snapshot to advise on; set automatically if a snapshot triggers the run.",
        ),
        "groups": Param(
            "*",
            type="string",
            minLength=1,
            title="Groups",
            description="Shell pattern of the groups to compute.",
        ),
    },
    tags=["evenkeel", "kafka", "spark"],
    **defaults.DAG | {"max_active_runs": RUNS_AT_ONCE},
)
def advise_assignments() -> None:
    """Advise on a snapshot."""

    @task(**defaults.IN_TURN)
    def validate_snapshot(snapshot_id: str, run: str) -> str | None:
        from evenkeel.dags import runtime

        return runtime.validate_snapshot(snapshot_id, run_id=run)

    @task
    def validate_candidates(snapshot_id: str, run: str) -> None:
        from evenkeel.dags import runtime

        runtime.validate_candidates(snapshot_id, run_id=run)

    @task
    def advise(snapshot_id: str) -> None:
        from evenkeel.dags import runtime

        runtime.advise(snapshot_id)

    @task(trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS)
    def alert(snapshot_id: str) -> None:
        from evenkeel.dags import runtime

        runtime.alert(snapshot_id)

    measured = SparkStep(
        task_id="measure_and_propose",
        snapshot_id=CLAIMED,
        groups="{{ params.groups }}",
        # it is two steps
        execution_timeout=timedelta(minutes=20),
        **defaults.IN_TURN,
    )
    run = "{{ run_id }}"
    validated = validate_snapshot(ASKED, run)
    alerted = alert(TOLD)
    validated >> measured >> validate_candidates(CLAIMED, run) >> advise(CLAIMED) >> alerted
    # of a rejection there is something to say, of a run that found nothing to do there is not
    validated >> alerted


DAG = advise_assignments()
