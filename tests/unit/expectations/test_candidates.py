"""Expectations of candidates: each has a case that breaks it, and says which group and why."""

from __future__ import annotations

from typing import Any

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.assignors import every
from evenkeel.engine.config import Settings
from evenkeel.engine.model.tables import TEXT, Table, column
from evenkeel.engine.snapshots import CANDIDATES, VALIDATION
from evenkeel.expectations.candidates import build_suites, candidate_frames
from evenkeel.expectations.run import check, validate_candidates
from tests.helpers.snapshots import group, make_snapshot, member, store, topic
from tests.helpers.streams_groups import Sub, Thread, live_snapshot
from tests.unit.expectations.cases import NAN, Case, of_ghost
from tests.unit.expectations.one_lake import OneLake

pytestmark = pytest.mark.slow

SETTINGS = Settings()
STRATEGIES = list(every())
KEY = {"snapshot_id": "test-20260301T120000Z-000000", "cluster": "test"}


def scored(name: str, strategy: str, position: int) -> dict[str, Any]:
    """A row in which everything is possible: one partition moves, one gets its first owner."""
    return KEY | {
        "group_id": name,
        "config_version": "v",
        "strategy": strategy,
        "position": position,
        "deployment": "setting",
        "feasibility": "available",
        "reason": "the current strategy",
        "partition_spread": 1,
        "most_partitions": 2,
        "fewest_partitions": 1,
        "largest_member_lag": 10,
        "lag_skew": 1.25,
        "lag_lower_bound": 8,
        "cross_rack_share": 0.0,
        "cross_rack_rate_share": 1.0,
        "cross_rack_in_sync_share": 0.5,
        "cross_leader_share": None,
        "racks_left_out": 0,
        "moves": 1,
        "newly_owned": 1,
        "unowned": 0,
        "drain_seconds": float("inf"),
        "findings": [],
    }


def healthy() -> list[dict[str, Any]]:
    """The rows of two groups of three partitions."""
    return [scored(name, s, p) for name in ("steady", "other") for p, s in enumerate(STRATEGIES)]


GROUPS = ["steady", "other"]


NAME = STRATEGIES[1]

CASES = [
    Case(
        expectation="candidates: It has the number of rows of its manifest.",
        rows=99,
        groups=(None,),
        reason="the manifest says 99 rows, the table has ",
    ),
    Case(
        expectation="candidates: Its rows belong to this snapshot.",
        values={"snapshot_id": "test-20200101T000000Z-abcdef"},
        groups=(None,),
        reason="a row belongs to another snapshot: test-20200101T000000Z-abcdef",
    ),
    Case(
        expectation="candidates: Its rows have a snapshot id.",
        values={"snapshot_id": None},
        groups=(None,),
        reason="a row has no snapshot id",
    ),
    Case(
        expectation="scoreboard: Every group has one candidate per strategy, including the current assignment.",
        edit=lambda rows: [*rows[1:], rows[-1]],
        groups=("steady", "other"),
        reason="the row of a strategy is missing or duplicated: ",
    ),
    Case(
        expectation="candidates: Every candidate belongs to a measured group.",
        edit=of_ghost,
        groups=(None,),
        reason="a candidate belongs to a group without metrics: live of ghost",
    ),
    Case(
        expectation="candidates: The strategy is a known value.",
        values={"strategy": "magic"},
        reason="the strategy is not a known value: magic: magic",
    ),
    Case(
        expectation="candidates: Every candidate has a reason.",
        values={"reason": " "},
        reason=f"the reason is missing: {NAME}",
    ),
    *(
        Case(
            expectation=f"candidates: {expected}",
            values=values,
            reason="a feasible candidate has no score, or an infeasible one has one: "
            f"{NAME} ({values.get('feasibility', 'available')})",
        )
        for expected, values in (
            ("A feasible candidate has a score.", {"unowned": None}),
            ("An infeasible candidate has no score.", {"feasibility": "not applicable"}),
        )
    ),
    Case(
        expectation="candidates: A strategy gives every partition an owner.",
        values={"unowned": 2},
        reason=f"a strategy leaves partitions without an owner: {NAME}: 2",
    ),
    Case(
        expectation="candidates: lag_skew is at least 1.",
        values={"lag_skew": 0.5},
        reason=f"lag_skew is below 1: {NAME}: 0.5",
    ),
    Case(
        expectation="candidates: Required values are present, and unknown values are null, never NaN.",
        values={"cross_rack_share": NAN, "config_version": None},
        reason=f"a value is missing or not a number: {NAME}: config_version, cross_rack_share",
    ),
]


def table(rows: list[dict[str, Any]]) -> Table:
    """Rows as the dataset."""
    return Table.from_rows(rows, CANDIDATES["candidates"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.expectation)
def test_an_expectation_that_is_broken_names_group_and_reason(case):
    """Each broken expectation leaves one critical row per group it is broken for, with its reason."""
    candidates = table(case.apply(healthy(), 1))
    frames = candidate_frames(candidates, GROUPS, STRATEGIES)
    suites = build_suites(KEY["snapshot_id"], case.rows or len(candidates), STRATEGIES)
    case.check(check({case.of: frames[case.of]}, suites))


def test_possible_candidates_pass():
    """Infinity, unknown shares and a live row with unowned partitions are all possible."""
    rows = healthy()
    rows[0] |= {"unowned": 1, "largest_member_lag": 1}
    frames = candidate_frames(table(rows), GROUPS, STRATEGIES)
    results = check(frames, build_suites(KEY["snapshot_id"], len(rows), STRATEGIES))
    assert [] == [r for r in results if not r["success"]]


def lake_of_every_kind():
    """Real candidates of groups that can and of groups that cannot be judged."""
    lake = Recording()
    snapshot = make_snapshot(
        topics=[topic("orders", 5), topic("dark", 2, end=[5, None])],
        groups=[
            group("steady", members=2, lag={"orders": [0, 1, 2, 3, None]}),
            group("dark", members=3, committed={"dark": [1, 1]}),
            group("unowned", members=[member("a", ["orders"], {"orders": [4]}, rack="rack-a")]),
            group("empty", committed={"orders": 1}),
            group("unreadable", error="timeout"),
            group("moving", members=1, lag={"orders": 0}, state="PreparingRebalance"),
        ],
    )
    [name] = store(lake, snapshot)
    pipeline.record_metrics(lake, name, pipeline.compute_metrics(lake, SETTINGS, name))
    pipeline.record_candidates(lake, name, pipeline.propose_candidates(lake, SETTINGS, name))
    return lake, name


def test_what_the_engine_proposes_passes():
    """The real candidates of groups of every kind have nothing wrong with them."""
    lake, name = lake_of_every_kind()
    found = validate_candidates(lake, SETTINGS, name)
    assert found.schema == VALIDATION
    rows = found.to_pylist()
    assert [] == [row for row in rows if not row["success"]]
    assert {case.expectation for case in CASES} < {row["expectation"] for row in rows}
    assert {"candidates"} == {row["stage"] for row in rows}


def test_only_the_groups_that_were_measured_are_awaited():
    """A run by hand on some groups is not blamed for the others; without metrics all are awaited."""
    snapshot = make_snapshot(groups=[group("steady"), group("other"), group("third")])
    candidates = table([row for row in healthy() if row["group_id"] == "steady"])
    measured = {
        "candidates": candidates,
        "group_metrics": Table({"group_id": column(["steady"], TEXT)}),
    }
    some = validate_candidates(OneLake(snapshot, measured), SETTINGS, snapshot.snapshot_id)
    assert [] == [row["group_id"] for row in some.to_pylist() if not row["success"]]
    lake = OneLake(snapshot, {"candidates": candidates})
    every_group = validate_candidates(lake, SETTINGS, snapshot.snapshot_id).to_pylist()
    missing = [row["group_id"] for row in every_group if not row["success"]]
    assert ["other", "third", None] == missing


def test_what_sending_racks_would_bring_passes():
    """A row of some groups alone, whose members do not send the racks that are known of them."""
    members = [
        member(f"m{n}", ["t"], {"t": own}, rack=f"rack-{'ab'[n]}") | {"rack_source": "configured"}
        for n, own in enumerate(([0, 1], [2, 3]))
    ]
    lake = Recording()
    silent, plain = group("silent", members=members, assignor="range"), group("plain", members=1)
    topics = [topic("t", 4, replicas=[[0], [1], [0], [1]])]
    [snapshot_id] = store(lake, make_snapshot(topics=topics, groups=[silent, plain]))
    for name, step in (
        ("metrics", pipeline.compute_metrics),
        ("candidates", pipeline.propose_candidates),
    ):
        lake.write(name, snapshot_id, step(lake, SETTINGS, snapshot_id), {})
    found = validate_candidates(lake, SETTINGS, snapshot_id).to_pylist()

    assert [row["reason"] for row in found if not row["success"]] == []
    rows = lake.read("candidates", [snapshot_id]).to_pylist()
    assert [r["group_id"] for r in rows if r["strategy"] == "range+client.rack"] == ["silent"]


@pytest.mark.parametrize("kip_1071", [False, True])
def test_what_is_proposed_for_an_application_passes(kip_1071):
    """Its rack strategies are known ones, though no other group has all of them, and what is unknown is no fault."""
    threads = [
        Thread(1, "0_0 1_0", standby="" if kip_1071 else "1_1", rack="a"),
        Thread(2, "0_1 1_1", standby="" if kip_1071 else "1_0", rack="b"),
    ]
    subs = {"0": Sub(2), "1": Sub(2, ["app-counts-changelog"])}
    lake = Recording()
    [snapshot_id] = store(lake, live_snapshot(threads, subs, kip_1071=kip_1071))
    for name, step in (
        ("metrics", pipeline.compute_metrics),
        ("candidates", pipeline.propose_candidates),
    ):
        lake.write(name, snapshot_id, step(lake, SETTINGS, snapshot_id), {})
    found = validate_candidates(lake, SETTINGS, snapshot_id).to_pylist()

    assert [row["reason"] for row in found if not row["success"]] == []
    strategies = lake.read("candidates", [snapshot_id])["strategy"].to_pylist()
    assert {"none", "min_traffic", "balance_subtopology"} <= set(strategies)
