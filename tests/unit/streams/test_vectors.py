"""What the classes of Kafka 4.3.1, and of 4.4.0 where it differs, answered for whole Streams applications."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from evenkeel.engine.cli.task_cases import ApplicationCase, answer_tasks, read_tasks
from evenkeel.engine.streams.actives import total_cost
from evenkeel.engine.streams.place import place

VECTORS = Path(__file__).parents[2] / "data" / "vectors"
OF_RELEASES = (("", 150), ("-4.4", 60))
"""How many cases are recorded; of 4.4.0 only such as 4.3.1 answers otherwise."""

EXACT = ("active", "standby", "probing", "initial", "target")


def _recorded(name):
    with gzip.open(VECTORS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _sorted(value):
    return {k: sorted(v) for k, v in value.items() if v} if isinstance(value, dict) else value


def _same(expected, ours, names=EXACT):
    return all(_sorted(expected[name]) == _sorted(ours[name]) for name in names)


def test_without_racks_answers_equal_kafkas():
    """Active tasks, standbys, target and probing, to the letter."""
    recorded = _recorded("streams-none")
    differing = [
        row["case"]["id"]
        for row in recorded
        if not _same(row["expected"], answer_tasks(row["case"]))
    ]

    assert (len(recorded), differing) == (150, [])


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["min_traffic", "balance_subtopology"])
def test_with_racks_answers_cost_what_kafkas_cost(strategy):
    """The same start, the same counts per client, the same least cost; where racks are off, all the same."""
    recorded = _recorded(f"streams-{strategy}")
    differing = []
    for row in recorded:
        expected, (app, config) = (
            row["expected"],
            read_tasks(ApplicationCase.model_validate(row["case"])),
        )
        ours, placed = answer_tasks(row["case"]), place(app, config)
        if not expected["rack_aware"]:
            same = _same(expected, ours) and placed.racks is not None
        else:
            stateful = np.flatnonzero(app.stateful)
            owners = (placed.target, placed.initial)
            cost = total_cost(app, placed.target, stateful, config.costs, placed.initial)
            counts = [np.bincount(o[stateful], minlength=len(app.clients)).tolist() for o in owners]
            same = (
                _same(expected, ours, ("initial",))
                and cost == expected["active_cost"]
                and counts[0] == counts[1]
            )
        if not same:
            differing.append(row["case"]["id"])

    assert (len(recorded), differing) == (150, [])


def _by_member(given):
    return {
        member: {role: sorted(has) for role, has in one.items()} for member, one in given.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(("release", "cases"), OF_RELEASES)
def test_the_public_sticky_assignor_answers_as_kafkas(release, cases):
    """Active tasks and standbys of every client, given the order in which Kafka dealt standbys."""
    recorded = _recorded(f"streams-sticky-tasks{release}")
    differing = [
        row["case"]["id"]
        for row in recorded
        if not _same(row["expected"], answer_tasks(row["case"]), ("active", "standby"))
    ]

    assert (len(recorded), differing) == (cases, [])


@pytest.mark.slow
@pytest.mark.parametrize(("release", "cases"), OF_RELEASES)
def test_the_brokers_sticky_assignor_answers_as_kafkas(release, cases):
    """Active tasks and standbys of every member, to the letter."""
    recorded = _recorded(f"streams-sticky-tasks-server{release}")
    differing = [
        row["case"]["id"]
        for row in recorded
        if _by_member(row["expected"]["members"])
        != _by_member(answer_tasks(row["case"])["members"])
    ]

    assert (len(recorded), differing) == (cases, [])
