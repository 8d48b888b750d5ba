"""
### Forget what is too old, and keep the lake in few files

**What it does.** Once a day removes snapshots, and all that was derived from them, older than
`keep_days` (default 90), from the lake and from the history. Then it compacts the lake: of each day
that is over, the files that its snapshots have of a dataset become one. Readers are never in its way.

**When it fails.** The lake folder or the history cannot be reached, or a file of the lake is damaged;
the last line of the log says which. All that can be done is done first, and nothing else depends on
this DAG; on the next day it does what it could not do today.

**How to run it again.** Clear the task, or trigger the DAG: it is safe at any time, also when it was
stopped on the way. By hand: `evenkeel upkeep`.

**Where to look.** The task's result says what left and how many files became how many.

    select min(started_at), count(*) from snapshot;
"""

from __future__ import annotations

from datetime import timedelta

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
    """Forget what is too old, and compact the lake."""

    # a day of 10,000 groups is gigabytes, and the first run after an upgrade finds many days
    @task(execution_timeout=timedelta(hours=6))
    def upkeep() -> dict[str, int]:
        from evenkeel.dags import runtime

        return runtime.upkeep()

    upkeep()


DAG = history_upkeep()
