"""
### Notice silence

**What it does.** Needs neither Kafka nor Spark nor the lake, so it speaks when they do not.
Compares the newest snapshot and advice of each cluster with when they were due, looks for failed
steps and unsent alerts, opens and closes incidents, and sends what is unsent: a cluster that is
unreachable, late, partly read or stuck is told once, and once when it is back. Silences and maintenance
windows are told when they begin and end, and once a week those that look forgotten. What tasks could not note
while the history was away or the configuration refused is written down now. The newest snapshot of a
cluster, if it is late for its advice and no run works on it, is then run again through
`advise_assignments`, at most three times and whether or not other runs wait.

**When it fails.** The history does not answer (`evenkeel_postgres`), or Slack does not
(`evenkeel_slack`): alerts stay in the outbox and the next run sends them. When nothing can be noted at
all (no history, a configuration that is refused), the failed task itself tells Slack, once however many
fail; the first good run of this DAG tells that it is over. What is kept until then stands in the Airflow
variable `evenkeel_outages`, or in a file of that name in AIRFLOW_HOME.

**How to run it again.** Clear the task, or trigger the DAG: nothing is said twice.

**Where to look.**

    select * from incident where closed_at is null;
    select * from alert where state = 'pending';
    select * from snapshot_health;
"""

from __future__ import annotations

from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import dag, task

from evenkeel.dags import defaults

SCHEDULE = ("EVENKEEL_WATCH_SCHEDULE", "*/3 * * * *")


@dag(
    dag_id="watch_pipeline",
    doc_md=__doc__,
    schedule=defaults.schedule(*SCHEDULE),
    tags=["evenkeel", "alerting"],
    **defaults.DAG,
)
def watch_pipeline() -> None:
    """Notice silence."""

    # its own failure (Slack is down) must not keep advice from being made up for
    @task
    def watch() -> None:
        from evenkeel.dags import runtime

        runtime.watch()

    @task
    def find_unadvised(**context: Any) -> list[dict[str, Any]]:
        from evenkeel.dags import runtime

        return runtime.runs_to_repeat(context["ti"])

    watch()
    # one at a time keeps their order, oldest first
    TriggerDagRunOperator.partial(
        task_id="advise_again",
        trigger_dag_id="advise_assignments",
        skip_when_already_exists=True,
        max_active_tis_per_dag=1,
    ).expand_kwargs(find_unadvised())


DAG = watch_pipeline()
