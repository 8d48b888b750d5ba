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

from evenkeel.engine.model import Feasibility, Reach
from evenkeel.expectations.frames import Frame, flags, with_columns
from evenkeel.expectations.suite import expect, holds, whole

SHARES = (
    "cross_rack_share",
    "cross_rack_rate_share",
    "cross_rack_in_sync_share",
    "cross_leader_share",
)
COUNTS = ("fewest_partitions", "moves", "newly_owned", "unowned", "racks_left_out")
COSTS = ("cross_rack_bytes_per_second", "cross_rack_cost_per_month")
NUMBERS = (*SHARES, *COSTS, "lag_skew", "drain_seconds")
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
            *_words(strategies),
            *_counts(),
            *_lags(),
            *_shares(),
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
    def among(column: str, values: Sequence[str]) -> gxe.Expectation:
        return expect(
            gxe.ExpectColumnValuesToBeInSet,
            f"The {column} is a known one.",
            f"the {column} is not a known one",
            "{strategy}: {" + column + "}",
            column=column,
            value_set=list(values),
        )

    return [
        holds(
            "listed",
            "Every candidate is of a group that was measured.",
            "a candidate is of a group that was not measured",
            "{strategy} of {group_id}",
            rejects=True,
        ),
        among("strategy", strategies),
        among("reach", [reach.value for reach in Reach]),
        among("feasibility", [feasibility.value for feasibility in Feasibility]),
        holds("reasoned", "Every candidate has a reason.", "there is no reason", "{strategy}"),
        holds(
            "scored",
            "A feasible candidate has a score, an infeasible one has none.",
            "a feasible candidate has no score, or an infeasible one has one",
            "{strategy} ({feasibility})",
        ),
    ]


def _counts() -> list[gxe.Expectation]:
    def possible(column: str) -> gxe.Expectation:
        return expect(
            gxe.ExpectColumnValuesToBeBetween,
            f"{column} is not negative.",
            f"{column} is negative",
            "{strategy}: {" + column + "}",
            column=column,
            min_value=0,
        )

    return [
        *(possible(column) for column in COUNTS),
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


def _lags() -> list[gxe.Expectation]:
    return [
        holds(
            "above_floor",
            "No strategy has a largest member lag under the floor.",
            "the largest member lag is under its floor",
            "{strategy}: {largest_member_lag} under {lag_floor}",
        ),
        expect(
            gxe.ExpectColumnValuesToBeBetween,
            "The largest member lag is not under the mean.",
            "the largest member lag is under the mean",
            "{strategy}: {lag_skew} times the mean",
            column="lag_skew",
            min_value=1 - 1e-9,
        ),
        expect(
            gxe.ExpectColumnValuesToBeBetween,
            "The time to drain is not negative.",
            "the time to drain is negative",
            "{strategy}: {drain_seconds} s",
            column="drain_seconds",
            min_value=0,
        ),
    ]


def _shares() -> list[gxe.Expectation]:
    shares = [
        expect(
            gxe.ExpectColumnValuesToBeBetween,
            f"{column} is between 0 and 1.",
            f"{column} is not between 0 and 1",
            "{strategy}: {" + column + "}",
            column=column,
            min_value=0,
            max_value=1,
        )
        for column in SHARES
    ]
    numbers = holds("numbers", "Unknown is null, never NaN.", "a number is NaN", "{strategy}")
    return [*shares, numbers]


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
        numbers=flags(
            all(row[name] is None or row[name] == row[name] for name in NUMBERS) for row in rows
        ),
    )


def _changes(row: Mapping[str, int | None]) -> int | None:
    moves, newly_owned = row["moves"], row["newly_owned"]
    return None if moves is None or newly_owned is None else moves + newly_owned


def _range(row: Mapping[str, int | None]) -> int | None:
    most, fewest = row["most_partitions"], row["fewest_partitions"]
    return None if most is None or fewest is None else most - fewest


def _at_most(number: int | None, limit: int | None) -> bool:
    return number is None or limit is None or number <= limit
