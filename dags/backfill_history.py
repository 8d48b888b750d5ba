"""
### Re-evaluate history (backfill)

**What it does.** After a change of the configuration or of evenkeel, it runs past days through the pipeline
again. It reads snapshots from the lake, uses the current rules, and uses only data known at the time of each
snapshot. Results go to a separate schema (`rules_...`) with the same tables and views, named by configuration
and version. It doesn't change the history and doesn't post anything. It has no schedule: trigger it with
`cluster`, `from`, `to` and optionally a pattern of groups.

1. `find_snapshots` checks the parameters and counts the snapshots.
2. `backfill` evaluates them, some minutes at a time. Between turns it releases the pool slot (*up for
   reschedule*).
3. `tell_changes` reports the number of groups with different results.

**When it fails.** `find_snapshots` fails on invalid parameters: an unknown cluster, days that are not in the
lake (see `keep_days`), or an end before the start. Other failures are an unreachable lake or history database,
or a database user without the CREATE privilege; the last line of the log has the cause. *Another backfill is
still running*: `evenkeel backfill` runs for the same cluster. Failures are not sent to Slack.

**How to run it again.** Clear the failed task, or trigger the DAG with the same parameters: it continues with the
missing snapshots. To start from scratch, drop the schema first. Command line: `evenkeel backfill`.

**Where to look.** The log shows the progress ("720 of 4,032 snapshots, through 2026-11-03 11:55 UTC, about 40
min left"), the result of `tell_changes` the summary. List the differences by group with
`evenkeel query backfill_changes`. All views and named queries work in the new schema: append
`?options=-csearch_path%3Drules_...` to `EVENKEEL_DATABASE_URL`, or run

    set search_path = rules_...;
    select group_id, taken_at, diagnosis from lag_history order by taken_at desc limit 100;
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import BaseSensorOperator, Param, PokeReturnValue, dag, task

from evenkeel.dags import defaults

BUDGET = timedelta(minutes=4)
"""Length of a turn: the pipeline may have to wait this long for the pool."""


class Backfill(BaseSensorOperator):
    """Evaluates snapshots in turns; it holds no slot between two turns."""

    def poke(self, context: Any) -> PokeReturnValue:
        """Run one turn."""
        from evenkeel.dags import backfills

        did = backfills.turn(context["params"], BUDGET)
        return PokeReturnValue(is_done=not did["left"], xcom_value=did)


@dag(
    dag_id="backfill_history",
    doc_md=__doc__,
    schedule=None,
    params={
        "cluster": Param(
            type="string",
            minLength=1,
            title="Cluster",
            description="Configured name of the cluster.",
        ),
        "from": Param(type="string", format="date", title="From", description="First day, in UTC."),
        "to": Param(
            type="string", format="date", title="To", description="Last day (inclusive), in UTC."
        ),
        "group": Param(
            "*",
            type="string",
            minLength=1,
            title="Groups",
            description="Shell pattern of the groups to evaluate.",
        ),
        "candidates_every": Param(
            "1h",
            type="string",
            minLength=1,
            title="Candidates every",
            description="Interval of snapshots with candidates for all strategies (30m, 1h, 1d), or none.",
        ),
    },
    tags=["evenkeel", "maintenance"],
    **defaults.DAG,
)
def backfill_history() -> None:
    """Re-evaluate past snapshots with the current rules."""

    @task
    def find_snapshots(params: dict[str, Any]) -> dict[str, Any]:
        from evenkeel.dags import backfills

        return backfills.find_snapshots(params)

    @task
    def tell_changes(params: dict[str, Any]) -> dict[str, Any]:
        from evenkeel.dags import backfills

        return backfills.tell_changes(params)

    judged = Backfill(
        task_id="backfill",
        mode="reschedule",
        poke_interval=timedelta(seconds=30),
        # the budget, and what was begun at its end
        execution_timeout=timedelta(hours=1),
        pool=defaults.SPARK_POOL,
        # whatever else waits for the pool goes first
        priority_weight=1,
        weight_rule="absolute",
    )
    find_snapshots() >> judged >> tell_changes()


DAG = backfill_history()
