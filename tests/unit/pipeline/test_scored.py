"""The candidates of many groups as far as deciding needs them."""

from __future__ import annotations

from typing import Any

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.replay import Recording
from evenkeel.engine.config import Policy, Rule, Settings
from evenkeel.engine.model.assignments import Candidate, Verdict
from evenkeel.engine.model.columns import columns_of
from evenkeel.engine.model.facts import FactKind, fact, finding
from evenkeel.engine.model.figures import Forecast
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.pipeline.advise import advise_groups
from evenkeel.engine.pipeline.candidate_rows import candidate_of, scored
from evenkeel.engine.records import row_of
from evenkeel.engine.snapshots import CANDIDATES, rows_to_table
from tests.helpers.measuring import of_tables
from tests.helpers.snapshots import group, make_snapshot, member, store, topic

POLICY = Policy(confirm_wins=1, confirm_seconds=0, least_saving_records_per_day=10_000)
SETTINGS = Settings(rules=(Rule(policy=POLICY),))


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    """Metrics and candidates of a group that crosses racks, one without members and one in a rebalance."""
    crossed = [
        member("a", ["orders"], {"orders": [0, 1]}, rack="rack-a"),
        member("b", ["orders"], {"orders": [2, 3]}, rack="rack-b"),
    ]
    replicas = [[1], [0], [1], [0]]
    snapshots = [
        make_snapshot(
            number=number,
            topics=[
                topic("orders", 4, end=1000 + 100 * number, replicas=replicas),
                topic("old", 1),
            ],
            groups=[
                group("crossing", members=crossed, lag={"orders": 5}),
                group("empty", lag={"old": 7}),
                group("moving", members=1, topics=["orders"], state="PreparingRebalance"),
            ],
        )
        for number in range(2)
    ]
    lake = Recording()
    _, name = store(lake, *snapshots)
    metrics = pipeline.compute_metrics(lake, SETTINGS, name)
    pipeline.record_metrics(lake, name, metrics)
    return metrics | pipeline.propose_candidates(lake, SETTINGS, name)


def decided_by(candidate: Candidate) -> tuple[Any, ...]:
    """What deciding looks at."""
    reason = candidate.reason if candidate.score is None and candidate.strategy == "live" else ()
    known = (candidate.strategy, candidate.deployment, candidate.feasibility)
    figures = (candidate.score, candidate.forecast)
    return (*known, reason, *figures, candidate.findings, candidate.counts)


def test_what_is_decided_by_is_as_stored(tables: dict[str, Any]) -> None:
    """Scores, forecasts, flaws and the reason of a group without a score are those of each row read by itself."""
    rows = tables["candidates"].sort_by("position").to_pylist()
    for row in rows[::2]:
        flaws = [row_of(finding("flaw", quote=quote)) for quote in (row["strategy"], "another")]
        counts = row_of(fact(FactKind.COUNTS, "member_counts", [f"{row['position']}/1"]))
        row["facts"] = [flaws[0], *row["facts"], flaws[1], counts]
    for number, row in enumerate(rows[::3]):
        row |= {spec.name: number for spec in columns_of(Forecast)}
    found = scored(rows_to_table(rows, CANDIDATES["candidates"]))
    assert {*found} == {"crossing", "empty", "moving"}
    for name, candidates in found.items():
        own = [candidate_of(row) for row in rows if row["group_id"] == name]
        assert [decided_by(one) for one in candidates] == [decided_by(one) for one in own]
    assert any(one.reason for one in found["moving"])
    assert any(one.findings for one in found["crossing"])
    assert any(one.counts for one in found["crossing"])
    assert len({one.forecast for one in found["crossing"]}) > 2


def test_a_switch_says_what_to_do_and_what_moves(tables: dict[str, Any]) -> None:
    """The reader of a switch learns what changes hands and what to do; who stays has nothing to do."""
    followed = advise_groups(of_tables(tables), SETTINGS, "test", utc_now(), {}, {})
    advice = [each.advice for each in followed]
    told = {one.group: one for one in advice}
    switch = told.pop("crossing")
    (row,) = (
        row
        for row in tables["candidates"].to_pylist()
        if (row["group_id"], row["strategy"]) == ("crossing", switch.strategy)
    )
    assert switch.verdict is Verdict.SWITCH
    assert [(m.topic, m.partition, m.from_member, m.to_member) for m in switch.moves] == [
        (m["topic"], m["partition"], m["from_member"], m["to_member"]) for m in row["moved"]
    ]
    assert len(switch.moves) == row["moves"] > 0
    assert {fact.kind for fact in switch.how} == {FactKind.HOW}
    assert not any(one.moves or one.how for one in told.values())
