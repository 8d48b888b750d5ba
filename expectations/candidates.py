"""
What candidates must be like: every group judged by every strategy, every number possible.

A group with an impossible number gets no advice; the others do.
"""

from __future__ import annotations

from collections.abc import Sequence

import great_expectations as gx
import great_expectations.expectations as gxe
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.model import Feasibility
from evenkeel.engine.records import CandidateRow
from evenkeel.expectations.columns import at_most, codes, flags, lengths, numbers, stacked
from evenkeel.expectations.frames import Frame, with_columns
from evenkeel.expectations.ranges import UNSOUND, among, ranges, unsound
from evenkeel.expectations.suite import expect, holds, whole


def candidate_frames(
    candidates: pa.Table, groups: pa.Table, strategies: Sequence[str]
) -> dict[str, Frame]:
    """
    The frames of one snapshot's candidates, by name.

    Args:
        candidates: The dataset.
        groups: What was judged: `group_id` and its `partitions` (null where the group was not measured).
        strategies: Every strategy each group is judged by.
    """
    frames = [
        Frame(name="scoreboard", table=_scoreboard(candidates, groups, strategies)),
        Frame(name="candidates", table=_candidates(candidates, groups)),
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
            *_words(strategies),
            *_counts(),
            _above_floor(),
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


def _words(strategies: Sequence[str]) -> list[gxe.Expectation]:
    return [
        holds(
            "listed",
            "Every candidate is of a group that was measured.",
            "a candidate is of a group that was not measured",
            "{strategy} of {group_id}",
            rejects=True,
        ),
        among("strategy", strategies, "{strategy}: {strategy}"),
        holds("reasoned", "Every candidate has a reason.", "there is no reason", "{strategy}"),
        holds(
            "scored",
            "A feasible candidate has a score, an infeasible one has none.",
            "a feasible candidate has no score, or an infeasible one has one",
            "{strategy} ({feasibility})",
        ),
    ]


def _counts() -> list[gxe.Expectation]:
    return [
        holds(
            "moves_fit",
            "No more partitions change hands than there are.",
            "more partitions change hands than there are",
            "{strategy}: {moves} moves and {newly_owned} newly owned",
        ),
        holds(
            "moves_listed",
            "Every change of hands is listed.",
            "the moves listed are not as many as counted",
            "{strategy}: {moves} moves and {newly_owned} newly owned",
        ),
        holds(
            "given_out",
            "A strategy gives every partition an owner.",
            "a strategy leaves partitions without an owner",
            "{strategy}: {unowned}",
        ),
        holds(
            "counts_agree",
            "The partition spread fits the members' partition counts.",
            "the partition spread does not fit the members' counts",
            "{strategy}: spread {partition_spread}, {fewest_partitions} to {most_partitions}",
        ),
    ]


def _above_floor() -> gxe.Expectation:
    return holds(
        "above_floor",
        "No strategy has a largest member lag under the floor.",
        "the largest member lag is under its floor",
        "{strategy}: {largest_member_lag} under {lag_floor}",
    )


def _scoreboard(candidates: pa.Table, groups: pa.Table, strategies: Sequence[str]) -> pa.Table:
    """One row per group and strategy: how many candidates it has."""
    group = np.repeat(np.arange(len(groups)), len(strategies))
    expected = pa.table(
        {
            "group_id": groups["group_id"].take(pa.array(group)),
            "strategy": pa.array(list(strategies) * len(groups), pa.string()),
        }
    )
    pairs = codes(*(stacked(expected[n], candidates[n]) for n in ("group_id", "strategy")))
    wanted, have = pairs[: len(expected)], pairs[len(expected) :]
    rows = np.bincount(have, minlength=len(pairs))[wanted]
    return with_columns(expected, rows=pa.array(rows))


def _candidates(candidates: pa.Table, groups: pa.Table) -> pa.Table:
    """The candidates with what no single column says; a comparison with the unknown is fine."""
    table = candidates.drop_columns(["moved", "findings", "facts"])
    group = pc.index_in(table["group_id"], value_set=groups["group_id"].combine_chunks())
    size = groups["partitions"].take(group)
    changes = pc.add(table["moves"], table["newly_owned"])
    live = pc.equal(table["strategy"], "live")
    infeasible = pc.equal(table["feasibility"], Feasibility.INFEASIBLE.value)
    spread = pc.subtract(table["most_partitions"], table["fewest_partitions"])
    return with_columns(
        table,
        listed=group.is_valid(),
        reasoned=pc.fill_null(pc.not_equal(pc.utf8_trim_whitespace(table["reason"]), ""), False),
        scored=pc.equal(pc.fill_null(infeasible, False), table["unowned"].is_null()),
        moves_fit=at_most(changes, size),
        moves_listed=flags(numbers(changes) == lengths(candidates["moved"])),
        given_out=pc.or_(live, pc.equal(pc.fill_null(table["unowned"], 0), 0)),
        counts_agree=at_most(table["partition_spread"], spread),
        above_floor=pc.or_(live, at_most(table["lag_floor"], table["largest_member_lag"])),
        **{UNSOUND: unsound(candidates, CandidateRow)},
    )
