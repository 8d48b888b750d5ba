"""The tasks of `backfill_history`. Their runs are recorded in Airflow only, and nobody is notified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from airflow.sdk.exceptions import AirflowException

from evenkeel.dags.connections import settings
from evenkeel.engine import pipeline, wiring
from evenkeel.engine.config import Settings
from evenkeel.engine.model.environment import DOING
from evenkeel.engine.model.errors import EvenkeelError
from evenkeel.engine.model.logs import logger
from evenkeel.engine.model.text import one_line, printable, several
from evenkeel.engine.pipeline.backfill import (
    BackfillPlan,
    Progress,
    Question,
    Shelf,
    outcome_of,
    planned,
    question,
    rules_of,
)
from evenkeel.engine.ports import Lake

log = logger(__name__)

MOST_CHANGES = 20
"""Maximum number of changes in the log and in the result."""

Params = Mapping[str, Any]


def find_snapshots(params: Params) -> dict[str, Any]:
    """
    Count the snapshots to evaluate, without writing anything.

    Raises:
        AirflowException: The cluster is unknown, or the lake has none of the days.
    """
    with _asked(params) as (known, lake, shelf, wanted):
        plan = planned(lake, shelf, known, wanted)
    log.info(
        "%s of %s to evaluate in schema %s, of %s in total; candidates for %s",
        several(len(plan.left), "snapshot"),
        wanted.cluster,
        plan.rules,
        f"{len(plan.ids):,}",
        f"{len(plan.proposed):,}",
    )
    for day in plan.missing_days:
        log.warning("the lake has no snapshots of %s", day)
    return _counted(plan)


def turn(params: Params, budget: timedelta) -> dict[str, Any]:
    """Evaluate remaining snapshots within a time budget; returns the number that is left."""
    with _asked(params) as (known, lake, shelf, wanted):
        return _counted(pipeline.backfill(lake, shelf, known, wanted, budget=budget, tell=_tell))


def _tell(progress: Progress) -> None:
    log.info(
        "%s of %s snapshots, through %s UTC, about %.0f min left",
        f"{progress.done:,}",
        f"{progress.of:,}",
        f"{progress.at:%Y-%m-%d %H:%M}",
        progress.left_seconds / 60,
    )


def tell_changes(params: Params) -> dict[str, Any]:
    """The number of groups with different results, and the longest differences."""
    with _asked(params) as (known, lake, shelf, wanted):
        outcome = outcome_of(lake, wiring.history(known), planned(lake, shelf, known, wanted))
    if not outcome.groups:
        log.warning("no snapshot has a group %s that could be evaluated", printable(wanted.groups))
    log.info(
        "%s of %s have different results",
        f"{outcome.differing:,}",
        several(outcome.groups, "group"),
    )
    names = ("group_id", "what", "then_was", "now_is", "snapshots", "hours")
    named = [{name: each[name] for name in names} for each in outcome.changes[:MOST_CHANGES]]
    for each in named:
        log.info("%s", ", ".join(f"{name}: {value}" for name, value in each.items()))
    return {"groups": outcome.groups, "differing": outcome.differing, "changes": named}


def _counted(plan: BackfillPlan) -> dict[str, Any]:
    return {"snapshots": len(plan.ids), "left": len(plan.left), "rules": plan.rules}


@contextmanager
def _asked(params: Params) -> Iterator[tuple[Settings, Lake, Shelf, Question]]:
    """The configuration, the source, the target and the question; errors become one line."""
    DOING.set("backfill")
    try:
        wanted = question(
            params["cluster"],
            params["from"],
            params["to"],
            groups=params["group"],
            candidates_every=params["candidates_every"],
        )
        known = settings()
        shelf = wiring.shelf(known, rules_of(known, wanted.groups))
        yield known, wiring.lake(known), shelf, wanted
    except EvenkeelError as problem:
        raise AirflowException(one_line(problem)) from None
