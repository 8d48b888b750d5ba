"""The numbers of a group are the sums of its parts, and what is said of an answer agrees with itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.assignors import every
from evenkeel.engine.config import Settings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.columns import columns_of
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.model.tables import Table
from evenkeel.engine.records import GroupMetrics
from evenkeel.engine.snapshots import METRICS, VALIDATION
from tests.helpers.measuring import metric_rows, proposed
from tests.helpers.snapshots import Group, group, groups, make_snapshot, member, store, topic

SETTINGS = Settings()
NUMBERS = [s.name for s in columns_of(GroupMetrics) if s.kind in (int, float)]
PARTS = (
    ("idle_members", "members"),
    ("unowned_partitions", "partitions"),
    ("unknown_lag_partitions", "partitions"),
    ("racks_left_out", "partitions"),
    ("largest_partition_lag", "total_lag"),
    ("largest_member_lag", "total_lag"),
    ("lag_lower_bound", "total_lag"),
)
"""What is a part of what."""

TOPICS = {"orders": 3, "clicks": 2, "audit": 1}
RACKS = st.sampled_from([None, "rack-a", "rack-b"])


def offsets(low: int, high: int, size: int) -> st.SearchStrategy[list[int | None]]:
    """One for each partition; half of the lists lack some, else hardly a total would be known."""
    known = st.integers(low, high)
    return st.one_of(
        st.lists(one, min_size=size, max_size=size) for one in (known, st.none() | known)
    )


@st.composite
def snapshots(draw: st.DrawFn, states: tuple[str, ...], most: int) -> ClusterSnapshot:
    """Groups that share topics, some of whose offsets, racks, owners and commits are not known, and one without."""
    described = [
        topic(
            name,
            size,
            begin=draw(st.lists(st.integers(0, 20), min_size=size, max_size=size)),
            end=draw(offsets(20, 50, size)),
        )
        for name, size in TOPICS.items()
    ]
    names = [f"group-{number}" for number in range(draw(st.integers(1, most)))]
    return make_snapshot(topics=described, groups=[draw(_groups(name, states)) for name in names])


@st.composite
def _groups(draw: st.DrawFn, name: str, states: tuple[str, ...]) -> Group:
    ids = [f"{name}-{number}" for number in range(draw(st.integers(0, 3)))]
    subscribed = {one: draw(st.lists(st.sampled_from([*TOPICS]), unique=True)) for one in ids}
    owned: dict[str, dict[str, list[int]]] = {one: {} for one in ids}
    committed: dict[str, list[int | None]] = {}
    for each, size in TOPICS.items():
        committed[each] = draw(offsets(0, 60, size))
        takers = [one for one in ids if each in subscribed[one]] or [None]
        nobody = draw(st.sampled_from([[], [None]]))
        for partition in range(size):
            taker = draw(st.sampled_from([*takers, *nobody]))
            if taker is not None:
                owned[taker].setdefault(each, []).append(partition)
    return group(
        name,
        members=[member(one, subscribed[one], owned[one], rack=draw(RACKS)) for one in ids],
        committed=committed,
        state=draw(st.sampled_from(states)) if ids else "Empty",
        error=draw(st.sampled_from([None, None, None, "timeout"])),
    )


def measured(snapshot: ClusterSnapshot, withheld: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """The metric rows of a snapshot of whose groups validation withholds some."""
    lake = Recording()
    [name] = store(lake, snapshot)
    key = {"snapshot_id": name, "cluster": "test", "stage": "snapshot", "severity": "critical"}
    verdicts = [
        key | {"group_id": each, "expectation": "x", "success": False, "reason": "broken"}
        for each in withheld
    ]
    lake.write("validation", name, {"validation": Table.from_rows(verdicts, VALIDATION)}, {})
    tables = pipeline.compute_metrics(lake, SETTINGS, name)
    return {dataset: tables[dataset].to_pylist() for dataset in METRICS}


def counted(one: GroupSnapshot) -> int:
    """How many partitions a group has, as measured; 0 where it could not be read."""
    [row] = metric_rows(SETTINGS, one)["group_metrics"]
    return row["partitions"] or 0


def total(lags: list[int | None]) -> int | None:
    """The sum; unknown when one of them is."""
    return None if None in lags else sum(lag for lag in lags if lag is not None)


def largest(lags: list[int | None]) -> int | None:
    """The largest that is known."""
    return max((lag for lag in lags if lag is not None), default=None)


@given(snapshots(("Stable", "PreparingRebalance"), 3), st.sets(st.sampled_from(["group-1"])))
def test_a_groups_numbers_are_the_sums_of_its_parts(
    snapshot: ClusterSnapshot, withheld: set[str]
) -> None:
    """Each group's, whatever stands beside it; nothing is measured of one that could not be read or is withheld."""
    rows = measured(snapshot, withheld)
    ids = snapshot.tables["groups"]["group_id"].to_pylist()
    errors = snapshot.tables["groups"]["error"].to_pylist()
    silent = {one for one, error in zip(ids, errors, strict=True) if error} | withheld
    assert [row["group_id"] for row in rows["group_metrics"]] == ids
    for row in rows["group_metrics"]:
        name = row["group_id"]
        members = [one for one in rows["member_metrics"] if one["group_id"] == name]
        partitions = [one for one in rows["partition_metrics"] if one["group_id"] == name]
        if name in silent:
            assert row["error"]
            assert (members, partitions) == ([], [])
            assert all(row[column] is None for column in NUMBERS if column != "members")
        else:
            _sums_of_a_group(row, members, partitions)
            _sums_of_members(members, partitions)
            _within_the_whole(row)


def _sums_of_a_group(
    row: dict[str, Any], members: list[dict[str, Any]], partitions: list[dict[str, Any]]
) -> None:
    lags = [one["lag"] for one in partitions if one["counted"]]
    assert row["partitions"] == len(lags)
    assert row["unknown_lag_partitions"] == lags.count(None)
    assert row["total_lag"] == (total(lags) if lags else None)
    assert row["largest_partition_lag"] == largest(lags)
    if row["state"] == "PreparingRebalance":
        assert members == []
        return
    assert row["members"] == len(members)
    if row["idle_members"] is not None:
        assert row["idle_members"] == sum(one["partitions"] == 0 for one in members)
    hands = [one["lag"] for one in members]
    if None not in hands and row["largest_member_lag"] is not None:
        assert row["largest_member_lag"] <= max(hands)


def _sums_of_members(members: list[dict[str, Any]], partitions: list[dict[str, Any]]) -> None:
    """And of each partition: its owner is a member, its lag at most what the log holds."""
    for one in members:
        lags = [each["lag"] for each in partitions if each["member_id"] == one["member_id"]]
        assert (one["partitions"], one["lag"]) == (len(lags), total(lags))
    owners = {each["member_id"] for each in partitions if each["member_id"] is not None}
    assert not members or owners <= {one["member_id"] for one in members}
    for each in partitions:
        if each["lag"] is not None and each["end_offset"] is not None:
            assert each["lag"] <= max(each["end_offset"] - each["begin_offset"], 0)


def _within_the_whole(row: dict[str, Any]) -> None:
    for part, whole in PARTS:
        if row[part] is not None and row[whole] is not None:
            assert row[part] <= row[whole], (part, whole)
    floor, most = row["lag_lower_bound"], row["largest_member_lag"]
    if row["unowned_partitions"] == 0 and floor is not None and most is not None:
        assert floor <= most


@pytest.mark.slow
@given(snapshots(("Stable",), 1))
def test_what_is_said_of_an_answer_agrees_with_itself(snapshot: ClusterSnapshot) -> None:
    """Every strategy has one row; what moves is listed, no more than there is; no answer is better than its floor."""
    [one] = groups(snapshot)
    rows, partitions = proposed(SETTINGS, one, ask_next_change=False), counted(one)
    assert [row["strategy"] for row in rows] == [*every()]
    for row in rows:
        assert row["reason"].strip()
        assert (row["feasibility"] == "not applicable") == (row["unowned"] is None)
        if row["unowned"] is None:
            continue
        changes = row["moves"] + row["newly_owned"]
        assert len(row["moved"]) == changes <= partitions
        assert row["partition_spread"] is None or (
            row["partition_spread"] <= row["most_partitions"] - row["fewest_partitions"]
        )
        if row["strategy"] != "live":
            assert row["unowned"] == 0
            # Kafka's sticky assignors give to members that subscribe to nothing what the others subscribe to
            to_strangers = "sticky" in row["strategy"] and any(
                m.subscription == () for m in one.members
            )
            floor, most = row["lag_lower_bound"], row["largest_member_lag"]
            assert to_strangers or None in (floor, most) or floor <= most
