"""
Defaults of all DAGs: owner, retries, timeouts, schedules and the asset that links two of them.

`EVENKEEL_SCHEDULE` (for `snapshot_offsets`) and `EVENKEEL_WATCH_SCHEDULE` (for `watch_pipeline`) override the
schedules: a cron expression, or a number with `s`, `m` or `h`. Airflow reads them when it parses the DAG files.
"""

from __future__ import annotations

import itertools
import os
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import Asset, DeltaTriggerTimetable

SNAPSHOT = Asset(name="evenkeel_snapshot", group="evenkeel")
"""The asset of snapshots that are ready for advice; its partition keys are snapshot ids."""

SPARK_POOL = "spark"
"""The pool for Spark tasks, with one slot: two local Spark sessions in parallel are slower than in sequence."""

IN_TURN: dict[str, Any] = {"pool": SPARK_POOL, "weight_rule": "evenkeel.dags.pool_priority.InTurn"}
"""Arguments of tasks in the pool: manual runs go first, then the oldest run."""


def tell_reason(context: Any) -> None:
    """
    Log the error of a failed task as the last line of its log.

    Airflow logs the traceback in a group of lines that is folded in its UI; the group is closed first, so that the
    error stays visible.
    """
    problem = context.get("exception")
    if problem is not None:
        from evenkeel.engine.model.logs import logger
        from evenkeel.engine.model.text import one_line

        log = logger(__name__)
        log.info("::endgroup::")
        log.error("%s failed: %s", context["task"].task_id, one_line(problem))


def tell_failure(context: Any) -> None:
    """
    Notify of a failure that `watch_pipeline` cannot report, then log the error of the task.

    Without the history database, or with an invalid configuration, `watch_pipeline` fails as well.
    """
    try:
        from evenkeel.dags import outages

        outages.tell()
    except Exception:  # noqa: BLE001
        from evenkeel.engine.model.logs import logger

        logger(__name__).exception("the failure could not be notified")
    tell_reason(context)


TASK: dict[str, Any] = {
    "owner": "evenkeel",
    "retries": 2,
    "retry_delay": timedelta(seconds=30),
    "execution_timeout": timedelta(minutes=10),
    "on_failure_callback": tell_failure,
    "on_retry_callback": tell_reason,
}
"""Defaults of every task. Every error is retried, because its cause may be fixed meanwhile."""

DAG: dict[str, Any] = {
    "start_date": datetime(2026, 1, 1, tzinfo=UTC),
    "catchup": False,
    "max_active_runs": 1,
    "default_args": TASK,
}
"""Defaults of every DAG. Missed runs are not caught up, because past offsets cannot be read later."""

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}


def schedule(variable: str, default: str) -> DeltaTriggerTimetable | str:
    """
    The schedule from an environment variable or a default, in the form of Airflow.

    >>> schedule("UNSET", "*/5 * * * *"), schedule("UNSET", "90s").delta.seconds
    ('*/5 * * * *', 90)
    """
    text = os.environ.get(variable, "").strip() or default
    period = _period(text)
    return text if period is None else DeltaTriggerTimetable(period)


def shortest_gap(variable: str, default: str) -> timedelta:
    """
    The shortest time between two runs of a schedule.

    >>> shortest_gap("UNSET", "0 8,10 * * *"), shortest_gap("UNSET", "2m")
    (datetime.timedelta(seconds=7200), datetime.timedelta(seconds=120))
    """
    text = os.environ.get(variable, "").strip() or default
    period = _period(text)
    if period is not None:
        return period
    from croniter import croniter

    ticks = croniter(text, DAG["start_date"], ret_type=datetime)
    moments = [ticks.get_next() for _ in range(50)]
    return min(b - a for a, b in itertools.pairwise(moments))


def _period(text: str) -> timedelta | None:
    """Parse a number with its unit, without the engine, which is not imported when DAGs are parsed."""
    match = re.fullmatch(r"(\d+)\s*([smh])", text)
    return timedelta(**{_UNITS[match[2]]: int(match[1])}) if match and int(match[1]) else None


def within(gap: timedelta) -> dict[str, Any]:
    """
    Task arguments with which two tries and the delay between them end before the next run.

    So a cluster that hangs doesn't delay the next snapshots of other clusters.

    >>> within(timedelta(minutes=5))["execution_timeout"]
    datetime.timedelta(seconds=120)
    """
    return {
        "retries": 1,
        "retry_delay": min(gap / 20, TASK["retry_delay"]),
        "execution_timeout": gap * 0.4,
    }
