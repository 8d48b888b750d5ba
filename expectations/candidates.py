"""
What candidates must be like: every group judged by every strategy, every number possible.

A group with an impossible number gets no advice; the others do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import great_expectations as gx
import great_expectations.expectations as gxe
import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.model import Feasibility
from evenkeel.engine.records import CandidateRow
from evenkeel.expectations.frames import Frame, flags, with_columns
from evenkeel.expectations.ranges import UNSOUND, among, ranges, unsound
from evenkeel.expectations.suite import expect, holds, whole

COVERAGE = pa.schema({"group_id": pa.string(), "strategy": pa.string(), "rows": pa.int64()})


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
    found = {
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
        for name, expectations in found.items()
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
    pairs = zip(candidates["group_id"].to_pylist(), candidates["strategy"].to_pylist(), strict=True)
    have = Counter(pairs)
    rows = [
        {"group_id": group, "strategy": strategy, "rows": have[group, strategy]}
        for group in groups["group_id"].to_pylist()
        for strategy in strategies
    ]
    return pa.Table.from_pylist(rows, COVERAGE)


def _candidates(candidates: pa.Table, groups: pa.Table) -> pa.Table:
    """The candidates with what no single column says; a comparison with the unknown is fine."""
    rows = candidates.drop_columns(["moved", "findings", "facts"]).to_pylist()
    listed = pc.fill_null(pc.list_value_length(candidates["moved"]), 0).to_pylist()
    sizes = dict(zip(groups["group_id"].to_pylist(), groups["partitions"].to_pylist(), strict=True))
    return with_columns(
        candidates,
        listed=flags(row["group_id"] in sizes for row in rows),
        reasoned=flags(bool((row["reason"] or "").strip()) for row in rows),
        scored=flags(
            (row["feasibility"] == Feasibility.INFEASIBLE.value) == (row["unowned"] is None)
            for row in rows
        ),
        moves_fit=flags(_at_most(_changes(row), sizes.get(row["group_id"])) for row in rows),
        moves_listed=flags(
            (_changes(row) or 0) == count for row, count in zip(rows, listed, strict=True)
        ),
        given_out=flags(row["strategy"] == "live" or not row["unowned"] for row in rows),
        counts_agree=flags(_at_most(row["partition_spread"], _range(row)) for row in rows),
        above_floor=flags(
            row["strategy"] == "live" or _at_most(row["lag_floor"], row["largest_member_lag"])
            for row in rows
        ),
        **{UNSOUND: unsound(candidates, CandidateRow)},
    )


def _changes(row: Mapping[str, int | None]) -> int | None:
    moves, newly_owned = row["moves"], row["newly_owned"]
    return None if moves is None or newly_owned is None else moves + newly_owned


def _range(row: Mapping[str, int | None]) -> int | None:
    most, fewest = row["most_partitions"], row["fewest_partitions"]
    return None if most is None or fewest is None else most - fewest


def _at_most(number: int | None, limit: int | None) -> bool:
    return number is None or limit is None or number <= limit
