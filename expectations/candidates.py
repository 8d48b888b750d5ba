"""
Expectations of candidates: every group has every strategy, every number is possible, every partition has an owner.

A group with an impossible number gets no advice; other groups do. Strategies may be custom ones, and files may come
from another version.
"""

from __future__ import annotations

from collections.abc import Sequence

import great_expectations as gx
import great_expectations.expectations as gxe
import numpy as np
from great_expectations.expectations.row_conditions import Column

from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.assignments import Feasibility
from evenkeel.engine.model.tables import INT64, TEXT, Numbers, Series, Table, Texts, column
from evenkeel.engine.records import CandidateRow
from evenkeel.expectations.columns import referred, row_in, times
from evenkeel.expectations.frames import Frame
from evenkeel.expectations.ranges import UNSOUND, among, ranges, unsound
from evenkeel.expectations.suite import expect, present, whole

FEASIBLE = Column("feasibility") != Feasibility.NOT_APPLICABLE.value
INFEASIBLE = Column("feasibility") == Feasibility.NOT_APPLICABLE.value
OF_A_STRATEGY = Column("strategy") != "live"
"""The current assignment may have partitions without an owner."""


def candidate_frames(
    candidates: Table, groups: Sequence[str], strategies: Sequence[str]
) -> dict[str, Frame]:
    """
    The frames of the candidates of a snapshot, by name.

    Args:
        candidates: The dataset.
        groups: Ids of the evaluated groups.
        strategies: The expected strategies of each group.
    """
    judged = column(groups, TEXT)
    group_row = row_in(candidates["group_id"], judged)
    extended = candidates.replaced(
        group_row=group_row,
        reason_length=_length(candidates["reason"]),
        **{UNSOUND: unsound(candidates, CandidateRow)},
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
    The suites of candidates, by name of their frame.

    Args:
        snapshot_id: Id of the snapshot.
        rows: Number of candidates in the manifest.
        strategies: The known strategies.
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
            "Every group has one candidate per strategy, including the current assignment.",
            "the row of a strategy is missing or duplicated",
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
            "Every candidate belongs to a measured group.",
            "a candidate belongs to a group without metrics",
            "{strategy} of {group_id}",
            rejects=True,
        ),
        expect(
            gxe.ExpectColumnValuesToBeBetween,
            "Every candidate has a reason.",
            "the reason is missing",
            "{strategy}",
            column="reason_length",
            min_value=1,
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


def _length(texts: Texts) -> Numbers:
    """The number of characters of each text, without those around it that are blank."""
    lengths = np.array([*(len(word.strip()) for word in texts.words), 0])
    return Numbers(lengths[texts.places], INT64, texts.known)


def _scoreboard(
    candidates: Table, group_row: Numbers, groups: Series, strategies: Sequence[str]
) -> Table:
    """One row per group and strategy with its number of candidates."""
    strategy = candidates["strategy"].index_in(strategies)
    is_expected = group_row.known & (strategy != NONE)
    cell = np.where(is_expected, group_row.values * len(strategies) + strategy, NONE)
    cells = np.arange(len(groups) * len(strategies))
    return Table(
        {
            "group_id": groups.take(cells // len(strategies)),
            "strategy": Texts(cells % len(strategies), strategies),
            "rows": times(referred(cell), len(cells)),
        }
    )
