"""A lake of several snapshots with a group of every kind that could tell Spark and the plain form apart."""

from __future__ import annotations

import json
from pathlib import Path

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.tables import Table
from evenkeel.engine.ports import Lake
from evenkeel.engine.snapshots import METRICS, VALIDATION
from tests.helpers.snapshots import group, make_snapshot, member, snapshot_id, store, topic

SERIES = 4
NEWEST = snapshot_id(SERIES - 1)

SETTINGS = Settings(
    lookback=3,
    rules=(
        Rule(groups="never-*", auto_offset_reset="earliest"),
        Rule(groups="ledger", isolation="read_committed"),
        Rule(groups="heavy", capacity_per_second=50.0),
    ),
)


def variables(lake: str) -> dict[str, str]:
    """The settings of a step in a process of its own, as environment variables."""
    rules = [rule.model_dump(mode="json", exclude_unset=True) for rule in SETTINGS.rules]
    return {
        "EVENKEEL_LAKE": lake,
        "EVENKEEL_LOOKBACK": str(SETTINGS.lookback),
        "EVENKEEL_RULES": json.dumps(rules),
        # a busy machine is no reason to fail
        "EVENKEEL_SPARK_PATIENCE": "600",
    }


def snapshot(number: int) -> ClusterSnapshot:
    """One of a series in which everything moves on at its own pace."""
    heavy = 400
    return make_snapshot(
        number=number,
        topics=[
            topic("orders", 6, end=1000 + 300 * number, begin=10 * number),
            topic("clicks", heavy, end=[1000 + (p % 7) * number for p in range(heavy)]),
            topic("ledger", 3, end=500 + 20 * number, last_stable=480 + 20 * number),
            topic("dark", 2, end=[100, None], begin=[0, None], error=None),
            topic(
                "racked",
                4,
                replicas=[[0, 1], [1, 2], [2, 0], [0, 2]],
                in_sync=[[0], [1, 2], [2], [0]],
            ),
        ],
        groups=[
            group("steady", members=3, committed={"orders": 950 + 300 * number}),
            group("heavy", members=40, lag={"clicks": [p % 11 for p in range(heavy)]}),
            group("ledger", members=2, committed={"ledger": [470, 480 + 20 * number, None]}),
            group("unknown-ends", members=2, committed={"dark": [90, 7]}),
            group("empty", topics=["orders"], committed={"orders": 100}),
            group("never-committed", members=1, topics=["orders"]),
            group("lost", members=1, committed={"orders": 5, "deleted": [3]}),
            group("unreadable", error="GROUP_AUTHORIZATION_FAILED"),
            group("rebalancing", members=2, lag={"orders": 1}, state="PreparingRebalance"),
            group(
                "odd-commits",
                members=1,
                lag={"orders": 0},
                commit_errors={("orders", 2): "timeout"},
            ),
            group("doubted", members=1, lag={"orders": 4}),
            *([group("new-born", members=1, lag={"orders": 2})] if number == SERIES - 1 else []),
            group(
                "racks",
                members=[
                    member(
                        "a",
                        ["racked", "missing"],
                        {"racked": [0, 1]},
                        rack="rack-a",
                        instance_id="i-a",
                    ),
                    member(
                        "b", ["racked"], {"racked": [2]}, target={"racked": [2, 3]}, rack="rack-c"
                    ),
                    member("c", []) | {"subscription": None, "subscription_regex": "rack.*"},
                ],
                lag={"racked": [1, None, 3, 4]},
                group_type="consumer",
                assignor="uniform",
            ),
        ],
    )


def make_lake(folder: Path) -> Lake:
    """The series, with one group withheld in the newest snapshot."""
    lake = FileLake(folder)
    store(lake, *(snapshot(number) for number in range(SERIES)))
    verdict = {
        "snapshot_id": NEWEST,
        "cluster": "test",
        "stage": "snapshot",
        "group_id": "doubted",
        "expectation": "expect_column_values_to_be_between",
        "severity": "critical",
        "success": False,
        "reason": "a committed offset is negative",
    }
    lake.write("validation", NEWEST, {"validation": Table.from_rows([verdict], VALIDATION)}, {})
    return lake


def measure_newest(lake: Lake) -> None:
    """What `propose_candidates` reads beside the newest snapshot: its metrics, made by the plain step."""
    pipeline.record_metrics(lake, NEWEST, pipeline.compute_metrics(lake, SETTINGS, NEWEST))


def assert_as_plain(lake: Lake) -> None:
    """Metrics and candidates of the newest snapshot in the lake are those of the plain steps."""
    expected = pipeline.compute_metrics(lake, SETTINGS, NEWEST)
    expected |= pipeline.propose_candidates(lake, SETTINGS, NEWEST)
    assert {*METRICS, "candidates"} == set(expected)
    for name, table in expected.items():
        assert table.to_pylist() == lake.read(name, [NEWEST]).to_pylist()
