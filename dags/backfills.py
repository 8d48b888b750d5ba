"""
What the tasks of `backfill_history` do. How they went is noted nowhere but in Airflow: nobody is told of a backfill.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from airflow.sdk.exceptions import AirflowException

from evenkeel.dags.connections import settings
from evenkeel.engine import wiring
from evenkeel.engine.config import Settings
from evenkeel.engine.errors import EvenkeelError, InputError
from evenkeel.engine.ports import History
from evenkeel.engine.records import BackfillRow
from evenkeel.engine.steps.backfill import changes_of
from evenkeel.engine.steps.backfill_plan import (
    Plan,
    Question,
    begun_by,
    planned,
    question,
    told_given_up,
)
from evenkeel.engine.text import one_line, printable, several

log = logging.getLogger(__name__)

MOST_CHANGES = 20
"""Changes that the log and the result name."""

Params = Mapping[str, Any]


def arguments(params: Params) -> list[str]:
    """The command line of a turn; a value may begin with a dash, as names of groups do."""
    given = {
        "--cluster": params["cluster"],
        "--from": params["from"],
        "--to": params["to"],
        "--groups": params["group"],
        "--candidates-every": params["candidates_every"],
    }
    return [f"{option}={value}" for option, value in given.items()]


def find_snapshots(params: Params) -> dict[str, Any]:
    """
    What there is to judge; nothing is written.

    Raises:
        AirflowException: The parameters name no cluster or no days that the lake has.
    """
    with _ports() as (known, history):
        plan = planned(wiring.lake(known), history, known, _question(params))
    return _noted(plan)


def _noted(plan: Plan) -> dict[str, Any]:
    row = plan.row
    log.info(
        "%s of %s to judge by configuration %s and evenkeel %s; candidates of %s in all",
        several(len(plan.left), "snapshot"),
        row.cluster,
        row.config_version,
        row.evenkeel_version,
        f"{len(plan.proposed):,}",
    )
    if plan.resumes:
        log.info("%s done before: it goes on behind these", several(row.done_snapshots, "snapshot"))
    if lost := told_given_up(plan):
        log.warning("%s", lost)
    for day in plan.missing_days:
        log.warning("the lake has no snapshot of %s", day)
    return {
        "snapshots": row.snapshots,
        "left": len(plan.left),
        "config_version": row.config_version,
        "evenkeel_version": row.evenkeel_version,
    }


def is_finished_since(params: Params, moment: datetime) -> bool:
    """Whether all that is asked for was done, and the last of it from a moment on."""
    with _ports() as (known, history):
        row = begun_by(history, known, _question(params))
    return row is not None and row.finished_at is not None and row.finished_at >= moment


def progress(params: Params) -> dict[str, Any]:
    """How far the backfill is: snapshots done, of how many, and how many are left."""
    with _ports() as (known, history):
        row = _row(history, known, params)
    done, every = row.done_snapshots, row.snapshots
    return {"done": done, "snapshots": every, "left": 0 if row.finished_at else every - done}


def tell_changes(params: Params) -> dict[str, Any]:
    """Of how many groups something else would have been said, and what of those that differ longest."""
    with _ports() as (known, history):
        row = _row(history, known, params)
        outcome = history.backfill_outcome(row)
        changes = changes_of(history, row)
    if not outcome.groups:
        log.warning("no snapshot has a group %s that could be judged", printable(row.groups))
    log.info(
        "%s of %s would have been told otherwise",
        f"{outcome.differing:,}",
        several(outcome.groups, "group"),
    )
    names = ("group_id", "what", "then_was", "now_is", "snapshots", "hours")
    named = [{name: each[name] for name in names} for each in changes[:MOST_CHANGES]]
    for each in named:
        log.info("%s", ", ".join(f"{name}: {value}" for name, value in each.items()))
    return {"groups": outcome.groups, "differing": outcome.differing, "changes": named}


def _question(params: Params) -> Question:
    return question(
        params["cluster"],
        params["from"],
        params["to"],
        groups=params["group"],
        candidates_every=params["candidates_every"],
    )


def _row(history: History, known: Settings, params: Params) -> BackfillRow:
    """How far these days are; what the lake has of them by now is of no interest."""
    row = begun_by(history, known, _question(params))
    if row is None:
        raise InputError(
            f"the configuration has changed, or other days of {params['cluster']} were judged, since these were.",
            fix="Clear the task `backfill`: it judges them by the configuration of now.",
        )
    return row


@contextmanager
def _ports() -> Iterator[tuple[Settings, History]]:
    """The configuration and the history; what is wrong is one line."""
    try:
        known = settings()
        yield known, wiring.history(known)
    except EvenkeelError as problem:
        raise AirflowException(one_line(problem)) from None
