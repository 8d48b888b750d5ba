"""
Whose turn it is in the pool `spark`: a run by hand first, then the run that was created first.

Airflow gives the slots of a pool to the task of the greatest weight. All tasks of a run that wait for
the pool have the same, so a run that has begun is finished before a later one begins, and no cluster
waits for another longer than one run. (A slot that is free before the scheduler has seen that the step
before ended may go to another run: that one then has its step in between.)
Airflow reads such a rule from its plugins; ours is registered by the installed package.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from airflow.plugins_manager import AirflowPlugin
from airflow.task.priority_strategy import PriorityWeightStrategy

from evenkeel.dags import navigation

FIRST = 2_000_000_000
"""The weight of a run by hand; a database holds integers up to 2^31."""

LATER = 1_000_000_000

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)

_MOMENT = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)")


def weight(run_id: str) -> int:
    """
    The weight of a run's tasks: greater goes first.

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
    """Makes known to Airflow the rule, and the pages of the report with their place in its navigation."""

    name = "evenkeel"
    # lists of the class, as Airflow declares them
    priority_weight_strategies = [InTurn]  # noqa: RUF012
    fastapi_apps = [navigation.APP]  # noqa: RUF012
    external_views = [navigation.VIEW]  # noqa: RUF012
