"""
### Forget what is too old, and keep the lake in few files

**What it does.** Every hour counts in the history what the snapshots of each hour that is over, and
of its day, said of every group, so that nobody who asks for hours or days has to count many
snapshots. Then it removes snapshots, and all that was derived from them, older than `keep_days`
(default 90), from the lake and from the history; hours stay for `keep_hourly_days` (180), days for
`keep_daily_days` (1,100), those of what each strategy would have given every group for
`keep_candidate_hourly_days` (2) and `keep_candidate_daily_days` (400). What the history keeps in full of
the newest snapshots only (`keep_detail_hours`), the step `advise` has made less by then. Then it compacts
the lake: of each day that is over, the files that its snapshots have of a dataset become one. Readers are
never in its way. A fleet takes long for that, and the first run after an upgrade finds many days. So the
task works ten minutes at a time, between two datasets of a day lets others have its slot (*up for
reschedule*), and comes back until nothing is left.

**When it fails.** The lake folder or the history cannot be reached, or a file of the lake is damaged;
the last line of the log says which. All that can be done is done first, and nothing else depends on
this DAG; an hour later it does what it could not do now.

**How to run it again.** Clear the task, or trigger the DAG: it is safe at any time, also when it was
stopped on the way. Hours to which a snapshot came late, or was computed again, are counted again. By
hand: `evenkeel admin maintain`.

**Where to look.** The log says what was done and how much is left ("compacted 3 of 9 datasets of
2026-11-21; the rest next time"), the result what the last turn did: which snapshots went, how many files
became how many.

    select min(started_at), count(*), count(*) - count(rolled_up_at) as not_counted from snapshot;
    select min(since), max(since), count(*) from group_hour;
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import BaseSensorOperator, PokeReturnValue, dag

from evenkeel.dags import defaults

BUDGET = timedelta(minutes=10)
"""After so long nothing more is begun: a turn is no longer than other tasks may wait."""


class Maintain(BaseSensorOperator):
    """A turn of the maintenance, again and again until nothing is left to do; between two it holds no slot."""

    def poke(self, context: Any) -> PokeReturnValue:
        """Take a turn."""
        from evenkeel.dags import runtime

        did = runtime.maintain(BUDGET)
        return PokeReturnValue(is_done=not did["left"], xcom_value=did)


@dag(
    dag_id="maintain_history",
    doc_md=__doc__,
    schedule="17 * * * *",
    tags=["evenkeel", "maintain"],
    **defaults.DAG,
)
def maintain_history() -> None:
    """Make hours and days, forget what is too old, and compact the lake."""

    Maintain(
        task_id="maintain",
        mode="reschedule",
        poke_interval=timedelta(minutes=2),
        # the budget, and what was begun at its end: the largest dataset of a day of 10,000 groups is minutes of work
        execution_timeout=timedelta(hours=1),
    )


DAG = maintain_history()
