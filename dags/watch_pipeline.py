"""
### Watch the pipeline

**What it does.** Needs only the history database, so it works if Kafka, Spark or the lake is down.

1. Compares the newest snapshot and advice of each cluster with their schedule, and looks for failed steps and
   unsent alerts. Opens and resolves incidents: cluster unreachable, snapshot stale, snapshots partial, advice
   stuck. Each one is notified when it opens and when it is resolved.
2. Sends unsent alerts.
3. Notifies of the start and end of silences and maintenance windows, and weekly of long silences.
4. Records step runs that could not be stored during an outage of the history database.
5. Triggers `advise_assignments` for the newest snapshot of a cluster if its advice is overdue and no run works
   on it, at most three times.

**When it fails.** The history database (`evenkeel_postgres`) or Slack (`evenkeel_slack`) doesn't answer. Alerts
stay in the outbox, and the next run sends them. Without the history database, or with an invalid configuration,
the failed task itself notifies Slack once per outage. The first successful run notifies that the outage is over.
Until then the state is in the Airflow variable `evenkeel_outages`, or in a file of that name in AIRFLOW_HOME.

**How to run it again.** Clear the task, or trigger the DAG; notifications are not repeated.

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
    """Watch the pipeline."""

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
