"""
Priority in the pool `spark`: manual runs first, then the oldest run.

Airflow assigns the slots of a pool to the task with the highest weight. All tasks of a run have the same weight, so a
started run is finished before a later one starts, and a cluster waits for at most one run of another. (Another run may
get a slot that is free before the scheduler has noticed the end of the previous step.) Airflow loads priority rules
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

LATER = 1_000_000_000

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)

_MOMENT = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)")


def weight(run_id: str) -> int:
    """
    The weight of the tasks of a run; the highest goes first.

    >>> weight("manual__2026-03-01T09:00:00+00:00") > weight("asset_triggered__2026-03-01T08:00:00+00:00")
    True
    >>> weight("asset_triggered__2026-03-01T08:00:00+00:00") > weight("again__eu-20260301T080001Z-0a1b2c__1")
    True
    """
    automatic = run_id.startswith(("asset_triggered__", "again__"))
    found = _MOMENT.search(run_id)
    if found is None:
        return LATER if automatic else FIRST
    created = datetime(*(int(part) for part in found.groups()), tzinfo=UTC)  # type: ignore[arg-type]
    age = min(max(int((created - EPOCH).total_seconds()), 0), LATER - 1)
    return (LATER if automatic else FIRST) - age


class InTurn(PriorityWeightStrategy):
    """The weight of a task by its run."""

    def get_weight(self, ti: Any) -> int:
        """See `weight`."""
        return weight(ti.run_id or "")


class TurnsPlugin(AirflowPlugin):
    """Registers the priority rule and the pages of the report in Airflow."""

    name = "evenkeel"
    # lists of the class, as Airflow declares them
    priority_weight_strategies = [InTurn]  # noqa: RUF012
    fastapi_apps = [navigation.APP]  # noqa: RUF012
    external_views = [navigation.VIEW]  # noqa: RUF012
