"""
### From a snapshot to advice

**What it does.** One run per snapshot: checks the snapshot group by group, computes lag, rates, skew
and rack distance, replays every strategy on every group, checks metrics and candidates, decides (switch
or stay, with the reason) and tells Slack what is new. The snapshot id is the run's partition key.

**When snapshots come faster than runs end.** The run whose turn it is takes all snapshots of its cluster
that wait: metrics for each, candidates and advice for the newest. The others are *superseded*; their own
runs, and any run that finds its snapshot done or in work, end at once, skipped. The first two tasks
wait for the pool `spark`: a run by hand goes first, then the oldest, and a run that has begun is
finished first, so no cluster waits for another longer than one run.

**When it fails.** The last line of the failed task's log says what could not be done and what to do
about it. A *rejected* snapshot is no failure: `validate_snapshot` ends well, says why, and goes on
with the next that waits; where there is none, the steps up to `advise` are skipped. Single groups
whose data is bad are withheld with their reason while all others go on. `measure_and_propose` is two
steps in one Spark application, `compute_metrics` and `propose_candidates`; `step_run` says which of
them failed, and Spark's own output is above the last line of the log.

**How to run it again.** Clear the failed task: every step may be repeated and leaves the same rows;
`measure_and_propose` goes on behind what the lake has by the same configuration and version of
evenkeel. Advice that is stored stays as it is. A snapshot that never got its advice is run again by
`watch_pipeline`, whether or not others wait. By hand: trigger with `snapshot_id`; that run goes first
and works on exactly that snapshot. With `groups` only groups of matching names are computed and
replaced; advice is stored once all groups of the snapshot have candidates. Only the newest snapshot
of a cluster is spoken of in Slack.

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
"""The snapshot that started the run, or that a person asked for."""

CLAIMED = "{{ ti.xcom_pull(task_ids='validate_snapshot') or '' }}"
"""The snapshot that the run advises on: the newest of that cluster that waits; empty when it was rejected."""

TOLD = "{{ ti.xcom_pull(task_ids='validate_snapshot') or dag_run.partition_key or params.snapshot_id or '' }}"

RUNS_AT_ONCE = 16
"""Runs that may have begun; those that wait do so for the pool, where a run by hand goes first."""


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
    **defaults.DAG | {"max_active_runs": RUNS_AT_ONCE},
)
def advise_assignments() -> None:
    """From a snapshot to advice."""

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
