"""
### Forget what is too old

**What it does.** Once a day removes snapshots, and all that was derived from them, older than
`keep_days` (default 90), from the lake and from the history.

**When it fails.** The lake folder or the history cannot be reached; the last line of the log says
which. Nothing else depends on this DAG; it removes on the next day what it could not remove today.

**How to run it again.** Clear the task, or trigger the DAG: it is safe at any time.

**Where to look.**

    select min(started_at), count(*) from snapshot;
"""

from __future__ import annotations

from airflow.sdk import dag, task

from evenkeel.dags import defaults


@dag(
    dag_id="history_upkeep",
    doc_md=__doc__,
    schedule="17 3 * * *",
    tags=["evenkeel", "upkeep"],
    **defaults.DAG,
)
def history_upkeep() -> None:
    """Forget what is too old."""

    @task
    def upkeep() -> dict[str, int]:
        from evenkeel.dags import runtime

        return runtime.upkeep()

    upkeep()


DAG = history_upkeep()
