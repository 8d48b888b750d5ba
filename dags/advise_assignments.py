"""
### From a snapshot to advice

**What it does.** One run per snapshot, in the order in which snapshots were taken: checks the
snapshot group by group, computes lag, rates, skew and rack distance, replays every strategy on
every group, checks metrics and candidates, decides (switch or stay, with the reason) and tells Slack what
is new. The snapshot id is the run's partition key.

**When it fails.** The last line of the failed task's log says what could not be done and what to do
about it. A *rejected* snapshot is no failure: `validate_snapshot` ends well, says why, and the
steps up to `advise` are skipped. Single groups whose data is bad are withheld with their reason
while all others go on. Spark's own output is above the last line of `compute_metrics` and
`propose_candidates`.

**How to run it again.** Clear the failed task: every step may be repeated and leaves the same rows;
advice that is stored stays as it is. A snapshot that never got its advice is run again by
`watch_pipeline`. By hand: trigger with `snapshot_id`. With `groups` only groups of matching names
are computed and replaced; advice is stored once all groups of the snapshot have candidates. Only
the newest snapshot of a cluster is spoken of in Slack.

**Where to look.**

    select * from latest_advice;
    select group_id, expectation, reason from validation where not success and snapshot_id = '...';
    select * from strategy_scoreboard where group_id = '...';
    select * from step_run where outcome = 'failed' order by started_at desc limit 10;
"""

from __future__ import annotations

from airflow.sdk import Param, PartitionedAssetTimetable, TriggerRule, dag, task

from evenkeel.dags import defaults
from evenkeel.dags.spark_step import SparkStep

SNAPSHOT_ID = "{{ dag_run.partition_key or params.snapshot_id or '' }}"


@dag(
    dag_id="advise_assignments",
    doc_md=__doc__,
    schedule=PartitionedAssetTimetable(assets=defaults.SNAPSHOT),
    params={
        "snapshot_id": Param(
            None,
            type=["null", "string"],
            title="Snapshot",
            description="Which snapshot to advise on; runs started by a snapshot know theirs.",
        ),
        "groups": Param(
            "*",
            type="string",
            minLength=1,
            title="Groups",
            description="Shell pattern: compute only groups of matching names.",
        ),
    },
    tags=["evenkeel", "kafka", "spark"],
    **defaults.DAG,
)
def advise_assignments() -> None:
    """From a snapshot to advice."""

    # a rejection skips only what follows at once: `alert` still has something to say of it
    @task.short_circuit(ignore_downstream_trigger_rules=False)
    def validate_snapshot(snapshot_id: str) -> bool:
        from evenkeel.dags import runtime

        return runtime.validate_snapshot(snapshot_id)

    @task
    def validate_candidates(snapshot_id: str) -> None:
        from evenkeel.dags import runtime

        runtime.validate_candidates(snapshot_id)

    @task
    def advise(snapshot_id: str) -> None:
        from evenkeel.dags import runtime

        runtime.advise(snapshot_id)

    @task(trigger_rule=TriggerRule.NONE_FAILED)
    def alert(snapshot_id: str) -> None:
        from evenkeel.dags import runtime

        runtime.alert(snapshot_id)

    def spark(step: str) -> SparkStep:
        return SparkStep(
            task_id=step,
            snapshot_id=SNAPSHOT_ID,
            groups="{{ params.groups }}",
            pool=defaults.SPARK_POOL,
        )

    (
        validate_snapshot(SNAPSHOT_ID)
        >> spark("compute_metrics")
        >> spark("propose_candidates")
        >> validate_candidates(SNAPSHOT_ID)
        >> advise(SNAPSHOT_ID)
        >> alert(SNAPSHOT_ID)
    )


DAG = advise_assignments()
