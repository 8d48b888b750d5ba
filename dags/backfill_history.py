"""
### Judge past days again by the rules of now

**What it does.** After a change of the configuration or of evenkeel, it makes the metrics, candidates
and diagnoses of past days again from the lake, by what is configured and installed now, with what was
known by then. They are kept in tables of their own, by configuration and version, beside what was said
then. Advice, incidents and messages are never rewritten, and nothing is posted. Nobody schedules it:
trigger it with `cluster`, `from` and `to`, and perhaps a pattern of groups. `backfill` works some minutes
at a time on Spark, then lets the pipeline have the pool (*up for reschedule*), and comes back
until all is done; `tell_changes` says of how many groups something else would have been said.

**When it fails.** `find_snapshots` says what is wrong with the parameters: a cluster that is not
configured, days that the lake does not have (any more: `keep_days`), an end before the beginning. Then
the lake, the history or Spark cannot be used; the last line of the log says which. *Another backfill is
still running*: someone has started `evenkeel backfill` for this cluster. No failure is told to anybody
else.

**How to run it again.** Clear the failed task: it goes on behind the last snapshots that were stored.
So does a new run with the same parameters while the configuration is the same and nothing else was judged
by it since; once all is done, a new run replaces what it made. By hand, without Spark: `evenkeel backfill`.

**Where to look.** The log says how far it is ("720 of 4,032 snapshots, through 2026-11-03 11:55 UTC,
about 40 min left"), the result of `tell_changes` what came of it.

    select cluster, config_version, done_snapshots, snapshots, finished_at from backfill;
    select * from backfill_history where differs order by taken_at desc limit 100;

What differs, by group: `evenkeel query backfill_changes`.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any

from airflow.sdk import BaseSensorOperator, Param, PokeReturnValue, dag, task

from evenkeel.dags import defaults
from evenkeel.dags.spark_step import SparkProcess

BUDGET = timedelta(minutes=4)
"""After so long nothing more is begun: a turn is no longer than the pipeline may wait for the pool."""


class Backfill(SparkProcess, BaseSensorOperator):
    """Judge some more snapshots in a process of Spark, again and again; between two turns it holds no slot."""

    def poke(self, context: Any) -> PokeReturnValue:
        """
        Take a turn, unless all was done since the run began: then the try before this one failed after its last turn.

        Raises:
            AirflowException: It failed.
        """
        from airflow.sdk.exceptions import AirflowException

        from evenkeel.dags import backfills, connections

        params = context["params"]
        if not backfills.is_finished_since(params, context["dag_run"].start_date):
            given = connections.environment(connections.settings())
            if problem := self._run(self.command(params), given):
                raise AirflowException(problem)
        progress = backfills.progress(params)
        return PokeReturnValue(is_done=not progress["left"], xcom_value=progress)

    def command(self, params: dict[str, Any]) -> list[str]:
        """What is run: the Spark task with the parameters of the run, for a turn."""
        from evenkeel.dags import backfills

        module = [sys.executable, "-m", "evenkeel.spark_tasks.backfill"]
        return [*module, *backfills.arguments(params), "--seconds", f"{BUDGET.total_seconds():g}"]


@dag(
    dag_id="backfill_history",
    doc_md=__doc__,
    schedule=None,
    params={
        "cluster": Param(
            type="string", minLength=1, title="Cluster", description="Which configured cluster."
        ),
        "from": Param(
            type="string", format="date", title="From", description="The first day, in UTC."
        ),
        "to": Param(
            type="string", format="date", title="To", description="The last day, in UTC, included."
        ),
        "group": Param(
            "*",
            type="string",
            minLength=1,
            title="Groups",
            description="Shell pattern: judge only groups of matching names.",
        ),
        "candidates_every": Param(
            "1h",
            type="string",
            minLength=1,
            title="Candidates every",
            description="Try all strategies on one snapshot in so long (30m, 1h, 1d), or none.",
        ),
    },
    tags=["evenkeel", "spark", "upkeep"],
    **defaults.DAG,
)
def backfill_history() -> None:
    """Judge past snapshots again, beside what was said then."""

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
