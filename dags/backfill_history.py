"""
### Judge past days again by the rules of now

**What it does.** After a change of the configuration or of evenkeel, it takes past days through the
pipeline again, from the lake, by what is configured and installed now, with what was known by then. What
comes of it goes to a schema of its own beside the history, with the same tables and views, named by
configuration and version (`rules_...`). What the history says is never rewritten, and nothing is posted.
Nobody schedules it: trigger it with `cluster`, `from` and `to`, and perhaps a pattern of groups.
`backfill` works some minutes at a time, then lets the pipeline have the pool (*up for reschedule*), and
comes back until all is done; `tell_changes` says of how many groups something else would have been said.

**When it fails.** `find_snapshots` says what is wrong with the parameters: a cluster that is not
configured, days that the lake does not have (any more: `keep_days`), an end before the beginning. Then
the lake or the history cannot be used, or its user may not create a schema; the last line of the log
says which. *Another backfill is still running*: someone has started `evenkeel backfill` for this cluster.
No failure is told to anybody else.

**How to run it again.** Clear the failed task, or trigger it with the same parameters: it goes on with
what is not there yet. To have it all made anew, drop the schema first. By hand: `evenkeel backfill`.

**Where to look.** The log says how far it is ("720 of 4,032 snapshots, through 2026-11-03 11:55 UTC,
about 40 min left"), the result of `tell_changes` what came of it. What differs, by group:
`evenkeel query backfill_changes`. Every view and named query answers there too: with
`?options=-csearch_path%3Drules_...` at the end of `EVENKEEL_DATABASE_URL`, or

    set search_path = rules_...;
    select group_id, taken_at, diagnosis from lag_history order by taken_at desc limit 100;
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import BaseSensorOperator, Param, PokeReturnValue, dag, task

from evenkeel.dags import defaults

BUDGET = timedelta(minutes=4)
"""After so long nothing more is begun: a turn is no longer than the pipeline may wait for the pool."""


class Backfill(BaseSensorOperator):
    """Judge some more snapshots, again and again; between two turns it holds no slot."""

    def poke(self, context: Any) -> PokeReturnValue:
        """Take a turn."""
        from evenkeel.dags import backfills

        did = backfills.turn(context["params"], BUDGET)
        return PokeReturnValue(is_done=not did["left"], xcom_value=did)


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
    tags=["evenkeel", "maintain"],
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
