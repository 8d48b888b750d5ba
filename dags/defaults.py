"""
What every DAG has in common: owner, tags, retries, timeouts, schedules and the asset that links two
of them.

`EVENKEEL_SCHEDULE` (of `snapshot_offsets`) and `EVENKEEL_WATCH_SCHEDULE` (of `watch_pipeline`)
replace the schedules: a cron expression, or a number with `s`, `m` or `h`. They are read when
Airflow parses the DAG files.
"""

from __future__ import annotations

import itertools
import logging
import os
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import Asset, DeltaTriggerTimetable

SNAPSHOT = Asset(name="evenkeel_snapshot", group="evenkeel")
"""A snapshot that can be advised on; the key of each of its partitions is a snapshot id."""

SPARK_POOL = "spark"
"""One slot: two local Spark sessions at once are slower than one after the other."""

IN_TURN: dict[str, Any] = {"pool": SPARK_POOL, "weight_rule": "evenkeel.dags.pool_priority.InTurn"}
"""Arguments of the tasks that wait for the pool: a run by hand goes first, then the oldest."""

log = logging.getLogger(__name__)


def tell_reason(context: Any) -> None:
    """
    Say why a task failed, whole and as the last line of its log.

    Airflow logs the error with its traceback, then goes on in a group of lines that is folded in its pages; the group
    is closed first, so that the reason stands outside.
    """
    problem = context.get("exception")
    if problem is not None:
        log.info("::endgroup::")
        log.error("%s failed: %s", context["task"].task_id, " ".join(str(problem).split()))


def tell_failure(context: Any) -> None:
    """
    Tell people of a failure that nobody else can tell them of, then say why the task failed.

    With the history away or the configuration refused, `watch_pipeline` is as mute as all others.
    """
    try:
        from evenkeel.dags import outages

        outages.tell()
    except Exception:
        log.exception("nobody could be told")
    tell_reason(context)


TASK: dict[str, Any] = {
    "owner": "evenkeel",
    "retries": 2,
    "retry_delay": timedelta(seconds=30),
    "execution_timeout": timedelta(minutes=10),
    "on_failure_callback": tell_failure,
    "on_retry_callback": tell_reason,
}
"""Defaults of every task. Every error is tried again: it may have been put right meanwhile."""

DAG: dict[str, Any] = {
    "start_date": datetime(2026, 1, 1, tzinfo=UTC),
    "catchup": False,
    "max_active_runs": 1,
    "default_args": TASK,
}
"""Defaults of every DAG: missed runs are not caught up, because what Kafka said then is gone."""

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}


def schedule(variable: str, default: str) -> DeltaTriggerTimetable | str:
    """
    The schedule an environment variable gives, as Airflow takes it.

    >>> schedule("UNSET", "*/5 * * * *"), schedule("UNSET", "90s").delta.seconds
    ('*/5 * * * *', 90)
    """
    text = os.environ.get(variable, "").strip() or default
    period = _period(text)
    return text if period is None else DeltaTriggerTimetable(period)


def shortest_gap(variable: str, default: str) -> timedelta:
    """
    The least time between two runs of such a schedule.

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
    """A number with its unit; not by `engine.config.times`: nothing of the engine is loaded where DAGs are parsed."""
    match = re.fullmatch(r"(\d+)\s*([smh])", text)
    return timedelta(**{_UNITS[match[2]]: int(match[1])}) if match and int(match[1]) else None


def within(gap: timedelta) -> dict[str, Any]:
    """
    Task arguments by which two tries, with the wait between them, end before the next run is due.

    A cluster that hangs is then given up before it could hold back the next snapshot of the others.

    >>> within(timedelta(minutes=5))["execution_timeout"]
    datetime.timedelta(seconds=120)
    """
    return {
        "retries": 1,
        "retry_delay": min(gap / 20, TASK["retry_delay"]),
        "execution_timeout": gap * 0.4,
    }
