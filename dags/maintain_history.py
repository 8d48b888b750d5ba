"""
### Roll up, expire and compact

**What it does.** Runs every hour:

1. Rolls up past hours and days of every group in the history database, so that queries of long periods are
   fast.
2. Deletes expired data from the lake and the history database:

   | data | setting | default (days) |
   | --- | --- | --- |
   | snapshots and derived rows | `keep_days` | 90 |
   | more than one snapshot per hour, in the lake | `keep_whole_days` | 5 |
   | hours of groups | `keep_hourly_days` | 180 |
   | days of groups | `keep_daily_days` | 1,100 |
   | hours of candidates | `keep_candidate_hourly_days` | 2 |
   | days of candidates | `keep_candidate_daily_days` | 400 |

   (The step `advise` deletes the details of snapshots older than `keep_detail_hours`.)
3. Compacts the lake: the files of each dataset of a past day become one file. Readers are not blocked. A day with
   a snapshot that waits for advice keeps all its snapshots.

The task works ten minutes at a time. Between two turns it releases its slot (*up for reschedule*) until
nothing is left. The first run after an upgrade can take many turns.

**When it fails.** The lake folder or the history database is unreachable, or a file of the lake is damaged; the
last line of the log has the cause. The task completes all other work first. No other DAG depends on this one,
and it tries again after an hour.

**How to run it again.** Clear the task, or trigger the DAG; both are safe at any time. Hours with late or recomputed
snapshots are rolled up again. Command line: `evenkeel admin maintain`.

**Where to look.** The log shows the progress ("compacted 3 of 9 datasets of 2026-11-21; the rest next time"),
the result the last turn: deleted snapshots, and number of files before and after.

    select min(started_at), count(*), count(*) - count(rolled_up_at) as not_rolled_up from snapshot;
    select min(since), max(since), count(*) from group_hour;
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import BaseSensorOperator, PokeReturnValue, dag

from evenkeel.dags import defaults

BUDGET = timedelta(minutes=10)
"""Length of a turn: other tasks may have to wait this long."""


class Maintain(BaseSensorOperator):
    """Runs the maintenance in turns until nothing is left; it holds no slot between two turns."""

    def poke(self, context: Any) -> PokeReturnValue:
        """Run one turn."""
        from evenkeel.dags import runtime

        did = runtime.maintain(BUDGET)
        return PokeReturnValue(is_done=not did["left"], xcom_value=did)


@dag(
    dag_id="maintain_history",
    doc_md=__doc__,
    schedule="17 * * * *",
    tags=["evenkeel", "maintenance"],
    **defaults.DAG,
)
def maintain_history() -> None:
    """Roll up, expire and compact."""

    Maintain(
        task_id="maintain",
        mode="reschedule",
        poke_interval=timedelta(minutes=2),
        # the budget, and what was begun at its end: the largest dataset of a day of 10,000 groups is minutes of work
        execution_timeout=timedelta(hours=1),
    )


DAG = maintain_history()
