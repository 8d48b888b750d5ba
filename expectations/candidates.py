"""
What candidates must be like: every group judged by every strategy, every number possible, no partition left out.

A group with an impossible number gets no advice; the others do. Strategies may be a user's own, and files another
version's; that what the judge says of an answer agrees with itself is a property of it, and tested there.
"""

from __future__ import annotations

from collections.abc import Sequence

import great_expectations as gx
import great_expectations.expectations as gxe
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from great_expectations.expectations.row_conditions import Column

from evenkeel.engine.model.assignments import Feasibility
from evenkeel.engine.records import CandidateRow
from evenkeel.expectations.columns import row_in, times
from evenkeel.expectations.frames import Frame, with_columns
from evenkeel.expectations.ranges import UNSOUND, among, ranges, unsound
from evenkeel.expectations.suite import expect, present, whole

FEASIBLE = Column("feasibility") != Feasibility.NOT_APPLICABLE.value
INFEASIBLE = Column("feasibility") == Feasibility.NOT_APPLICABLE.value
OF_A_STRATEGY = Column("strategy") != "live"
"""What the group has now may leave partitions without an owner."""


def candidate_frames(
    candidates: pa.Table, groups: Sequence[str], strategies: Sequence[str]
) -> dict[str, Frame]:
    """
    The frames of one snapshot's candidates, by name.

    Args:
        candidates: The dataset.
        groups: Ids of the groups that were judged.
        strategies: Every strategy each group is judged by.
    """
    judged = pa.chunked_array([pa.array(groups, pa.string())])
    group_row = row_in(candidates["group_id"], judged)
    extended = with_columns(
        candidates, group_row=group_row, **{UNSOUND: unsound(candidates, CandidateRow)}
    )
    frames = [
        Frame(name="scoreboard", table=_scoreboard(candidates, group_row, judged, strategies)),
        Frame(name="candidates", table=extended),
    ]
    return {frame.name: frame for frame in frames}


def build_suites(
    snapshot_id: str, rows: int, strategies: Sequence[str]
) -> dict[str, gx.ExpectationSuite]:
    """
    The suites of candidates, by name of the frame they are for.

    Args:
        snapshot_id: Which snapshot.
        rows: How many candidates the manifest says there are.
        strategies: The strategies that may stand in them.
    """
    by_frame = {
        "scoreboard": _every_strategy_once(),
        "candidates": [
            *whole(rows, snapshot_id),
            *ranges(CandidateRow, "{strategy}"),
            among("strategy", strategies, "{strategy}: {strategy}"),
            *_answers(),
        ],
    }
    return {
        name: gx.ExpectationSuite(name=name, expectations=expectations)
        for name, expectations in by_frame.items()
    }


def _every_strategy_once() -> list[gxe.Expectation]:
    return [
        expect(
            gxe.ExpectColumnValuesToBeInSet,
            "Every group is judged by every strategy once, what it has now among them.",
            "a strategy's row is missing or stands twice",
            "{strategy}: {rows} rows",
            column="rows",
            value_set=[1],
        )
    ]


def _answers() -> list[gxe.Expectation]:
    unscored = "a feasible candidate has no score, or an infeasible one has one"
    return [
        present(
            "group_row",
            "Every candidate is of a group that was measured.",
            "a candidate is of a group that was not measured",
            "{strategy} of {group_id}",
            rejects=True,
        ),
        expect(
            gxe.ExpectColumnValuesToMatchRegex,
            "Every candidate has a reason.",
            "there is no reason",
            "{strategy}",
            column="reason",
            regex=r"\S",
        ),
        present(
            "unowned",
            "A feasible candidate has a score.",
            unscored,
            "{strategy} ({feasibility})",
            row_condition=FEASIBLE,
        ),
        expect(
            gxe.ExpectColumnValuesToBeNull,
            "An infeasible candidate has no score.",
            unscored,
            "{strategy} ({feasibility})",
            column="unowned",
            row_condition=INFEASIBLE,
        ),
        expect(
            gxe.ExpectColumnValuesToBeInSet,
            "A strategy gives every partition an owner.",
            "a strategy leaves partitions without an owner",
            "{strategy}: {unowned}",
            column="unowned",
            value_set=[0],
            row_condition=OF_A_STRATEGY,
        ),
    ]


def _scoreboard(
    candidates: pa.Table,
    group_row: pa.ChunkedArray,
    groups: pa.ChunkedArray,
    strategies: Sequence[str],
) -> pa.Table:
    """One row per group and strategy: how many candidates it has."""
    known = pa.chunked_array([pa.array(strategies, pa.string())])
    strategy_row = row_in(candidates["strategy"], known)
    cell = pc.add(pc.multiply(group_row, len(strategies)), strategy_row)
    return pa.table(
        {
            "group_id": groups.take(pa.array(np.repeat(np.arange(len(groups)), len(strategies)))),
            "strategy": pa.array(list(strategies) * len(groups), pa.string()),
            "rows": times(cell, len(groups) * len(strategies)),
        }
    )
