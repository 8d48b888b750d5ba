"""
Priority in the pool `spark`: manual runs first, then started runs, then the oldest run.

Airflow assigns the slots of a pool to the task with the highest weight. Started runs are finished before others start,
so no snapshot is claimed long before it is worked on, and a cluster waits for at most one run of another. (Another run
may get a slot that is free before the scheduler has noticed the end of the previous step.) Airflow loads priority rules
from plugins; the installed package registers this one.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from airflow.plugins_manager import AirflowPlugin
from airflow.task.priority_strategy import PriorityWeightStrategy

from evenkeel.dags import navigation

FIRST = 2_000_000_000
"""The weight of a manual run; the database stores integers up to 2^31."""

STARTED = 1_300_000_000
"""The weight of a run that has claimed its snapshot."""

LATER = 650_000_000
"""The weight of a run that has not; also the seconds, 20 years, that the age of a run counts."""

START = "validate_snapshot"
"""The task that starts a run."""

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)

_MOMENT = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)")


def weight(run_id: str, task_id: str = START) -> int:
    """
    The weight of a task of a run; the highest goes first.

    >>> weight("manual__2026-03-01T09:00:00+00:00") > weight("asset_triggered__2026-03-01T08:00:00+00:00")
    True
    >>> weight("asset_triggered__2026-03-01T08:00:00+00:00") > weight("again__eu-20260301T080001Z-0a1b2c__1")
    True
    >>> weight("asset_triggered__2026-03-01T09:00:00+00:00", "measure_and_propose") > LATER
    True
    """
    automatic = run_id.startswith(("asset_triggered__", "again__"))
    level = FIRST if not automatic else LATER if task_id == START else STARTED
    found = _MOMENT.search(run_id)
    if found is None:
        return level
    created = datetime(*(int(part) for part in found.groups()), tzinfo=UTC)  # type: ignore[arg-type]
    age = min(max(int((created - EPOCH).total_seconds()), 0), LATER - 1)
    return level - age


class InTurn(PriorityWeightStrategy):
    """The weight of a task by its run, and by whether it starts it."""

    def get_weight(self, ti: Any) -> int:
        """See `weight`."""
        return weight(ti.run_id or "", ti.task_id)


class TurnsPlugin(AirflowPlugin):
    """Registers the priority rule and the pages of the report in Airflow."""

    name = "evenkeel"
    # lists of the class, as Airflow declares them
    priority_weight_strategies = [InTurn]  # noqa: RUF012
    fastapi_apps = [navigation.APP]  # noqa: RUF012
    external_views = [navigation.VIEW]  # noqa: RUF012
